"""Spaces with a point, and what is contravariant about backpropagation.

| the mathematics                                      | here                                              |
| ---------------------------------------------------- | ------------------------------------------------- |
| an object: a space with a point `x`                  | `Pointed(x)`                                      |
| a map `f : (X, x) → (Y, y)`, `f(x) = y`              | `POINTED.arrow(f, x)`                             |
| `f ↦ (Df)ᵀ` at `x`: gradients at `y` to those at `x` | `GRADIENT`, contravariant from `POINTED` to `MAT` |

A gradient needs a point, so `Smooth` itself has no such functor. `BACKPROPAGATION` keeps the point as the residual
of an optic, and is covariant.
"""

from dataclasses import dataclass
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .._engine.arrays.shapes import alike
from .._functors.words import short
from ..errors import PortMismatch
from ._category import Arrow, Category
from ._functor import Functor
from ._kinds import kind
from ._numbers import MAT
from ._smooth import in_order, same


@final
@dataclass(frozen=True, eq=False)
class Pointed:
    """A space with a point. Two are the same where their points are, up to rounding in single precision.

    Examples:
        >>> square = cdl.categories.POINTED.arrow(jnp.square, 3.0)
        >>> point: cdl.categories.Pointed = square.target
        >>> float(point.point)
        9.0
    """

    point: Any


def _ends(f: Any, x: Any) -> tuple[Pointed, Pointed]:
    if any(jnp.issubdtype(leaf.dtype, jnp.complexfloating) for leaf in jax.tree.leaves(kind(x))):
        raise PortMismatch(
            f"a space with a point has real numbers, and {short(x)} has complex ones: give the two parts of each."
        )
    return Pointed(x), Pointed(f(x))


def _one_point(x: Pointed, y: Pointed) -> bool:
    a, b = jax.tree.leaves(x.point), jax.tree.leaves(y.point)
    close = lambda u, v: np.shape(u) == np.shape(v) and np.allclose(u, v, rtol=1e-5, atol=1e-6)
    return alike(x.point, y.point) and all(map(close, a, b))


def _transposed(f: Arrow) -> Any:
    flat, back = ravel_pytree(f.source.point)
    return np.asarray(jax.jacrev(lambda flat: ravel_pytree(f.body(back(flat)))[0])(flat), float).T


POINTED = Category(
    name="pointed spaces",
    ends=_ends,
    one=lambda _: same,
    then=in_order,
    observed=lambda f: (f.body(f.source.point), _transposed(f)),
    required=lambda f: (f.body(f.source.point), f.target.point),
    meets=_one_point,
)
"""Smooth maps that keep a point: `POINTED.arrow(f, x)`. Two are compared by value and derivative there.

Examples:
    >>> square = cdl.categories.POINTED.arrow(jnp.square, 3.0)
    >>> root = cdl.categories.POINTED.arrow(jnp.sqrt, 9.0)
    >>> float(cdl.categories.POINTED.compose(square, root).target.point)
    3.0
"""


GRADIENT = Functor(POINTED, MAT, lambda x: ravel_pytree(x.point)[0].size, _transposed, contravariant=True)
"""The transposed Jacobian at the point, which moves gradients back.

Examples:
    >>> square = cdl.categories.POINTED.arrow(jnp.square, jnp.array([3.0]))
    >>> cdl.categories.GRADIENT(square).body.tolist()
    [[6.0]]
"""
