"""Maps of algebras, and how far a map is from being one.

| the mathematics                                               | here                                              |
| ------------------------------------------------------------- | ------------------------------------------------- |
| `h ∘ a = b ∘ M h`, for algebras of any monad `M`              | `is_hom(h, a, b, values)`                         |
| `h(m · x) = m · h(x)`: the same, for `M × −`                  | `is_hom(h, X, Y, values)`, for two actions        |
| how far the two sides are apart, at values                    | `hom_defect(…)`                                   |
| `L h (x) = D h(x) ξ_X(x) − ξ_Y(h(x))`, the Lie derivative     | `lie_derivative(h, ξ_X, ξ_Y)`                     |
| the mean of `‖L h‖²`, for a number                            | `lie_error(h, ξ_X, ξ_Y, xs)`                      |
| the mean of `‖h(m · x) − m · h(x)‖²`                          | `monoid_error(h, m_X, m_Y, xs)`                   |

To be equivariant is to be a map of algebras; nothing here is special to groups. Source: Gavranović et al., Categorical
Deep Learning (2024), definition 2.5; Gruver et al., The Lie derivative for measuring learned equivariance (2023).
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._functors import EilenbergMoore
from .._functors.usage import with_usage
from .._functors.words import short
from ..errors import CdlError
from ._action import Action, aligned


Map = Callable[[Any], Any]


def hom_defect(h: Map, algebra: Any, other: Any, values: Iterable[Any]) -> float:
    """The greatest difference of `h ∘ a` and `b ∘ M h`, at some values: of `M A`, or of the carrier for two actions.

    **Arguments:**

    - `h`: from the carrier of `algebra` to that of `other`.
    - `algebra`, `other`: two `cdl.monads.EilenbergMoore` algebras of one monad, or two actions of one monoid.
    - `values`: elements of `M A`. For actions, elements of the carrier: each generator acts on each of them, and for a
      generator of a Lie algebra the two sides are `D h(x) A x` and `A h(x)`.

    **Returns:** the greatest difference of two numbers; infinity where the two sides differ in form.

    **Raises:** `CdlError` for algebras of two monads, and where there are no values.
    """
    if isinstance(algebra, Action) or isinstance(other, Action):
        pairs, found = aligned(algebra, other, "is_hom"), list(values)
        sides = [_sides(h, algebra, other, x.name, x.lie, value) for value in found for x, _ in pairs]
        if not pairs:
            return 0.0
    else:
        for given in (algebra, other):
            if not isinstance(given, EilenbergMoore):
                raise CdlError(f"`is_hom` is of two algebras of a monad, or of two actions, not `{short(given)}`.")
        if not (algebra.monad is other.monad or bool(algebra.monad == other.monad)):
            raise CdlError(
                f"`is_hom` is of algebras of one monad, and these are of {short(algebra.monad)} and "
                f"{short(other.monad)}. Where both have a monoid, give both the same object."
            )
        monad = algebra.monad
        sides = [(h(algebra.action(value)), other.action(monad.map(h, value))) for value in values]
    if not sides:
        raise CdlError("a map is compared at values, and there are none.")
    return max(apart(*both) for both in sides)


@with_usage
def is_hom(h: Map, algebra: Any, other: Any, values: Iterable[Any], *, tolerance: float = 0.0) -> bool:
    """Whether `h` is a map of algebras at some values: whether `hom_defect` is within the tolerance.

    Of two actions, this is whether `h` is equivariant.
    """
    return hom_defect(h, algebra, other, values) <= tolerance


def lie_derivative(h: Map, source: Map, target: Map) -> Map:
    """`x ↦ D h(x) ξ_X(x) − ξ_Y(h(x))`: how fast `exp(−t ξ_Y) h(exp(t ξ_X) x)` changes at `t = 0`. Zero where `h` is
    equivariant.

    **Arguments:** `source`, `target`: the vector fields `ξ_X` and `ξ_Y` that generate the two actions, such as
    `functools.partial(so(3), "turn01")`.
    """

    def at(x: Any) -> Any:
        y, moved = jax.jvp(h, (x,), (source(x),))
        return jax.tree.map(jnp.subtract, moved, target(y))

    return at


class Measured(NamedTuple):
    """A mean square error of equivariance, for each number of the output; and over the mean square of its two sides."""

    mean: jax.Array
    relative: jax.Array


def lie_error(h: Map, source: Map, target: Map, xs: Any) -> Measured:
    """The mean of `‖L h(x)‖²` over the leading axis of `xs`, for each number of the output.

    The relative error is that over the mean of `‖D h ξ_X‖² + ‖ξ_Y h‖²`. Where both sides are rounding, as for an
    invariant map, the denominator is kept above the rounding of `h(x)`.
    """

    def both(x: Any) -> Any:
        y, moved = jax.jvp(h, (x,), (source(x),))
        return moved, target(y), y

    return _error(*jax.vmap(both)(xs))


def monoid_error(h: Map, source: Map, target: Map, xs: Any) -> Measured:
    """The mean of `‖h(m · x) − m · h(x)‖²` over the leading axis of `xs`: for one element of a monoid, singular or not.

    **Arguments:** `source`, `target`: how the element acts on `X` and on `Y`, such as `functools.partial(X, "shift0")`.
    """

    def both(x: Any) -> Any:
        y = h(x)
        return h(source(x)), target(y), y

    return _error(*jax.vmap(both)(xs))


def apart(left: Any, right: Any) -> float:
    """The greatest difference of the numbers of two values."""
    ours, theirs = jax.tree.leaves(left), jax.tree.leaves(right)
    forms: list[Any] = [jax.tree.structure(left), jax.tree.structure(right)]
    if forms[0] != forms[1]:
        return float("inf")
    found = 0.0
    for x, y in zip(ours, theirs, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape:
            return float("inf")
        wide = complex if np.iscomplexobj(x) or np.iscomplexobj(y) else np.float64
        x, y = x.astype(wide), y.astype(wide)
        with np.errstate(invalid="ignore"):  # infinity on both sides is no difference
            gap = np.where(x == y, 0.0, np.abs(x - y))
        found = max(found, float("inf") if np.any(np.isnan(gap)) else float(gap.max(initial=0.0)))
    return found


def _sides(h: Map, X: Action, Y: Action, name: str, lie: bool, x: Any) -> tuple[Any, Any]:
    if lie:
        y, left = jax.jvp(h, (x,), (X(name, x),))
        return left, Y(name, y)
    return h(X.algebra(((name,), x))), Y.algebra(((name,), h(x)))


def _error(left: Any, right: Any, values: Any) -> Measured:
    ours, theirs, found = jax.tree.leaves(left), jax.tree.leaves(right), jax.tree.leaves(values)
    squares: Callable[[list[Any]], jax.Array] = lambda xs: sum((jnp.sum(jnp.square(x)) for x in xs), jnp.zeros(()))
    count = max(1, sum(x.size for x in ours))
    gap = squares([x - y for x, y in zip(ours, theirs, strict=True)])
    limits: Any = np.finfo(jnp.result_type(*found))
    size = jnp.maximum(squares(ours) + squares(theirs), jnp.maximum(limits.eps * squares(found), limits.tiny))
    return Measured(gap / count, gap / size)
