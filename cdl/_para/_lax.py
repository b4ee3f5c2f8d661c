"""Algebras of a monad in `Para` are lax, and make their parameters a comonoid: this is what tying is along.

| the mathematics                                             | here                                                   |
| ----------------------------------------------------------- | ------------------------------------------------------ |
| a lax algebra `(A, (P, a : P × T A → A), ε, δ)`             | `LaxAlgebra(T, a, ε, δ)`; `lax_algebra(T, a)`          |
| `ε : P → 1`, from the identity to `a ∘ η`                   | `unit`: a square                                       |
| `δ : P → P × P`, from `a ∘ T a` to `a ∘ μ`                  | `multiplication`: a square                             |
| algebras of `F` are those of the free monad on it           | `free_algebra(F, α)`                                   |

A parametric endofunctor generates a parametric monad, the free one; a recurrent or recursive network is a lax algebra
of it. The equations that `ε` and `δ` have to satisfy are those of a comonoid on `P`, whatever the monad. So weights are
shared where an algebra of a monad has weights: in a fold, but also in an action of a monoid, or a pooling of lists.

| the monad         | a lax algebra of it, with parameters                                      |
| ----------------- | ------------------------------------------------------------------------- |
| `Free F`          | a fold                                                                    |
| `ℕ × −`           | a layer any number of times                                               |
| `1 + −`           | a first state that is learnt                                              |
| `List`            | a product with parameters, of any number of elements                      |

(Gavranović et al., *Categorical Deep Learning*, 2024, section 3.2 and theorem G.10.)
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx

from .._functors import Base, FreeMonad, interpret, Monad
from .._functors.expected import expect_fields
from .._functors.usage import with_types
from .para import identity, Para
from .squares import discard, Square
from .two_cells import delta
from .unrolled import _Lifted


T = TypeVar("T")
P = TypeVar("P")
A = TypeVar("A")


class LaxAlgebra(eqx.Module, Generic[P, A]):
    """A parametric map `P × T A → A` with a 2-cell for the unit of `T` and one for its multiplication.

    Examples:
        >>> counts = cdl.monads.Writer(cdl.monads.Monoid(0, lambda m, n: m + n))
        >>> powers = cdl.para.lax_algebra(counts, cdl.Para(2.0, lambda p, x: p ** x[0] * x[1]))
        >>> powers.counit(2.0), powers.comultiplication(2.0)
        ((), (2.0, 2.0))
    """

    monad: Monad
    action: Para[P, Any, A]
    counit: Callable[[P], tuple[()]]
    comultiplication: Callable[[P], tuple[P, P]]

    def __check_init__(self) -> None:
        expect_fields(self)

    @property
    def unit(self) -> Square[P, tuple[()]]:
        """`A` as it is, and the action on what has only it: `1` and `P`."""
        alone = Para(self.action.params, _Before(self.monad.unit, self.action.fn))
        return Square(identity(), alone, self.counit)

    @property
    def multiplication(self) -> Square[P, tuple[P, P]]:
        """The action inside and then outside, and the action on what was joined: `P × P` and `P`."""
        joined = Para(self.action.params, _Before(self.monad.join, self.action.fn))
        inside = Para(self.action.params, _Lifted(self.action.fn, self.monad.map))
        return Square(inside >> self.action, joined, self.comultiplication)


@with_types
def lax_algebra(monad: Monad, action: Para[P, Any, A], /) -> LaxAlgebra[P, A]:
    """A parametric map as a lax algebra along `P → 1` and `Δ`: `cdl.laws.lax_algebra` checks that it is one.

    **Arguments:** `monad`: the monad `M`. `action`: a parametric map from `M A` to `A`.

    Examples:
        >>> counts = cdl.monads.Writer(cdl.monads.Monoid(0, lambda m, n: m + n))
        >>> powers = cdl.para.lax_algebra(counts, cdl.Para(2.0, lambda p, x: p ** x[0] * x[1]))
        >>> powers.action((3, 1.0))
        8.0
    """
    return LaxAlgebra(monad, action, discard, delta(2))


@with_types
def free_algebra(signature: Any, alg: Para[P, Base[T, A], A], /) -> LaxAlgebra[P, A]:
    """A parametric algebra of a signature as one of its free monad: it reads trees with variables.

    **Arguments:** `signature`: of the layers. `alg`: an algebra of it, as a `Para`.

    Examples:
        >>> read = lambda p, t: t.label if isinstance(t, cdl.Leaf) else p * (t.left + t.right)
        >>> weigh = cdl.Para(2.0, read)
        >>> of_trees = cdl.para.free_algebra(cdl.TreeF, weigh)
        >>> of_trees.action(cdl.Fork(cdl.monads.Pure(1.0), cdl.Leaf(4.0)))
        10.0
    """
    return lax_algebra(FreeMonad(signature), Para(alg.params, _Interpreted(alg.fn)))


class _Before(eqx.Module):
    first: Callable[[Any], Any]
    fn: Callable[[Any, Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.fn(params, self.first(x))


class _Interpreted(eqx.Module):
    fn: Callable[[Any, Any], Any]

    def __call__(self, params: Any, tree: Any) -> Any:
        return interpret(lambda a: a, lambda layer: self.fn(params, layer))(tree)
