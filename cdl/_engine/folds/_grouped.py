"""Products of rows by weights that depend on each row's constructor."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..jaxprs._turned import swapped
from . import _batched, _tiled
from ._apart import Apart
from ._group import Group


def product(
    x: jax.Array,
    w: jax.Array | Apart,
    group: Group,
    dtype: np.dtype[Any],
    precision: lax.PrecisionLike,
    transposed: bool = False,
) -> jax.Array:
    """`x` of shape (W, …, n) by `w`, of shape (o, n), or (C, o, n) with one for each constructor: (W, …, o).

    With `transposed`, n and o change places in `w`.
    """
    if isinstance(w, Apart) or w.ndim > 2:
        rows, *free, n = x.shape
        each = x.reshape(rows, math.prod(free), n)
        if group.tiles is None:
            y = _tiled.product(each, w, group, dtype, precision, transposed)
        else:
            assert not isinstance(w, Apart)
            y = _batched.product(each, w, group, dtype, precision, transposed)
        return y.reshape(rows, *free, y.shape[-1])
    if not transposed and math.prod(x.shape[:-1]) == 1:  # else XLA copies `w.T` in each turn of a loop
        y = jnp.matmul(w, x.reshape(-1), precision=swapped(precision), preferred_element_type=dtype)
        return y.reshape(*x.shape[:-1], y.shape[-1])
    return jnp.matmul(x, w if transposed else w.T, precision=precision, preferred_element_type=dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def tie(z: jax.Array, x: jax.Array, w: jax.Array | Apart, group: Group, precision: lax.PrecisionLike) -> jax.Array:
    """`z`, which is the product of `x` and `w`. Its cotangent is handed to `z` and, by the weights, to `x`, and not to
    the weights: theirs are made later, of all rows at once."""
    return z


def _tie_forward(
    z: jax.Array, x: jax.Array, w: jax.Array | Apart, group: Group, precision: lax.PrecisionLike
) -> tuple[jax.Array, Any]:
    return z, (x, w, group)


def _tie_backward(precision: lax.PrecisionLike, kept: Any, given: jax.Array) -> tuple[jax.Array, jax.Array, None, None]:
    x, w, group = kept
    return given, product(given, w, group, given.dtype, precision, transposed=True).astype(x.dtype), None, None


tie.defvjp(_tie_forward, _tie_backward)


@jax.custom_vjp
def as_held(value: jax.Array, held: jax.Array) -> jax.Array:
    """`held`, which is the value and is at hand. Its cotangent is handed to the value, which need not be computed."""
    return held


as_held.defvjp(lambda value, held: (held, None), lambda _, given: (given, None))
