"""Payloads: one array for each number of a layer, of the annotated type, or else of JAX's default type for it.

No number is changed on the way but by rounding a float: what does not fit is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import NDArray

from ..._functors.words import an
from ...errors import PayloadMismatch
from ..arrays._lost import converted, ends, kind_of, lost
from ._annotation import Asked, asked, KINDS
from ._form import Place


_PYTHON = {"b": bool, "i": int, "f": float, "c": complex}
_DEFAULT = {"b": np.bool_, "u": np.uint64, "i": np.int64, "f": np.float64, "c": np.complex128}
_ADVICE = {
    ("f", "i"): "round the values (`round(x)`, of an array `x.astype(int)`), or annotate `float`",
    ("c", "f"): "take the real part, or annotate `complex`",
    ("i", "b"): "write `value != 0`, or annotate `int`",
}
_TEXTS = ", as `Vocabulary.of(trees).encode(tree)` of `cdl.trees` does for texts"


@dataclass(frozen=True)
class _Rows:
    """Values of one type: where they stand, and whether they are Python's. Large integers are an array of objects."""

    where: list[int] | None
    values: NDArray[Any]
    kind: str
    python: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that JAX gives them."""
        return jax.dtypes.canonicalize_dtype(_DEFAULT[self.kind] if self.python else self.values.dtype)

    def __str__(self) -> str:
        return f"`{_PYTHON[self.kind].__name__ if self.python else self.values.dtype}`"


def stack(place: Place, values: list[Any], tree: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    """The values at one place of a layer, one row for each, of the annotated type. `tree`: the number of each one's.

    **Raises:** `PayloadMismatch` where shapes differ, where a value is not a number, and where one is not of the
    annotated kind or would be changed.
    """
    groups = _grouped(place.name, values, tree)
    target = _target(place, groups)
    if len(groups) == 1:
        return fitted(place.name, groups[0].values, groups[0].kind, target)
    rows = np.zeros((len(values), *groups[0].values.shape[1:]), target)
    for group in groups:
        rows[group.where] = fitted(place.name, group.values, group.kind, target)
    return rows


def _grouped(where: str, values: list[Any], tree: Sequence[int] | NDArray[Any]) -> list[_Rows]:
    """The values by their types."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and (found := _python_kind(values[0])):
        return [_Rows(None, _numbers(found, values), found, True)]
    if any(issubclass(kind, Tracer) for kind in kinds):
        raise PayloadMismatch(f"`{where}` holds a traced value: `pack` runs on the host, outside `jit` and `grad`.")
    by_type: dict[Any, list[int]] = {}
    arrays: list[Any] = []
    for i, x in enumerate(values):
        found = _python_kind(x)
        arrays.append(x if found else _array(where, x))
        by_type.setdefault(found or arrays[-1].dtype, []).append(i)
    _expect_one_shape(where, arrays, tree)
    return [
        _Rows(some, _numbers(key, [arrays[i] for i in some]), key, True)
        if isinstance(key, str)
        else _Rows(some, np.stack([arrays[i] for i in some]), kind_of(key), False)
        for key, some in by_type.items()
    ]


def _python_kind(x: object) -> str:
    """The kind of one of Python's own numbers."""
    if hasattr(x, "dtype"):
        return ""
    return next((kind for kind, python in _PYTHON.items() if isinstance(x, python)), "")


def _numbers(kind: str, values: list[Any]) -> NDArray[Any]:
    try:
        return np.array(values, _DEFAULT[kind])
    except OverflowError:
        return np.array(list(map(int, values)), object)


def _array(where: str, x: Any) -> NDArray[Any]:
    if not hasattr(x, "dtype"):
        raise PayloadMismatch(
            f"`{where}` holds {an(type(x).__name__)}, and a packed payload is a number or an array: number the values"
            f"{_TEXTS * isinstance(x, str)}."
        )
    if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        raise PayloadMismatch(f"`{where}` holds a random key: give `jax.random.key_data` of it.")
    rows = np.asarray(x)
    if not kind_of(rows.dtype):
        raise PayloadMismatch(
            f"`{where}` holds {an(type(x).__name__)} of type `{rows.dtype}`, and a packed payload is a number or an "
            f"array of numbers: number the values{_TEXTS * (rows.dtype.kind in 'US')}."
        )
    return rows


def _expect_one_shape(where: str, values: list[Any], tree: Sequence[int] | NDArray[Any]) -> None:
    shapes: dict[Any, int] = {}
    for i, x in enumerate(values):
        shapes.setdefault(np.shape(x), i)
    if len(shapes) > 1:
        (a, i), (b, j), *_ = shapes.items()
        raise PayloadMismatch(
            f"`{where}` has shape {a} in one node (of tree {tree[i]}) and {b} in another (of tree {tree[j]}): give "
            "every node of a constructor the same shape, or write a constructor for each."
        )


