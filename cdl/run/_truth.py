"""Truth values in Python and in arrays: `True + True` is 2 in Python, and `True` where they are arrays.

A comparison of Python numbers gives Python's truth values in a definition, and traced ones in a compiled form. JAX
marks those by their weak type, so that arithmetic on them is seen in a case's jaxpr.

| in a case   | of Python's truth values | of arrays of them | write                       |
| ----------- | ------------------------ | ----------------- | --------------------------- |
| `a + b`     | how many are true        | `a or b`          | `1 * a + b`, or `a \\| b`    |
| `a * b`     | a whole number           | `a and b`         | `1 * a * b`, or `a & b`     |
| `~a`        | -1 or -2                 | `not a`           | `jnp.logical_not(a)`        |
"""

from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from .._errors import CdlError


OPERATORS = {"or": ("+", ("_operator_add", "_operator_radd"), "1 * a + b`, or `a | b")} | {
    "and": ("*", ("_operator_mul", "_operator_rmul"), "1 * a * b`, or `a & b")
}
INVERT = ("~", ("_forward_operator_to_aval.<locals>.op",), "jnp.logical_not(a)")


def expect_no_reckoning(jaxpr: Any, where: str) -> None:
    """**Raises:** `CdlError` where a case reckons with truth values that are Python's in its definition."""
    weak: set[Any] = set()
    for eqn in jaxpr.eqns:
        reads = [v for v in eqn.invars if not isinstance(v, Literal)]
        if eqn.primitive.name == "convert_element_type" and any(_is_truth(v) for v in reads):
            weak.update(eqn.outvars)
        sign, names, instead = OPERATORS.get(eqn.primitive.name, INVERT)
        if eqn.primitive.name in ("or", "and", "not") and all(v in weak or _is_truth(v) for v in reads):
            frames = getattr(eqn.source_info.traceback, "frames", ())
            if any(frame.function_name in names for frame in frames):
                raise CdlError(
                    f"`{sign}` meets truth values {where}: it reckons with Python's `True` as with 1, and with that of "
                    f"an array as in logic, so that `cata` and a compiled form would differ. Write `{instead}`."
                )
        for inner in eqn.params.values():
            if isinstance(inner, ClosedJaxpr | Jaxpr):
                expect_no_reckoning(getattr(inner, "jaxpr", inner), where)


def _is_truth(v: Any) -> bool:
    """Whether a variable is a truth value of Python's."""
    return bool(getattr(v.aval, "dtype", None) == np.bool_ and getattr(v.aval, "weak_type", False))
