"""Values of several boxes as one, with a row for each; of a single box, without the axis."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._engine.arrays.shapes import weak_as


def stacked(values: Sequence[Any]) -> Any:
    """Values of one structure as one; of what is not an array, the first."""
    if len(values) == 1:
        return values[0]
    first, *_ = values
    if all(x is first for x in values):
        return jax.tree.map(
            lambda x: jnp.broadcast_to(x, (len(values), *jnp.shape(x))) if eqx.is_array(x) else x, first
        )
    return jax.tree.map(_stack, *values)


def rows(value: Any, many: int) -> list[Any]:
    """Each of several values that are one: the other way of `stacked`."""
    if many == 1:
        return [value]
    return [jax.tree.map(lambda x, i=i: _row(x, i) if eqx.is_array(x) else x, value) for i in range(many)]


def taken(parts: Sequence[Any], tall: Sequence[bool], index: Sequence[int]) -> Any:
    """Rows of some tables, one after the other; of a single index, the row itself.

    **Arguments:** `parts`: pytrees of arrays. `tall`: whether each has an axis of rows, or is one row. `index`: the
    rows to take, counted through all tables.
    """
    if len(parts) == 1 and not tall[0]:
        return (
            parts[0]
            if len(index) == 1
            else jax.tree.map(lambda x: jnp.broadcast_to(x, (len(index), *jnp.shape(x))), parts[0])
        )
    if len(index) == 1:
        return jax.tree.map(lambda x: x[index[0]], parts[0])
    at = np.asarray(index)

    def take(*tables: Any) -> Any:
        whole = [x if many else jnp.expand_dims(x, 0) for x, many in zip(tables, tall, strict=True)]
        table = whole[0] if len(whole) == 1 else jnp.concatenate(whole)
        return table if np.array_equal(at, np.arange(len(table))) else table[at]

    return jax.tree.map(take, *parts)


def _stack(*xs: Any) -> Any:
    if not eqx.is_array(xs[0]):
        return xs[0]
    if not all(map(_on_host, xs)):
        return jnp.stack(xs)
    return _array(np.stack([np.asarray(x) for x in xs]), xs[0])


def _row(x: Any, i: int) -> Any:
    return _array(np.asarray(x)[i], x) if _on_host(x) else x[i]


def _on_host(x: Any) -> bool:
    """Whether NumPy can read an array."""
    return not isinstance(x, Tracer) and not jnp.issubdtype(x.dtype, jax.dtypes.extended)


def _array(values: Any, like: Any) -> jax.Array:
    """Numbers as an array: one of Python's stays one, which takes the type of what it meets."""
    return weak_as(jnp.asarray(values), like)