def _target(place: Place, groups: list[_Rows]) -> np.dtype[Any]:
    """The type that values of these types are given."""
    wanted = asked(place.annotation)
    fitting = [kind for kind in wanted.kinds or KINDS if all(_takes(kind, group) for group in groups)]
    if not fitting:
        _refuse_kind(place, wanted, groups)
    most = max((group.kind for group in groups), key=list(KINDS).index)
    kind = most if most in fitting else fitting[0]
    if wanted.exact is not None:
        return jax.dtypes.canonicalize_dtype(wanted.exact)
    default = jax.dtypes.canonicalize_dtype(_DEFAULT[kind])
    own = {g.dtype for g in groups if g.kind == kind}
    own |= {default if g.values.dtype.itemsize == 8 else g.dtype for g in groups if g.kind + kind == "ui"}
    if len(own) > 1:
        _refuse_mixture(place, groups)
    return own.pop() if own else default


def expect_kind(place: Place, x: Any) -> None:
    """**Raises:** `PayloadMismatch` for a number or an array, also a traced one, that is not of the annotated kind."""
    python = not hasattr(x, "dtype") or bool(getattr(x, "weak_type", False))
    kind, wanted = _python_kind(x) or kind_of(x.dtype), asked(place.annotation)
    own = _Rows(None, np.zeros((), jnp.result_type(x)), kind, python) if kind else None
    if own is not None and wanted.kinds and not any(_takes(kind, own) for kind in wanted.kinds):
        _refuse_kind(place, wanted, [own])


def _refuse_mixture(place: Place, groups: list[_Rows]) -> None:
    """Each type reckons in its own way, such as where it wraps around, and a constructor's payload has one."""
    raise PayloadMismatch(
        f"`{place.name}` holds {groups[0]} in one node and {groups[1]} in another: give every node of a constructor "
        "one type."
    )


def _takes(kind: str, group: _Rows) -> bool:
    """Whether values are of a kind, or are exactly some of that kind. Arrays of booleans reckon as no others do."""
    if group.kind == "b":
        return kind == "b" or group.python
    return kind in {"u": "uifc", "i": "uifc", "f": "fc", "c": "c"}[group.kind]


def _refuse_kind(place: Place, wanted: Asked, groups: list[_Rows]) -> None:
    if not wanted.kinds or all(any(_takes(kind, g) for kind in wanted.kinds) for g in groups):
        _refuse_mixture(place, groups)
    wrong = next(g for g in groups if not any(_takes(kind, g) for kind in wanted.kinds))
    value = wrong.values.ravel()[0] if wrong.values.size else None
    shown = f"{value} (of type {wrong})" if wrong.values.ndim == 1 else f"{wrong}"
    advice = _ADVICE.get((wrong.kind, wanted.kinds[-1]), f"give {wanted}, or annotate what it holds")
    raise PayloadMismatch(f"`{place.name}` is annotated as {wanted} and holds {shown}: {advice}.")


def fitted(
    where: str, rows: NDArray[Any], kind: str, target: np.dtype[Any], wider: str = "annotate a wider type"
) -> NDArray[Any]:
    """The values as numbers of a type. `wider`: what an error advises where one would become infinite.

    **Raises:** `PayloadMismatch` for a number that changes by more than rounding.
    """
    if rows.dtype == target:
        return rows
    wrong = lost(rows, target)
    if wrong.any():
        _refuse_lost(where, kind, rows[wrong][0], target, wider)
    return converted(rows, target)


def _refuse_lost(where: str, kind: str, x: int | np.generic, target: np.dtype[Any], wider: str) -> None:
    low, high = ends(target)
    end = low if np.real(x) < 0 else high
    if kind_of(target) in ("u", "i"):
        raise PayloadMismatch(
            f"`{where}` holds {x}, and `{target}` ends at {end}: the number would be changed. Number things from 0, or "
            "switch on `jax_enable_x64`."
        )
    if kind in ("u", "i"):
        raise PayloadMismatch(
            f"`{where}` holds the integer {x}, which is not a `{target}`: the number would be changed. Write a float, "
            "which is rounded; or, of a number that is a name, a text, or a field that is annotated `int`."
        )
    raise PayloadMismatch(
        f"`{where}` holds {x}, and `{target}` ends at {high}: the number would become infinite. Scale the values, or "
        f"{wider}."
    )
