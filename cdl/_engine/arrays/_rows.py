"""Rows of arrays: read at indices, written in runs, and masked."""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .shapes import is_smooth


def take(x: jax.Array | np.ndarray[Any, Any], index: jax.Array | np.ndarray[Any, Any] | int) -> jax.Array:
    """Rows of an array, at indices that the host has checked."""
    x, index = jnp.asarray(x), jnp.asarray(index)
    offsets = tuple(range(index.ndim, index.ndim + x.ndim - 1))
    rows = lax.GatherDimensionNumbers(offset_dims=offsets, collapsed_slice_dims=(0,), start_index_map=(0,))
    return lax.gather(x, index[..., None], rows, (1, *x.shape[1:]), mode="promise_in_bounds")


def spread(mask: jax.Array, like: jax.Array) -> jax.Array:
    """A mask of rows over rows of any shape."""
    return mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim))


def chosen(mask: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    """Rows of `x`, and of `y` in its type where the mask is false; `y` may be one row for all."""
    y = y if y.dtype == x.dtype else y.astype(x.dtype)
    return lax.select(lax.broadcast_in_dim(mask, x.shape, range(mask.ndim)), x, jnp.broadcast_to(y, x.shape))


def masked(mask: jax.Array, x: jax.Array) -> jax.Array:
    """Rows of any shape, and zeros where the mask is false."""
    return chosen(mask, x, lax.full_like(x, 0))


def differentiated(mask: jax.Array, x: jax.Array) -> jax.Array:
    """Rows of any shape, with a gradient at those of the mask alone, which is read nowhere else."""
    found: jax.Array = DIFFERENTIATED.bind(mask, x)
    return found


def smooth_where(some: jax.Array, arrays: Sequence[Any]) -> list[Any]:
    """The arrays, of which those of real numbers have a gradient where there is `some`, and none otherwise."""
    return [differentiated(some, jnp.asarray(x)) if is_smooth(x) else x for x in arrays]


def repeated(x: jax.Array, valid: jax.Array, last: jax.Array) -> jax.Array:
    """Rows of which those that are not valid are the last valid one, without its gradient."""
    return chosen(valid, x, lax.stop_gradient(take(x, last)))


def after_all(rows: Sequence[jax.Array | None]) -> jax.Array:
    """0, which XLA does not know before it has these rows, of real numbers. Added to where a table is written, it has
    the table read first: otherwise XLA copies the whole table (`test_hlo`)."""
    real = [x for x in rows if x is not None and x.size and jnp.issubdtype(x.dtype, jnp.inexact)]
    firsts = [lax.slice(x, (0,) * x.ndim, (1,) * x.ndim).reshape(()) for x in real]
    sums = [
        functools.reduce(lax.add, (x for x in firsts if x.dtype == dtype))
        for dtype in dict.fromkeys(x.dtype for x in firsts)
    ]
    never = functools.reduce(operator.or_, [(x != x) & (x == 0) for x in sums], jnp.array(False))
    return never.astype(jnp.int32)


def room(shape: tuple[int, ...], dtype: Any, number: int) -> jax.Array:
    """A table that is written before it is read. XLA merges equal constants and then copies them, so each table is
    filled with a different number (`test_hlo`)."""
    return jnp.full(shape, number, dtype)


def put(buffer: jax.Array, row: jax.Array | int, rows: jax.Array) -> jax.Array:
    """Writes rows of a run, also those past its own, which are written again later."""
    return lax.dynamic_update_slice_in_dim(buffer, rows.astype(buffer.dtype), row, 0, allow_negative_indices=False)


def write(buffer: jax.Array, row: jax.Array, own: jax.Array, rows: jax.Array) -> jax.Array:
    """Writes rows of a run, those that are its own; the others are written back as they were."""
    before = lax.dynamic_slice_in_dim(buffer, row, len(rows), allow_negative_indices=False)
    return put(buffer, row, chosen(own, rows.astype(buffer.dtype), before))


def _slopes(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[jax.Array, jax.Array]:
    return differentiated(*primals), masked(primals[0], tangents[1])


def _at_rows(values: Sequence[Any], axes: Sequence[int | None]) -> tuple[jax.Array, int]:
    size = next(x.shape[axis] for x, axis in zip(values, axes, strict=True) if axis is not None)
    return differentiated(*(batching.bdim_at_front(x, axis, size) for x, axis in zip(values, axes, strict=True))), 0


DIFFERENTIATED = Primitive("differentiated")
DIFFERENTIATED.def_impl(lambda mask, x: x)
DIFFERENTIATED.def_abstract_eval(lambda mask, x: x)
ad.primitive_jvps[DIFFERENTIATED] = _slopes
batching.primitive_batchers[DIFFERENTIATED] = _at_rows
mlir.register_lowering(DIFFERENTIATED, lambda ctx, mask, x: [x])
