"""Compiled execution: packing trees, and folding them all at once."""

# isort: off
from ._forest import Forest as Forest, Corpus as Corpus, pack as pack
from ._bucket import Bucket as Bucket
from ._fold import fold as fold
