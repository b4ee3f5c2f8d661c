"""Shapes of arrays that are not there yet."""

import re
from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer

from ..._functors.items import weaken


Shape = jax.ShapeDtypeStruct  # an array's shape and type
Arrays = list[Any]  # arrays or their shapes, as many as there are leaves


def shaped(shape: tuple[int, ...], dtype: Any, weak: bool = False) -> Shape:
    """An array's shape and type; `weak` for one that stands for a Python number."""
    return jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)


def rows_of(n: int, leaves: Iterable[Any]) -> list[Shape]:
    """The shapes of `n` of each leaf."""
    return [shaped((n, *x.shape), x.dtype, is_weak(x)) for x in leaves]


def one_of(leaves: Iterable[Any]) -> list[Shape]:
    """The shapes of one of each leaf."""
    return [shaped(x.shape, x.dtype, is_weak(x)) for x in leaves]


def is_canonical(dtype: Any) -> bool:
    """Whether JAX leaves numbers of a type as they are, which for 64 bits depends on `jax_enable_x64`."""
    return bool(jax.dtypes.canonicalize_dtype(dtype) == dtype)


def is_smooth(x: Any) -> bool:
    """Whether an array, or its shape, has derivatives: its numbers are real or complex."""
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


def is_weak(x: object) -> bool:
    """Whether an array, or its shape, stands for a Python number: whatever it meets decides about its type."""
    return bool(getattr(x, "weak_type", False))


def weak_as(x: jax.Array, like: object) -> jax.Array:
    """An array, which stands for a Python number where another one does."""
    return weaken(x) if is_weak(like) else x


def shown(value: object) -> str:
    """The structure of a value, with the shapes and types of its arrays; Python numbers as JAX's default types."""
    strong: Any = lambda x: shaped(x.shape, x.dtype) if isinstance(x, jax.ShapeDtypeStruct | Tracer) else x
    return str(eqx.tree_pformat(jax.tree.map(strong, value), struct_as_array=True))


def of_lists(value: object) -> str:
    """What an error says besides of a value with lists in it, which are not arrays; `""` where it has none."""
    found = any(isinstance(x, list) for x in jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, list)))
    return "; a list is not an array: write `jnp.array([…])` of numbers, `jnp.stack([…])` of arrays" if found else ""


def alike(a: object, b: object) -> bool:
    """Whether two pytrees have one structure."""
    first: Any = jax.tree.structure(a)
    return bool(first == jax.tree.structure(b))


def same_structure(x: object, y: object) -> bool:
    """Whether two structures of pytrees are the same, in their fixed parts too: 0.0 is not -0.0 there, nor 1 `True`."""
    return bool(x == y) and written(x) == written(y)


def written(structure: object) -> str:
    """A structure as text, without the addresses of objects in it."""
    text = str(structure)
    return re.sub(" at 0x[0-9a-f]+", "", text) if " at 0x" in text else text
