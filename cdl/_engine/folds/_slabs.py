"""Slabs: columns of one type side by side in one table, so that they are read and written together.

On a GPU or a TPU each operation is started from the host. On a CPU a column is a slab by itself: what is written there
would first be put together.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..arrays._rows import take
from ..arrays.shapes import Arrays, shaped


class Slabs:
    """Where columns of these shapes and types are. `shapes` are those of one row of each slab."""

    def __init__(self, leaves: Sequence[Any], joined: bool) -> None:
        self.leaves = list(leaves)
        groups: dict[Any, list[int]] = {}
        for c, x in enumerate(leaves):
            groups.setdefault(x.dtype if joined else c, []).append(c)
        self.columns = list(groups.values())
        self.slab_of = {c: s for s, columns in enumerate(self.columns) for c in columns}
        self.shapes = [self._shape(columns) for columns in self.columns]

    def _shape(self, columns: Sequence[int]) -> Any:
        first = self.leaves[columns[0]]
        if len(columns) == 1:
            return first
        return shaped((sum(math.prod(self.leaves[c].shape) for c in columns),), first.dtype)

    def pick(self, column: int, rows: jax.Array) -> jax.Array:
        """A column, from rows of its slab."""
        columns = self.columns[self.slab_of[column]]
        if len(columns) == 1:
            return rows
        sizes = {c: math.prod(self.leaves[c].shape) for c in columns}
        begin = sum(sizes[c] for c in columns[: columns.index(column)])
        return rows[:, begin : begin + sizes[column]].reshape(len(rows), *self.leaves[column].shape)

    def read(self, slabs: Arrays, column: int, lines: jax.Array) -> jax.Array:
        """A column of these rows."""
        return self.pick(column, take(slabs[self.slab_of[column]], lines))

    def rows(self, values: Mapping[int, Any], number: int) -> dict[int, jax.Array]:
        """Rows of each slab of which columns are given, by number; the other columns of these have zeros."""
        found = {}
        for s in dict.fromkeys(self.slab_of[c] for c in values):
            columns = self.columns[s]
            nothing = {c: jnp.zeros((number, *self.leaves[c].shape), self.leaves[c].dtype) for c in columns}
            parts = [values.get(c, nothing[c]) for c in columns]
            flat = [x.reshape(number, math.prod(x.shape[1:])) for x in parts]
            found[s] = parts[0] if len(parts) == 1 else jnp.concatenate(flat, 1)
        return found
