"""A stack of large matrices of which each is an array by itself: for a CPU.

XLA copies what a product takes from a stack, and a stack of arrays that came one by one is a copy of them all. A switch
between products, each by a matrix of its own, copies nothing. It takes longer to compile, so small ones stay in stacks.
"""

from dataclasses import dataclass
from typing import Any

import jax

from ..arrays._platform import platform


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Apart:
    """Matrices of one shape, (o, n) each, for (C, o, n)."""

    matrices: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.matrices), *self.matrices[0].shape

    @property
    def ndim(self) -> int:
        return len(self.shape)


def apart(stack: jax.Array) -> jax.Array | Apart:
    """The matrices of a stack that was made of arrays, if they are large. XLA knows then that these are the arrays, and
    makes no stack."""
    return Apart(tuple(stack)) if stack.nbytes >= platform().apart * len(stack) else stack
