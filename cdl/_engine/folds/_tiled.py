"""Products by constructor as loops over tiles of rows, each of one constructor: for a CPU.

A small tile may reach past its constructor's rows: what it writes there is written again by the next.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap

from ..arrays._rows import put, take
from ._apart import Apart
from ._group import Group


SMALL, BIG = 16, 128  # rows of a tile
State = tuple[jax.Array, jax.Array]  # the row that comes next, and the products so far
Times = Callable[[Any, Any], jax.Array]  # rows by a matrix


def product(
    x: jax.Array,
    w: jax.Array | Apart,
    group: Group,
    dtype: np.dtype[Any],
    precision: lax.PrecisionLike,
    transposed: bool,
) -> jax.Array:
    """`x` of shape (W, m, n) by `w` of shape (C, o, n): (W, m, o). With `transposed`, n and o change places in `w`."""
    rows, many, n = x.shape
    out = w.shape[2] if transposed else w.shape[1]
    spec = "rn,no->ro" if transposed else "rn,on->ro"
    times: Times = functools.partial(jnp.einsum, spec, precision=precision, preferred_element_type=dtype)
    padded = jnp.pad(x, ((0, SMALL), (0, 0), (0, 0)))

    def tile(size: int, by: Callable[[jax.Array], jax.Array], end: jax.Array, state: State) -> State:
        at, y = state
        some = lax.dynamic_slice_in_dim(padded, at, size, allow_negative_indices=False).reshape(size * many, n)
        z = by(some).astype(dtype).reshape(size, many, out)
        return jnp.minimum(at + size, end), put(y, at, z)

    def run(state: State) -> State:
        kind, end = take(group.kind, state[0]), take(group.until, state[0])
        by = _by(times, w, kind)
        if rows <= SMALL:  # they are all in one tile
            return tile(SMALL, by, end, state)
        if rows >= BIG:
            state = lax.while_loop(lambda s: end - s[0] >= BIG, functools.partial(tile, BIG, by, end), state)
        return lax.while_loop(lambda s: s[0] < end, functools.partial(tile, SMALL, by, end), state)

    start = jnp.int32(0), jnp.zeros((rows + SMALL, many, out), dtype)
    return lax.while_loop(lambda state: state[0] < group.count, run, start)[1][:rows]


def _by(times: Times, w: jax.Array | Apart, kind: jax.Array) -> Callable[[jax.Array], jax.Array]:
    """The products of rows by the matrix of one constructor, which is cut from its stack once, or has an array."""
    if isinstance(w, Apart):
        return lambda some: _chosen(times)(kind, some, *w.matrices)
    own = take(w, kind)
    return lambda some: times(some, own)


def _chosen(times: Times) -> Any:
    """Rows by the matrix with a number. If each example of a batch has its own number, it is read from a stack: under
    `vmap`, a switch computes all of its branches."""

    def of_stack(kind: jax.Array, some: jax.Array, *matrices: jax.Array) -> jax.Array:
        return times(some, take(jnp.stack(matrices), kind))

    def of_arrays(kind: jax.Array, some: jax.Array, *matrices: jax.Array) -> jax.Array:
        branches: list[Any] = [
            functools.partial(lambda i, some: times(some, matrices[i]), i) for i in range(len(matrices))
        ]
        return lax.switch(kind, branches, some)

    def batched(_: int, axes: Sequence[bool], *inputs: jax.Array) -> tuple[jax.Array, bool]:
        found = jax.vmap(of_stack if axes[0] else of_arrays, [0 if axis else None for axis in axes])(*inputs)
        return found, True

    chosen = custom_vmap(of_arrays)
    chosen.def_vmap(batched)
    return chosen
