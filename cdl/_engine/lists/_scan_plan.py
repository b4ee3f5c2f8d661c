"""The plan of a reverse pass in two: through the states first, over the weights afterwards.

A step is `h' = rest(w, ahead(w, x), h)`, cut by `split` where the state comes in. Each equation of `rest` that reads a
weight is *tapped*: its value is taken for a separate input, `y = f(w, u) + tap`. So a step's cotangents are

| the cotangent of … | where it goes                          | when                                              |
| ------------------ | -------------------------------------- | ------------------------------------------------- |
| the state `h`      | to the step before                     | pass 1: one step at a time                        |
| each tap           | to the weights `w` of its `f`          | pass 2: all steps of a block in one product       |
| what `ahead` gives | to `x`, and to the weights of `ahead`  | pass 2: the same                                  |

No weight and no gradient of a weight is read or written where steps wait for each other, but for the products through
which the state itself goes back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import JaxprEqn, Literal

from ..arrays.shapes import is_smooth, shaped
from ..jaxprs._keep import to_keep
from ..jaxprs._parts import cut, equation, Part, split, trace, variables
from ._scan_case import Case


@dataclass(frozen=True)
class Tap:
    """An equation that reads weights: which, which of the values that are found again, and which cotangents come in."""

    run: Callable[..., list[Any]]
    operands: list[tuple[str, Any]]  # `weight` and its number, `found` and its number, or `unused` and its shape
    outputs: list[int]  # which outputs have a cotangent
    given: list[int]  # the number of each one's cotangent

    def pull(self, weights: Sequence[Any], found: Sequence[Any], given: dict[int, Any]) -> dict[int, Any]:
        """The cotangent of each weight, from rows of values and of cotangents."""
        numbers = [at for kind, at in self.operands if kind == "weight"]
        rows = [found[at] for kind, at in self.operands if kind == "found"]
        count = given[self.given[0]].shape[0]

        def of(ws: list[Any]) -> list[Any]:
            def one(_: Any, row: list[Any]) -> list[Any]:
                mine, others = iter(ws), iter(row)
                values = {"weight": lambda _: next(mine), "found": lambda _: next(others), "unused": _zeros}
                out = self.run(*(values[kind](at) for kind, at in self.operands))
                return [out[i] for i in self.outputs]

            return list(jax.vmap(one)(jnp.arange(count), rows))

        _, back = jax.vjp(of, [weights[i] for i in numbers])
        return dict(zip(numbers, back([given[i] for i in self.given])[0], strict=True))


class Plan:
    """The parts of a step for the passes, for the weights that have a cotangent.

    | the part    | from                                    | to                                             |
    | ----------- | --------------------------------------- | ---------------------------------------------- |
    | `forward`   | weights, element, state                 | the next state, and what is kept               |
    | `again`     | the same, next state, what was kept     | what `back` reads                              |
    | `found`     | the same                                | what the taps read                             |
    | `back`      | weights, that, the state's cotangent    | cotangents of the state, `ahead` and the taps  |
    """

    def __init__(self, case: Case, wanted: Sequence[bool]) -> None:
        self.case, self.smooth = case, case.smooth
        self.ahead, rest = split(case.step, case.elements)
        self.rises = [is_smooth(v) for v in self.ahead.outputs]  # which have a cotangent
        weighed = {v: i for i, v in enumerate(rest.jaxpr.invars[: rest.shared]) if wanted[i]}
        tapped = [e for e in rest.jaxpr.eqns if any(v in weighed for v in variables(e))]
        read = list(dict.fromkeys(v for e in tapped for v in _read_by(rest, e, weighed)))
        joint, self.more = trace(self._joint(rest, tapped, read), *case.step.inputs, *self._given())
        joint = Part(joint.jaxpr, len(self.more) + rest.shared)
        self._cut(joint, len(read))
        self.taps = [self._tap(rest, e, weighed, read, tapped) for e in tapped]

    def _given(self) -> list[Any]:
        return [shaped(x.shape, x.dtype) for x, yes in zip(self.case.states, self.smooth, strict=True) if yes]

    def _joint(self, rest: Part, tapped: list[Any], read: list[Any]) -> Callable[..., list[Any]]:
        """A step and its cotangents as one function: next state, what taps read, and the cotangents."""
        shared, elements, states = rest.shared, self.case.elements, len(self.case.states)

        def joint(*inputs: Any) -> list[Any]:
            weights, row = inputs[:shared], inputs[shared : shared + elements]
            state, given = inputs[shared + elements :][:states], inputs[shared + elements + states :]
            between = self.ahead(*weights, *row)
            taps = [[_zeros(o.aval) for o in e.outvars if is_smooth(o.aval)] for e in tapped]

            def of(moved: Any) -> Any:
                z, h, taps = moved
                inner = [*weights, *_merged(z, between, self.rises), *_merged(h, state, self.smooth)]
                out, seen = _tapped(rest, inner, dict(zip(map(id, tapped), taps, strict=True)))
                return _those(out, self.smooth), (out, [seen[v] for v in read])

            moved = (_those(between, self.rises), _those(state, self.smooth), taps)
            _, back, (out, seen) = jax.vjp(of, moved, has_aux=True)
            z, h, taps = back(list(given))[0]
            return [*out, *seen, *h, *z, *(t for some in taps for t in some)]

        return joint

    def _cut(self, joint: Part, read: int) -> None:
        """The joint function cut into the parts of the passes."""
        states, falls = len(self.case.states), sum(self.smooth)
        inputs, outputs = joint.jaxpr.invars, joint.jaxpr.outvars
        before, given = inputs[: len(inputs) - falls], inputs[len(inputs) - falls :]
        early = len(before) - joint.shared
        after, found, down = outputs[:states], outputs[states : states + read], outputs[states + read :]
        self.distinct = list({id(v): v for v in down}.values())
        number = {id(v): i for i, v in enumerate(self.distinct)}
        self.down = [number[id(v)] for v in down]
        find, self.back = split(cut(joint, [*before, *given], self.distinct), early)
        needed = [*find.jaxpr.outvars, *(v for v in found if not isinstance(v, Literal))]
        made = {id(v) for e in joint.jaxpr.eqns for v in e.outvars}
        self.known = [i for i, v in enumerate(after) if id(v) in made and after.index(v) == i]
        free = [after[i] for i in self.known]
        kept = [v for v in to_keep(cut(joint, before, [*needed, *free]), needed, free) if v not in free]
        self.forward = cut(joint, before, [*after, *kept])
        self.again = cut(joint, [*before, *free, *kept], find.jaxpr.outvars)
        self.found = cut(joint, [*before, *free, *kept], found)
        self.kept = [shaped(v.aval.shape, v.aval.dtype) for v in kept]

    def _tap(self, rest: Part, eqn: JaxprEqn, weighed: dict[Any, int], read: list[Any], tapped: list[Any]) -> Tap:
        used = _read_by(rest, eqn, weighed)
        operands: list[tuple[str, Any]] = []
        for v in variables(eqn):
            if v in weighed:
                operands.append(("weight", weighed[v]))
            else:
                operands.append(("found", read.index(v)) if v in used else ("unused", v.aval))
        first = sum(self.smooth) + sum(self.rises)
        for other in tapped[: tapped.index(eqn)]:
            first += sum(is_smooth(o.aval) for o in other.outvars)
        outputs = [i for i, o in enumerate(eqn.outvars) if is_smooth(o.aval)]
        return Tap(equation(rest, eqn), operands, outputs, self.down[first : first + len(outputs)])


def _read_by(part: Part, eqn: JaxprEqn, weighed: dict[Any, int]) -> list[Any]:
    """The operands that the cotangents of an equation's weights depend on."""
    of = variables(eqn)
    run = equation(part, eqn)
    outputs = [i for i, o in enumerate(eqn.outvars) if is_smooth(o.aval)]

    def pulled(*inputs: Any) -> list[Any]:
        operands, given = list(inputs[: len(of)]), inputs[len(of) :]

        def at(ws: list[Any]) -> list[Any]:
            mine = iter(ws)
            out = run(*(next(mine) if v in weighed else x for v, x in zip(of, operands, strict=True)))
            return [out[i] for i in outputs]

        return list(jax.vjp(at, [x for v, x in zip(of, operands, strict=True) if v in weighed])[1](list(given))[0])

    avals: list[Any] = [v.aval for v in (*of, *(eqn.outvars[i] for i in outputs))]
    shapes = [shaped(x.shape, x.dtype) for x in avals]
    jaxpr = trace(pulled, *shapes)[0].jaxpr
    inputs = jaxpr.invars[len(jaxpr.invars) - len(shapes) :]
    used = {v for e in jaxpr.eqns for v in variables(e)} | {v for v in jaxpr.outvars if not isinstance(v, Literal)}
    return [v for v, x in zip(of, inputs, strict=False) if x in used and v not in weighed]


def _tapped(rest: Part, inputs: list[Any], taps: dict[int, list[Any]]) -> tuple[list[Any], dict[Any, Any]]:
    """A part's outputs with the taps added to its tapped equations, and the value of every variable."""
    seen: dict[Any, Any] = dict(zip(rest.jaxpr.invars, inputs, strict=True))
    for eqn in rest.jaxpr.eqns:
        out = equation(rest, eqn)(*(seen[v] for v in variables(eqn)))
        more = iter(taps.get(id(eqn), []))
        if id(eqn) in taps:
            out = [x + next(more) if is_smooth(o.aval) else x for x, o in zip(out, eqn.outvars, strict=True)]
        seen.update(zip(eqn.outvars, out, strict=True))
    return [v.val if isinstance(v, Literal) else seen[v] for v in rest.jaxpr.outvars], seen


def _zeros(x: Any) -> Any:
    return jnp.zeros(x.shape, x.dtype)


def _those(values: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    return [x for x, yes in zip(values, which, strict=True) if yes]


def _merged(some: Sequence[Any], values: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    """The values, with those that are wanted in their places."""
    others = iter(some)
    return [next(others) if yes else x for x, yes in zip(values, which, strict=True)]
