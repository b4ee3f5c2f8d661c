"""Every law holds of what the library gives, on random signatures too, and fails on a planted broken instance."""

import copy
import dataclasses
import functools
import inspect
import math
import random
import re
from collections.abc import Callable
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
import pytest
from deep import run_alone
from hypothesis import given, settings, strategies as st
from random_signatures import random_signature, random_trees, size
from returns.contrib.hypothesis.laws import check_all_laws
from returns.maybe import Nothing, Some

from cdl import (
    algebra,
    ana,
    bind,
    cata,
    CdlError,
    Cofree,
    Cons,
    decorate,
    EilenbergMoore,
    final_chain,
    fmap,
    Fork,
    FreeMonad,
    functor,
    initial_chain,
    interpret,
    LawBroken,
    laws,
    Leaf,
    Left,
    Link,
    ListF,
    ListMonad,
    Many,
    MaybeMonad,
    MealyF,
    Monoid,
    MooreF,
    NatF,
    Nil,
    Node,
    Pure,
    Right,
    RoseF,
    SignatureError,
    StreamF,
    Succ,
    to_list,
    trace,
    TreeF,
    Writer,
    Zero,
)
from cdl.functor import constructors, fmap_term, holes
from cdl.functor.poly import compose, Id, Inj
from cdl.laws._hold import difference


# Carriers with a product that does not commute: two by two matrices of integers, as tuples.
def cell(layer: Any, salt: int = 0) -> tuple[int, int]:
    """An algebra of any signature, that tells constructors, payloads, places and their order apart."""
    a, b = salt + len(type(layer).__name__), sum(map(ord, type(layer).__name__))
    payload = [getattr(layer, f.name) for f in dataclasses.fields(layer)]
    a += sum(int(4 * p) for p in payload if isinstance(p, int | float))
    for x, y in holes(layer):
        a, b = (a * x + 3 * y + 1) % 10007, (b * y + a + 5 * x) % 10007
    return a, b


first = algebra(cell)
second = algebra(lambda layer: cell(layer, salt=11))


def of_pairs(layer: Any) -> tuple[int, int]:
    """An algebra whose places hold pairs of the carrier."""
    return cell(fmap(lambda pair: (pair[0][0] + 2 * pair[1][0], pair[0][1] - pair[1][1]), layer))


def folds(seed: int, count: int = 6) -> None:
    signature, _ = random_signature(seed)
    for tree in random_trees(signature, seed, count=count, max_nodes=20):
        laws.reflection(tree)
        laws.lambek(tree)
        laws.banana_split(first, second, tree)
        laws.para(algebra(lambda layer: cell(fmap(lambda p: (p[1][0] + size(p[0]), p[1][1]), layer))), tree)
        laws.zygo(first, algebra(of_pairs), tree)
        laws.mutu(algebra(of_pairs), algebra(lambda layer: cell(fmap(lambda p: p[1], layer))), tree)
        laws.histo(algebra(lambda layer: cell(fmap(_with_grandchildren, layer))), tree)
        laws.decorate(first, tree)
        laws.fusion(lambda ab: ab[::-1], first, algebra(lambda layer: cell(fmap(_swap, layer))[::-1]), tree)


def _swap(pair: Any) -> Any:
    return pair[::-1]


def _with_grandchildren(cofree: Any) -> tuple[int, int]:
    return cofree.head[0] + sum(below.head[0] for below in holes(cofree.tail)), cofree.head[1]


def layers(seed: int, count: int = 6) -> None:
    signature, _ = random_signature(seed)
    for tree in random_trees(signature, seed, count=count, max_nodes=8):
        laws.functor(tree, size, lambda n: n * n + 1)
        laws.strength(tree, "p", ("q", 1), lambda p: (p, p), size)


