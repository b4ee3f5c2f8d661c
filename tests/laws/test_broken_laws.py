"""Every law of functors and folds fails on an instance planted to break it, and it alone."""

from typing import Any

import pytest
from planted import breaks, wrong_at

from cdl import algebra, cata, Cons, fmap, Fork, laws, ListF, Nil, to_list
from cdl.monads import Cofree


THREE = to_list([1, 2, 3])


@algebra
def add(layer: ListF[int, int]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(head, rest):
            return head + rest


@algebra
def double(layer: ListF[int, int]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(head, rest):
            return 2 * head + rest


counted = algebra(lambda layer: 0 if isinstance(layer, Nil) else 1 + layer.tail[1])
remembered = algebra(lambda layer: 0 if isinstance(layer, Nil) else 1 + layer.tail.head)


def constant(answer: Any) -> Any:
    """A scheme that gives the same whatever it is given."""
    return lambda *_: lambda _: answer


def places_only(x: Any) -> Any:
    """Changes numbers, and leaves the pairs alone that a second strength makes."""
    return x if isinstance(x, tuple) else -x


FUNCTORS = [
    # A map that drops what it is given; one that applies the function twice.
    ("`F id = id`", lambda: laws.functor((1, 2), str, len, map=lambda f, xs: ()), (), (1, 2)),
    (
        "`F g ∘ F f = F (g ∘ f)`",
        lambda: laws.functor((0,), lambda n: n + 1, lambda n: 2 * n, map=lambda f, xs: tuple(f(f(x)) for x in xs)),
        8, 6,
    ),
    # A strength that changes the places, one that changes pairs of parameters, one that changes the parameter 5.
    (
        "`F π₂ ∘ σ = π₂`",
        lambda: laws.strength(
            Fork(1, 1), "p", "q", str, lambda x: 2 * x, by=lambda p, layer: fmap(lambda x: (p, places_only(x)), layer)
        ),
        -1, 1,
    ),
    (
        "`F α ∘ σ = σ ∘ (P × σ) ∘ α`",
        lambda: laws.strength(
            Fork(1, 1), "p", "q", str, str,
            by=lambda p, layer: fmap(lambda x: (p if isinstance(p, str) else p[::-1], x), layer),
        ),
        "'q'", "'p'",
    ),
    (
        "`F (f × g) ∘ σ = σ ∘ (f × F g)`",
        lambda: laws.strength(
            Fork(1, 1), 2, 2, lambda p: p + 3, str, by=lambda p, layer: fmap(lambda x: (0 if p == 5 else p, x), layer)
        ),
        5, 0,
    ),
    # A change of layers that looks at what stands at the places.
    (
        "`τ ∘ F f = G f ∘ τ`",
        lambda: laws.natural_on_layers(
            lambda layer: Fork(layer.right, layer.left) if layer.left == 0 else layer, Fork(0, 5), lambda x: x + 1
        ),
        1, 6,
    ),
]  # fmt: skip


def into(layer: Any) -> tuple[int, ...]:
    return () if isinstance(layer, Nil) else (layer.head, *layer.tail)


def out(xs: tuple[int, ...]) -> Any:
    return Cons(xs[0], xs[1:]) if xs else Nil()


LAMBEK = Cons(1, (2, 3))
FOLDS = [
    ("`h ∘ α = β ∘ F h`", lambda: laws.algebra_map(lambda x: x + 1, add, add, Nil()), 1, 0),
    # A structure map that is wrong at the top, where nobody takes it apart again; and one that is wrong below it.
    ("`out ∘ in = id`", lambda: laws.lambek(LAMBEK, embed=wrong_at(into, {LAMBEK: (7, 2, 3)}), project=out), 7, 1),
    ("`out = cata (F in)`", lambda: laws.lambek(LAMBEK, embed=wrong_at(into, {Cons(3, ()): (4,)}), project=out), 3, 4),
    # A fold that loses a layer, and one that is wrong about one of the three algebras.
    ("`cata in = id`", lambda: laws.reflection(THREE, by=lambda alg: lambda tree: cata(alg)(tree.tail)), 2, 1),
    (
        "`cata (α × β) = ⟨cata α, cata β⟩`",
        lambda: laws.banana_split(add, double, THREE, by=lambda alg: constant(0)() if alg is add else cata(alg)),
        6, 0,
    ),
    # A map that is right at the root and nowhere else; a fold that does not call the algebra.
    ("`h ∘ α = β ∘ F h`", lambda: laws.fusion(lambda x: 12 if x == 6 else 7, add, double, THREE), 7, 0),
    ("`h ∘ cata α = cata β`", lambda: laws.fusion(lambda x: 2 * x, add, double, THREE, by=constant(1)), 2, 1),
    ("`para α = π₂ ∘ cata ⟨in ∘ F π₁, α⟩`", lambda: laws.para(counted, THREE, by=constant(0)), 0, 3),
    ("`zygo β α = π₂ ∘ cata ⟨β ∘ F π₁, α⟩`", lambda: laws.zygo(add, counted, THREE, by=constant(0)), 0, 3),
    ("`mutu β α = π₂ ∘ cata ⟨β, α⟩`", lambda: laws.mutu(counted, counted, THREE, by=constant(0)), 0, 3),
    ("`histo α = head ∘ cata ⟨α, id⟩`", lambda: laws.histo(remembered, THREE, by=constant(0)), 0, 3),
    ("`decorate α = cata ⟨α ∘ F head, id⟩`", lambda: laws.decorate(add, THREE, by=constant(Cofree(9, Nil()))), 9, 6),
]  # fmt: skip


@pytest.mark.parametrize(
    ("law", "check", "left", "right"),
    [pytest.param(*case, id=case[0]) for case in [*FUNCTORS, *FOLDS]],
)
def test_an_instance_with_one_mistake_breaks_one_law_and_no_other(law, check, left, right):
    breaks(law, check, left, right)


@pytest.mark.parametrize(
    "law",
    [lambda: laws.lambek(LAMBEK, embed=into, project=out), lambda: laws.fusion(lambda x: 2 * x, add, double, THREE)],
)
def test_the_same_without_the_mistake_break_none(law):
    law()
