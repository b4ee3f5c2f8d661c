"""Products of rows by weights that depend on each row's constructor.

Rows are sorted by constructor. Their product is a loop over tiles of `SMALL` and of `BIG` rows, each of one
constructor. A small tile may reach past its constructor's rows: what it writes there is written again by the next.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


SMALL, BIG = 16, 128  # rows of a tile


@functools.partial(jax.tree_util.register_dataclass, data_fields=["kind", "until", "count"], meta_fields=["length"])
@dataclass(frozen=True)
class Group:
    """The rows of a chunk, or the edges of one of its `Many`s: `count` of them at the beginning of `length` places.

    `kind` is the constructor's place in the stacks, by row, and `until` the first row of another constructor.
    """

    kind: Any
    until: Any
    count: Any
    length: int

    @classmethod
    def of(cls, kind: Any, until: Any, count: Any) -> "Group":
        return cls(kind, until, count, kind.shape[0])

    @property
    def own(self) -> Any:
        """Which places are a row's; the others repeat the last."""
        return jnp.arange(self.length, dtype=jnp.int32) < self.count


def product(x: Any, w: Any, group: Group, dtype: Any, precision: Any, transposed: bool = False) -> Any:
    """`x` of shape (W, …, n) by `w`, of shape (o, n), or (C, o, n) with one for each constructor: (W, …, o).

    With `transposed`, n and o change places.
    """
    if w.ndim == 2:
        return jnp.matmul(x, w if transposed else w.T, precision=precision, preferred_element_type=dtype)
    rows, *free, n = x.shape
    many = math.prod(free)
    out = w.shape[2] if transposed else w.shape[1]
    spec = "rn,no->ro" if transposed else "rn,on->ro"
    padded = jnp.pad(x.reshape(rows, many, n), ((0, SMALL), (0, 0), (0, 0)))

    def tile(size: int, at: Any, y: Any) -> Any:
        own = lax.dynamic_index_in_dim(w, group.kind[at], 0, keepdims=False)
        some = lax.dynamic_slice_in_dim(padded, at, size).reshape(size * many, n)
        z = jnp.einsum(spec, some, own, precision=precision, preferred_element_type=dtype)
        return lax.dynamic_update_slice_in_dim(y, z.astype(dtype).reshape(size, many, out), at, 0)

    def step(size: int, state: Any) -> Any:
        at, y = state
        return jnp.minimum(at + size, group.until[at]), tile(size, at, y)

    small, big = functools.partial(step, SMALL), functools.partial(step, BIG)

    def turn(state: Any) -> Any:
        at, _ = state
        return small(state) if rows < BIG else lax.cond(group.until[at] - at >= BIG, big, small, state)

    start = jnp.int32(0), jnp.zeros((rows + SMALL, many, out), dtype)
    _, y = lax.while_loop(lambda state: state[0] < group.count, turn, start)
    return y[:rows].reshape(rows, *free, out)


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def tie(z: Any, x: Any, w: Any, group: Group, precision: Any) -> Any:
    """`z`, which is the product of `x` and `w`. Its cotangent is handed to `z` and, by the weights, to `x`, and not to
    the weights: theirs are made later, of all rows at once."""
    return z


def _tie_forward(z: Any, x: Any, w: Any, group: Group, precision: Any) -> Any:
    return z, (x, w, group)


def _tie_backward(precision: Any, kept: Any, given: Any) -> Any:
    x, w, group = kept
    return given, product(given, w, group, given.dtype, precision, transposed=True).astype(x.dtype), None, None


tie.defvjp(_tie_forward, _tie_backward)
