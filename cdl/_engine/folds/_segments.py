"""Reductions over edges, for all rows of a chunk at once.

Every valid row has an edge, so no value for an empty `Many` is needed. Rows past the valid ones repeat the last valid
row's result, so that padding makes no NaN.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..._functors.attention import is_narrow
from ..arrays._platform import platform
from ..arrays._rows import after_all, repeated, take
from ._program import over


def at_edges(
    call: Callable[[Any, Any, list[Any]], Any],
    segment: jax.Array,
    children: Any,
    cs: list[Any],
    batched: list[bool],
    value: Any,
    rows: int,
) -> Any:
    """The step at every edge. `batched` says which of `cs` have a leading axis of rows."""
    place = jnp.minimum(segment, _last(segment, rows))
    per_edge = [take(c, place) if b else c for c, b in zip(cs, batched, strict=True)]
    axes = [0 if b else None for b in batched]
    each: Any = jax.vmap(lambda x, cs: call(x, value, cs), in_axes=(0, axes), axis_size=len(segment))
    before = over.set("edges")
    try:
        return each(children, per_edge)
    finally:
        over.reset(before)


def over_edges(
    how: str,
    call: Callable[[Any, Any, list[Any]], Any],
    segment: jax.Array,
    children: Any,
    cs: list[Any],
    batched: list[bool],
    starts: Any,
    rows: int,
) -> Any:
    """Every row's reduction: `"sum"`, `"max"`, or `"fold"`, which has each row's first value in `starts`.

    `batched` says which of `cs` have a leading axis of rows.
    """
    last = _last(segment, rows)
    valid = jnp.arange(rows, dtype=segment.dtype) <= last

    if how == "fold":
        found = _fold_segments(call, segment, children, cs, batched, starts, rows)
        return jax.tree.map(lambda x: repeated(x, valid, last), found)
    mapped = at_edges(call, segment, children, cs, batched, None, rows)
    return jax.tree.map(lambda y: repeated(reduced(how, y, segment, rows), valid, last), mapped)


def reduced(how: str, y: jax.Array, segment: jax.Array, rows: int) -> jax.Array:
    """The `"sum"` or the `"max"` of each row's edges. A maximum in 16 bits is taken in 32: its gradient counts the
    edges that have it."""
    if how == "max" and is_narrow(y):
        return reduced(how, y.astype(jnp.float32), segment, rows).astype(y.dtype)
    if how == "max":
        return _maximum(rows, segment, y)
    return jax.ops.segment_sum(y, segment, rows, indices_are_sorted=rows > 1)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _maximum(rows: int, segment: jax.Array, y: jax.Array) -> jax.Array:
    return jax.ops.segment_max(y, segment, rows, indices_are_sorted=rows > 1)


@_maximum.defjvp
def _slope_of_maximum(rows: int, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    """The edges that have the maximum share its derivative equally, as those of `jnp.max` do."""
    segment, y = primals
    found, once = _maximum(rows, segment, y), _computed_once(lax.stop_gradient(y))
    has = (once == take(_maximum(rows, segment, once), jnp.minimum(segment, rows - 1))).astype(y.dtype)
    share, count = reduced("sum", has * tangents[1], segment, rows), reduced("sum", has, segment, rows)
    return found, share / jnp.maximum(count, 1)


def _computed_once(x: jax.Array) -> jax.Array:
    """The array, which XLA computes once. It may otherwise compute a number once for the maximum, and again for the
    question which numbers are equal to it, one time with a fused multiply-add and the other without: then none is, and
    the gradient is lost. On a CPU it drops a barrier too early; it does not know how often this loop turns: never."""
    turns = after_all([x])

    def loop(x: jax.Array) -> jax.Array:
        again = lambda state: (state[0] + 1, state[1] + state[1])
        return lax.while_loop(lambda state: state[0] < turns, again, (jnp.int32(0), x))[1]

    return loop(x) if platform().batched is False else lax.optimization_barrier(x)


def summed(ys: Sequence[jax.Array], segment: jax.Array, rows: int) -> list[jax.Array]:
    """The sums of each row's edges of several arrays, in one operation for those of one type."""
    found: dict[int, jax.Array] = {}
    for dtype in dict.fromkeys(y.dtype for y in ys):
        own = [i for i, y in enumerate(ys) if y.dtype == dtype]
        flat = [ys[i].reshape(len(segment), math.prod(ys[i].shape[1:])) for i in own]
        sums = reduced("sum", jnp.concatenate(flat, 1), segment, rows)
        parts = jnp.split(sums, list(itertools.accumulate(x.shape[1] for x in flat[:-1])), 1)
        found |= {i: part.reshape(rows, *ys[i].shape[1:]) for i, part in zip(own, parts, strict=True)}
    return [found[i] for i in range(len(ys))]


def _fold_segments(
    call: Callable[[Any, Any, list[Any]], Any],
    segment: jax.Array,
    children: Any,
    cs: list[Any],
    batched: list[bool],
    starts: Any,
    rows: int,
) -> Any:
    """A list fold of each row's children, from the last: one scan of the edges, starting anew in each segment."""
    last = jnp.concatenate([segment[1:] != segment[:-1], jnp.ones(1, bool)]) | (segment >= rows)
    place = jnp.minimum(segment, _last(segment, rows))
    shared = [c for c, b in zip(cs, batched, strict=True) if not b]

    def step(value: Any, edge: tuple[jax.Array, Any, Any, list[Any]]) -> tuple[Any, Any]:
        is_last, child, start, own = edge
        mine, others = iter(own), iter(shared)
        value = jax.tree.map(lambda v, s: jnp.where(is_last, s, v), value, start)
        value = call(child, value, [next(mine) if b else next(others) for b in batched])
        return value, value

    begin_at = jax.tree.map(lambda z: take(z, place), starts)
    own = [take(c, place) for c, b in zip(cs, batched, strict=True) if b]
    begin = jax.tree.map(lambda z: z[0], starts)
    before = over.set("edges")
    try:
        _, values = jax.lax.scan(step, begin, (last, children, begin_at, own), reverse=True)
    finally:
        over.reset(before)
    first = jnp.concatenate([jnp.ones(1, bool), segment[1:] != segment[:-1]])
    target = jnp.where(first, segment, rows)
    return jax.tree.map(lambda z, v: z.at[target].set(v, mode="drop"), starts, values)


def _last(segment: jax.Array, rows: int) -> jax.Array:
    """The last row that has an edge, which edges past the valid ones repeat."""
    return jnp.max(jnp.where(segment < rows, segment, 0))