def refolds(seed: int, count: int = 2) -> None:
    signature, _ = random_signature(seed)
    kinds = constructors(signature)

    def grow(state: tuple[int, int]) -> Any:
        number, fuel = state
        tree = random_trees(signature, number, 1, 3 if fuel else 1)[0]
        return fmap(lambda below: ((number * 7 + size(below)) % 1009, max(0, fuel - 1)), tree)

    def in_layers(state: Any) -> Any:
        return fmap(lambda s: fmap(Pure, grow(s)) if s[0] % 2 else Pure(s), grow(state))

    def finished(state: Any) -> Any:
        return fmap(lambda s: Left(ana(grow)(s)) if s[0] % 2 else Right(s), grow(state))

    for start in ((seed, 3), (seed + 100, 2))[:count]:
        laws.hylo(first, grow, start)
        laws.dyna(algebra(lambda layer: cell(fmap(_with_grandchildren, layer))), grow, start)
        laws.futu(in_layers, start)
        laws.apo(finished, start)
        laws.chrono(algebra(lambda layer: cell(fmap(_with_grandchildren, layer))), in_layers, start)
        laws.unfold_fusion(lambda s: (*s, "label"), grow, lambda s: fmap(lambda t: (*t, "label"), grow(s[:2])), start)
    assert type(ana(grow)((seed, 3))) in kinds


def free_and_cofree(seed: int, count: int = 4) -> None:
    signature, _ = random_signature(seed)
    start: Callable[[str], tuple[int, int]] = lambda name: (len(name), ord(name[0]))
    for tree in random_trees(signature, seed, count=count, max_nodes=8):
        free = _with_variables(tree, random.Random(seed))
        laws.free(interpret(start, cell), cell, free)
        laws.monad(FreeMonad(signature), "v", free, functools.partial(_grafted, tree), _vary)
        laws.eilenberg_moore(FreeMonad(signature).algebra(cell), (3, 4), fmap(lambda t: Pure(Pure((size(t), 1))), tree))
        laws.cofree(trace(size, lambda t: t), lambda t: t, tree)
        laws.cofree(decorate(first), lambda t: t, tree)
        laws.comonad(decorate(first)(tree))


def _grafted(tree: Any, name: str) -> Any:
    return _with_variables(tree, random.Random(name))


def _vary(name: str) -> Any:
    return Pure(name + "!")


def _with_variables(tree: Any, rng: random.Random) -> Any:
    """The tree with variables in the place of some of its subtrees."""
    return fmap(lambda below: Pure(f"v{rng.randint(0, 3)}") if rng.random() < 0.5 else below, tree)


RANDOM = [folds, layers, refolds, free_and_cofree]


@pytest.mark.parametrize("laws_of", RANDOM, ids=lambda f: f.__name__)
def test_the_laws_hold_on_a_random_signature_with_types_checked(laws_of):
    laws_of(0, count=1)


def many_signatures():
    for seed in range(30):
        for laws_of in RANDOM:
            laws_of(seed)


def test_the_laws_hold_on_thirty_random_signatures():
    run_alone(many_signatures)


# Functors with functions in them, and composites.
def test_machines_are_functors_and_strong_by_what_is_observed_of_them():
    observe = lambda layer: [layer.step(i) for i in range(3)]
    laws.functor(MealyF(lambda i: (i, 2 * i)), str, len, observe=observe)
    laws.strength(MealyF(lambda i: (i, 2 * i)), "p", "q", str, lambda x: (x, x), observe=observe)
    laws.functor(MooreF(5, lambda i: i * i), str, len, observe=observe)
    laws.functor(StreamF(1, lambda: 7), str, len, observe=lambda layer: (layer.head, layer.tail()))


def test_a_composite_of_functors_is_a_functor():
    both = compose(functor(ListF), functor(TreeF))
    for value in (Inj(0, ()), Inj(1, ("a", Fork(1, 2))), Inj(1, ("a", Leaf("b")))):
        laws.functor(value, lambda n: n + 1, str, map=functools.partial(fmap_term, both))


def test_a_change_of_layers_is_natural():
    mirrored = lambda layer: Fork(layer.right, layer.left) if isinstance(layer, Fork) else layer
    laws.natural(mirrored, Fork(1, 2), str)


# Monads and their algebras.
words = Monoid((), lambda x, y: (*x, *y))
matrices = Monoid(
    (1, 0, 0, 1),
    lambda x, y: (
        x[0] * y[0] + x[1] * y[2],
        x[0] * y[1] + x[1] * y[3],
        x[2] * y[0] + x[3] * y[2],
        x[2] * y[1] + x[3] * y[3],
    ),
)
small = st.integers(-9, 9)
matrix = st.tuples(small, small, small, small)
few = settings(max_examples=25)


