"""Every law of free monads, comonads, monoids, monads and their algebras fails on an instance planted to break it, and
it alone."""

from collections.abc import Callable
from typing import Any

import pytest
from planted import breaks, wrong_at
from test_broken_laws import add
from test_broken_laws_of_unfolds import countdown

from cdl import Cons, laws, Nil
from cdl.monads import Cofree, EilenbergMoore, interpret, ListMonad, Monoid, observe, Pure


# A map out of a free algebra and a map into a cofree coalgebra.
FREE: Any = Cons(1, Cons(2, Pure("ab")))
length = interpret(len, add)
steps = observe(lambda n: n, countdown)


def free(g: Any = length, by: Any = interpret) -> None:
    laws.free(g, add, FREE, by=by)


def cofree(g: Any = steps, by: Any = observe) -> None:
    laws.cofree(g, countdown, 2, by=by)


FREE_AND_COFREE = [
    # A map that is wrong at a part of the value; extensions that are wrong at variables, and elsewhere.
    ("`g ∘ in = β ∘ F g` (is `g` a map of algebras?)", lambda: free(wrong_at(length, {FREE.tail: 9})), 9, 4),
    ("`interpret(f, β) ∘ Pure = f`", lambda: free(by=lambda *f: wrong_at(interpret(*f), {Pure("ab"): 0})), 0, 2),
    ("`interpret(g ∘ Pure, β) = g`", lambda: free(by=lambda *f: wrong_at(interpret(*f), {FREE: 0})), 0, 5),
    # The same on the way: at seed 1, the head and all else.
    (
        "`tail ∘ g = F g ∘ γ` (is `g` a map of coalgebras?)",
        lambda: cofree(wrong_at(steps, {1: Cofree(1, Nil())})),
        "Nil()", "Cons(1, Cofree(0, Nil()))",
    ),
    (
        "`extract ∘ observe(f, γ) = f`",
        lambda: cofree(by=lambda f, coalg: wrong_at(observe(f, coalg), {1: Cofree(9, Nil())})),
        9, 1,
    ),
    (
        "`observe(extract ∘ g, γ) = g`",
        lambda: cofree(by=lambda f, coalg: wrong_at(observe(f, coalg), {2: Cofree(2, Nil())})),
        "Nil()", "Cons(2, Cofree(1, Cons(1, Cofree(0, Nil()))))",
    ),
]  # fmt: skip


