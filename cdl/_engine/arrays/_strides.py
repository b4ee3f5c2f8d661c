"""A loop over rows in strides, which counts its turns.

XLA (that of jax 0.10, not of 0.12) runs no turn of a loop that goes on while `at < end`, from 0 in steps of more than
1, where it knows that the end is 1. It may know so of any forest that a compiled function closes over.
"""

from collections.abc import Callable
from typing import TypeVar

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int


S = TypeVar("S")
Scalar = Int[Array, ""]


def strides(body: Callable[[Scalar, S], S], begin: Scalar | int, end: Scalar, size: int, state: S) -> tuple[Scalar, S]:
    """`state = body(at, state)` for `at` from `begin` to below `end` in steps of `size`: returns the number of
    turns, known when the last is done, and the state."""
    turns = lax.div(jnp.maximum(end - begin, 0) + (size - 1), jnp.int32(size))

    def turn(both: tuple[Scalar, S]) -> tuple[Scalar, S]:
        number, state = both
        return number + 1, body(begin + number * size, state)

    found: tuple[Scalar, S] = lax.while_loop(lambda both: both[0] < turns, turn, (jnp.int32(0), state))
    return found
