"""Monads as values, and their algebras as objects.

| the mathematics                          | here                                                               |
| ---------------------------------------- | ------------------------------------------------------------------ |
| a monad `(M, η, μ)`                      | a `Monad`: `unit` is `η`, `join` is `μ`, `map` is `M` on functions |
| `bind(m, f) = μ (M f m)`                 | `bind`                                                             |
| an algebra `(A, a : M A → A)`, where `a ∘ η = id` and `a ∘ M a = a ∘ μ` | `EilenbergMoore(monad, action)`     |

Extend `Monad` for one of your own, then let `cdl.laws.monad` and `cdl.laws.eilenberg_moore` check the laws.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx

from .expected import expect_fields


A = TypeVar("A")


class Monad:
    """A functor `M` with `η : A → M A` and `μ : M M A → M A`.

    Examples:
        >>> lists: cdl.monads.Monad = cdl.monads.ListMonad()
        >>> lists.unit(1), lists.join(((1, 2), (3,))), lists.bind((1, 2), lambda x: (x, 10 * x))
        ((1,), (1, 2, 3), (1, 10, 2, 20))
    """

    @abstractmethod
    def unit(self, a: Any, /) -> Any:
        """`η`: the value with nothing but `a` in it."""

    @abstractmethod
    def map(self, f: Callable[[Any], Any], value: Any, /) -> Any:
        """`M f`."""

    @abstractmethod
    def join(self, nested: Any, /) -> Any:
        """`μ`: two layers as one."""

    def bind(self, value: Any, f: Callable[[Any], Any], /) -> Any:
        """`μ ∘ M f`: what `f` makes of each element, flattened."""
        return self.join(self.map(f, value))


class EilenbergMoore(eqx.Module, Generic[A]):
    """An algebra of a monad: a map `M A → A` that agrees with the monad's unit and its join.

    Examples:
        >>> plus = cdl.monads.Monoid(0, lambda x, y: x + y)
        >>> total: cdl.monads.EilenbergMoore = cdl.monads.ListMonad().algebra(plus)
        >>> total((1, 2, 3))
        6
    """

    monad: Monad
    action: Callable[[Any], A]

    def __check_init__(self) -> None:
        expect_fields(self)

    def __call__(self, value: Any, /) -> A:
        """The value of an element of `M A`."""
        return self.action(value)