# Non-empty lists, seen from the first: nested ones are told from flat ones.
def suffixes(xs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(xs[i:] for i in range(len(xs)))


def nested(xs: tuple[Any, ...]) -> bool:
    return isinstance(xs[0], tuple)


def comonad(extract: Callable[[Any], Any] = lambda xs: xs[0], duplicate: Callable[[Any], Any] = suffixes) -> None:
    laws.comonad((0, 1, 2), extract=extract, duplicate=duplicate, map=lambda f, xs: tuple(map(f, xs)))


COMONADS = [
    ("`extract ∘ duplicate = id`", lambda: comonad(lambda xs: xs[-1 if nested(xs) else 0]), (2,), (0, 1, 2)),
    ("`W extract ∘ duplicate = id`", lambda: comonad(lambda xs: xs[0 if nested(xs) else -1]), 2, 0),
    (
        "`duplicate ∘ duplicate = W duplicate ∘ duplicate`",
        lambda: comonad(duplicate=lambda xs: (xs,) * len(xs) if nested(xs) else suffixes(xs)),
        ((0, 1, 2), (1, 2), (2,)), ((1, 2), (2,)),
    ),
]  # fmt: skip


def flat(nested: Any) -> Any:
    return tuple(x for xs in nested for x in xs)


class Lists(ListMonad):
    """Lists, with the methods given in the place of theirs; `bind` does not come from `map` and `join`."""

    def __init__(self, **methods: Callable[..., Any]) -> None:
        self.methods = {"map": super().map, "join": flat, "bind": unless(None), **methods}

    def map(self, f: Any, value: Any, /) -> Any:
        return self.methods["map"](f, value)

    def join(self, nested: Any, /) -> Any:
        return self.methods["join"](nested)

    def bind(self, value: Any, f: Any, /) -> Any:
        return self.methods["bind"](value, f)


def unless(at: Any) -> Callable[..., Any]:
    """`bind`, which gives nothing for this list."""
    return lambda xs, f: () if xs == at else tuple(y for x in xs for y in f(x))


def monad(**methods: Callable[..., Any]) -> None:
    laws.monad(Lists(**methods), 1, (1, 2), lambda n: (n, 10 * n), lambda n: (n + 1, n + 2))


NESTED = tuple(tuple((m + 1, m + 2) for m in (n, 10 * n)) for n in (1, 2))


MONADS = [
    # Products that give back the one or the other, and one whose unit is a unit.
    ("`1 · x = x`", lambda: laws.monoid(Monoid(0, lambda x, y: x), 3, 2, 1), 0, 3),
    ("`x · 1 = x`", lambda: laws.monoid(Monoid(0, lambda x, y: y), 3, 2, 1), 0, 3),
    (
        "`(x · y) · z = x · (y · z)`",
        lambda: laws.monoid(Monoid(0, lambda x, y: x - y if x and y else x + y), 5, 3, 1),
        1, 3,
    ),
    # Each method wrong at the one list at which one law looks.
    ("`μ ∘ η = id`", lambda: monad(join=wrong_at(flat, {((1, 2),): (3, 4)})), 3, 1),
    ("`μ ∘ M η = id`", lambda: monad(join=wrong_at(flat, {((1,), (2,)): (3, 4)})), 3, 1),
    ("`μ ∘ μ = μ ∘ M μ`", lambda: monad(join=wrong_at(flat, {NESTED: ((0,),)})), (0,), (2, 3, 11, 12, 3, 4, 21, 22)),
    ("`M f ∘ η = η ∘ f`", lambda: monad(map=lambda f, xs: () if xs == (1,) else tuple(map(f, xs))), (), ((1, 10),)),
    ("`bind(η a, f) = f a`", lambda: monad(bind=unless((1,))), (), (1, 10)),
    ("`bind = μ ∘ M f`", lambda: monad(bind=unless((1, 2))), (), (1, 10, 2, 20)),
    (
        "`bind(bind(m, f), g) = bind(m, a ↦ bind(f a, g))`",
        lambda: monad(bind=unless((1, 10, 2, 20))),
        (), (2, 3, 11, 12, 3, 4, 21, 22),
    ),
    # Actions that ignore the list, and one that has only its first element; a map that is no homomorphism.
    ("`a ∘ η = id`", lambda: acts(lambda xs: 0), 0, 5),
    ("`a ∘ μ = a ∘ M a`", lambda: acts(lambda xs: xs[0] if xs else 0), 1, 0),
    ("`h ∘ a = b ∘ M h`", lambda: laws.eilenberg_moore_map(lambda x: x + 1, SUMS, SUMS, (1, 2)), 4, 5),
]  # fmt: skip

SUMS = ListMonad().algebra(Monoid(0, lambda x, y: x + y))


def acts(action: Callable[[Any], Any]) -> None:
    laws.eilenberg_moore(EilenbergMoore(ListMonad(), action), 5, ((), (1,)))


@pytest.mark.parametrize(
    ("law", "check", "left", "right"),
    [pytest.param(*case, id=case[0]) for case in [*FREE_AND_COFREE, *COMONADS, *MONADS]],
)
def test_an_instance_with_one_mistake_breaks_one_law_and_no_other(law, check, left, right):
    breaks(law, check, left, right)


@pytest.mark.parametrize("check", [free, cofree, comonad, monad])
def test_the_same_without_the_mistake_breaks_none(check):
    check()
