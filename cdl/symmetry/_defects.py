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

from .._functors import EilenbergMoore
from .._functors.usage import takes, with_usage
from .._functors.words import first_line, short
from .._terms import name as called
from ..errors import CdlError
from ._action import Action, aligned
from ._apart import agree, apart
from ._commuting import derivative, sides
from ._squares import minus, over_examples, same_form, sum_of_squares, varied


Map = Callable[[Any], Any]
Called = Callable[..., Any]  # of one argument, which is checked with a sentence


@with_usage
def hom_defect(h: Map, algebra: Any, other: Any, values: Iterable[Any]) -> float:
    """The greatest difference of `h ∘ a` and `b ∘ M h`, at some values: of `M A`, or of the carrier for two actions.

    **Arguments:**

    - `h`: from the carrier of `algebra` to that of `other`.
    - `algebra`, `other`: two `cdl.monads.EilenbergMoore` algebras of one monad, or two actions of one monoid.
    - `values`: elements of `M A`. For actions, elements of the carrier: each generator acts on each of them. For a
      generator of a Lie algebra the two sides are `D h(x) A x` and `A h(x)`, and `h(exp(t A) x)` and `exp(t A) h(x)`
      at two times `t`.

    **Returns:** the greatest difference of two numbers; infinity where the two sides differ in form.

    **Raises:** `CdlError` for algebras of two monads, and where there are no values.
    """
    return max(apart(left, right) for left, right, _ in _compared("hom_defect", h, algebra, other, values))


@with_usage
def is_hom(h: Map, algebra: Any, other: Any, values: Iterable[Any], *, tolerance: float | None = None) -> bool:
    """Whether `h` is a map of algebras at some values. Of two actions, this is whether `h` is equivariant.

    **Arguments:** as for `hom_defect`. `tolerance`: of `hom_defect`. Without one, the two sides agree up to rounding:
    each array by `√ε` of its type times the greatest number that the two sides have in it. Where the sides are small
    because numbers cancel, they also agree up to 64 roundings of `h(x)`, and of how much this changes with `x`. Whole
    numbers and truth values have to be equal.

    **Raises:** as `hom_defect`.
    """
    compared = _compared("is_hom", h, algebra, other, values)
    if tolerance is None:
        return all(agree(left, right, beside) for left, right, beside in compared)
    return max(apart(left, right) for left, right, _ in compared) <= tolerance


def _compared(what: str, h: Map, algebra: Any, other: Any, values: Iterable[Any]) -> list[tuple[Any, Any, Any]]:
    """The two sides at each value, and numbers whose rounding is in both."""
    given = list(values)
    if not given:
        raise CdlError(f"`{what}` compares a map at values, and there are none.")
    if isinstance(algebra, Action) or isinstance(other, Action):
        names = [x.name for x, _ in aligned(algebra, other, f"`{what}`")]
        found = [
            (both.left, both.right, both.beside)
            for x in given
            for name in names
            for both in _called(what, h, lambda x, name: sides(h, algebra, other, x, name), x, name)
        ]
        return found or [((), (), ())]  # without generators, nothing is asked
    for one in (algebra, other):
        if not isinstance(one, EilenbergMoore):
            raise CdlError(f"`{what}` is of two algebras of a monad, or of two actions, not `{short(one)}`.")
    if not (algebra.monad is other.monad or bool(algebra.monad == other.monad)):
        raise CdlError(
            f"`{what}` is of algebras of one monad, and these are of {short(algebra.monad)} and "
            f"{short(other.monad)}. Where both have a monoid, give both the same object."
        )

    def both(x: Any) -> tuple[Any, Any, Any]:
        image = algebra.monad.map(h, x)
        return h(algebra.action(x)), other.action(image), image

    return [_called(what, h, both, x) for x in given]


def _called(what: str, h: Map, both: Callable[..., Any], x: Any, *more: Any) -> Any:
    """The two sides at a value. **Raises:** `CdlError` where the map, or an action, does not take what it gets."""
    try:
        return both(x, *more)
    except CdlError:
        raise
    except (TypeError, ValueError) as error:
        raise CdlError(
            f"`{what}` fails for `{called(h)}` at a value of shape {short(jax.tree.map(jnp.shape, x))}. Give values of "
            "the first action or algebra, and a map that takes them to the second. The error is: "
            f"{first_line(error)}"
        ) from error


def lie_derivative(h: Map, source: Map, target: Map) -> Map:
    """`x ↦ D h(x) ξ_X(x) − ξ_Y(h(x))`: how fast `exp(−t ξ_Y) h(exp(t ξ_X) x)` changes at `t = 0`. Zero where `h` is
    equivariant.

    **Arguments:** `source`, `target`: the vector fields `ξ_X` and `ξ_Y` that generate the two actions, such as
    `functools.partial(so(3), "turn01")`.
    """

    def at(x: Any) -> Any:
        y, moved = derivative(h, source, x)
        theirs = target(y)
        same_form(moved, theirs)
        return jax.tree.map(jnp.subtract, moved, theirs)

    return at


class Measured(NamedTuple):
    """A mean square error of equivariance, for each number of the output; and over the mean square of its two sides."""

    mean: jax.Array
    relative: jax.Array


@with_usage
def lie_error(h: Called, source: Called, target: Called, xs: Any) -> Measured:
    """The mean of `‖L h(x)‖²` over the leading axis of `xs`, for each number of the output.

    The relative error is that over the mean of `‖D h ξ_X‖² + ‖ξ_Y h‖²`. Where both sides are rounding, as for an
    invariant map, the denominator is kept above the rounding of `h(x)`.

    **Raises:** `CdlError` for an `Action`, which does not say which field is meant.
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
