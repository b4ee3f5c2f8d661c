"""That a law holds, and what is said where it does not."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._functors import Base, fmap
from .._functors.difference import as_numpy, difference
from .._functors.words import short
from ..errors import LawBroken


ROUNDED = 1e-2  # what rounding may come to, in proportion: 16 bits have two or three digits


def hold(law: str, left: Any, right: Any, tolerance: float = 0.0, *, at: str = "") -> None:
    """That the two sides are the same value. `at`: where the law is looked at, if it is at several places.

    **Raises:** `LawBroken`, with the parts of the two sides that differ and no more.
    """
    found = difference(left, right, tolerance)
    if found is not None:
        left, right = found
        raise LawBroken(
            f"{law}{at and f', at {at}'}: the left side gives `{_text(left)}` where the right gives `{_text(right)}`."
            f"{_apart(left, right)}"
        )


def place(value: Any) -> str:
    """A layer, or a seed, in the words of an error: an array without axes is written as its number."""
    return short(fmap(_plain, value) if isinstance(value, Base) else _plain(value))


def _plain(value: Any) -> Any:
    known = isinstance(value, jax.Array | np.ndarray) and not isinstance(value, Tracer)
    return value.item() if known and value.ndim == 0 and _is_number(value) else value


def _is_number(value: Any) -> bool:
    return bool(jnp.issubdtype(value.dtype, jnp.number) or value.dtype == bool)


def _apart(left: Any, right: Any) -> str:
    """What to do where two numbers in floating point differ by so little that it may be rounding."""
    if not (_is_inexact(left) and _is_inexact(right)) or np.shape(left) != np.shape(right):
        return ""
    a, b = as_numpy(left), as_numpy(right)
    with np.errstate(invalid="ignore"):
        apart = np.abs(a - b)
    if not np.all(apart <= ROUNDED * np.maximum(1.0, np.abs(b))):
        return ""
    return f" They differ by {float(apart.max()):.1e}: if that is rounding, give a `tolerance`."


def _is_inexact(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return isinstance(value, float | complex) or (dtype is not None and jnp.issubdtype(dtype, jnp.inexact))


def _text(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 200 else text[:199] + "…"
