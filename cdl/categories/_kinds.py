"""Objects that are types: pytrees of shapes of floating arrays; and some points of each."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._engine.arrays.shapes import is_smooth, shaped
from .._functors.words import short
from ..errors import PortMismatch


POINTS = 2  # how many points two maps are compared at


def kind(example: Any) -> Any:
    """The type of a value, or of a type itself.

    **Raises:** `PortMismatch` where some part of it is not a floating number.
    """
    found = jax.tree.map(lambda x: shaped(jnp.shape(x), jnp.result_type(x)), example)
    for x in jax.tree.leaves(found):
        if not is_smooth(x):
            raise PortMismatch(
                f"an object of smooth maps has floating numbers, and {short(example)} has {x.dtype.name}: give floats, "
                "or fix what is not smooth inside the map."
            )
    return found


def value_kind(f: Callable[[Any], Any], source: Any) -> Any:
    """The type of a function's values."""
    return kind(jax.eval_shape(f, source))


def points(of: Any) -> list[Any]:
    """The same points each time: of pairs, points of each."""
    found = []
    for seed in range(POINTS):
        rng = np.random.default_rng(seed)
        found.append(jax.tree.map(lambda x, rng=rng: jnp.asarray(_drawn(rng, x), x.dtype), of))
    return found


def _drawn(rng: np.random.Generator, x: Any) -> Any:
    real = rng.normal(size=x.shape)
    if not jnp.issubdtype(x.dtype, jnp.complexfloating):
        return real
    return real + 1j * rng.normal(size=x.shape)  # else a map and its conjugate would be the same
