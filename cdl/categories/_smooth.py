"""Smooth maps of floating arrays, with pairs as the tensor.

| the mathematics              | here                                                                              |
| ---------------------------- | --------------------------------------------------------------------------------- |
| an object                    | a pytree of shapes and types, such as `jax.ShapeDtypeStruct((3,), float)`         |
| a map                        | a function that JAX differentiates: `SMOOTH.arrow(jnp.tanh, x)`, with an example  |
| `X ⊗ Y`, the unit            | `(X, Y)`, `()`                                                                    |

The moves of pairs are those of `cdl.optics.structure`. `cdl.optics.SmoothMap` is the reverse derivative category of
smooth maps between `Rⁿ`, where a product is a sum of sizes.

**Where a map has no derivative,** JAX's conventions are taken: at 0, that of `jax.nn.relu` is 0 and that of
`jnp.maximum(x, 0)` is ½. Both give the same function, and networks of them have other gradients there.
"""

from typing import Any

from .._optics import Optic, structure
from ._category import Arrow
from ._kinds import kind, points, value_kind
from ._monoidal import Monoidal


def smooth_ends(f: Any, example: Any) -> tuple[Any, Any]:
    """The type of an example, and that of what a function gives of it."""
    source = kind(example)
    return source, value_kind(f, source)


def same(x: Any) -> Any:
    """The identity."""
    return x


def in_order(f: Any, g: Any) -> Any:
    """`f`, then `g`."""
    return lambda x: g(f(x))


def both(f: Arrow, g: Arrow) -> Any:
    """The function of pairs."""
    return lambda pair: (f.body(pair[0]), g.body(pair[1]))


def values(f: Arrow) -> Any:
    """The values at some points."""
    return [f.body(x) for x in points(f.source)]


def associator(*_: Any) -> tuple[Any, Any]:
    """Of any objects."""
    return structure.associator().get, structure.associator_back().get


def left_unitor(_: Any) -> tuple[Any, Any]:
    """Of any object."""
    return structure.left_unitor().get, structure.left_unitor_back().get


def right_unitor(_: Any) -> tuple[Any, Any]:
    """Of any object."""
    return structure.right_unitor().get, structure.right_unitor_back().get


def braiding(*_: Any) -> Any:
    """Of any objects."""
    return Optic.swap().get


SMOOTH = Monoidal(
    name="Smooth",
    ends=smooth_ends,
    one=lambda _: same,
    then=in_order,
    observed=values,
    unit=(),
    pair=lambda x, y: (x, y),
    beside=both,
    associator=associator,
    left_unitor=left_unitor,
    right_unitor=right_unitor,
    braiding=braiding,
)
"""Smooth maps: `SMOOTH.arrow(f, example_of_an_input)`.

Examples:
    >>> sine = cdl.categories.SMOOTH.arrow(jnp.sin, jnp.zeros(2))
    >>> total = cdl.categories.SMOOTH.arrow(jnp.sum, jnp.zeros(2))
    >>> float(cdl.categories.SMOOTH.compose(sine, total).body(jnp.zeros(2)))
    0.0
"""
