"""`Many` inside `fold`: the children of one node, among the edges of a whole chunk.

An algebra is traced for one node. Each reduction is an operation that knows two meanings: for one node, a reduction
over its own edges; for the rows of a chunk, under `vmap`, one segment operation over all the edges (`_segments`). What
the mapped function uses of the row it stands in becomes an argument of it, and is spread over the row's edges.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jax.extend.core import ClosedJaxpr

from ..._functors import Cons, Nil
from ..._functors.attention import apart, around, as_score, by_heads, centre, narrowed, near, weight, widened
from ..._functors.items import as_number, expect_like, flipped, UNSET, weaken
from ..._schemes.algebras import name_of
from ...errors import CarrierMismatch
from ..arrays._carrier import advice, carried, Carrier, cast, own_of
from ..arrays.shapes import is_weak, shaped, weak_as
from ..jaxprs._jaxprs import emptied, opened, renamed
from ._program import over
from ._segments import at_edges, over_edges


@dataclass(frozen=True)
class Edges:
    """The edges of a chunk in one group, as seen from one row.

    `row` is the row's number in the chunk; `segment` each edge's row, or the number of rows for no edge; `children`
    the state at the end of each edge.
    """

    row: Any
    segment: Any
    children: Any

    def count(self) -> jax.Array:
        return weaken(self._run("sum", lambda x, _: jnp.int32(1)))

    def expect(self, how: str, each: Callable[[Any], Any], zero: Any) -> None:
        expect_like(how, own_of(each, self.child).shapes, zero)

    def reduce(self, how: str, each: Callable[[Any], Any], zero: Any) -> Any:
        self.expect(how, each, zero)
        if how == "min":
            turned: Callable[[Any], Any] = lambda x: jax.tree.map(flipped, jax.tree.map(jnp.asarray, each(x)))
            return jax.tree.map(flipped, self._run("max", lambda x, _: turned(x)))
        if how == "prod":
            times: Callable[[Any, Any], Any] = lambda x, y: jax.tree.map(lambda a, b: as_number(a) * b, x, y)
            return self.run(how, each, times, lambda x: jax.tree.map(lambda a: jnp.ones_like(as_number(a)), x))
        number = jnp.asarray if how == "max" else as_number
        found = self._run("max" if how == "max" else "sum", lambda x, _: jax.tree.map(number, each(x)))
        return found if how != "mean" else jax.tree.map(lambda x: x / self.count(), found)

    def attend(self, each: Callable[[Any], Any], score: Callable[[Any], Any], zero: Any) -> Any:
        self.expect("attend", each, zero)
        scored: Callable[[Any], Any] = lambda x: score(each(x))
        highest = self._run("max", lambda x, _: jax.lax.stop_gradient(as_score(scored(x), heads=True)))

        def own(child: Any) -> Any:
            return weight(as_score(score(child), heads=True), highest)

        def before(x: Any, _: Any) -> Any:
            child = each(x)
            return own(child), near(own(child), widened(child))

        total, parts = jax.lax.stop_gradient(self._run("sum", before))
        middle = centre(parts)

        def relative(x: Any, _: Any) -> Any:
            child = each(x)
            share = own(child) / total
            return share, apart(share, widened(child), middle)

        one, mean = self._run("sum", relative)  # 1 up to rounding, and with the gradient of the sum of all weights
        mean = jax.tree.map(lambda x: by_heads(1 / one, x) if one.ndim else x / one, mean)
        return narrowed(around(middle, mean), own_of(each, self.child).shapes)

    def fold(self, each: Callable[[Any], Any], algebra: Callable[[Any], Any]) -> Any:
        step: Callable[[Any, Any], Any] = lambda x, value: algebra(Cons(each(x), value))
        start = algebra(Nil())
        return self._carried(step, start, functools.partial(_mismatch, algebra))

    def run(self, how: str, each: Callable[[Any], Any], step: Callable[[Any, Any], Any], start: Any) -> Any:
        """`step(x₁, … step(xₙ, start(x)))`, with a first value made from any child."""
        shapes = own_of(each, self.child).shapes
        expect_like(how, shapes, UNSET)
        like = jax.tree.map(lambda s: weak_as(jnp.zeros(s.shape, s.dtype), s), shapes)
        return self._carried(lambda x, value: step(each(x), value), start(like), functools.partial(_unlike, how))

    def _carried(self, step: Callable[[Any, Any], Any], start: Any, why: Callable[..., CarrierMismatch]) -> Any:
        """A list fold from the last child. `why`: the error where the value changes its type on the way."""
        first = Carrier.of(start)
        mismatch = functools.partial(why, first)
        form = carried(first, lambda value: own_of(step, self.child, value), mismatch).shapes
        typed: Callable[[Any, Any], Any] = lambda x, value: jax.tree.map(cast, step(x, value), form)
        return self._run("fold", typed, jax.tree.map(cast, start, form), form)

    def each(self, f: Callable[[Any], Any]) -> Any:
        """`f` of every child in the chunk, not only of this row's: for each leaf an array `(edges, …)`."""
        call, case, _ = self._converted(lambda x, _: jax.tree.map(jnp.asarray, f(x)), None)
        return _at_all_edges(call, case)(self.row, None, self.segment, self.children, list(case.consts))

    @property
    def child(self) -> Any:
        """The shapes of one child."""
        return jax.tree.map(lambda x: shaped(x.shape[1:], x.dtype, is_weak(x)), self.children)

    def _run(self, how: str, step: Callable[[Any, Any], Any], start: Any = None, form: Any = None) -> Any:
        """The reduction of `step(child, value)`, as an operation with a rule for rows. `start` is the value that a list
        fold begins with, and `form` its shapes."""
        call, case, types = self._converted(step, form)
        operation = _operation(how, call, case)
        found = operation(self.row, start, self.segment, self.children, list(case.consts))
        return jax.tree.map(weak_as, found, types)

    def _converted(self, step: Callable[[Any, Any], Any], value: Any) -> tuple[Any, ClosedJaxpr, Any]:
        """Three things: the step as a function `call(child, value, consts)`; its jaxpr, whose constants are these
        `consts`; and the shapes of its outputs. A constant may differ between rows, or be the same for all."""
        found: list[Any] = []

        def leaves(x: Any, v: Any) -> list[Any]:
            out, structure = jax.tree.flatten(step(x, v))
            found.append(structure)
            return out

        case = renamed(jax.make_jaxpr(leaves)(self.child, value))
        run = opened(case)

        def call(x: Any, v: Any, cs: list[Any]) -> Any:
            return jax.tree.unflatten(found[0], run(*cs, *jax.tree.leaves((x, v))))

        return call, case, jax.tree.unflatten(found[0], case.out_avals)


