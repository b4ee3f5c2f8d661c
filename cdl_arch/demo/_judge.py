"""A network that answers yes or no for trees, and the trained one that comes with the package.

`judge.safetensors` was written by `PYTHONPATH=tutorials python -m definite_assignment.ship`, which trains on Python's
standard library and prints the accuracy on files that were not trained on. The file's metadata says it too.
"""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from cdl import Algebra, fold, Forest
from cdl.io import import_safetensors

from ..recursive import gated
from .signature import DefiniteF


WIDTH = 16
WEIGHTS = Path(__file__).with_name("judge.safetensors")


class Judge(eqx.Module):
    """An algebra, and a linear map that reads its values: positive for yes. The values are an LSTM's, or vectors."""

    algebra: Algebra[Any, Any]
    head: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, algebra: Algebra[Any, Any], width: int, *, dropout: float = 0.1, key: PRNGKeyArray) -> None:
        self.algebra = algebra
        self.head = eqx.nn.Linear(width, "scalar", key=key)
        self.dropout = eqx.nn.Dropout(dropout)

    def read(self, value: Any) -> Float[Array, ""]:
        """The logit of one value of the algebra's carrier."""
        return self.head(jax.tree.leaves(value)[0])

    def __call__(self, forest: Forest, key: PRNGKeyArray | None = None) -> Float[Array, " trees"]:
        """The logit of every tree. With a key, parts are dropped at random, as in training."""
        below, at_head = (None, None) if key is None else jr.split(key)
        values = jax.tree.leaves(fold(self.algebra, forest, key=below))[0]
        return jax.vmap(self.head)(self.dropout(values, key=at_head, inference=key is None))


def untrained(key: PRNGKeyArray) -> Judge:
    """A judge of the form that is shipped: a `gated` tree network of width 16, and its head."""
    in_algebra, in_head = jr.split(key)
    return Judge(gated(DefiniteF, WIDTH, dropout=0.1, key=in_algebra), WIDTH, dropout=0.1, key=in_head)


def trained() -> Judge:
    """The judge that comes with the package."""
    return import_safetensors(WEIGHTS, untrained(jr.key(0)))
