"""Compiled execution: packing trees, and folding them all at once."""

# isort: off
from .forests._pack import pack as pack
from .forests._corpus import Corpus as Corpus
from .forests._forest import Forest as Forest
from .forests._bucket import Bucket as Bucket
from .folds._fold import fold as fold
from .folds._annotate import annotate as annotate
from .descents._inherit import inherit as inherit
from .descents._follow import follow as follow
from .growth._unfold import unfold as unfold
from .growth._grown import Grown as Grown
from .growth._lists import Lists as Lists
from .growth._refold import refold as refold
from .forests._shard import balance as balance, shard as shard, Shards as Shards, shard_mean as shard_mean
from .calls._strategies import Levels as Levels, Scan as Scan, Bracketing as Bracketing
from .lists._seq import Seq as Seq
from .lists._seq_packed import Packed as Packed
from .lists._monoid_check import check_monoid as check_monoid
from .lists._monoid import with_resets as with_resets
from .lists._monoids import linear_recurrence as linear_recurrence, matrices as matrices
from .lists._monoids import max_plus as max_plus, min_plus as min_plus, transitions as transitions
from .machines._machine import run as run
from .machines._stepper import start as start, Stepper as Stepper
from .calls._forwards import forwards as forwards
