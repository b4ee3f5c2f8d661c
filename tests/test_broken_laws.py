"""Every law fails on an instance planted to break it, and shows the two sides that differ, and only those."""

import copy
import re
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from cdl import (
    algebra,
    cata,
    CdlError,
    Cofree,
    Cons,
    EilenbergMoore,
    fmap,
    Fork,
    interpret,
    LawBroken,
    laws,
    Leaf,
    Left,
    ListF,
    ListMonad,
    Many,
    Monoid,
    Nil,
    Node,
    Pure,
    to_list,
    trace,
)
from cdl.laws._hold import difference


def broken(law: str, left: Any, right: Any) -> Any:
    message = f"{law}: the left side gives `{left}` where the right gives `{right}`."
    return pytest.raises(LawBroken, match=re.escape(message))


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


def countdown(n: int) -> ListF[int, int]:
    return Nil() if n == 0 else Cons(n, n - 1)


def test_a_map_that_changes_the_shape_or_maps_twice_is_no_functor():
    with broken("`F id = id`", (), (1, 2)):
        laws.functor((1, 2), str, len, map=lambda f, xs: ())
    with broken("`F g ∘ F f = F (g ∘ f)`", 8, 6):
        laws.functor((0,), lambda n: n + 1, lambda n: 2 * n, map=lambda f, xs: tuple(f(f(x)) for x in xs))


def test_a_strength_that_changes_places_or_parameters_is_none():
    places = lambda p, layer: fmap(lambda x: (p, x + 1), layer)
    pairs = lambda p, layer: fmap(lambda x: (p if isinstance(p, str) else p[::-1], x), layer)
    fives = lambda p, layer: fmap(lambda x: (0 if p == 5 else p, x), layer)
    with broken("`F π₂ ∘ σ = π₂`", 2, 1):
        laws.strength(Fork(1, 1), "p", "q", str, str, by=places)
    with broken("`F α ∘ σ = σ ∘ (P × σ) ∘ α`", "'q'", "'p'"):
        laws.strength(Fork(1, 1), "p", "q", str, str, by=pairs)
    with broken("`F (f × g) ∘ σ = σ ∘ (f × F g)`", 5, 0):
        laws.strength(Fork(1, 1), 2, 2, lambda p: p + 3, str, by=fives)


def test_a_change_of_layers_that_looks_at_the_places_is_not_natural():
    nosy = lambda layer: Fork(layer.right, layer.left) if layer.left == 0 else layer
    with broken("`τ ∘ F f = G f ∘ τ`", 1, 6):
        laws.natural(nosy, Fork(0, 5), lambda x: x + 1)


def test_a_fold_that_loses_a_layer_breaks_reflection():
    with broken("`cata in = id`", 2, 1):
        laws.reflection(THREE, by=lambda alg: lambda tree: cata(alg)(tree.tail))


def test_two_folds_that_differ_from_their_product_break_banana_split():
    with broken("`cata (α × β) = ⟨cata α, cata β⟩`", 6, 0):
        laws.banana_split(add, add, THREE, by=lambda alg: lambda tree: 0 if alg is add else cata(alg)(tree))


def into(layer: Any) -> tuple[int, ...]:
    return () if isinstance(layer, Nil) else (layer.head, *layer.tail)


def out(xs: tuple[int, ...]) -> Any:
    return Cons(xs[0], xs[1:]) if xs else Nil()


def test_structure_maps_that_are_no_inverses_break_lambek():
    laws.lambek(Cons(1, (2, 3)), embed=into, project=out)
    with broken("`out ∘ in = id`", 2, 1):
        laws.lambek(Cons(1, (2,)), embed=lambda layer: into(layer)[::-1], project=out)
    wrong_below = lambda layer: (4,) if layer == Cons(3, ()) else into(layer)
    with broken("`out = cata (F in)`", 3, 4):
        laws.lambek(Cons(1, (2, 3)), embed=wrong_below, project=out)


def test_what_is_no_map_of_algebras_does_not_fuse():
    laws.fusion(lambda x: 2 * x, add, double, THREE)
    with broken("`h ∘ α = β ∘ F h`", 1, 0):
        laws.fusion(lambda x: x + 1, add, double, THREE)
    with broken("`h ∘ cata α = cata β`", 2, 1):
        laws.fusion(lambda x: 2 * x, add, double, THREE, by=lambda alg: lambda tree: 1)


