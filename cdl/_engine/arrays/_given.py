"""Values that a user gives: each leaf becomes an array, and stays the same number."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...errors import PayloadMismatch
from ._lost import ends, is_whole, lost
from .shapes import shown


def arrays(tree: Any, what: str) -> Any:
    """Every leaf as an array.

    **Arguments:** `what`: what an error calls one of these values, such as `"a seed"`.

    **Raises:** `PayloadMismatch` where a leaf is not a number, and where JAX's type for it cannot hold it.
    """

    def array(x: object) -> jax.Array:
        if isinstance(x, str | bytes):  # of which JAX, where it traces, reads the digits
            raise TypeError
        expect_kept(x, what)
        return jnp.asarray(x)

    try:
        return jax.tree.map(array, tree)
    except TypeError:
        raise PayloadMismatch(f"{what} is {shown(tree)}: each leaf must be a number or an array of numbers.") from None


def expect_kept(x: object, what: str) -> None:
    """**Raises:** `PayloadMismatch` for a number or a NumPy array that JAX would change, by more than rounding."""
    if isinstance(x, jax.Array | Tracer | bool) or hasattr(x, "__jax_array__"):
        return
    values = np.asarray(x)
    if values.dtype.kind not in "iufcO" or (values.dtype.kind == "O" and not isinstance(x, int)):
        return
    target = jax.dtypes.canonicalize_dtype(np.int64 if values.dtype.kind == "O" else values.dtype)
    if values.dtype == target or not (wrong := lost(values, target)).any():
        return
    first = values[wrong].ravel()[0]
    low, high = ends(target)
    end, becomes = (low if first < 0 else high, "be changed") if is_whole(target) else (high, "become infinite")
    raise PayloadMismatch(
        f"{what} holds {first}, and `{target}`, the type that JAX gives it, ends at {end}: the number would {becomes}. "
        f"Give smaller numbers{'' if jax.config.read('jax_enable_x64') else ', or switch on `jax_enable_x64`'}."
    )
