"""Maps of algebras, and how far a map is from being one.

| the mathematics                                               | here                                              |
| ------------------------------------------------------------- | ------------------------------------------------- |
| `h ∘ a = b ∘ M h`, for algebras of any monad `M`              | `is_hom(h, a, b, values)`                         |
| `h(m · x) = m · h(x)`: the same, for `M × −`                  | `is_hom(h, X, Y, values)`, for two actions        |
| how far the two sides are apart, at values                    | `hom_defect(…)`                                   |

To be equivariant is to be a map of algebras; nothing here is special to groups. Source: Gavranović et al., Categorical
Deep Learning (2024), definition 2.5.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from .._functors import EilenbergMoore
from .._functors.usage import with_usage
from .._functors.words import first_line, short
from .._terms import name as called
from ..errors import CdlError
from ._action import Action, aligned
from ._apart import agree, apart
from ._commuting import sides
from ._measured import Called, of_one


@with_usage
def hom_defect(h: Called, algebra: Any, other: Any, values: Iterable[Any]) -> float:
    """The greatest difference of `h ∘ a` and `b ∘ M h`, at some values: of `M A`, or of the carrier for two actions.

    **Arguments:**

    - `h`: from the carrier of `algebra` to that of `other`.
    - `algebra`, `other`: two `cdl.monads.EilenbergMoore` algebras of one monad, or two actions of one monoid.
    - `values`: elements of `M A`. For actions, elements of the carrier: each generator acts on each of them. For a
      generator of a Lie algebra the two sides are `D h(x) A x` and `A h(x)`, and `h(exp(t A) x)` and `exp(t A) h(x)`
      at two times `t`.

    **Returns:** the greatest difference of two numbers; infinity where the two sides differ in form.

    **Raises:** `CdlError` for algebras of two monads, and for no values.

    Examples:
        >>> C3 = cdl.symmetry.groups.cyclic(3)
        >>> cdl.symmetry.hom_defect(jnp.cumsum, C3, C3, jnp.array([[1.0, 2.0, 4.0]]))
        4.0
    """
    return max(apart(left, right) for left, right, _ in _compared("hom_defect", h, algebra, other, values))


@with_usage
def is_hom(h: Called, algebra: Any, other: Any, values: Iterable[Any], *, tolerance: float | None = None) -> bool:
    """Whether `h` is a map of algebras at some values. Of two actions, this is whether `h` is equivariant.

    **Arguments:** as for `hom_defect`. `tolerance`: of `hom_defect`. Without one, the two sides agree up to rounding:
    each array by `√ε` of its type times the greatest number that the two sides have in it. Where the sides are small
    because numbers cancel, they also agree up to 64 roundings of `h(x)`, and of how much this changes with `x`. Whole
    numbers and truth values have to be equal.

    **Raises:** as `hom_defect`.

    Examples:
        >>> C3 = cdl.symmetry.groups.cyclic(3)
        >>> xs = jnp.array([[1.0, 2.0, 4.0]])
        >>> cdl.symmetry.is_hom(jnp.abs, C3, C3, xs), cdl.symmetry.is_hom(jnp.sort, C3, C3, xs)
        (True, False)
    """
    compared = _compared("is_hom", h, algebra, other, values)
    if tolerance is None:
        return all(agree(left, right, beside) for left, right, beside in compared)
    return max(apart(left, right) for left, right, _ in compared) <= tolerance


def _compared(what: str, h: Called, algebra: Any, other: Any, values: Iterable[Any]) -> list[tuple[Any, Any, Any]]:
    """The two sides at each value, and numbers whose rounding is in both."""
    given = list(values)
    if not given:
        raise CdlError(f"`{what}` compares a map at values, and there are none.")
    of_one(h)
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


def _called(what: str, h: Called, both: Callable[..., Any], x: Any, *more: Any) -> Any:
    """The two sides at a value. **Raises:** `CdlError` where the map, or an action, does not take what it gets."""
    try:
        return both(x, *more)
    except CdlError:
        raise
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        given = f"an array of shape {x.shape}" if isinstance(x, jax.Array | np.ndarray) else f"the value {short(x)}"
        raise CdlError(
            f"`{what}` fails for `{called(h)}` at {given}. Give values of the first action or algebra, and a map that "
            f"takes them to the second. The error is: {first_line(error)}"
        ) from error