def test_what_is_no_map_of_coalgebras_does_not_fuse():
    with broken("`F h ∘ γ = δ ∘ h`", 1, 2):
        laws.unfold_fusion(lambda n: n + 1, countdown, countdown, 1)
    with broken("`ana γ = ana δ ∘ h`", "Nil()", "Cons(1, Nil())"):
        laws.unfold_fusion(lambda n: n, countdown, countdown, 1, by=_grows_less_the_first_time())


def _grows_less_the_first_time() -> Any:
    results = iter([Nil(), Cons(1, Nil())])
    return lambda coalg: lambda seed: (coalg(0), next(results))[1]


counted = algebra(lambda layer: 0 if isinstance(layer, Nil) else 1 + layer.tail[1])
remembered = algebra(lambda layer: 0 if isinstance(layer, Nil) else 1 + layer.tail.head)


@pytest.mark.parametrize(
    ("law", "left", "right"),
    [
        (lambda by: laws.para(counted, THREE, by=lambda alg: by), 0, 3),
        (lambda by: laws.zygo(add, counted, THREE, by=lambda helper, alg: by), 0, 3),
        (lambda by: laws.mutu(counted, counted, THREE, by=lambda other, alg: by), 0, 3),
        (lambda by: laws.histo(remembered, THREE, by=lambda alg: by), 0, 3),
        (lambda by: laws.hylo(add, countdown, 3, by=lambda alg, coalg: by), 0, 6),
        (lambda by: laws.dyna(remembered, countdown, 3, by=lambda alg, coalg: by), 0, 3),
        (lambda by: laws.chrono(remembered, _one_ahead, 3, by=lambda alg, coalg: by), 0, 3),
    ],
    ids=["para", "zygo", "mutu", "histo", "hylo", "dyna", "chrono"],
)
def test_a_scheme_that_answers_with_a_constant_is_caught(law, left, right):
    with broken("", left, right):
        law(lambda tree: 0)


def _one_ahead(n: int) -> Any:
    return fmap(Pure, countdown(n))


def test_a_scheme_that_keeps_or_grows_the_wrong_tree_is_caught():
    with broken("`decorate α = cata ⟨α ∘ F head, id⟩`", 9, 6):
        laws.decorate(add, THREE, by=lambda alg: lambda tree: Cofree(9, Nil()))
    with broken("`futu γ = ana [γ, id] ∘ Pure`", "Nil()", "Cons(1, Nil())"):
        laws.futu(_one_ahead, 1, by=lambda coalg: lambda seed: Nil())
    copying = lambda n: Cons(n, Left(Nil()))
    with broken("`apo γ = ana [F Left ∘ out, γ] ∘ Right`", "Nil()", "Cons(1, Nil())"):
        laws.apo(copying, 1, by=lambda coalg: lambda seed: Nil())


def test_what_is_no_map_out_of_a_free_algebra_is_caught():
    free = Cons(1, Pure("ab"))
    with broken("`g ∘ in = β ∘ F g` (is `g` a map of algebras?)", 6, 5):
        laws.free(lambda tree: 2 * interpret(len, add)(tree), add, free)
    with broken("`interpret(f, β) ∘ Pure = f`", 0, 2):
        laws.free(interpret(len, add), add, free, by=lambda f, alg: lambda tree: 0)


def test_what_is_no_map_into_a_cofree_coalgebra_is_caught():
    with broken("`tail ∘ g = F g ∘ γ` (is `g` a map of coalgebras?)", "Nil()", "Cons(1, Cofree(0, Nil()))"):
        laws.cofree(lambda n: Cofree(0, Nil()), countdown, 2)
    with broken("`extract ∘ trace(f, γ) = f`", 1, 0):
        laws.cofree(trace(lambda n: n, countdown), countdown, 2, by=lambda f, c: lambda n: Cofree(n + 1, Nil()))


