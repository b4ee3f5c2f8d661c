"""Products by constructor as loops over tiles of rows, each of one constructor: for a CPU.

A small tile may reach past its constructor's rows: what it writes there is written again by the next.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._rows import put, take
from ._group import Group


SMALL, BIG = 16, 128  # rows of a tile


def product(
    x: jax.Array, w: jax.Array, group: Group, dtype: np.dtype[Any], precision: lax.PrecisionLike, transposed: bool
) -> jax.Array:
    """`x` of shape (W, m, n) by `w` of shape (C, o, n): (W, m, o). With `transposed`, n and o change places in `w`."""
    rows, many, n = x.shape
    out = w.shape[2] if transposed else w.shape[1]
    spec = "rn,no->ro" if transposed else "rn,on->ro"
    padded = jnp.pad(x, ((0, SMALL), (0, 0), (0, 0)))

    def tile(size: int, own: jax.Array, state: tuple[jax.Array, jax.Array], end: jax.Array) -> Any:
        at, y = state
        some = lax.dynamic_slice_in_dim(padded, at, size, allow_negative_indices=False).reshape(size * many, n)
        z = jnp.einsum(spec, some, own, precision=precision, preferred_element_type=dtype)
        return jnp.minimum(at + size, end), put(y, at, z.astype(dtype).reshape(size, many, out))

    def run(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        own, end = take(w, take(group.kind, state[0])), take(group.until, state[0])
        if rows >= BIG:
            state = lax.while_loop(lambda s: end - s[0] >= BIG, lambda s: tile(BIG, own, s, end), state)
        return lax.while_loop(lambda s: s[0] < end, lambda s: tile(SMALL, own, s, end), state)

    start = jnp.int32(0), jnp.zeros((rows + SMALL, many, out), dtype)
    _, y = lax.while_loop(lambda state: state[0] < group.count, run, start)
    return y[:rows]
