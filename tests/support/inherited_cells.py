"""A step down whose cells are of many kinds, each constructor with weights of its own, and small trees for it."""

import random
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from indexed_cells import Bare, Cell, H, KINDS, More, Some, That, This, tree, Word

from cdl import Many


def cells_of(key: jax.Array, way: str) -> dict[str, Cell]:
    return {kind.__name__: Cell(k, way) for kind, k in zip(KINDS, jr.split(key, len(KINDS)), strict=True)}


class Handing(eqx.Module):
    """What a child inherits: a vector, made by its parent's cell, and a whole number."""

    cells: Any
    shared: jax.Array

    def __call__(self, inherited: Any, layer: Any) -> Any:
        vector, number = inherited
        cell = self.cells[type(layer).__name__ if isinstance(self.cells, dict) else type(layer)]
        match layer:
            case Bare() | Word():
                return layer
            case This(left, right) | That(left, right):
                first = cell(vector, left) + self.shared @ jnp.concatenate([left, vector])
                return type(layer)((first, number + 1), (cell(right, vector) * cell.b, number * 2))
            case Some(items) | More(items):
                return type(layer)(
                    items.map(lambda x: (cell(vector, x) + self.shared @ jnp.append(vector, x), number + 3))
                )
        raise AssertionError(layer)


def tops(count: int) -> Any:
    return jr.normal(jr.key(7), (count, H)), jnp.arange(count)


SMALL = [
    tree(random.Random(4), 14),
    This(That(Bare(), Word(0.7, 2)), More(Many([Word(-0.2, 1), Some(Many([Bare()]))]))),
]
