"""Numbers that a user gives: of one of several things, and lengths and bounds, which are positive and finite."""

import math
from numbers import Real
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._functors.words import short
from .._schemes.in_range import in_range
from ..errors import CdlError


def one_of(given: Any, count: int, who: str, what: str) -> jax.Array:
    """The number of one of `count` things, from 0, as 32 bits.

    **Raises:** `CdlError` for what is not one whole number, and for one out of range; from a compiled program,
    Equinox's error when it runs.
    """
    number = in_range(
        whole_number(given, who),
        count,
        lambda x: f"{who} gave {'another number' if x is None else x}: give that of one of the {count} {what}, from 0.",
    )
    return jnp.asarray(number, jnp.int32)


def whole_number(given: Any, who: str) -> Any:
    """One whole number, as an array of NumPy where it is known. **Raises:** `CdlError` for anything else, a truth
    value too."""
    try:
        number = given if isinstance(given, Tracer) else np.asarray(given)
    except (TypeError, ValueError):
        number = None
    if number is None or number.shape or not jnp.issubdtype(number.dtype, jnp.integer):
        raise CdlError(f"{who} gave {short(given)}: give one whole number, such as `jnp.int32(0)`.")
    return number


def known(name: str, given: Any, *, zero: bool = False) -> float:
    """A positive finite number as a `float`, or 0 where that is allowed.

    **Raises:** `CdlError` for another one, a truth value, and one that is known only when the program runs.
    """
    if isinstance(given, Tracer):
        raise CdlError(f"{name} is known only when the program runs: give a number that is known before.")
    array = isinstance(given, jax.Array | np.ndarray) and _is_real(given.dtype) and not given.ndim
    try:
        number = float(given) if array or (isinstance(given, Real) and not isinstance(given, bool)) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        least = "at least 0" if zero else "positive"
        raise CdlError(f"{name} is {short(given)}: give a number that is {least} and finite.")
    return number


def _is_real(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.integer))
