"""`Many` inside `fold`: the children of one node, among the edges of a whole chunk.

An algebra is traced for one node. Each reduction is an operation that knows two meanings: for one node, a reduction
over its own edges; for the rows of a chunk, under `vmap`, one segment operation over all the edges. What the mapped
function uses of the row it stands in becomes an argument of it, and is spread over the row's edges.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

from ..._errors import CarrierMismatch
from ...functor import Cons, Nil
from .._shapes import shaped
from ._program import opened


Leaves = tuple[Any, ...]


@dataclass(frozen=True)
class Edges:
    """The edges of a chunk in one group, as seen from one row.

    `row` is the row's number in the chunk; `segment` each edge's row, or the number of rows for no edge; `children`
    the state at the end of each edge.
    """

    row: Any
    segment: Any
    children: Any

    def count(self) -> Any:
        degree = self._reduce(lambda _: jnp.int32(1), "sum", jnp.int32(0))
        return degree

    def reduce(self, how: str, each: Callable[[Any], Any], zero: Any) -> Any:
        return self._reduce(each, how, zero)

    def attend(self, each: Callable[[Any], Any], score: Callable[[Any], Any], zero: Any) -> Any:
        child = jax.tree.map(lambda x: x[0], self.children)
        number = jax.eval_shape(lambda x: jnp.asarray(score(each(x))), child)
        highest = self._reduce(lambda x: score(each(x)), "max", jnp.zeros((), number.dtype))
        highest = jax.lax.stop_gradient(highest)

        def weighted(x: Any) -> Any:
            child = each(x)
            below = score(child) - highest
            # above 0 at edges that are no row's, and by rounding at the highest, which keeps its gradient
            weight = jnp.exp(below - jax.lax.stop_gradient(jnp.maximum(below, 0)))
            return weight, jax.tree.map(lambda leaf: weight * leaf, child)

        total, value = self._reduce(weighted, "sum", (jnp.ones((), number.dtype), zero))
        return jax.tree.map(lambda leaf: leaf / total, value)

    def fold(self, each: Callable[[Any], Any], algebra: Any) -> Any:
        start = jax.tree.map(jnp.asarray, algebra(Nil()))
        step: Callable[[Any, Any], Any] = lambda x, value: algebra(Cons(each(x), value))
        return self._run("fold", step, start, start)

    def each(self, f: Callable[[Any], Any]) -> Any:
        """`f` at the child of every edge of the chunk, whichever row is its own: an array for each leaf, one row for
        each edge."""
        call, consts = self._converted(lambda x, _: jax.tree.map(jnp.asarray, f(x)), None)

        @custom_vmap
        def at_node(row: Any, segment: Any, children: Any, cs: list[Any]) -> Any:
            return jax.vmap(lambda x: call(x, None, cs), axis_size=len(segment))(children)

        @at_node.def_vmap
        def at_rows(rows: int, batched: Any, row: Any, segment: Any, children: Any, cs: list[Any]) -> Any:
            out = _at_edges(call, segment, children, cs, batched[3], None, rows)
            return out, jax.tree.map(lambda _: False, out)

        return at_node(self.row, self.segment, self.children, consts)

    def _reduce(self, each: Callable[[Any], Any], how: str, zero: Any) -> Any:
        zero = jax.tree.map(jnp.asarray, zero)
        return self._run(how, lambda x, _: each(x), zero, zero)

    def _run(self, how: str, step: Callable[[Any, Any], Any], zero: Any, value: Any) -> Any:
        """The reduction of `step(child, value)`, as an operation with a rule for rows."""
        call, consts = self._converted(lambda x, v: _like(step(x, v), zero, how), value)

        @custom_vmap
        def at_node(row: Any, zero: Any, segment: Any, children: Any, cs: list[Any]) -> Any:
            own = jnp.where(segment == row, 0, 1)
            zeros = jax.tree.map(lambda z: jnp.asarray(z)[None], zero)
            out = _over_edges(how, call, own, children, cs, [False] * len(cs), zeros, 1)
            return jax.tree.map(lambda x: x[0], out)

        @at_node.def_vmap
        def at_rows(rows: int, batched: Any, row: Any, zero: Any, segment: Any, children: Any, cs: list[Any]) -> Any:
            zeros = jax.tree.map(lambda z, b: z if b else jnp.broadcast_to(z, (rows, *jnp.shape(z))), zero, batched[1])
            out = _over_edges(how, call, segment, children, cs, batched[4], zeros, rows)
            return out, jax.tree.map(lambda _: True, out)

        return at_node(self.row, zero, self.segment, self.children, consts)

    def _converted(self, step: Callable[[Any, Any], Any], value: Any) -> tuple[Any, list[Any]]:
        """The step with what it uses of its surroundings as an argument, and that: arrays, of the row or of none."""
        child = jax.tree.map(lambda x: shaped(x.shape[1:], x.dtype), self.children)
        found: list[Any] = []

        def leaves(x: Any, v: Any) -> list[Any]:
            out, structure = jax.tree.flatten(step(x, v))
            found.append(structure)
            return out

        case = jax.make_jaxpr(leaves)(child, _shapes(value))
        run = opened(case)

        def call(x: Any, v: Any, cs: list[Any]) -> Any:
            return jax.tree.unflatten(found[0], run(*cs, *jax.tree.leaves((x, v))))

        return call, list(case.consts)


def _at_edges(call: Any, segment: Any, children: Any, cs: list[Any], batched: list[bool], value: Any, rows: int) -> Any:
    """The step at every edge; `cs` have a row's where `batched`."""
    place = jnp.minimum(segment, rows - 1)
    per_edge = [c[place] if b else c for c, b in zip(cs, batched, strict=True)]
    axes = [0 if b else None for b in batched]
    over: Any = jax.vmap(lambda x, cs: call(x, value, cs), in_axes=(0, axes), axis_size=len(segment))
    return over(children, per_edge)


