"""Products by constructor as one batched product over tiles of rows, each of one constructor: for a GPU or a TPU.

A tile has a copy of its constructor's weight. How many tiles there are depends on the rows; there is room for the most.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._rows import spread, take
from ._group import Group


SIZE = 32  # rows of a tile, at most


class Tiles(NamedTuple):
    """The rows of each tile, which of them are its own, each tile's constructor; and the place of each row in the
    tiles, one after another."""

    rows: jax.Array
    own: jax.Array
    kind: jax.Array
    place: jax.Array


def tiles_of(group: Group) -> Tiles:
    """The tiles of a group: in each block of `SIZE` rows, those of one constructor. Some tiles have no rows."""
    size = min(SIZE, group.length)
    count = -(-group.length // size) + group.most - 1
    row = jnp.arange(group.length, dtype=jnp.int32)
    tile = row // size + group.number  # two rows have the same only in one block and of one constructor
    start = jnp.minimum(jax.ops.segment_min(row, tile, count, indices_are_sorted=True), group.length - 1)
    reach = start[:, None] + jnp.arange(size, dtype=jnp.int32)[None]
    rows = jnp.minimum(reach, group.length - 1)
    own = (take(tile, rows) == jnp.arange(count, dtype=jnp.int32)[:, None]) & (reach < group.count)
    return Tiles(rows, own, take(group.kind, start), tile * size + row - take(start, tile))


def product(
    x: jax.Array, w: jax.Array, group: Group, dtype: np.dtype[Any], precision: lax.PrecisionLike, transposed: bool
) -> jax.Array:
    """`x` of shape (W, m, n) by `w` of shape (C, o, n): (W, m, o). With `transposed`, n and o change places in `w`."""
    tiles = tiles_of(group)
    spec = "trmn,tno->trmo" if transposed else "trmn,ton->trmo"
    pairs = take(x, tiles.rows), take(w, tiles.kind)
    z = jnp.einsum(spec, *pairs, precision=precision, preferred_element_type=dtype).astype(dtype)
    return take(z.reshape(z.shape[0] * z.shape[1], *z.shape[2:]), tiles.place)


def sums(
    y: jax.Array, x: jax.Array, group: Group, kinds: int, dtype: np.dtype[Any], precision: lax.PrecisionLike
) -> jax.Array:
    """The sum, for each of `kinds` constructors, of the products of the rows of `y`, (W, m, o), and `x`, (W, m, n):
    (C, o, n)."""
    tiles = tiles_of(group)
    pairs = [jnp.where(spread(tiles.own, own), own, 0) for own in (take(y, tiles.rows), take(x, tiles.rows))]
    found = jnp.einsum("trmo,trmn->ton", *pairs, precision=precision, preferred_element_type=dtype)
    return jax.ops.segment_sum(found, tiles.kind, kinds)
