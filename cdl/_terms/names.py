"""What boxes are called, and how many numbers their parameters are."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._functors.poly import superscript


def name(fn: Any, nameless: str = "f") -> str:
    """What a box is called: what a value says in `__called__`, the name of a function, or that of a module's class.

    **Arguments:** `nameless`: what a lambda is called.
    """
    says = None if isinstance(fn, type) else getattr(fn, "__called__", None)
    called = getattr(fn, "__name__", type(fn).__name__) if says is None else says
    return nameless if called == "<lambda>" else str(called)


def numbers(params: Any) -> int:
    """How many numbers there are to learn."""
    return sum(math.prod(np.shape(x)) for x in jax.tree.leaves(params) if changes(x))


def changes(x: Any) -> bool:
    """Whether it is a floating number, or an array of them."""
    return isinstance(x, float | complex) or (hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.inexact))


def real(numbers: int) -> str:
    """`ℝ¹²`: the space of that many numbers."""
    return "ℝ" + superscript(numbers)
