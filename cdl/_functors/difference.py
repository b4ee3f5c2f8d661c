"""When two values are the same, part by part."""

from typing import Any

import jax
import numpy as np

from .values import inside


def difference(left: Any, right: Any, tolerance: float = 0.0) -> tuple[Any, Any] | None:
    """The first two parts, at the same place, that differ; `None` where the values are the same.

    Layers, tuples, lists, dictionaries and any JAX pytree are compared part by part; arrays and numbers by shape, and
    within `tolerance` of the larger of 1 and the right side; everything else by `==`. Two parts that are shared are
    compared once.
    """
    todo = [(left, right)]
    met: dict[tuple[int, int], Any] = {}  # with the parts, so that no others take their addresses
    while todo:
        x, y = todo.pop()
        if x is y or (id(x), id(y)) in met:
            continue
        (kind, parts), (other, others) = _opened(x), _opened(y)
        if type(kind) is not type(other) or kind != other or len(parts) != len(others):
            return x, y
        if parts:
            met[id(x), id(y)] = x, y
            todo.extend(reversed(list(zip(parts, others, strict=True))))
        elif kind is None and not _same(x, y, tolerance):
            return x, y
    return None


def _opened(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """The constructor of a value and its parts; `None` and no parts for a payload."""
    inner = inside(value)
    if inner is not None:
        return type(value), inner
    parts, structure = jax.tree.flatten(value, is_leaf=lambda part: part is not value)
    return (None, ()) if len(parts) == 1 and parts[0] is value else (structure, tuple(parts))


def _same(x: Any, y: Any, tolerance: float) -> bool:
    if not (_is_number(x) and _is_number(y)):
        return bool(x == y)
    if np.shape(x) != np.shape(y):
        return False
    a, b = as_numpy(x), as_numpy(y)
    if tolerance == 0 or not (_inexact(a) or _inexact(b)):
        return bool(np.all((a == b) | ((a != a) & (b != b))))  # the same number, or neither is one
    with np.errstate(invalid="ignore"):
        close = (a == b) | (np.isfinite(b) & (np.abs(a - b) <= tolerance * np.maximum(1.0, np.abs(b))))
    return bool(np.all(close | (np.isnan(a) & np.isnan(b))))


def as_numpy(x: Any) -> Any:
    """A number or an array as one of NumPy; of random keys, their bits."""
    is_key = isinstance(x, jax.Array) and jax.numpy.issubdtype(x.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(x) if is_key else x)


def _inexact(array: Any) -> bool:
    return bool(jax.numpy.issubdtype(array.dtype, jax.numpy.inexact))


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex | np.generic | np.ndarray | jax.Array)
