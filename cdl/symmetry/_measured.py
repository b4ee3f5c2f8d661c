"""How far a map is from commuting with one element or one vector field: a mean of squares over examples.

| the mathematics                                               | here                              |
| ------------------------------------------------------------- | --------------------------------- |
| `L h (x) = D h(x) ξ_X(x) − ξ_Y(h(x))`, the Lie derivative     | `lie_derivative(h, ξ_X, ξ_Y)`     |
| the mean of `‖L h‖²`, for a number                            | `lie_error(h, ξ_X, ξ_Y, xs)`      |
| the mean of `‖h(m · x) − m · h(x)‖²`                          | `monoid_error(h, m_X, m_Y, xs)`   |

Source: Gruver et al., The Lie derivative for measuring learned equivariance (2023).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._functors.usage import takes, with_usage
from .._terms import name as called
from ..errors import CdlError
from ._action import Action
from ._commuting import derivative
from ._squares import minus, over_examples, same_form, sum_of_squares, varied


Map = Callable[[Any], Any]
Called = Callable[..., Any]  # of one argument, which is checked with a sentence


def lie_derivative(h: Map, source: Map, target: Map) -> Map:
    """`x ↦ D h(x) ξ_X(x) − ξ_Y(h(x))`: how fast `exp(−t ξ_Y) h(exp(t ξ_X) x)` changes at `t = 0`. Zero where `h` is
    equivariant.

    **Arguments:** `source`, `target`: the vector fields `ξ_X` and `ξ_Y` that generate the two actions, such as
    `functools.partial(so(3), "turn01")`.

    Examples:
        >>> turn = cdl.symmetry.groups.so(2)
        >>> along = lambda x: turn("turn01", x)
        >>> cdl.symmetry.lie_derivative(jnp.square, along, along)(jnp.array([1.0, 2.0]))
        Array([0., 3.], dtype=float32)
        >>> cdl.symmetry.lie_derivative(lambda x: 3 * x, along, along)(jnp.array([1.0, 2.0]))
        Array([0., 0.], dtype=float32)
    """

    def at(x: Any) -> Any:
        y, moved = derivative(h, source, x)
        theirs = target(y)
        same_form(moved, theirs)
        return jax.tree.map(jnp.subtract, moved, theirs)

    return at


class Measured(NamedTuple):
    """A mean square error of equivariance, for each number of the output; and over the mean square of its two sides.

    Examples:
        >>> C2 = cdl.symmetry.groups.cyclic(2)
        >>> flip = lambda x: C2("shift", x)
        >>> cdl.symmetry.monoid_error(jnp.sort, flip, flip, jnp.array([[1.0, 2.0]])).mean
        Array(1., dtype=float32)
    """

    mean: jax.Array
    relative: jax.Array


@with_usage
def lie_error(h: Called, source: Called, target: Called, xs: Any) -> Measured:
    """The mean of `‖L h(x)‖²` over the leading axis of `xs`, for each number of the output.

    The relative error is that over the mean of `‖D h ξ_X‖² + ‖ξ_Y h‖²`. Where both sides are rounding, as for an
    invariant map, the denominator is kept above the rounding of `h(x)`.

    **Arguments:** `h`: the map. `source`, `target`: the fields along which its input and its output move.

    **Raises:** `CdlError` for an `Action`, which does not say which field is meant.

    Examples:
        >>> turn = cdl.symmetry.groups.so(2)
        >>> along = lambda x: turn("turn01", x)
        >>> cdl.symmetry.lie_error(jnp.square, along, along, jnp.array([[1.0, 2.0]])).mean
        Array(4.5, dtype=float32)
    """
    of_one(h, source, target)

    def both(x: Any) -> Any:
        y, moved = derivative(h, source, x)
        return moved, target(y), y

    return _error(*over_examples(both, xs))


@with_usage
def monoid_error(h: Called, source: Called, target: Called, xs: Any) -> Measured:
    """The mean of `‖h(m · x) − m · h(x)‖²` over the leading axis of `xs`: for one element of a monoid, singular or not.

    **Arguments:** `source`, `target`: how the element acts on `X` and on `Y`, such as `functools.partial(X, "shift0")`;
    for pytrees, `functools.partial(moved, "shift0", (X, None))`.

    **Raises:** `CdlError` for an `Action`, which does not say which element is meant.

    Examples:
        >>> C2 = cdl.symmetry.groups.cyclic(2)
        >>> flip = lambda x: C2("shift", x)
        >>> cdl.symmetry.monoid_error(jnp.sort, flip, flip, jnp.array([[1.0, 3.0]])).mean
        Array(4., dtype=float32)
        >>> cdl.symmetry.monoid_error(jnp.abs, flip, flip, jnp.array([[1.0, 3.0]])).mean
        Array(0., dtype=float32)
    """
    of_one(h, source, target)

    def both(x: Any) -> Any:
        y = h(x)
        return h(source(x)), target(y), y

    return _error(*over_examples(both, xs))


def of_one(h: Any, *fields: Any) -> None:
    """**Raises:** `CdlError` for a map of several arguments, and for an action without the name of a generator."""
    for given in fields:
        if isinstance(given, Action):
            word = given.names[0] if given.names else "g"
            raise CdlError(
                f'{given} is a monoid, and one element of it is measured: give `functools.partial(X, "{word}")`.'
            )
    if callable(h) and not takes(h, None):
        raise CdlError(
            f"`{called(h)}` is measured as a function of one argument, and does not take one: give one of a tuple, "
            "`lambda xs: h(*xs)`."
        )


def _error(left: Any, right: Any, values: Any) -> Measured:
    same_form(left, right)
    ours, theirs, found = (jax.tree.leaves(side) for side in (left, right, values))
    count = max(1, sum(x.size for x in ours))
    gap = sum_of_squares([minus(x, y) for x, y in zip(ours, theirs, strict=True)])
    limits: Any = jnp.finfo
    eps = max((float(limits(x.dtype).eps) for x in varied(found)), default=0.0)
    rounding = jnp.maximum(eps * sum_of_squares(found), float(limits(gap.dtype).tiny))
    return Measured(gap / count, gap / jnp.maximum(sum_of_squares(ours) + sum_of_squares(theirs), rounding))
