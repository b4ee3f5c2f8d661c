"""Powers and roundings of Python's numbers that give another number of an array.

| in a case       | of a Python number                          | of an array                  | write                 |
| --------------- | ------------------------------------------- | ---------------------------- | --------------------- |
| `v**0.5`        | complex where `v` is negative               | NaN where `v` is negative    | `jnp.sqrt(v)`         |
| `(-2.0)**v`     | complex where `v` is not whole              | NaN where `v` is not whole   | `jnp.power(-2.0, v)`  |
| `2**n`          | real where `n` is negative                  | a whole number               | `2.0**n`              |
| `round(v, 1)`   | the nearest decimal fraction                | a tenth of `10 * v`, rounded | `jnp.round(v, 1)`     |

A power of what is certain not to be negative is admitted: of `abs(v)`, `v * v`, `v**2`, and of their sums and products.
"""

from typing import Any

import numpy as np
from jax.core import Tracer

from ..arrays._lost import kind_of
from ..arrays.shapes import is_weak
from ._differing import Differs


class Positive:
    """A class of traced numbers that are not negative for certain."""

    __slots__ = ()


def expect_real(base: Any, exponent: Any) -> None:
    """**Raises:** `Differs` where `base**exponent` may be complex in Python."""
    if not (_is_pythons(base) and _is_pythons(exponent)) or is_positive(base):
        return
    if _is_whole(exponent):
        return
    power = "a power that may not be whole" if isinstance(exponent, Tracer) else f"the power of {exponent}"
    of = "a number of Python's" if isinstance(base, Tracer) else f"{base}"
    raise Differs(
        f"raises {of} to {power}",
        "Python gives a complex number where a negative one has a power that is not whole, and JAX gives NaN, so that "
        "`cata` and a compiled form would differ. Write `jnp.power(a, b)` for `a**b`, or `jnp.sqrt(a)` for a root; a "
        "power of `abs(a)` is real in both.",
    )


def expect_whole(base: Any, exponent: Any) -> None:
    """**Raises:** `Differs` where `base**exponent` is of whole numbers, and may be a real one in Python."""
    traced = isinstance(exponent, Tracer) and not is_positive(exponent)
    if traced and _is_pythons(base) and _is_pythons(exponent) and not _is_real(base) and not _is_real(exponent):
        raise Differs(
            "raises a whole number of Python's to the power of another",
            "where that is negative, Python gives a real number, and arrays a whole one, so that `cata` and a compiled "
            "form would differ. Write `2.0**n` for `2**n`, or give one of them a type, as in "
            "`jnp.asarray(2, jnp.int32)**n`.",
        )


def expect_rounded_alike(x: Any, digits: Any) -> None:
    """**Raises:** `Differs` where `round(x, digits)` is another number in Python, or an error in one of the two."""
    kind = kind_of(x.dtype)
    if kind == "c" and is_weak(x):
        raise Differs("rounds a complex number", "Python does not, so round its `.real` and `.imag`.")
    if kind == "b":
        raise Differs("rounds a truth value", "JAX does not, so write `1 * v` for `round(v)`.")
    if kind in ("i", "u") and digits is not None and digits < 0:
        raise Differs(
            f"rounds a whole number to {digits} digits",
            f"JAX does not, so write `{10**-digits} * jnp.round(v / {10**-digits}).astype(int)`.",
        )
    if kind == "f" and digits and _is_pythons(x):
        raise Differs(
            f"rounds a number of Python's to {digits} digits",
            f"Python gives the decimal fraction that is nearest, and JAX rounds `{10.0**digits:g} * v`, so that `cata` "
            f"and a compiled form would differ, as at 0.15. Write `jnp.round(v, {digits})`.",
        )


def is_positive(x: Any) -> bool:
    """Whether a number is not negative for certain."""
    if isinstance(x, Tracer):
        return isinstance(x, Positive) or kind_of(x.dtype) in ("b", "u")
    return not isinstance(x, complex) and bool(np.all(x >= 0))


def stays_positive(sign: str, a: Any, b: Any) -> bool:
    """Whether what an operator gives is not negative for certain."""
    if sign == "**":
        return is_positive(a) or (not isinstance(b, Tracer) and _is_whole(b) and b % 2 == 0)
    return (sign == "*" and a is b) or (sign in ("+", "*", "/", "//", "%") and is_positive(a) and is_positive(b))


def _is_pythons(x: Any) -> bool:
    """Whether the definition may have a real number of Python there."""
    if isinstance(x, Tracer):
        return is_weak(x) and not x.shape and kind_of(x.dtype) != "c"
    return isinstance(x, int | float) and not isinstance(x, np.generic)


def _is_real(x: Any) -> bool:
    """Whether a number is of a type of real numbers."""
    return kind_of(x.dtype) == "f" if isinstance(x, Tracer) else isinstance(x, float)


def _is_whole(x: Any) -> bool:
    """Whether a number is whole for certain."""
    return kind_of(x.dtype) != "f" if isinstance(x, Tracer) else float(x).is_integer()
