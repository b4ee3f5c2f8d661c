"""How far two values are apart, pytrees of arrays and numbers, array by array."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer


def apart(left: Any, right: Any) -> float:
    """The greatest difference of the numbers of two values; infinity where they differ in form."""
    found = gaps(left, right)
    return float("inf") if found is None else max(found, default=0.0)


def agree(left: Any, right: Any, size: float = 0.0) -> bool:
    """Whether two values are equal up to the rounding of each array's type, beside numbers of a size: whole numbers
    and truth values exactly."""
    found = gaps(left, right)
    if found is None:
        return False
    for gap, x, y in zip(found, leaves(left), leaves(right), strict=True):
        scale = max(greatest(x), greatest(y), size)
        if gap > _rounding(x, y) * scale:
            return False
    return True


def gaps(left: Any, right: Any) -> list[float] | None:
    """The greatest difference in each array of two values; `None` where they differ in form."""
    forms: list[Any] = [jax.tree.structure(left), jax.tree.structure(right)]
    if forms[0] != forms[1]:
        return None
    found: list[float] = []
    for x, y in zip(leaves(left), leaves(right), strict=True):
        if x is None:
            found.append(0.0)
            continue
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape:
            return None
        wide = complex if np.iscomplexobj(x) or np.iscomplexobj(y) else np.float64
        x, y = x.astype(wide), y.astype(wide)
        with np.errstate(invalid="ignore"):  # infinity on both sides is no difference
            gap = np.where(x == y, 0.0, np.abs(x - y))
        found.append(float("inf") if np.any(np.isnan(gap)) else float(gap.max(initial=0.0)))
    return found


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers of a value, and `None` where there is none."""
    return jax.tree.leaves(value, is_leaf=lambda x: x is None)


def greatest(value: Any) -> float:
    """The greatest finite number of a value; 0 without numbers."""
    found = 0.0
    for leaf in jax.tree.leaves(value):
        x = np.asarray(leaf)
        if jnp.issubdtype(x.dtype, jnp.number):
            sizes = np.abs(x.astype(complex if np.iscomplexobj(x) else np.float64))
            found = max(found, float(np.max(np.where(np.isfinite(sizes), sizes, 0.0), initial=0.0)))
    return found


def traced(value: Any) -> bool:
    """Whether a value has numbers that are not known yet, inside `jit` or `vmap`."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(value))


def _rounding(x: Any, y: Any) -> float:
    """The square root of the precision of the wider rounding of two arrays' types; 0 for whole numbers."""
    limits: Any = jnp.finfo
    kinds = [np.asarray(side).dtype for side in (x, y) if side is not None]
    return max((float(limits(kind).eps) ** 0.5 for kind in kinds if jnp.issubdtype(kind, jnp.inexact)), default=0.0)
