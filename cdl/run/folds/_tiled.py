"""Products by constructor as loops over tiles of rows, each of one constructor: for a CPU.

A small tile may reach past its constructor's rows: what it writes there is written again by the next.
"""

from typing import Any

import jax.numpy as jnp
from jax import lax

from ._group import Group


SMALL, BIG = 16, 128  # rows of a tile


def product(x: Any, w: Any, group: Group, dtype: Any, precision: Any, transposed: bool) -> Any:
    """`x` of shape (W, m, n) by `w` of shape (C, o, n): (W, m, o). With `transposed`, n and o change places in `w`."""
    rows, many, n = x.shape
    out = w.shape[2] if transposed else w.shape[1]
    spec = "rn,no->ro" if transposed else "rn,on->ro"
    padded = jnp.pad(x, ((0, SMALL), (0, 0), (0, 0)))

    def tile(size: int, at: Any, y: Any) -> Any:
        own = lax.dynamic_index_in_dim(w, group.kind[at], 0, keepdims=False)
        some = lax.dynamic_slice_in_dim(padded, at, size).reshape(size * many, n)
        z = jnp.einsum(spec, some, own, precision=precision, preferred_element_type=dtype)
        return lax.dynamic_update_slice_in_dim(y, z.astype(dtype).reshape(size, many, out), at, 0)

    def run(size: int, goes: Any, state: Any) -> Any:
        def step(state: Any) -> Any:
            at, y = state
            return jnp.minimum(at + size, group.until[at]), tile(size, at, y)

        return lax.while_loop(goes, step, state)

    def is_big(state: Any) -> Any:
        at, _ = state
        return (at < group.count) & (group.until[at] - at >= BIG)

    def is_small(state: Any) -> Any:
        at, _ = state
        return (at < group.count) & (group.until[at] - at < BIG)

    def turn(state: Any) -> Any:
        if rows >= BIG:
            state = run(BIG, is_big, state)
        return run(SMALL, is_small, state)

    y = jnp.zeros((rows + SMALL, many, out), dtype)
    _, y = lax.while_loop(lambda state: state[0] < group.count, turn, (jnp.int32(0), y))
    return y[:rows]
