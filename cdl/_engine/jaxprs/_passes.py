"""A function of a row and its derivative, cut into passes: the least is kept, and no product of the row is made twice.

The function is `out = rest(w, ahead(w, x), h)`, cut by `split` where what comes late comes in: the state of a scan's
step, or all that a node reads. Each equation of `rest` that reads a weight is *tapped*: its value is taken for a
separate input, `y = f(w, u) + tap`. So the cotangents are

| the cotangent of … | where it goes                          | when                                              |
| ------------------ | -------------------------------------- | ------------------------------------------------- |
| what is late, `h`  | to the step before, or to the node's   | pass 1: a step or a chunk at a time               |
|                    | parent or children                     |                                                   |
| each tap           | to the weights `w` of its `f`          | pass 2: all rows at hand in one product           |
| what `ahead` gives | to `x`, and to the weights of `ahead`  | pass 2: the same                                  |

So in a scan no gradient of a weight is read or written where steps wait for each other. What is kept is found by
`_keep`. A loop, a branch or a rule is one equation here: where it reads weights, pass 2 runs it again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import jaxpr_as_fun, JaxprEqn, Literal

from ..arrays._rows import DIFFERENTIATED, masked
from ..arrays.shapes import Arrays, is_smooth, shaped
from ._jaxprs import bind, evaluated, variables
from ._keep import made, to_keep
from ._parts import cut, equation, Part, split, trace
from ._reach import Reach, reach


Tapped = tuple[JaxprEqn, list[int]]  # an equation, and which of its outputs have a cotangent
Found = Arrays | dict[int, Any]  # what `back` gives, or some of it, by number


@dataclass(frozen=True)
class Tap:
    """An equation that reads weights: which, which of the values that are found again, and which cotangents come in."""

    run: Callable[..., list[Any]]
    operands: list[tuple[str, Any]]  # `weight` and its number, `found` and its number, or `unused` and its shape
    outputs: list[int]  # which outputs have a cotangent
    given: list[int]  # the number of each one's cotangent

    def pull(self, weights: Sequence[Any], found: Sequence[Any], given: Found) -> dict[int, Any]:
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


class Passes:
    """The parts of a function for its passes.

    | the part    | from                                    | to                                             |
    | ----------- | --------------------------------------- | ---------------------------------------------- |
    | `forward`   | weights, early and late inputs          | outputs, and what is kept                      |
    | `again`     | the same, `known` outputs, what was kept | what `back` reads                             |
    | `found`     | the same                                | what the taps read                             |
    | `back`      | weights, that, cotangents of outputs    | cotangents of what is late, `ahead`, the taps  |

    **Arguments:** `early`: how many of a row's inputs are early. `wanted`: which weights have a cotangent. `free`: the
    outputs, by number, that are at hand in reverse. `known` are those of them that are computed and may be read there.
    """

    def __init__(self, whole: Part, early: int, wanted: Sequence[bool], free: Sequence[int]) -> None:
        self.whole = whole = _computed(whole)
        self.ahead, rest = split(whole, early)
        self.rises = _smooth(self.ahead.outputs)  # which have a cotangent, and so with the others
        self.late = _smooth(whole.inputs[whole.shared + early :])
        self.smooth = _smooth(whole.outputs)
        weighed = {v: i for i, v in enumerate(rest.jaxpr.invars[: rest.shared]) if wanted[i]}
        self.reached = reach(rest.jaxpr, range(len(self.smooth)))  # by what has a derivative
        reads = [e for e in rest.jaxpr.eqns if not weighed.keys().isdisjoint(variables(e.invars))]
        each = [(e, [i for i, v in enumerate(e.outvars) if v in self.reached]) for e in reads]
        tapped = [(e, outputs) for e, outputs in each if outputs]
        read = list(dict.fromkeys(v for e, outputs in tapped for v in _read_by(rest, e, outputs, weighed)))
        given = [x for x, yes in zip(whole.outputs, self.smooth, strict=True) if yes]
        shapes = [*whole.inputs, *(shaped(x.shape, x.dtype) for x in given)]
        joint, self.more = trace(self._joint(rest, early, tapped, read), *shapes)
        self._cut(Part(joint.jaxpr, len(self.more) + rest.shared), len(given), len(read), free)
        self.taps = self._taps(rest, weighed, read, tapped)

    def to_late(self, found: Arrays) -> Arrays:
        """Of what `back` gives, the cotangents of what is late."""
        return [found[i] for i in self.down[: sum(self.late)]]

    def to_ahead(self, found: Found) -> Arrays:
        """Of what `back` gives, the cotangents of what `ahead` gives."""
        first = sum(self.late)
        return [found[i] for i in self.down[first : first + sum(self.rises)]]

    def to_weights(self, weights: Arrays, read: Arrays, found: Found) -> dict[int, jax.Array]:
        """The cotangents of the weights by number, those of `ahead` left out. `read`: what `found` gives at some rows;
        `found`: what `back` gives at these."""
        sums: dict[int, jax.Array] = {}
        for tap in self.taps:
            for i, x in tap.pull(weights, read, found).items():
                sums[i] = sums[i] + x if i in sums else x
        return sums

    def _joint(self, rest: Part, early: int, tapped: list[Tapped], read: list[Any]) -> Callable[..., list[Any]]:
        """The function and its cotangents as one: outputs, what taps read, and the cotangents."""
        shared, count, masks = rest.shared, len(self.whole.inputs), _masks(rest, tapped)

        def joint(*inputs: Any) -> list[Any]:
            weights, row = inputs[:shared], inputs[shared : shared + early]
            late, given = inputs[shared + early : count], inputs[count:]
            between = self.ahead(*weights, *row)
            taps = [[_zeros(e.outvars[i].aval) for i in outputs] for e, outputs in tapped]

            def of(moved: Any) -> Any:
                z, h, taps = moved
                inner = [*weights, *_merged(z, between, self.rises), *_merged(h, late, self.late)]
                each = zip(tapped, taps, strict=True)
                named = {id(e): dict(zip(outputs, own, strict=True)) for (e, outputs), own in each}
                out, seen = _tapped(rest, inner, named, self.reached)
                to_taps = [masked(seen[masks[v]], seen[v]) if v in masks else seen[v] for v in read]
                return _those(out, self.smooth), (out, to_taps)

            moved = (_those(between, self.rises), _those(late, self.late), taps)
            _, back, (out, seen) = jax.vjp(of, moved, has_aux=True)
            z, h, taps = back(list(given))[0]
            return [*out, *seen, *h, *z, *(t for some in taps for t in some)]

        return joint

    def _cut(self, joint: Part, falls: int, read: int, free: Sequence[int]) -> None:
        """The joint function cut into the parts of the passes."""
        inputs, outputs, outs = joint.jaxpr.invars, joint.jaxpr.outvars, len(self.smooth)
        before, given = inputs[: len(inputs) - falls], inputs[len(inputs) - falls :]
        after, found, down = outputs[:outs], outputs[outs : outs + read], outputs[outs + read :]
        self.distinct = list({id(v): v for v in down}.values())
        number = {id(v): i for i, v in enumerate(self.distinct)}
        self.down = [number[id(v)] for v in down]
        find, self.back = split(cut(joint, [*before, *given], self.distinct), len(before) - joint.shared)
        needed = [*find.jaxpr.outvars, *(v for v in found if not isinstance(v, Literal))]
        at_hand = made(joint, [after[i] for i in free])
        self.known = [next(i for i in free if after[i] is v) for v in at_hand]
        kept = to_keep(cut(joint, before, [*needed, *at_hand]), needed, at_hand)
        kept = [v for v in kept if v not in at_hand and not jnp.issubdtype(v.aval.dtype, jax.dtypes.extended)]
        self.forward = cut(joint, before, [*after, *kept])
        self.again = cut(joint, [*before, *at_hand, *kept], find.jaxpr.outvars)
        self.found = cut(joint, [*before, *at_hand, *kept], found)
        self.kept = [shaped(v.aval.shape, v.aval.dtype) for v in kept]

    def _taps(self, rest: Part, weighed: dict[Any, int], read: list[Any], tapped: list[Tapped]) -> list[Tap]:
        found, first = [], sum(self.late) + sum(self.rises)
        for eqn, outputs in tapped:
            used = _read_by(rest, eqn, outputs, weighed)
            operands: list[tuple[str, Any]] = []
            for v in variables(eqn.invars):
                if v in weighed:
                    operands.append(("weight", weighed[v]))
                else:
                    operands.append(("found", read.index(v)) if v in used else ("unused", v.aval))
            found.append(Tap(equation(rest, eqn), operands, outputs, self.down[first : first + len(outputs)]))
            first += len(outputs)
        return found


def _computed(whole: Part) -> Part:
    """The function with a copy of each weight that it gives as it is: the cotangents of weights are gathered where they
    are read (`Tap`), so it reads those that it gives."""
    weights = whole.jaxpr.invars[: whole.shared]
    handed = [any(v is w for w in weights) for v in whole.jaxpr.outvars]
    if not any(handed):
        return whole

    def copied(*inputs: Any) -> list[Any]:
        return [jnp.copy(x) if yes else x for x, yes in zip(whole(*inputs), handed, strict=True)]

    return Part(trace(copied, *whole.inputs)[0].jaxpr, whole.shared)


def _masks(rest: Part, tapped: list[Tapped]) -> dict[Any, Any]:
    """Operands of tapped products that have a gate, and whether it is open: where it is not, they are zeros to the
    weights, as they may be infinite."""
    gates = {e.outvars[0]: e.invars[0] for e in rest.jaxpr.eqns if e.primitive is DIFFERENTIATED}
    products = [e for e, _ in tapped if e.primitive.name in ("dot_general", "conv_general_dilated")]
    return {v: gates[v] for e in products for v in variables(e.invars) if v in gates}


def _read_by(part: Part, eqn: JaxprEqn, outputs: list[int], weighed: dict[Any, int]) -> list[Any]:
    """The operands that the cotangents of an equation's weights depend on."""
    of = variables(eqn.invars)
    run = equation(part, eqn)

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
    used = {v for e in jaxpr.eqns for v in variables(e.invars)} | set(variables(jaxpr.outvars))
    return [v for v, x in zip(of, inputs, strict=False) if x in used and v not in weighed]


