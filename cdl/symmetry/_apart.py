"""How far two values are apart, pytrees of arrays and numbers, array by array.

| the measure                                            | here                        |
| ------------------------------------------------------ | --------------------------- |
| the greatest difference of two numbers                 | `apart`, `gaps`             |
| over the greatest number of the two arrays it is in    | `relative`                  |
| or of the two examples, along a leading axis           | `apart_by_example`          |
| whether that is at most `√ε` of the type of each array | `agree`                     |

Whole numbers are compared exactly, of any size; what is not a number is equal, or infinitely far apart.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer


ROUNDINGS = 64  # of what the two sides are computed from: up to these they are the same


def apart(left: Any, right: Any) -> float:
    """The greatest difference of the numbers of two values; infinity where they differ in form."""
    found = gaps(left, right)
    return float("inf") if found is None else max(found, default=0.0)


def agree(left: Any, right: Any, beside: Any = ()) -> bool:
    """Whether two values are equal up to the rounding of each array's type: whole numbers and truth values exactly."""
    return all(far <= rounding for far, rounding in _relative(left, right, beside))


def relative(left: Any, right: Any, beside: Any = ()) -> float:
    """The greatest difference in an array, over the greatest number of the two sides in it.

    **Arguments:** `beside`: numbers that the sides are computed from. Where the sides are nothing but their rounding,
    the difference is measured by that: over `64 √ε` times the greatest of them, if the sides are smaller.
    """
    return max((far for far, _ in _relative(left, right, beside)), default=0.0)


def _relative(left: Any, right: Any, beside: Any) -> list[tuple[float, float]]:
    """The difference in each array, and the square root of the precision of its type."""
    found = gaps(left, right)
    if found is None:
        return [(float("inf"), 0.0)]
    least, measured = greatest(beside), []
    for gap, x, y in zip(found, leaves(left), leaves(right), strict=True):
        rounding = _rounding(x, y)
        scale = max(greatest(x), greatest(y), ROUNDINGS * rounding * least)
        measured.append((0.0 if gap == 0 else gap / scale if scale else float("inf"), rounding))
    return measured


def gaps(left: Any, right: Any) -> list[float] | None:
    """The greatest difference in each array of two values; `None` where they differ in form."""
    forms: list[Any] = [jax.tree.structure(left), jax.tree.structure(right)]
    if forms[0] != forms[1]:
        return None
    pairs = [(np.asarray(x), np.asarray(y)) for x, y in zip(leaves(left), leaves(right), strict=True)]
    return None if any(x.shape != y.shape for x, y in pairs) else [_gap(x, y) for x, y in pairs]


def _gap(x: np.ndarray, y: np.ndarray) -> float:
    if not (_numbers(x) and _numbers(y)):
        return 0.0 if np.all(x == y) else float("inf")
    if _whole(x) and _whole(y):
        try:
            return float(np.abs(x.astype(object) - y.astype(object)).max(initial=0)) if np.any(x != y) else 0.0
        except OverflowError:
            return float("inf")
    return float(_differences(_wide(x), _wide(y)).max(initial=0.0))


def apart_by_example(left: Any, right: Any) -> float:
    """The greatest difference of two arrays, over the greatest finite number of the two sides in its example. What is
    NaN on both sides counts as the same.

    **Arguments:** `left`, `right`: of one shape, `[examples, …]`.
    """
    x, y = (_wide(np.asarray(side)).reshape((len(side), -1)) for side in (left, right))
    gaps = np.where(np.isnan(x) & np.isnan(y), 0.0, _differences(x, y)).max(1, initial=0.0)
    scale = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0).max(1, initial=0.0) for side in (x, y)))
    return float(np.max(gaps / np.where(scale > 0, scale, 1.0), initial=0.0))


def _differences(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Number by number: 0 for the same infinity, and infinity where one is not a number."""
    with np.errstate(invalid="ignore"):
        gap = np.where(x == y, 0.0, np.abs(x - y))
    return np.where(np.isnan(gap), np.inf, gap)


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(complex if np.iscomplexobj(x) else np.float64)


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


def precision(*values: Any) -> float:
    """The coarsest precision of the arrays of some values; 0 where all are whole numbers or none."""
    limits: Any = jnp.finfo
    kinds = [np.asarray(x).dtype for x in jax.tree.leaves(values)]
    return max((float(limits(kind).eps) for kind in kinds if jnp.issubdtype(kind, jnp.inexact)), default=0.0)


def _rounding(x: Any, y: Any) -> float:
    return precision(x, y) ** 0.5


def _whole(x: np.ndarray) -> bool:
    return x.dtype.kind in "biu" or (x.dtype.kind == "O" and all(isinstance(n, int) for n in x.ravel().tolist()))


def _numbers(x: np.ndarray) -> bool:
    return _whole(x) or bool(jnp.issubdtype(x.dtype, jnp.number))