def _operation(how: str, call: Callable[[Any, Any, list[Any]], Any], case: ClosedJaxpr | None) -> Callable[..., Any]:
    """A reduction as an operation on a row's number, the first value, the edges' rows, the children, and what the step
    uses of its surroundings. `case`: the step's jaxpr, by which it is computed for rows of several constructors.

    Its rule has the `reduction`, by which programs are compared, and a function that makes the same reduction of
    another step (`remade`).
    """

    def alone(row: jax.Array, start: Any, segment: jax.Array, children: Any, cs: list[Any]) -> Any:
        own = jnp.where(segment == row, 0, 1)
        starts = jax.tree.map(lambda z: jnp.asarray(z)[None], start)
        out = over_edges(how, call, own, children, cs, [False] * len(cs), starts, 1)
        return jax.tree.map(lambda x: x[0], out)

    at_node = custom_vmap(alone)

    @at_node.def_vmap
    def at_rows(
        rows: int, batched: list[Any], row: jax.Array, start: Any, segment: jax.Array, children: Any, cs: list[Any]
    ) -> Any:
        # all rows have the same edges. Around the operation, as in `lax.cond`, each row may have its copy of the
        # children, equal in value and not in derivative
        segment = segment[0] if batched[2] else segment
        starts = jax.tree.map(lambda z, b: z if b else jnp.broadcast_to(z, (rows, *jnp.shape(z))), start, batched[1])
        axes: Any = jax.tree.map(lambda b: 0 if b else None, batched)
        if over.get() == "rows":
            at = jnp.minimum(segment, rows - 1), jnp.arange(len(segment))
            children = jax.tree.map(lambda x, b: x[at] if b else x, children, batched[3])
            out = over_edges(how, call, segment, children, cs, batched[4], starts, rows)
        elif over.get() == "edges":  # a reduction inside the function of another: for each of its edges, one by itself
            each: Any = jax.vmap(
                lambda row, start, children, cs: alone(row, start, segment, children, cs),
                in_axes=(axes[0], 0, *axes[3:]),
                axis_size=rows,
            )
            out = each(row, starts, children, cs)
        else:  # a `vmap` that the algebra has inside
            children = jax.tree.map(lambda x, b: jnp.moveaxis(x, 0, 1) if b else x, children, batched[3])
            wide: Any = jax.vmap(lambda v, x, cs: call(x, v, cs), in_axes=(0, *axes[3:]), axis_size=rows)
            again = _operation(how, lambda x, v, cs: wide(v, x, cs), None)
            out = again(row[0] if batched[0] else row, starts, segment, children, cs)
        return out, jax.tree.map(lambda _: True, out)

    vars(at_rows).update(reduction=how, remade=functools.partial(_operation, how, case=None))
    if case is not None:
        starts = len(case.jaxpr.outvars) if how == "fold" else 0
        vars(at_rows).update(step=emptied(case), starts=starts, consts=len(case.consts))
    return at_node


def _at_all_edges(call: Callable[[Any, Any, list[Any]], Any], case: ClosedJaxpr | None = None) -> Callable[..., Any]:
    """What `Edges.each` gives, as an operation with the arguments of `_operation`: there is no first value."""

    @custom_vmap
    def at_node(row: jax.Array, start: None, segment: jax.Array, children: Any, cs: list[Any]) -> Any:
        return jax.vmap(lambda x: call(x, None, cs), axis_size=len(segment))(children)

    @at_node.def_vmap
    def at_rows(
        rows: int, batched: list[Any], row: jax.Array, start: None, segment: jax.Array, children: Any, cs: list[Any]
    ) -> Any:
        out = at_edges(call, segment, children, cs, batched[4], None, rows)
        return out, jax.tree.map(lambda _: False, out)

    vars(at_rows).update(reduction="each", remade=_at_all_edges)
    if case is not None:
        vars(at_rows).update(step=emptied(case), starts=0, consts=len(case.consts))
    return at_node


def _unlike(how: str, first: Carrier, found: Carrier, *types: Any) -> CarrierMismatch:
    return CarrierMismatch(
        f"a `Many` is reduced by `{how}`, and its value is {first} before the first child, and {found} after it. "
        f"{advice(*types)}"
    )


def _mismatch(algebra: Callable[[Any], Any], first: Carrier, found: Carrier, *types: Any) -> CarrierMismatch:
    return CarrierMismatch(
        f"a `Many` is folded by `{name_of(algebra)}`, which is not an algebra of lists: at `Nil` its value is "
        f"{first}, and at `Cons` {found}. {advice(*types)}"
    )