def _tapped(
    rest: Part, inputs: list[Any], taps: dict[int, dict[int, Any]], reached: Reach
) -> tuple[list[Any], dict[Any, Any]]:
    """A part's outputs with the taps added to its tapped equations, and the value of every variable."""

    def step(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
        outputs = [i for i, v in enumerate(eqn.outvars) if v in reached]
        out = _by_branch(eqn, values, outputs) if outputs and eqn.primitive.name == "cond" else bind(eqn, values)
        own = taps.get(id(eqn), {})
        return [x + own[i] if i in own else x for i, x in enumerate(out)]

    return evaluated(rest.jaxpr, inputs, step)


def _by_branch(eqn: JaxprEqn, values: Sequence[Any], outputs: Sequence[int]) -> list[Any]:
    """A choice among branches, whose derivative each branch computes by itself, from the cotangents of these outputs.
    JAX's has a branch hand on what its derivative reads, weights and all, and every row would have a copy of these."""
    branches = [jaxpr_as_fun(branch) for branch in eqn.params["branches"]]
    run: Any = lambda index, *given: list(lax.switch(index, branches, *given))
    taken = jax.custom_vjp(run)

    def backward(inputs: list[Any], to_outputs: list[Any]) -> tuple[Any, ...]:
        index, *given = inputs
        smooth = _smooth(given)

        def pull(branch: Any) -> Callable[[], list[Any]]:
            def at(some: list[Any]) -> list[Any]:
                out = branch(*_merged(some, given, smooth))
                return [out[i] for i in outputs]

            return lambda: list(jax.vjp(at, _those(given, smooth))[1]([to_outputs[i] for i in outputs])[0])

        found = iter(lax.switch(index, list(map(pull, branches))))
        return None, *(next(found) if yes else None for yes in smooth)

    taken.defvjp(lambda *inputs: (run(*inputs), list(inputs)), backward)
    return list(taken(*map(jnp.asarray, values)))


def _smooth(shapes: Sequence[Any]) -> list[bool]:
    return list(map(is_smooth, shapes))


def _zeros(x: Any) -> Any:
    return jnp.zeros(x.shape, x.dtype)


def _those(values: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    return [x for x, yes in zip(values, which, strict=True) if yes]


def _merged(some: Sequence[Any], values: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    """The values, with those that are wanted in their places."""
    others = iter(some)
    return [next(others) if yes else x for x, yes in zip(values, which, strict=True)]
