"""Compiled execution: packing trees, and folding them all at once."""

# isort: off
from ._pack import pack as pack, Corpus as Corpus
from ._forest import Forest as Forest
from ._bucket import Bucket as Bucket
from ._fold import fold as fold
from ._annotate import annotate as annotate
from ._inherit import inherit as inherit
from ._follow import follow as follow
from ._unfold import unfold as unfold
from ._grown import Grown as Grown
from ._stream import Lists as Lists
from ._refold import refold as refold
from ._shard import balance as balance, shard as shard, Shards as Shards, shard_mean as shard_mean
from ._seq import Seq as Seq
from ._seq_packed import Packed as Packed
from ._monoid_check import check_monoid as check_monoid
from ._monoid import with_resets as with_resets
from ._monoids import linear_recurrence as linear_recurrence, matrices as matrices
from ._monoids import max_plus as max_plus, min_plus as min_plus, transitions as transitions
from ._machine import run as run
from ._stepper import start as start, Stepper as Stepper
