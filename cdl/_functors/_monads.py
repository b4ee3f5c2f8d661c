"""Four monads, each with the structures that are its algebras.

| the monad                       | here                | a value                  | its algebras              |
| ------------------------------- | ------------------- | ------------------------ | ------------------------- |
| `List A`                        | `ListMonad()`       | a tuple                  | monoids                   |
| `1 + A`                         | `MaybeMonad()`      | returns' `Maybe`         | sets with a point         |
| `M × A`, for a monoid `M`       | `Writer(monoid)`    | a pair                   | actions of `M`            |
| `Free F A`                      | `FreeMonad(ExprF)`  | a tree with variables    | algebras of `F`           |

`algebra` makes the algebra of a structure, and `structure` finds the structure of an algebra.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import equinox as eqx
from returns.maybe import Maybe, Nothing, Some

from ..errors import CdlError
from ._free import bind, Free, interpret, map_free, one_step, Pure
from ._monad import EilenbergMoore, Monad
from .base import Base
from .described import described
from .expected import expect_fields
from .ordered import two
from .read import functor
from .usage import with_types


A = TypeVar("A")
B = TypeVar("B")
M = TypeVar("M")  # the elements of a monoid
Pair: TypeAlias = tuple[M, A]


class Monoid(eqx.Module, Generic[M]):
    """An associative product with a unit: `cdl.laws.monoid` checks it.

    Examples:
        >>> plus = cdl.monads.Monoid(0, lambda x, y: x + y)
        >>> plus.combine(3, plus.unit)
        3
    """

    unit: M
    combine: Callable[[M, M], M]

    def __check_init__(self) -> None:
        expect_fields(self)


@dataclass(frozen=True)
class ListMonad(Monad):
    """`List A`: its algebras are monoids.

    Examples:
        >>> product = cdl.monads.ListMonad().algebra(cdl.monads.Monoid(1, lambda x, y: x * y))
        >>> product((2, 3, 4)), cdl.monads.ListMonad().structure(product).unit
        (24, 1)
    """

    def unit(self, a: A, /) -> tuple[A, ...]:
        return (a,)

    @with_types
    def map(self, f: Callable[[A], B], value: tuple[A, ...], /) -> tuple[B, ...]:
        return tuple(map(f, value))

    @with_types
    def join(self, nested: tuple[tuple[A, ...], ...], /) -> tuple[A, ...]:
        return tuple(a for inner in nested for a in inner)

    @with_types
    def algebra(self, monoid: Monoid[A]) -> EilenbergMoore[A]:
        """The monoid as an algebra: the product of any number of elements."""
        return EilenbergMoore(self, lambda elements: functools.reduce(monoid.combine, elements, monoid.unit))

    @with_types
    def structure(self, algebra: EilenbergMoore[A]) -> Monoid[A]:
        """The algebra as a monoid: what it makes of no element, and of two."""
        return Monoid(algebra.action(()), lambda x, y: algebra.action((x, y)))


@dataclass(frozen=True)
class MaybeMonad(Monad):
    """`1 + A`: its algebras are sets with a point. A value is a `Maybe` of the package `returns`.

    Examples:
        >>> from returns.maybe import Nothing
        >>> maybe = cdl.monads.MaybeMonad()
        >>> or_seven = maybe.algebra(7)
        >>> or_seven(maybe.unit(1)), or_seven(Nothing)
        (1, 7)
    """

    def unit(self, a: A, /) -> Maybe[A]:
        return Some(a)

    @with_types
    def map(self, f: Callable[[A], B], value: Maybe[A], /) -> Maybe[B]:
        return value.map(f)

    @with_types
    def join(self, nested: Maybe[Maybe[A]], /) -> Maybe[A]:
        return nested.bind(_same)

    def algebra(self, point: A) -> EilenbergMoore[A]:
        """The point as an algebra: the value of nothing."""

        def action(value: Any) -> A:
            if not isinstance(value, Maybe):
                raise CdlError(
                    f"an algebra of `MaybeMonad` reads `Some(x)` or `Nothing` of `returns.maybe`, and was given "
                    f"{described(value)}."
                )
            return value.value_or(point)

        return EilenbergMoore(self, action)

    @with_types
    def structure(self, algebra: EilenbergMoore[A]) -> A:
        """The algebra as its point."""
        return algebra.action(Nothing)


@dataclass(frozen=True)
class Writer(Monad, Generic[M]):
    """`M × A` for a monoid `M`: its algebras are actions of the monoid.

    Examples:
        >>> steps = cdl.monads.Writer(cdl.monads.Monoid(0, lambda m, n: m + n))
        >>> moving = steps.algebra(lambda step, at: at + step)
        >>> moving((3, 10)), steps.join((1, (2, "x")))
        (13, (3, 'x'))
    """

    monoid: Monoid[M]

    def __post_init__(self) -> None:
        expect_fields(self)

    def unit(self, a: A, /) -> tuple[M, A]:
        return self.monoid.unit, a

    @with_types
    def map(self, f: Callable[[A], B], value: Pair[M, A], /) -> tuple[M, B]:
        m, a = two("map", value)
        return m, f(a)

    @with_types
    def join(self, nested: Pair[M, Pair[M, A]], /) -> tuple[M, A]:
        outer, pair = two("join", nested)
        inner, a = two("join", pair)
        return self.monoid.combine(outer, inner), a

    @with_types
    def algebra(self, act: Callable[[M, A], A]) -> EilenbergMoore[A]:
        """The action `M × A → A` as an algebra."""
        return EilenbergMoore(self, lambda pair: act(*two("action", pair)))

    @with_types
    def structure(self, algebra: EilenbergMoore[A]) -> Callable[[M, A], A]:
        """The algebra as an action, of two arguments."""
        return lambda m, a: algebra.action((m, a))


@dataclass(frozen=True)
class FreeMonad(Monad):
    """`Free F A`, the trees of `F` with variables in `A`: its algebras are the algebras of `F`.

    Examples:
        >>> add = cdl.algebra(lambda t: t.left + t.right if isinstance(t, cdl.Fork) else t.label)
        >>> trees = cdl.monads.FreeMonad(cdl.TreeF)
        >>> trees.algebra(add)(cdl.Fork(cdl.monads.Pure(2), cdl.Leaf(3)))
        5
    """

    signature: Any

    def __post_init__(self) -> None:
        functor(self.signature)

    def __repr__(self) -> str:
        return f"FreeMonad({functor(self.signature)})"

    def unit(self, a: A, /) -> Free[Any, A]:
        return Pure(a)

    @with_types
    def map(self, f: Callable[[A], B], value: Free[Any, A], /) -> Free[Any, B]:
        return map_free(f, value)

    @with_types
    def join(self, nested: Free[Any, Free[Any, A]], /) -> Free[Any, A]:
        return bind(nested, _same)

    @with_types
    def algebra(self, alg: Callable[[Base[Any, A]], A]) -> EilenbergMoore[A]:
        """The algebra of `F` as one of its free monad: the value of a whole tree of variables."""
        return EilenbergMoore(self, interpret(_same, alg))

    @with_types
    def structure(self, algebra: EilenbergMoore[A]) -> Callable[[Base[Any, A]], A]:
        """The algebra as one of `F`: its value at trees of one layer."""
        return lambda layer: algebra.action(one_step(layer))


def _same(x: A) -> A:
    return x
