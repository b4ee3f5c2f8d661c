"""Numbers in another type: which of them would be other numbers there.

| from                     | to                       | is another number                    |
| ------------------------ | ------------------------ | ------------------------------------ |
| whole numbers, booleans  | whole numbers, booleans  | out of the type's range              |
| whole numbers, booleans  | real or complex numbers  | rounded, or infinite                 |
| real or complex numbers  | real or complex numbers  | infinite, where it was finite before |
| real or complex numbers  | whole numbers, booleans  | each                                 |
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import NDArray

from ..._functors.read import cached


def lost(values: NDArray[Any], dtype: Any) -> NDArray[np.bool_]:
    """Which values would be other numbers. Large integers are an array of objects."""
    if values.dtype == np.bool_:  # 0 and 1 are in every type
        return np.zeros(values.shape, np.bool_)
    whole = is_whole(values.dtype)
    if is_whole(dtype):
        low, high = ends(dtype)
        return np.asarray((values < low) | (values > high)) if whole else np.ones(values.shape, np.bool_)
    if not whole:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.isfinite(values) & ~np.isfinite(values.astype(dtype)))
    exact = 2 ** (_finfo(dtype).nmant + 1)
    found = np.asarray((values > exact) | (values < -exact))
    with np.errstate(over="ignore"):
        found[found] = [_is_rounded(int(x), dtype) for x in values[found].tolist()]
    return found


def changes(x: Any, dtype: Any) -> bool:
    """Whether a number or an array would be changed in a type; of a traced one, whether a number of its type may be."""
    if isinstance(x, Tracer):
        return is_whole(dtype) and not is_whole(x.dtype)
    return bool(kind_of(dtype) and lost(np.asarray(x), dtype).any())


def converted(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Values of which none is lost, in another type."""
    through = is_whole(values.dtype) and not is_whole(dtype)  # from objects to 16 bits there is no other way
    with np.errstate(over="ignore", invalid="ignore"):
        return (values.astype(np.float64) if through else values).astype(dtype)


@cached
def kind_of(dtype: Any) -> str:
    """The kind of a type of numbers by NumPy's letter, `b`, `u`, `i`, `f` or `c`; `""` for any other type."""
    kinds = {"b": jnp.bool_, "u": jnp.unsignedinteger, "i": jnp.signedinteger, "f": jnp.floating}
    return next((k for k, of in {**kinds, "c": jnp.complexfloating}.items() if jnp.issubdtype(dtype, of)), "")


def is_whole(dtype: Any) -> bool:
    """Whether numbers of a type are whole, or booleans. Large integers are an array of objects."""
    return kind_of(dtype) not in ("f", "c")


def ends(dtype: Any) -> tuple[Any, Any]:
    """The least and the greatest number of a type."""
    if kind_of(dtype) == "b":
        return 0, 1
    found = _iinfo(dtype) if is_whole(dtype) else _finfo(dtype)
    number = int if is_whole(dtype) else float
    return number(found.min), number(found.max)


def _is_rounded(x: int, dtype: Any) -> bool:
    if abs(x) >= 2**1023:
        return True
    there = complex(np.float64(x).astype(dtype)).real
    return not np.isfinite(there) or int(there) != x


_iinfo: Any = jnp.iinfo
_finfo: Any = jnp.finfo
