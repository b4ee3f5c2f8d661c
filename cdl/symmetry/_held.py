"""What the matrix of a generator may hold: finite numbers that keep their digits. Whatever makes a generator checks it
here.

| the numbers                        | what is refused                                                       |
| ---------------------------------- | --------------------------------------------------------------------- |
| the entries of a generator         | infinity, not a number, and sizes below the least normal `float64`    |
| products of matrices               | these; a product that vanishes; whole numbers beyond `2⁵³`            |
| entries, in the type of an array   | what becomes infinite or zero there, or does not fit its whole numbers |
| whole numbers that are acted on    | what may not fit their type, where the numbers are known              |
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..errors import CdlError
from ._sparse import scipy, Sparse


WHOLE = 2.0**53  # up to here float64 has every whole number
LEAST = float(np.finfo(np.float64).tiny)


def held(name: str, values: np.ndarray) -> np.ndarray:
    """Entries as `float64`. **Raises:** `CdlError` where these are not the numbers that are given."""
    if values.dtype.kind in "iu" and np.any((values > int(WHOLE)) | (values < -int(WHOLE))):
        raise CdlError(f"generator `{name}` has a whole number beyond 2⁵³, which `float64` does not have exactly.")
    with np.errstate(over="ignore", under="ignore"):
        found = values.astype(np.float64)
    if not np.all(np.isfinite(found)):
        raise CdlError(f"generator `{name}` has an entry that is infinite or not a number.")
    if np.any((np.abs(found) < LEAST) & (values != 0)):
        raise CdlError(f"generator `{name}` has an entry below {LEAST:.1e}, which `float64` rounds to zero.")
    return found


def product(what: str, left: Sparse, right: Sparse, times: Callable[[Any, Any], Any]) -> Sparse:
    """A product of two sparse matrices: `times` is that of matrices, or that of tensors.

    **Raises:** `CdlError` where a number overflows or vanishes, and where whole numbers lose a digit.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = scipy.sparse.csr_array(times(left, right))
        sizes, roots = (scipy.sparse.csr_array(times(f(left), f(right))) for f in (abs, lambda m: np.sqrt(abs(m))))
    if not (np.all(np.isfinite(found.data)) and np.all(np.isfinite(sizes.data))):
        raise CdlError(f"{what}: the product of two entries is beyond the greatest `float64`. Give smaller entries.")
    if np.any((roots.data > 0) & (roots.data < np.sqrt(LEAST))):
        raise CdlError(f"{what}: the product of two entries is below {LEAST:.1e}, and vanishes. Give greater entries.")
    if _whole(left) and _whole(right) and sizes.nnz and sizes.max() > WHOLE:
        raise CdlError(
            f"{what}: whole numbers are multiplied up beyond 2⁵³, where `float64` rounds them. Give smaller entries."
        )
    return found


def fitting(what: str, values: np.ndarray, dtype: Any) -> jax.Array:
    """Numbers in the type of an array. **Raises:** `CdlError` where one becomes infinite or zero, or does not fit."""
    dtype = jnp.dtype(dtype)
    if jnp.issubdtype(dtype, jnp.inexact):
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            cast = values.astype(dtype)
            wrong = ~np.isfinite(cast) | ((cast == 0) & (values != 0))
    else:
        cast, wrong = values, np.abs(values) > _most(dtype)
    if np.any(wrong):
        raise CdlError(
            f"{what} has the entry {values[wrong].flat[0]:g}, which does not fit `{dtype}`: act on arrays of a wider "
            "type, or give entries nearer to 1."
        )
    return jnp.asarray(cast, dtype)


def not_wrapping(what: str, x: jax.Array, matrix: Sparse, dtype: Any) -> None:
    """**Raises:** `CdlError` where a matrix may take whole numbers out of their type. Traced numbers are not known."""
    if isinstance(x, Tracer) or not x.size or jnp.issubdtype(dtype, jnp.inexact):
        return
    bound = float(np.max(np.abs(np.asarray(x).astype(np.float64)))) * float(np.max(abs(matrix).sum(axis=1)))
    if bound > _most(dtype):
        raise CdlError(
            f"{what} makes whole numbers of up to {bound:.3g}, beyond `{dtype}`: act on real numbers, or on smaller "
            "ones."
        )


def _whole(matrix: Sparse) -> bool:
    values = matrix.data
    return bool(np.all((values == np.round(values)) & (np.abs(values) <= WHOLE)))


def _most(dtype: Any) -> int:
    """The greatest number of a type that is not real: 1 for truth values."""
    limits: Any = jnp.iinfo
    return 1 if dtype == jnp.bool_ else int(limits(dtype).max)