def _over_edges(
    how: str, call: Any, segment: Any, children: Any, cs: list[Any], batched: list[bool], zeros: Any, rows: int
) -> Any:
    """Every row's reduction at once. `zeros` has a row's value for no child; `cs` have a row's where `batched`."""
    if how == "fold":
        return _fold_segments(call, segment, children, cs, batched, zeros, rows)
    mapped = _at_edges(call, segment, children, cs, batched, jax.tree.map(lambda z: z[0], zeros), rows)
    degree = jax.ops.segment_sum(jnp.ones_like(segment), segment, rows, indices_are_sorted=True)

    def reduced(y: Any, zero: Any) -> Any:
        over = jax.ops.segment_max if how == "max" else jax.ops.segment_sum
        found = over(y, segment, rows, indices_are_sorted=True)
        shape = (rows, *[1] * (y.ndim - 1))
        if how == "mean":
            found = found / jnp.maximum(degree, 1).reshape(shape).astype(found.dtype)
        return jnp.where((degree > 0).reshape(shape), found, zero)

    return jax.tree.map(reduced, mapped, zeros)


def _fold_segments(
    call: Any, segment: Any, children: Any, cs: list[Any], batched: list[bool], zeros: Any, rows: int
) -> Any:
    """A list fold of each row's children, from the last: one scan of the edges, starting anew in each segment."""
    last = jnp.concatenate([segment[1:] != segment[:-1], jnp.ones(1, bool)])
    place = jnp.minimum(segment, rows - 1)
    shared = [c for c, b in zip(cs, batched, strict=True) if not b]

    def step(value: Any, edge: Any) -> Any:
        is_last, child, start, own = edge
        mine, others = iter(own), iter(shared)
        value = jax.tree.map(lambda v, s: jnp.where(is_last, s, v), value, start)
        value = call(child, value, [next(mine) if b else next(others) for b in batched])
        return value, value

    starts = jax.tree.map(lambda z: z[place], zeros)
    own = [c[place] for c, b in zip(cs, batched, strict=True) if b]
    begin = jax.tree.map(lambda z: z[0], zeros)
    _, values = jax.lax.scan(step, begin, (last, children, starts, own), reverse=True)
    first = jnp.concatenate([jnp.ones(1, bool), segment[1:] != segment[:-1]])
    target = jnp.where(first, segment, rows)
    return jax.tree.map(lambda z, v: z.at[target].set(v, mode="drop"), zeros, values)


def _shapes(value: Any) -> Any:
    return jax.tree.map(lambda x: shaped(jnp.shape(x), jnp.result_type(x)), value)


def _like(value: Any, zero: Any, how: str) -> Any:
    """The mapped child with the types of `zero`, which is what stands where there is no child."""
    value = jax.tree.map(jnp.asarray, value)
    same: bool = str(jax.tree.structure(value)) == str(jax.tree.structure(zero))
    if not same or any(jnp.shape(v) != jnp.shape(z) for v, z in zip(*map(jax.tree.leaves, (value, zero)), strict=True)):
        raise CarrierMismatch(
            f"a `Many` is reduced by `{how}` from {eqx.tree_pformat(value)} to {eqx.tree_pformat(zero)}: give `zero` "
            "the structure and shapes of one mapped child."
        )
    return jax.tree.map(lambda v, z: v.astype(jnp.result_type(v, z) if how == "mean" else z.dtype), value, zero)
