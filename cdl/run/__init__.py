"""Compiled execution: packing trees, and folding them all at once."""

# isort: off
from ._pack import pack as pack, Corpus as Corpus
from ._forest import Forest as Forest
from ._bucket import Bucket as Bucket
from ._fold import fold as fold
