"""Shapes of arrays that are not there yet."""

from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax


def shaped(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array's shape and type."""
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


def rows_of(n: int, leaves: Iterable[Any]) -> list[Any]:
    """The shapes of `n` of each leaf."""
    return [shaped((n, *x.shape), x.dtype) for x in leaves]


def one_of(leaves: Iterable[Any]) -> list[Any]:
    """The shapes of one of each leaf."""
    return [shaped(x.shape, x.dtype) for x in leaves]


def shown(value: Any) -> str:
    """The structure of a value, with the shapes and types of its arrays."""
    return str(eqx.tree_pformat(value, struct_as_array=True))


def alike(a: Any, b: Any) -> bool:
    """Whether two pytrees have one structure."""
    first: Any = jax.tree.structure(a)
    return bool(first == jax.tree.structure(b))
