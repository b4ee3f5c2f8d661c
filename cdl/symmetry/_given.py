"""Arrays that users give for a generator, checked: places, scales, and matrices, dense or sparse."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._engine.arrays._given import expect_kept
from .._functors.words import first_line, short
from ..errors import CdlError
from ._rounding import EXACT
from ._sparse import scipy


def acted(x: Any, what: str = "an array that is acted on") -> jax.Array:
    """What a user gives to an action or a layer, as an array of the same numbers.

    **Raises:** `CdlError` for what is not an array, and for a number that JAX would change by more than rounding.
    """
    if isinstance(x, jax.Array):
        return x
    try:
        for leaf in jax.tree.leaves(x, is_leaf=lambda leaf: leaf is None):
            expect_kept(leaf, what)
        return jnp.asarray(x)
    except CdlError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise CdlError(f"{what} is {short(x)}, and not an array of numbers: {first_line(error)}") from error


def indices(name: str, given: Any, size: int) -> np.ndarray:
    """An index array of `size` entries between -1 and `size - 1`, checked."""
    found = _array(name, given)
    found = found if found.size else found.astype(np.int64)  # an empty list has no type
    if found.dtype.kind not in "iu":
        raise CdlError(
            f"generator `{name}` has {found.dtype} indices; give whole numbers, one for each of {size} places."
        )
    if found.shape != (size,):
        raise CdlError(f"generator `{name}` has indices of shape {found.shape}, and the carrier has {size} places.")
    wrong = found[(found < -1) | (found >= size)]
    if len(wrong):
        raise CdlError(f"generator `{name}` goes to {wrong[0]}: places are 0 to {size - 1}, and -1 for none.")
    return found.astype(np.int64)


def numbers(name: str, given: Any, size: int) -> np.ndarray:
    """`size` finite real numbers, checked."""
    found = _array(name, given)
    if not _real(found.dtype) or found.shape != (size,):
        raise CdlError(
            f"generator `{name}` has scales of {found.dtype}{list(found.shape)}; give {size} real numbers, one a place."
        )
    if not np.all(np.isfinite(found)):
        raise CdlError(f"generator `{name}` has a scale that is infinite or not a number.")
    return found


def entries(name: str, given: Any, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows, columns and values of a real matrix of the carrier, in the type that it is given in: a dense one, or
    one of any format of scipy.sparse."""
    dtype = given.dtype if scipy.sparse.issparse(given) else (given := _array(name, given)).dtype
    if dtype.kind in "US":
        raise CdlError(
            f"generator `{name}` is given {short(given.tolist())}, and not a matrix. The matrix of a word is "
            "`X.element(word)`."
        )
    if not _real(dtype):
        raise CdlError(f"generator `{name}` holds {dtype} values; a matrix of real numbers is expected.")
    if given.shape != (size, size):
        raise CdlError(
            f"generator `{name}` has shape {tuple(given.shape)}, and the carrier has {size} numbers: give a matrix of "
            f"{size} × {size}."
        )
    if scipy.sparse.issparse(given):
        found = scipy.sparse.coo_array(given)
        return *found.coords, found.data
    rows, columns = np.nonzero(given)
    return rows, columns, given[rows, columns]


def precision_of(values: np.ndarray) -> float:
    """How well entries are known: as their type rounds, and those that are `exact` as `float64` does."""
    if values.dtype.kind in "biu" or values.dtype.itemsize >= 8:
        return EXACT
    limits: Any = jnp.finfo
    known = limits(values.dtype)
    return EXACT if exact(values.astype(np.float64), int(known.nmant)) else float(known.eps)


def exact(values: np.ndarray, digits: int = 52) -> bool:
    """Whether all are whole numbers, or multiples of 1/1024 with no more than half of the binary digits of their type.
    These are taken as meant, and not as rounded."""
    _, exponents = np.frexp(values)
    scaled = np.ldexp(values, np.clip(digits // 2 + 1 - exponents, 0, 10))
    return bool(np.all(scaled == np.round(scaled)))


def few_digits(values: np.ndarray) -> bool:
    """Whether all have at most half of the binary digits of `float64`, as numbers that are written and not computed."""
    digits, _ = np.frexp(values)
    return bool(np.all(np.ldexp(digits, 26) == np.round(np.ldexp(digits, 26))))


def _array(name: str, given: Any) -> np.ndarray:
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise CdlError(f"generator `{name}` is given something that is not an array: {error}") from error


def _real(dtype: Any) -> bool:
    return dtype.kind in "biu" or jnp.issubdtype(dtype, jnp.floating)
