"""Every law holds of what the library gives: on random signatures, on machines, on monads and their algebras."""

import dataclasses
import functools
import random
from collections.abc import Callable
from typing import Any

import pytest
from alone import run_alone
from hypothesis import given, settings, strategies as st
from random_signatures import random_signature, random_trees, size
from returns.maybe import Nothing, Some

from cdl import algebra, ana, Cons, decorate, fmap, Fork, functor, laws, Leaf, ListF, MealyF, MooreF, Nil, TreeF
from cdl.errors import CdlError, SignatureError
from cdl.functors import constructors, fmap_term, holes, StreamF
from cdl.monads import bind, FreeMonad, interpret, ListMonad, MaybeMonad, Monoid, observe, Pure, Writer
from cdl.poly import compose, Inj
from cdl.schemes import Left, Right


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
        laws.cofree(observe(size, lambda t: t), lambda t: t, tree)
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
    for seed in range(12):
        for laws_of in RANDOM:
            laws_of(seed)


def test_the_laws_hold_on_a_dozen_random_signatures():
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
    laws.natural_on_layers(mirrored, Fork(1, 2), str)


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
few = settings(max_examples=15)


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


def test_an_algebra_of_maybe_refuses_what_is_not_a_maybe():
    with pytest.raises(CdlError, match=r"`returns.maybe`"):
        MaybeMonad().algebra(7)(3)


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
    with pytest.raises(SignatureError, match="is not a constructor"):
        FreeMonad(int)