def times(m: tuple[int, ...], v: tuple[int, int]) -> tuple[int, int]:
    return m[0] * v[0] + m[1] * v[1], m[2] * v[0] + m[3] * v[1]


@few
@given(matrix, matrix, matrix)
def test_matrices_are_a_monoid(x, y, z):
    laws.monoid(matrices, x, y, z)


@few
@given(st.lists(small, max_size=4).map(tuple), small)
def test_lists_are_a_monad_whose_algebras_are_monoids(xs, a):
    laws.monad(ListMonad(), a, xs, lambda x: (x, x + 1)[: abs(x) % 3], lambda x: (x,) * (abs(x) % 3))


@few
@given(st.lists(st.lists(matrix, max_size=3).map(tuple), max_size=3).map(tuple), matrix, matrix)
def test_a_monoid_is_an_algebra_of_lists_and_back(nested, x, y):
    as_algebra = ListMonad().algebra(matrices)
    laws.eilenberg_moore(as_algebra, x, nested)
    again = ListMonad().structure(as_algebra)
    assert again.unit == matrices.unit
    assert again.combine(x, y) == matrices.combine(x, y)
    determinant = lambda m: m[0] * m[3] - m[1] * m[2]
    numbers = ListMonad().algebra(Monoid(1, lambda p, q: p * q))
    for value in nested:
        laws.eilenberg_moore_map(determinant, as_algebra, numbers, value)


@few
@given(matrix, matrix, st.tuples(small, small))
def test_a_writer_is_a_monad_whose_algebras_are_actions(m, n, v):
    writer = Writer(matrices)
    laws.monad(writer, 3, (m, 3), lambda a: (n, a + 1), lambda a: (m, str(a)))
    acting = writer.algebra(times)
    laws.eilenberg_moore(acting, v, (m, (n, v)))
    assert writer.structure(acting)(m, v) == times(m, v)
    laws.eilenberg_moore_map(lambda w: (2 * w[0], 2 * w[1]), acting, acting, (m, v))


