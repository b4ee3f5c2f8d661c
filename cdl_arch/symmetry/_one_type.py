"""What comes in and the weights, in one type of numbers, which holds both."""

import functools

import jax
import jax.numpy as jnp


def in_one_type(*values: jax.Array) -> tuple[jax.Array, ...]:
    """Arrays in the smallest type of real numbers that holds those of all that have one. Whole numbers and truth values
    are turned into it: in their own type, sums of many would not fit."""
    real = [x.dtype for x in values if jnp.issubdtype(x.dtype, jnp.inexact)]
    with jax.numpy_dtype_promotion("standard"):  # the type is chosen here, and nothing is promoted without a word
        dtype = functools.reduce(jnp.promote_types, real)
    return tuple(x.astype(dtype) for x in values)
