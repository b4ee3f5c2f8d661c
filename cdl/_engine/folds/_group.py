"""Rows that lie side by side, sorted by their constructors."""

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Tiles(NamedTuple):
    """Rows in tiles, each of one constructor: the rows of each tile, of which some are others' or repeated; its
    constructor's place in the stacks; and the place of each row in the tiles, one after another."""

    rows: Any
    kind: Any
    place: Any


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["kind", "count", "until", "tiles"], meta_fields=["length"]
)
@dataclass(frozen=True)
class Group:
    """The rows of a chunk, or the edges of one of its `Many`s: `count` of them at the beginning of `length` places.

    By row, `kind` is the constructor's place in the stacks, and `until` the first row of another constructor. `tiles`
    has them in tiles, where products are batched; `until` is there where they are not.
    """

    kind: Any
    count: Any
    length: int
    until: Any = None
    tiles: Tiles | None = None

    @property
    def own(self) -> jax.Array:
        """Which places are a row's; the others repeat the last."""
        return jnp.arange(self.length, dtype=jnp.int32) < self.count
