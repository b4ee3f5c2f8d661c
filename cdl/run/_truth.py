"""Truth values in Python and in arrays: `True + True` is 2 in Python, and `True` where they are arrays.

A comparison of Python numbers gives Python's truth values in a definition, and traced ones in a compiled form. JAX
marks those by their weak type, so that arithmetic on them is seen in a case's jaxpr.

| in a case   | of Python's truth values | of arrays of them | write                       |
| ----------- | ------------------------ | ----------------- | --------------------------- |
| `a + b`     | how many are true        | `a or b`          | `1 * a + b`, or `a \\| b`    |
| `a * b`     | a whole number           | `a and b`         | `1 * a * b`, or `a & b`     |
| `~a`        | -1 or -2                 | `not a`           | `jnp.logical_not(a)`        |
"""

import functools
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from .._errors import CdlError
from ._shapes import shaped


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
            if not tells() or any(name in names for name in _called(eqn)):
                raise CdlError(
                    f"`{sign}` meets truth values {where}: it takes Python's as 0 and 1, and those of arrays as in "
                    f"logic, so that `cata` and a compiled form would differ. Write `{instead}`."
                )
        for inner in jax.tree.leaves(dict(eqn.params), is_leaf=_is_jaxpr):
            if _is_jaxpr(inner):
                expect_no_reckoning(getattr(inner, "jaxpr", inner), where)


@functools.cache
def tells() -> bool:
    """Whether this JAX tells `a + b` from `a | b`; where it does not, both are refused."""
    weak = shaped((), np.bool_, True)
    with jax.numpy_dtype_promotion("standard"):
        case = jax.make_jaxpr(lambda a, b: (a + b, a * b, ~a))(weak, weak)
    signs = [eqn for eqn in case.jaxpr.eqns if eqn.primitive.name in ("or", "and", "not")]
    return all(any(n in OPERATORS.get(e.primitive.name, INVERT)[1] for n in _called(e)) for e in signs)


def _called(eqn: Any) -> list[str]:
    """The names of the functions in whose call an equation was made."""
    return [frame.function_name for frame in getattr(eqn.source_info.traceback, "frames", ())]


def _is_jaxpr(x: Any) -> bool:
    return isinstance(x, ClosedJaxpr | Jaxpr)


def _is_truth(v: Any) -> bool:
    """Whether a variable is a truth value of Python's."""
    return bool(getattr(v.aval, "dtype", None) == np.bool_ and getattr(v.aval, "weak_type", False))
