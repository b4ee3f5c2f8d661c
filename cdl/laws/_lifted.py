"""Laws of functors and monads in `Para`: a strong functor lifts to it, and an algebra of a monad in it is lax.

| the law                          | the two sides                                                            |
| -------------------------------- | ------------------------------------------------------------------------ |
| lifting, composition             | `F (f >> g) = F f >> F g`, `F id = id`                                   |
| lifting, 2-cells                 | `F` of `f` along `r`, and `F f` along `r`                                |
| a lax algebra, unit              | `id` along `ε : P → 1`, and `a ∘ η`                                      |
| a lax algebra, multiplication    | `a ∘ T a` along `δ : P → P × P`, and `a ∘ μ`                             |
| its coherence: a comonoid        | `(δ × P) δ ≅ (P × δ) δ`, `(ε × P) δ ≅ P ≅ (P × ε) δ`                     |

Parameters are compared as they are: the laws of a comonoid hold exactly, and need no element of the carrier.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from .._functors.usage import with_usage
from .._para import identity, LaxAlgebra, lift, Para
from .._para.two_cells import associator_back, horizontal, left_unitor, right_unitor, same
from ._hold import hold


P = TypeVar("P")
A = TypeVar("A")
X = TypeVar("X")
Y = TypeVar("Y")


@with_usage
def lifting(
    f: Para[P, X, Y],
    g: Para[Any, Y, Any],
    r: Callable[[P], P],
    layer: Any,
    *,
    by: Callable[[Para[Any, Any, Any]], Para[Any, Any, Any]] = lift,
    tolerance: float = 0.0,
) -> None:
    """That a strong functor lifts to parametric maps, with their 2-cells, at a layer of `f`'s inputs.

    **Arguments:** `r`: a map between the parameters of `f`. `by`: how the functor lifts.

    **Raises:** `LawBroken`.

    Examples:
        >>> f, g = cdl.Para(2.0, lambda p, x: p * x), cdl.Para(3.0, lambda p, x: p + x)
        >>> cdl.laws.lifting(f, g, lambda p: -p, cdl.Fork(1.0, 2.0))
    """
    hold("`F id = id`", by(identity())(layer), layer, tolerance)
    hold("`F (f >> g) = F f >> F g`", by(f >> g)(layer), (by(f) >> by(g))(layer), tolerance)
    before, after = by(f.reparametrise(r, at=f.params)), by(f).reparametrise(r, at=f.params)
    hold("`F (f ∘ (r × id)) = F f ∘ (r × id)`", before(layer), after(layer), tolerance)


@with_usage
def lax_algebra(lax: LaxAlgebra[P, A], a: A, nested: Any, *, tolerance: float = 0.0) -> None:
    """That both squares of a lax algebra commute along its 2-cells, at an element of the carrier and one of `T T A`,
    and that these make its parameters a comonoid.

    **Arguments:** `lax`: the algebra. `a`: an element of its carrier. `nested`: one of `M M A`.

    **Raises:** `LawBroken`.

    Examples:
        >>> count = cdl.monads.Writer(cdl.monads.Monoid(0, lambda m, n: m + n))
        >>> powers = cdl.para.lax_algebra(count, cdl.Para(2.0, lambda p, x: p ** x[0] * x[1]))
        >>> cdl.laws.lax_algebra(powers, 5.0, (1, (2, 5.0)))
    """
    unit, joined, p = lax.unit, lax.multiplication, lax.action.params
    hold("`id = a ∘ η`, along `ε`", unit.along(lax.counit)(a), unit.direct(a), tolerance)
    hold("`a ∘ T a = a ∘ μ`, along `δ`", joined.along(lax.comultiplication)(nested), joined.direct(nested), tolerance)
    forget, copy = lax.counit, lax.comultiplication
    hold("`(ε × P) δ ≅ P`", horizontal(forget, same)(copy(p)), left_unitor(p))
    hold("`(P × ε) δ ≅ P`", horizontal(same, forget)(copy(p)), right_unitor(p))
    left, right = horizontal(copy, same)(copy(p)), horizontal(same, copy)(copy(p))
    hold("`(δ × P) δ ≅ (P × δ) δ`", associator_back(left), right)
