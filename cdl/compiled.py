"""Compiled execution: many trees, or many lists, in one program."""

# isort: off
from ._engine import pack as pack, Forest as Forest, Corpus as Corpus, Bucket as Bucket, fold as fold
from ._engine import annotate as annotate, inherit as inherit, follow as follow
from ._engine import Levels as Levels, Scan as Scan, Bracketing as Bracketing
from ._engine import unfold as unfold, Grown as Grown, Lists as Lists, refold as refold
from ._engine import balance as balance, shard as shard, Shards as Shards, shard_mean as shard_mean
from ._engine import Seq as Seq, Packed as Packed