@few
@given(st.sampled_from([Nothing, Some(1), Some(None), Some(-2)]), small)
def test_maybe_is_a_monad_whose_algebras_are_pointed_sets(value, a):
    half = lambda n: Some(n // 2) if n and n % 2 == 0 else Nothing
    laws.monad(MaybeMonad(), a, value, lambda n: Some(n), lambda n: half(n))
    pointed = MaybeMonad().algebra(7)
    laws.eilenberg_moore(pointed, a, Some(Nothing))
    laws.eilenberg_moore(pointed, a, Some(value))
    laws.eilenberg_moore(pointed, a, Nothing)
    assert MaybeMonad().structure(pointed) == 7


def test_an_algebra_of_a_functor_is_one_of_its_free_monad_and_back():
    monad = FreeMonad(ListF)
    total = lambda layer: 0 if isinstance(layer, Nil) else layer.head + layer.tail
    as_algebra = monad.algebra(total)
    assert as_algebra(Cons(1, Cons(2, Pure(10)))) == 13
    assert monad.structure(as_algebra)(Cons(1, 2)) == 3
    laws.eilenberg_moore(as_algebra, 5, Cons(1, Pure(Cons(2, Pure(3)))))
    assert repr(monad) == "FreeMonad(1 + A × X)"
    assert (
        monad.join(Cons(1, Pure(Cons(2, Pure("x")))))
        == Cons(1, Cons(2, Pure("x")))
        == bind(Cons(1, Pure("y")), lambda _: Cons(2, Pure("x")))
    )
    with pytest.raises(SignatureError, match="is no constructor"):
        FreeMonad(int)


# Instances that break a law.
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


# The interfaces of `returns`, whose tests are written by `check_all_laws`.
A = TypeVar("A")


@dataclasses.dataclass(frozen=True)
class Shelf(laws.LawfulComonad[A], laws.LawfulMonad[A]):
    """Some things in a row, never none: seen from the first."""

    things: tuple[A, ...]

    def map(self, f: Any, /) -> Any:
        return Shelf(tuple(map(f, self.things)))

    def extract(self) -> A:
        return self.things[0]

    def duplicate(self) -> Any:
        return Shelf(tuple(map(Shelf, suffixes(self.things))))

    def wrap(self, element: Any, /) -> Any:
        return Shelf((element,))

    def join(self) -> Any:
        return Shelf(tuple(thing for shelf in self.things for thing in shelf.things))


@dataclasses.dataclass(frozen=True)
class Tilted(laws.LawfulComonad[A], laws.LawfulMonad[A]):
    """The same with a mistake in each method."""

    things: tuple[A, ...]

    def map(self, f: Any, /) -> Any:
        return Tilted(tuple(map(f, self.things[::-1])))

    def extract(self) -> A:
        return self.things[-1]

    def duplicate(self) -> Any:
        return Tilted(tuple(map(Tilted, suffixes(self.things))))

    def wrap(self, element: Any, /) -> Any:
        return Tilted((element, element))

    def join(self) -> Any:
        return Tilted(tuple(thing for shelf in self.things for thing in shelf.things))


shelves = st.lists(st.integers(0, 9), min_size=1, max_size=3).map(tuple).map(Shelf)
check_all_laws(Shelf, container_strategy=shelves, settings_kwargs={"max_examples": 10, "deadline": None})


@pytest.mark.parametrize("law", [law for group in Tilted.laws().values() for law in group], ids=lambda law: law.name)
def test_each_law_of_an_interface_catches_a_container_with_mistakes(law):
    arguments: list[Any] = [Tilted((1, 2, 3)), str, int][: len(inspect.signature(law.definition).parameters)]
    with pytest.raises(LawBroken, match="the left side gives"):
        law.definition(*arguments)


# The chains that a recursive type is the limit of.
@pytest.mark.parametrize(
    ("chain", "signature", "constants", "sizes"),
    [
        (initial_chain, NatF, {}, [0, 1, 2, 3, 4]),
        (initial_chain, ListF, {"A": "ab"}, [0, 1, 3, 7, 15]),
        (initial_chain, TreeF, {"A": "a"}, [0, 1, 2, 5, 26]),
        (initial_chain, Link, {"A": "ab"}, [0, 2, 6, 14, 30]),
        (initial_chain, StreamF, {"O": "ab"}, [0, 0, 0, 0, 0]),
        (initial_chain, RoseF, {"A": "a"}, [0, 1, math.inf, math.inf, math.inf]),
        (final_chain, NatF, {}, [1, 2, 3, 4, 5]),
        (final_chain, ListF, {"A": "ab"}, [1, 3, 7, 15, 31]),
        (final_chain, StreamF, {"O": "ab"}, [1, 2, 4, 8, 16]),
        (final_chain, MooreF, {"I": "xy", "O": [0, 1]}, [1, 2, 8, 128, 32768]),
        (final_chain, MealyF, {"I": "xy", "O": [0, 1]}, [1, 4, 64, 16384, 2**30]),
    ],
)
def test_the_chains_of_a_functor_have_the_sizes_they_should(chain, signature, constants, sizes):
    found = chain(signature, 4, constants)
    assert [step.size for step in found] == sizes
    for step in found:
        assert step.values is None or len(set(map(repr, step.values))) == step.size == len(step.values)


def test_the_chains_write_out_small_sets():
    assert initial_chain(ListF, 2, {"A": "ab"})[2].values == (Nil(), Cons("a", Nil()), Cons("b", Nil()))
    assert final_chain(NatF, 2)[2].values == (Zero(), Succ(Zero()), Succ(Succ(())))
    constant, *_ = final_chain(MealyF, 1, {"I": [1, 2], "O": [0]})[1].values
    assert repr(constant) == "MealyF({1 ↦ (0, ()), 2 ↦ (0, ())})"
    assert constant.step(2) == (0, ())
    assert initial_chain(TreeF, 5, {"A": "a"}, listed=10)[4].values is None


def test_every_tree_of_few_layers_is_in_the_chain():
    trees = initial_chain(TreeF, 3, {"A": "a"})[3].values
    assert Fork(Fork(Leaf("a"), Leaf("a")), Leaf("a")) in trees
    assert Fork(Fork(Fork(Leaf("a"), Leaf("a")), Leaf("a")), Leaf("a")) not in trees


def test_a_constant_without_elements_is_refused_and_so_are_sorts():
    with pytest.raises(SignatureError, match=r"the constant `A` has no elements: give them, `\{'A': …\}`"):
        initial_chain(ListF, 2)
    with pytest.raises(SignatureError, match="a signature of several sorts has no chain of sets"):
        initial_chain(Id(1), 1)
