"""Reckoning that Python's numbers do otherwise than arrays: with truth values, and powers of whole numbers.

`True + True` is 2 in Python, and `True` where they are arrays; `2**-1` is 0.5, which an array of whole numbers
cannot hold. A payload, a count and a comparison of them are Python's in a definition, and traced in a compiled form.
JAX marks those by their weak type, so that reckoning with them is seen in a case's jaxpr.

| in a case   | of Python's numbers                  | of arrays of them | write                       |
| ----------- | ------------------------------------ | ----------------- | --------------------------- |
| `a + b`     | of truth values: how many are true   | `a or b`          | `1 * a + b`, or `a \\| b`    |
| `a * b`     | of truth values: a whole number      | `a and b`         | `1 * a * b`, or `a & b`     |
| `~a`        | of truth values: -1 or -2            | `not a`           | `jnp.logical_not(a)`        |
| `m**n`      | of whole ones: real for a negative n | a whole number    | `2.0**n`                    |
"""

import functools
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from ..errors import CdlError
from .shapes import is_weak, shaped


OPERATORS = {"or": ("+", ("_operator_add", "_operator_radd"), "1 * a + b`, or `a | b")} | {
    "and": ("*", ("_operator_mul", "_operator_rmul"), "1 * a * b`, or `a & b")
}
INVERT = ("~", ("_forward_operator_to_aval.<locals>.op",), "jnp.logical_not(a)")


def expect_no_reckoning(jaxpr: Jaxpr, where: str) -> None:
    """**Raises:** `CdlError` where a case reckons with Python's numbers in a way that would differ."""
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
        if _is_power(eqn):
            raise CdlError(
                f"`**` raises a whole number of Python's to the power of another {where}: where that is negative, "
                "Python gives a real number, and arrays a whole one, so that `cata` and a compiled form would differ. "
                "Write `2.0**n` for `2**n`, or give one of them a type, as in `jnp.asarray(2, jnp.int32)**n`."
            )
        for inner in jax.tree.leaves(dict(eqn.params), is_leaf=_is_jaxpr):
            if isinstance(inner, ClosedJaxpr | Jaxpr):
                expect_no_reckoning(inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner, where)


@functools.cache
def tells() -> bool:
    """Whether this JAX tells `a + b` from `a | b`; where it does not, both are refused."""
    weak = shaped((), np.bool_, True)
    with jax.numpy_dtype_promotion("standard"):
        case = jax.make_jaxpr(lambda a, b: (a + b, a * b, ~a))(weak, weak)
    signs = [eqn for eqn in case.jaxpr.eqns if eqn.primitive.name in ("or", "and", "not")]
    return all(any(n in OPERATORS.get(e.primitive.name, INVERT)[1] for n in _called(e)) for e in signs)


def _called(eqn: JaxprEqn) -> list[str]:
    """The names of the functions in whose call an equation was made."""
    return [frame.function_name for frame in getattr(eqn.source_info.traceback, "frames", ())]


def _is_power(eqn: JaxprEqn) -> bool:
    """Whether an equation is part of a power of whole numbers of Python's, whose exponent is not written out.

    JAX multiplies squares, one for each bit of the exponent, and takes the bits by this shift, which Python has not:
    its own `>>` keeps the sign. Only where both numbers are Python's is the exponent of a weak type.
    """
    if eqn.primitive.name != "shift_right_logical":
        return False
    exponent, by = eqn.invars
    number: Any = exponent.aval
    return bool(is_weak(number) and number.dtype.kind == "i" and isinstance(by, Literal) and by.val == 1)


def _is_jaxpr(x: object) -> bool:
    return isinstance(x, ClosedJaxpr | Jaxpr)


def _is_truth(v: Var | Literal) -> bool:
    """Whether a variable is a truth value of Python's."""
    return bool(getattr(v.aval, "dtype", None) == np.bool_ and getattr(v.aval, "weak_type", False))