def suffixes(xs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(xs[i:] for i in range(len(xs)))


def mapped(f: Callable[[Any], Any], xs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(f, xs))


def test_a_comonad_that_shows_the_wrong_end_is_caught():
    laws.comonad((0, 1, 2), extract=lambda xs: xs[0], duplicate=suffixes, map=mapped)
    with broken("`extract ∘ duplicate = id`", (1,), (0, 1)):
        laws.comonad((0, 1), extract=lambda xs: xs[-1], duplicate=suffixes, map=mapped)
    with broken("`W extract ∘ duplicate = id`", 0, 1):
        laws.comonad((0, 1), extract=lambda xs: xs[0], duplicate=lambda xs: (xs,) * len(xs), map=mapped)


def test_a_product_that_is_not_associative_is_caught():
    with broken("`1 · x = x`", -3, 3):
        laws.monoid(Monoid(0, lambda x, y: x - y), 3, 2, 1)
    minus = lambda x, y: x - y if x and y else x + y
    with broken("`(x · y) · z = x · (y · z)`", 1, 3):
        laws.monoid(Monoid(0, minus), 5, 3, 1)


class Backwards(ListMonad):
    def join(self, nested: Any, /) -> Any:
        return tuple(a for inner in reversed(nested) for a in inner)


def test_a_join_in_the_wrong_order_is_caught():
    with broken("`μ ∘ M η = id`", 2, 1):
        laws.monad(Backwards(), 1, (1, 2), lambda a: (a,), lambda a: (a,))


def test_an_action_that_ignores_the_monad_is_caught():
    with broken("`a ∘ μ = a ∘ M a`", 1, 0):
        laws.eilenberg_moore(EilenbergMoore(ListMonad(), lambda xs: xs[0] if xs else 0), 5, ((), (1,)))
    with broken("`a ∘ η = id`", 0, 5):
        laws.eilenberg_moore(EilenbergMoore(ListMonad(), lambda xs: 0), 5, ())
    sums = ListMonad().algebra(Monoid(0, lambda x, y: x + y))
    with broken("`h ∘ a = b ∘ M h`", 4, 5):
        laws.eilenberg_moore_map(lambda x: x + 1, sums, sums, (1, 2))


# How two sides are compared.
def test_numbers_are_compared_exactly_unless_a_tolerance_is_given():
    sums = Monoid(0.0, lambda x, y: x + y)
    with broken("`(x · y) · z = x · (y · z)`", 0.6000000000000001, 0.6):
        laws.monoid(sums, 0.1, 0.2, 0.3)
    laws.monoid(sums, 0.1, 0.2, 0.3, tolerance=1e-12)
    arrays = Monoid(jnp.zeros(2), lambda x, y: x + y)
    values = [jnp.asarray([x, -x]) for x in (0.1, 0.2, 0.3)]
    laws.monoid(arrays, *values, tolerance=1e-6)
    with pytest.raises(LawBroken, match=r"the left side gives .*0\.35, 0\.15"):
        laws.monoid(Monoid(jnp.zeros(2), lambda x, y: x + y + 0.25), *values, tolerance=1e-6)


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ({"a": [1, 2]}, {"a": [1, 3]}, (2, 3)),
        ({"a": 1}, {"b": 1}, ({"a": 1}, {"b": 1})),
        (Node("a", Many([1])), Node("a", Many([1, 2])), (Many([1]), Many([1, 2]))),
        (Cons(1, None), Cons(1, 0), (None, 0)),
        (np.zeros(2), np.zeros(3), None),
        (True, 2, (True, 2)),
        ("a", "b", ("a", "b")),
    ],
)
def test_the_smallest_parts_that_differ_are_shown(left, right, shown):
    found = difference(left, right)
    assert found is not None
    assert shown is None or found == shown


@pytest.mark.parametrize("value", [float("nan"), np.array([np.nan, np.inf]), [1, (2, {"a": np.ones(2)})], Leaf("a")])
def test_a_value_is_the_same_as_its_copy(value):
    assert difference(value, copy.deepcopy(value)) is None
    assert difference(value, copy.deepcopy(value), tolerance=0.1) is None


def test_a_broken_law_is_an_assertion_error_and_an_error_of_the_library():
    assert issubclass(LawBroken, AssertionError)
    assert issubclass(LawBroken, CdlError)
