"""Laws of monoids, of monads, and of the algebras of a monad.

| the law                 | the two sides                                                              |
| ----------------------- | -------------------------------------------------------------------------- |
| monoid                  | `1 · x = x = x · 1`, `(x · y) · z = x · (y · z)`                           |
| monad, unit             | `μ ∘ η = id = μ ∘ M η`                                                     |
| monad, associativity    | `μ ∘ μ = μ ∘ M μ`                                                          |
| bind                    | `bind(η a, f) = f a`, `bind(bind(m, f), g) = bind(m, a ↦ bind(f a, g))`    |
| Eilenberg–Moore         | `a ∘ η = id`, `a ∘ μ = a ∘ M a`                                            |
| a map of such algebras  | `h ∘ a = b ∘ M h`                                                          |
"""

from collections.abc import Callable
from typing import Any, TypeVar

from .._functors import EilenbergMoore, Monad, Monoid
from .._functors.usage import with_usage
from ._hold import hold


A = TypeVar("A")
B = TypeVar("B")
M = TypeVar("M")


@with_usage
def monoid(instance: Monoid[M], x: M, y: M, z: M, *, tolerance: float = 0.0) -> None:
    """That the product is associative and has the unit, at three elements.

    **Arguments:** `instance`: the monoid. `x`, `y`, `z`: three elements.

    **Raises:** `LawBroken`.

    Examples:
        >>> cdl.laws.monoid(cdl.monads.Monoid("", lambda x, y: x + y), "a", "b", "c")
        >>> cdl.laws.monoid(cdl.monads.Monoid(0, lambda x, y: x - y), 1, 2, 3)
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `1 · x = x`: the left side gives `-1` where the right gives `1`.
    """
    unit, combine = instance.unit, instance.combine
    hold("`1 · x = x`", combine(unit, x), x, tolerance)
    hold("`x · 1 = x`", combine(x, unit), x, tolerance)
    hold("`(x · y) · z = x · (y · z)`", combine(combine(x, y), z), combine(x, combine(y, z)), tolerance)


@with_usage
def monad(
    instance: Monad,
    a: Any,
    value: Any,
    f: Callable[[Any], Any],
    g: Callable[[Any], Any],
    *,
    tolerance: float = 0.0,
) -> None:
    """The laws of a monad, as `join` has them and as `bind` has them.

    **Arguments:** `a`: an element. `value`: one of `M A`. `f`, `g`: functions `A → M B` and `B → M C`.

    **Raises:** `LawBroken`.

    Examples:
        >>> cdl.laws.monad(cdl.monads.ListMonad(), 1, (1, 2), lambda x: (x, x), lambda x: (-x,))
    """
    unit, map, join, bind = instance.unit, instance.map, instance.join, instance.bind
    nested = map(lambda b: map(g, f(b)), value)
    hold("`μ ∘ η = id`", join(unit(value)), value, tolerance)
    hold("`μ ∘ M η = id`", join(map(unit, value)), value, tolerance)
    hold("`μ ∘ μ = μ ∘ M μ`", join(join(nested)), join(map(join, nested)), tolerance)
    hold("`M f ∘ η = η ∘ f`", map(f, unit(a)), unit(f(a)), tolerance)
    hold("`bind(η a, f) = f a`", bind(unit(a), f), f(a), tolerance)
    hold("`bind = μ ∘ M f`", bind(value, f), join(map(f, value)), tolerance)
    law = "`bind(bind(m, f), g) = bind(m, a ↦ bind(f a, g))`"
    hold(law, bind(bind(value, f), g), bind(value, lambda b: bind(f(b), g)), tolerance)


@with_usage
def eilenberg_moore(algebra: EilenbergMoore[A], a: A, nested: Any, *, tolerance: float = 0.0) -> None:
    """That an action agrees with its monad, at an element of the carrier and one of `M M A`.

    **Arguments:** `algebra`: of a monad. `a`: an element of the carrier. `nested`: one of `M M A`.

    **Raises:** `LawBroken`.

    Examples:
        >>> product = cdl.monads.ListMonad().algebra(cdl.monads.Monoid(1, lambda x, y: x * y))
        >>> cdl.laws.eilenberg_moore(product, 2, ((2, 3), (), (4,)))
    """
    monad, action = algebra.monad, algebra.action
    hold("`a ∘ η = id`", action(monad.unit(a)), a, tolerance)
    hold("`a ∘ μ = a ∘ M a`", action(monad.join(nested)), action(monad.map(action, nested)), tolerance)


@with_usage
def eilenberg_moore_map(
    h: Callable[[A], B],
    algebra: EilenbergMoore[A],
    other: EilenbergMoore[B],
    value: Any,
    *,
    tolerance: float = 0.0,
) -> None:
    """That `h` is a map of algebras of a monad, at an element of `M A`.

    **Arguments:** `h`: from the carrier of `algebra` to that of `other`. `value`: an element of `M A`.

    **Raises:** `LawBroken`.

    Examples:
        >>> total = cdl.monads.ListMonad().algebra(cdl.monads.Monoid(0, lambda x, y: x + y))
        >>> longest = cdl.monads.ListMonad().algebra(cdl.monads.Monoid("", lambda x, y: x + y))
        >>> cdl.laws.eilenberg_moore_map(len, longest, total, ("ab", "c"))
    """
    hold("`h ∘ a = b ∘ M h`", h(algebra.action(value)), other.action(algebra.monad.map(h, value)), tolerance)
