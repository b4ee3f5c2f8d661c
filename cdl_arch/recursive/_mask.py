"""Masks for dropout, cheap enough to be made at every node.

Each node has a random key. The bits of its mask are a hash of the key and of the bit's number: two
rounds of a 32-bit mixer whose output bits each depend on every input bit. That is all that dropout asks for. A
generator of random numbers in every cell, again for each pass of `fold`, would cost more than the cell does.
"""

import math
from numbers import Real
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from cdl.checks import short
from cdl.errors import SignatureError


def expect_probability(dropout: Any) -> None:
    """**Raises:** `SignatureError` where it is not a number from 0 on and below 1; NaN is none."""
    if not isinstance(dropout, Real) or isinstance(dropout, bool) or not 0 <= float(dropout) < 1:
        raise SignatureError(
            f"`dropout` is {short(dropout)}, and it is the probability that a number is dropped: give a `float` of at "
            "least 0 and below 1."
        )


def mask(key: PRNGKeyArray, dropout: float, shape: tuple[int, ...], dtype: Any) -> Array:
    """Zero with probability `dropout`, otherwise `1 / (1 - dropout)`, so that the mean is 1."""
    first, *rest = (jr.key_data(key)[..., i] for i in range(jr.key_data(key).shape[-1]))
    bits = _mixed(jax.lax.iota(jnp.uint32, math.prod(shape)) * np.uint32(0x9E3779B9) ^ first)
    for word in rest:
        bits = _mixed(bits ^ word)
    dropped = bits.reshape(shape) < np.uint32(min(round(dropout * 2**32), 2**32 - 1))
    return jnp.where(dropped, 0, 1 / (1 - dropout)).astype(dtype)


def _mixed(x: Array) -> Array:
    """`lowbias32` of Wellons' hash prospector: every bit of the result depends on every bit of `x`."""
    x = (x ^ (x >> 16)) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * np.uint32(0x846CA68B)
    return x ^ (x >> 16)
