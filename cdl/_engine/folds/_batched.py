"""Products by constructor as one batched product over tiles of rows, each of one constructor: for a GPU or a TPU.

A tile has a copy of its constructor's weight. How many tiles there are depends on the rows; there is room for the most.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..arrays._rows import masked, take
from ..forests._tiles import TILE
from ._group import Group, Tiles


BITS = TILE.bit_length() - 1


def tiles_in(
    firsts: jax.Array, begin: jax.Array, spot: jax.Array, kind: jax.Array, count: jax.Array, most: int
) -> Tiles:
    """The tiles of a chunk: `firsts` are the first row of each tile of the forest, or edge, and `begin` that of the
    chunk, which has `count`, the last repeated; `spot` are the places of these in the forest's tiles. There are `most`
    constructors. Of the first tile the chunk may have only the end."""
    length, size = len(spot), min(TILE, len(spot))
    number, offset = lax.shift_right_logical(spot, jnp.int32(BITS)), spot & (TILE - 1)
    offset -= jnp.where(number == number[0], offset[0], 0)
    room = min(length, (length + (TILE - 1) * (most + 1)) // TILE)
    first = lax.dynamic_slice_in_dim(firsts, number[0], room, allow_negative_indices=False) - begin
    rows = jnp.clip(first, 0, count - 1)[:, None] + jnp.arange(size, dtype=jnp.int32)[None]
    rows = jnp.minimum(rows, count - 1)
    return Tiles(rows, take(kind, rows[:, 0]), (number - number[0]) * size + offset)


def tiles_of(number: jax.Array, kind: jax.Array, most: int) -> tuple[Tiles, jax.Array]:
    """The tiles of rows, from the rank of each one's constructor, ascending, out of `most`; and which rows of the tiles
    are their own. In each block of `TILE` rows, those of one constructor are a tile; some tiles have no rows."""
    length, size = len(number), min(TILE, len(number))
    count = -(-length // size) + most - 1
    row = jnp.arange(length, dtype=jnp.int32)
    tile = row // size + number  # two rows have the same only in one block and of one constructor
    start = jnp.minimum(jax.ops.segment_min(row, tile, count, indices_are_sorted=True), length - 1)
    reach = start[:, None] + jnp.arange(size, dtype=jnp.int32)[None]
    rows = jnp.minimum(reach, length - 1)
    own = (take(tile, rows) == jnp.arange(count, dtype=jnp.int32)[:, None]) & (reach < length)
    return Tiles(rows, take(kind, start), tile * size + row - take(start, tile)), own


def product(
    x: jax.Array, w: jax.Array, group: Group, dtype: np.dtype[Any], precision: lax.PrecisionLike, transposed: bool
) -> jax.Array:
    """`x` of shape (W, m, n) by `w` of shape (C, o, n): (W, m, o). Past the valid rows it is that of the last.

    With `transposed`, n and o change places in `w`; what cotangents have past the valid rows is 0, as it is added up.
    """
    tiles = group.tiles
    assert tiles is not None
    spec = "trmn,tno->trmo" if transposed else "trmn,ton->trmo"
    pairs = take(x, tiles.rows), take(w, tiles.kind)
    z = jnp.einsum(spec, *pairs, precision=precision, preferred_element_type=dtype).astype(dtype)
    y = take(z.reshape(z.shape[0] * z.shape[1], *z.shape[2:]), tiles.place)
    return masked(group.own, y) if transposed else y


def sums(
    y: jax.Array,
    x: jax.Array,
    tiles: Tiles,
    own: jax.Array,
    kinds: int,
    dtype: np.dtype[Any],
    precision: lax.PrecisionLike,
) -> jax.Array:
    """The sum, for each of `kinds` constructors, of the products of the rows of `y`, (W, m, o), and `x`, (W, m, n):
    (C, o, n). `own` are the rows of the tiles that count."""
    pairs = [masked(own, some) for some in (take(y, tiles.rows), take(x, tiles.rows))]
    found = jnp.einsum("trmo,trmn->ton", *pairs, precision=precision, preferred_element_type=dtype)
    return jax.ops.segment_sum(found, tiles.kind, kinds)
