"""What boxes are called, and how many numbers their parameters are."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._functors.poly import superscript


def name(fn: Any, nameless: str = "f") -> str:
    """What a box is called: the name of a function, or of a module's class; `nameless` for a lambda."""
    called = str(getattr(fn, "__name__", type(fn).__name__))
    return nameless if called == "<lambda>" else called


def numbers(params: Any) -> int:
    """How many numbers there are to learn."""
    return sum(math.prod(np.shape(x)) for x in jax.tree.leaves(params) if changes(x))


def changes(x: Any) -> bool:
    """Whether it is a floating number, or an array of them."""
    return isinstance(x, float | complex) or (hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.inexact))


def real(numbers: int) -> str:
    """`ℝ¹²`: the space of that many numbers."""
    return "ℝ" + superscript(numbers)
