"""Functors and monads in `Para`: they lift, and an algebra of a monad is lax, which makes its parameters a comonoid."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from agreement import close
from returns.maybe import Nothing, Some

from cdl import algebra, cata, Cons, fmap, Fork, laws, Leaf, ListF, Nil, Para, TreeF
from cdl.errors import LawBroken
from cdl.monads import ListMonad, MaybeMonad, Monoid, Pure, Writer
from cdl.para import free_algebra, lax_algebra, LaxAlgebra, square


def gates(p: Any, layer: Any) -> Any:
    return p[0] * layer.label + p[1] if isinstance(layer, Leaf) else p[0] * layer.left - p[1] * layer.right


def cell(p: Any, layer: Any) -> Any:
    return p[1] if isinstance(layer, Nil) else p[0] * layer.tail + layer.head


TIMES = Writer(Monoid(0, lambda m, n: m + n))
CASES = {
    "a fold of trees": (
        free_algebra(TreeF, Para((2, 3), gates)), 5,
        Fork(Pure(Leaf(1)), Fork(Pure(Fork(Pure(4), Leaf(2))), Pure(Pure(7)))),
    ),
    "a fold of lists": (free_algebra(ListF, Para((2, 3), cell)), 5, Cons(1, Pure(Cons(2, Pure(7))))),
    "a layer any number of times": (
        lax_algebra(TIMES, Para(3, lambda p, times: p ** times[0] * times[1])), 5, (2, (3, 7)),
    ),
    "a first state": (lax_algebra(MaybeMonad(), Para(3, lambda p, x: x.value_or(p))), 5, Some(Nothing)),
    "a product of lists": (
        lax_algebra(ListMonad(), Para(3, lambda p, xs: sum(xs) + (len(xs) - 1) * p)), 5, ((1, 2), (), (4, 5, 6)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_algebra_of_a_monad_with_parameters_is_lax_along_the_diagonal(name):
    laws.lax_algebra(*CASES[name])


@pytest.mark.parametrize("name", [name for name in CASES if name != "a first state"])
def test_and_along_no_map_whose_components_differ(name):
    lax, a, nested = CASES[name]
    scaled = lambda p: jax.tree.map(lambda x: 2 * x, p)
    for uneven in (lambda p: (p, scaled(p)), lambda p: (scaled(p), p)):
        broken = LaxAlgebra(lax.monad, lax.action, lax.counit, uneven)
        with pytest.raises(LawBroken, match="`a ∘ T a = a ∘ μ`, along `δ`: the left side gives"):
            laws.lax_algebra(broken, a, nested)
    tied = lax.multiplication.along(lambda p: lax.comultiplication(scaled(p)))  # `Δ` after a map `P → P`: still tied
    assert tied(nested) == lax.multiplication.direct.fn(scaled(lax.action.params), nested)


def test_parameters_that_are_no_comonoid_are_told():
    """Where the parameters do nothing the squares commute along any map, and the coherence of the 2-cells does not."""
    ignores = Para((1, 1), lambda p, xs: sum(xs))
    laws.lax_algebra(lax_algebra(ListMonad(), ignores), 5, ((1, 2), (3,)))
    swaps = LaxAlgebra(ListMonad(), ignores, lambda p: (), lambda p: (p, (p[1], p[0] + 1)))
    with pytest.raises(LawBroken, match=re.escape("`(ε × P) δ ≅ P`")):
        laws.lax_algebra(swaps, 5, ((1, 2), (3,)))


def test_a_first_state_is_there_only_where_there_is_nothing():
    """`Some` has no parameter in it: of the two copies at most one is used, so that any second one will do."""
    lax, a, _ = CASES["a first state"]
    for nested, first, second in ((Some(Some(a)), 8, 9), (Some(Nothing), 3, 9), (Nothing, 9, 3)):
        assert lax.multiplication.through.fn((first, second), nested) == lax.multiplication.direct(nested)


def test_the_square_of_a_fold_is_the_multiplication_at_trees_of_one_layer():
    alg = Para((2, 3), gates)
    of_fold, of_monad = square(alg), free_algebra(TreeF, alg).multiplication
    layer = Fork(Fork(Leaf(1), Leaf(2)), Leaf(3))
    one_layer = fmap(Pure, layer)  # its variables are trees, which are trees with variables of which there are none
    for pair in (((2, 3), (2, 3)), ((2, 3), (5, 7))):
        assert of_fold.through.fn(pair, layer) == of_monad.through.fn(pair, one_layer)
    assert of_fold.direct(layer) == of_monad.direct(one_layer) == of_fold.along(of_fold.cell)(layer)


def test_the_gradient_of_a_lax_algebra_is_the_sum_of_those_of_its_two_copies():
    lax, _, nested = CASES["a fold of trees"]
    real = jax.tree.map(float, lax.action.params)
    both = jax.grad(lambda pair: lax.multiplication.through.fn(pair, nested))((real, real))
    once = jax.grad(lambda p: lax.multiplication.direct.fn(p, nested))(real)
    close(once, jax.tree.map(jnp.add, *both), 1e-6)


def test_a_functor_lifts_with_its_2_cells():
    f, g = Para((2, 3), lambda p, x: p[0] * x + p[1]), Para("!", lambda p, x: str(x) + p)
    r = lambda p: (p[1], p[0])
    for layer in (Fork(1, 2), Leaf("label"), Cons("head", 5), Nil()):
        laws.lifting(f, g, r, layer)
    with pytest.raises(LawBroken, match=re.escape("`F (f ∘ (r × id)) = F f ∘ (r × id)`")):
        laws.lifting(f, g, r, Fork(1, 2), by=lambda f: Para(f.params, lambda p, layer: fmap(f, layer)))


def test_folding_with_a_variable_free_tree_is_cata():
    alg = Para((2, 3), gates)
    tree = Fork(Leaf(1), Fork(Leaf(2), Leaf(5)))
    assert free_algebra(TreeF, alg).action(tree) == cata(algebra(lambda layer: gates((2, 3), layer)))(tree)
