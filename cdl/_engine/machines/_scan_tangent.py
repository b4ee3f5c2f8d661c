"""The derivative of one step, taken apart.

| the part  | from                                                                | to                                |
| --------- | ------------------------------------------------------------------- | --------------------------------- |
| `forward` | weights, a row, the state                                           | what the step gives, what is kept |
| `first`   | weights and their tangents, a row and its, the state, what is known | what `second` reads               |
| `second`  | weights and their tangents, that, the state's tangent               | the tangents of what it gives     |

What is known are the outputs of `forward`.
"""

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import Literal

from ..arrays.shapes import is_smooth
from ..jaxprs._jaxprs import variables
from ..jaxprs._keep import made, to_keep
from ..jaxprs._parts import cut, Part, split, trace


class Tangent:
    """The parts, for those weights, leaves of a row and of the state that have a tangent.

    `apart` says whether there are such parts: there are none where one equation of the step, such as a loop, gives both
    a value and its tangent.
    """

    def __init__(self, step: Part, weights: Sequence[bool], row: Sequence[bool], state: Sequence[bool]) -> None:
        moves = [*weights, *row, *state]
        tangents = [x for x, yes in zip(step.inputs, moves, strict=True) if yes]
        joint, more = trace(_with_tangents(step, moves), *step.inputs, *tangents)
        inputs = joint.jaxpr.invars[len(more) :]
        values, moved = inputs[: len(moves)], inputs[len(moves) :]
        outputs = len(step.jaxpr.outvars)
        out, to_out = joint.jaxpr.outvars[:outputs], joint.jaxpr.outvars[outputs:]
        needed, depend = _beside(joint, moved)
        self.apart = not more and not any(v in depend for v in out if not isinstance(v, Literal))
        if self.apart:
            plain, free = Part(joint.jaxpr, step.shared), made(joint, out)
            kept = [v for v in to_keep(cut(plain, values, [*needed, *free]), needed, free) if v not in free]
            self.forward = cut(plain, values, [*out, *kept])
            self.known = [[*out, *kept].index(v) for v in [*free, *kept]]
            shared = [*values[: step.shared], *moved[: sum(weights)]]
            falls = len(moved) - sum(state)
            early = [*values[step.shared :], *free, *kept, *moved[sum(weights) : falls]]
            linear = cut(Part(joint.jaxpr, len(shared)), [*shared, *early, *moved[falls:]], to_out)
            self.first, self.second = split(linear, len(early))


def _with_tangents(step: Part, moves: Sequence[bool]) -> Any:
    """A step and its derivative as one function: the outputs, and the tangents of those that have one."""

    def joint(*inputs: Any) -> list[Any]:
        values, moved = inputs[: len(moves)], inputs[len(moves) :]

        def of(some: list[Any]) -> Any:
            each = iter(some)
            out = step(*(next(each) if yes else x for x, yes in zip(values, moves, strict=True)))
            return [x for x in out if is_smooth(x)], out

        some = [x for x, yes in zip(values, moves, strict=True) if yes]
        _, to_out, out = jax.jvp(of, (some,), (list(moved),), has_aux=True)
        return [*out, *to_out]

    return joint


def _beside(part: Part, moved: Sequence[Any]) -> tuple[list[Any], set[Any]]:
    """What is read beside a tangent and does not depend on one, and what does."""
    depend, read = set(moved), dict[Any, None]()
    for eqn in part.jaxpr.eqns:
        of = variables(eqn.invars)
        if any(v in depend for v in of):
            depend.update(eqn.outvars)
            read |= dict.fromkeys(v for v in of if v not in depend)
    return list(read), depend
