"""Rows that lie side by side, sorted by their constructors."""

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["kind", "number", "until", "count"], meta_fields=["length", "most"]
)
@dataclass(frozen=True)
class Group:
    """The rows of a chunk, or the edges of one of its `Many`s: `count` of them at the beginning of `length` places.

    By row, `kind` is the constructor's place in the stacks, `number` its rank among the program's constructors,
    below `most`, and `until` the first row of another constructor.
    """

    kind: Any
    number: Any
    until: Any
    count: Any
    length: int
    most: int

    @property
    def own(self) -> jax.Array:
        """Which places are a row's; the others repeat the last."""
        return jnp.arange(self.length, dtype=jnp.int32) < self.count
