"""Curves that all seeds go through at last, as in `tanh (W h)`.

The slope of such a curve follows from its value. So a seed is all that the reverse pass needs of it; and that pass can
write over a seed the cotangent of what is under the curve, instead of keeping both.

| the curve    | its slope where its value is `y` |
| ------------ | -------------------------------- |
| `tanh`       | `(1 - y)(1 + y)`                 |
| `logistic`   | `y (1 - y)`                      |
| `exp`        | `y`                              |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.extend.core import Literal

from ..arrays.shapes import is_smooth
from ..jaxprs._parts import Part


SLOPES: dict[str, Callable[[Any], Any]] = {
    "tanh": lambda y: (1 - y) * (1 + y),
    "logistic": lambda y: y * (1 - y),
    "exp": lambda y: y,
}


@dataclass(frozen=True)
class Curve:
    """One of these curves, as an equation has it."""

    primitive: Any
    params: dict[str, Any]

    def __hash__(self) -> int:
        return hash(self.primitive.name)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Its values."""
        found: jax.Array = self.primitive.bind(x, **self.params)
        return found

    def slope(self, value: jax.Array) -> jax.Array:
        """Its slopes where it has these values."""
        found: jax.Array = SLOPES[self.primitive.name](value)
        return found


def curve_of(part: Part, outs: Sequence[Any]) -> tuple[Curve | None, list[Any]]:
    """The curve that some variables of a part are all values of, and what it is taken of; or none, and themselves."""
    made = {v: eqn for eqn in part.jaxpr.eqns for v in eqn.outvars}
    found = [made.get(v) for v in outs if not isinstance(v, Literal)]
    curves = [Curve(eqn.primitive, eqn.params) for eqn in found if eqn is not None and eqn.primitive.name in SLOPES]
    same = bool(outs) and len(curves) == len(outs) and all(curve == curves[0] for curve in curves)
    if not same or not all(is_smooth(v.aval) for v in outs):
        return None, list(outs)
    return curves[0], [made[v].invars[0] for v in outs]
