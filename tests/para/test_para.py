"""Parametric maps, their 2-cells, and weight tying as a reparametrisation."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close
from any_algebra import any_algebra
from random_signatures import random_signature, random_trees

from cdl import cata, CdlError, fold, Fork, Leaf, lift, pack, Para, unroll
from cdl.para import fanout, identity, swap
from cdl.para.two_cells import (
    associator,
    associator_back,
    delta,
    gather,
    horizontal,
    left_unitor,
    middle_four,
    right_unitor,
    same,
)


def affine(seed: int) -> Para[Any, Any, Any]:
    w, b = jr.normal(jr.key(seed), (3, 3)), jr.normal(jr.key(seed + 50), (3,))
    return Para((w, b), lambda p, x: jnp.tanh(p[0] @ x + p[1]))


F, G, H, K = map(affine, range(4))
AT = jnp.array([0.3, -1.0, 0.7])


def is_two_cell(cell, f, g, x):
    """Whether `g`'s parameters, sent along the cell, make `f` give what `g` gives."""
    close(f.fn(cell(g.params), x), g(x), 1e-6)


def test_a_module_is_a_parametric_map_and_comes_back_as_it_was():
    layer = eqx.nn.MLP(3, 2, 4, 2, key=jr.key(0))
    para = Para.of(layer)
    assert eqx.tree_equal(para.module(), layer)
    assert jnp.array_equal(para(AT), layer(AT))
    by_hand = jax.make_jaxpr(lambda arrays, x: eqx.combine(arrays, eqx.partition(layer, eqx.is_array)[1])(x))
    arrays = eqx.filter(layer, eqx.is_array)
    composed = jax.make_jaxpr(lambda params, x: para.fn(params, x))
    assert str(composed(para.params, AT)) == str(by_hand(arrays, AT))


def test_composition_is_in_reading_order_and_pairs_the_parameters():
    both = F >> G
    assert eqx.tree_equal(both.params, (F.params, G.params))
    close(both(AT), G(F(AT)), 1e-6)
    close((F @ G)((AT, -AT)), (F(AT), G(-AT)), 1e-6)
    close(fanout(F, G)(AT), (F(AT), G(AT)), 1e-6)
    assert (identity() >> swap())((1, 2)) == (2, 1)


def test_composition_associates_up_to_the_associator_and_no_better():
    left, right = (F >> G) >> H, F >> (G >> H)
    assert jax.tree.structure(left.params) != jax.tree.structure(right.params)
    is_two_cell(associator, left, right, AT)
    is_two_cell(associator_back, right, left, AT)
    assert eqx.tree_equal(associator_back(associator(right.params)), right.params)


def test_the_unitors_and_the_middle_four():
    is_two_cell(left_unitor, identity() >> F, F, AT)
    is_two_cell(right_unitor, F >> identity(), F, AT)
    is_two_cell(middle_four, (F @ G) >> (H @ K), (F >> H) @ (G >> K), (AT, -AT))


def test_the_pentagon_and_the_triangle_commute():
    p, q, r, s = "pqrs"
    one = associator_back(horizontal(associator_back, same)((((p, q), r), s)))
    way = horizontal(same, associator_back)(one)
    assert way == associator_back(associator_back((((p, q), r), s))) == (p, (q, (r, s)))
    assert associator((p, left_unitor(q))) == horizontal(right_unitor, same)((p, q))


def test_reparametrisations_compose_and_do_so_sideways():
    double, shift = lambda p: jax.tree.map(lambda x: 2 * x, p), lambda p: jax.tree.map(lambda x: x + 1, p)
    there = F.reparametrise(double, at=F.params).reparametrise(shift, at=F.params)
    close(there(AT), F.fn(double(shift(F.params)), AT), 1e-6)
    sideways = (F >> G).reparametrise(horizontal(double, shift), at=(F.params, G.params))
    close(sideways(AT), (F.reparametrise(double, F.params) >> G.reparametrise(shift, G.params))(AT), 1e-6)
    whiskered = (F >> G).reparametrise(horizontal(same, shift), at=(F.params, G.params))
    close(whiskered(AT), (F >> G.reparametrise(shift, G.params))(AT), 1e-6)


def test_a_functor_lifts_by_its_strength():
    lifted = lift(F)(Fork(AT, -AT))
    close(lifted, Fork(F(AT), F(-AT)), 1e-6)
    close(lift(F >> G)(Fork(AT, -AT)), (lift(F) >> lift(G))(Fork(AT, -AT)), 1e-6)


@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (5, 12))])
def test_the_gradient_of_the_tied_network_is_the_sum_of_the_untied_ones(seed):
    with jax.enable_x64(True):
        signature, _ = random_signature(seed)
        (tree,) = random_trees(signature, seed, 1, 9)
        alg = any_algebra(signature, jr.key(seed), jnp.float64)
        untied = unroll(Para.of(alg), tree)
        close(untied(), cata(alg)(tree), 1e-10)
        total = lambda value: jnp.sum(jnp.sin(value))
        each = eqx.filter_grad(lambda params: total(untied.at(params)))(untied.params)
        summed = jax.tree.map(lambda *xs: sum(xs), *each)
        tied = untied.tied()
        close(eqx.filter_grad(lambda params: total(tied.fn(params, ())))(tied.params)[0], summed, 1e-9)
        compiled = eqx.filter_grad(lambda alg: total(fold(alg, pack(signature, [tree]))[0]))(alg)
        close(eqx.filter(compiled, eqx.is_inexact_array), summed, 1e-9)


@pytest.mark.parametrize("params", [(1.0,) * 4, (1.0,) * 6, ()], ids=["4", "6", "none"])
def test_as_many_copies_are_given_as_there_are_places(params):
    untied = unroll(Para(1.0, lambda p, layer: p), Fork(Fork(Leaf(1.0), Leaf(2.0)), Leaf(3.0)))
    with pytest.raises(CdlError, match="the network has 5 copies of the parameters, and `at` was given"):
        untied.at(params)


def test_partial_tying_is_by_level_by_constructor_by_every_k_steps_or_by_anything():
    tree = Fork(Fork(Leaf(1.0), Leaf(2.0)), Leaf(3.0))
    para = Para(
        jnp.array(1.0), lambda p, layer: p * (layer.label if isinstance(layer, Leaf) else layer.left - layer.right)
    )
    untied = unroll(para, tree)
    assert len(untied.params) == 5
    by_level, by_kind = untied.tied(lambda p: p.depth), untied.tied(lambda p: p.constructor)
    by_twos = untied.tied(lambda p: p.depth // 2)
    assert (len(by_level.params), len(by_kind.params), len(by_twos.params)) == (3, 2, 2)
    assert [p.height for p in untied.places] == [2, 1, 0, 0, 0]
    slopes = jnp.stack(jax.grad(lambda params: untied.at(params))(untied.params))
    close(
        jnp.stack(jax.grad(lambda ps: by_level.fn(ps, ()))(by_level.params)),
        jnp.stack([slopes[0], slopes[1] + slopes[4], slopes[2] + slopes[3]]),
        1e-6,
    )
    close(
        jnp.stack(jax.grad(lambda ps: by_kind.fn(ps, ()))(by_kind.params)),
        jnp.stack([slopes[0] + slopes[1], slopes[2] + slopes[3] + slopes[4]]),
        1e-6,
    )
    close(
        jnp.stack(jax.grad(lambda ps: by_twos.fn(ps, ()))(by_twos.params)),
        jnp.stack([slopes[0] + slopes[1] + slopes[4], slopes[2] + slopes[3]]),
        1e-6,
    )
    tied_again = by_level.reparametrise(gather((0, 0, 1)), at=by_twos.params)  # by levels, and those by twos
    close(tied_again(()), by_twos(()), 1e-6)


def test_the_square_of_the_tied_algebra_commutes_along_the_diagonal_and_not_along_another_map():
    """Tying at two nodes: `α` above `F α`, along `P → P × P`. A map that is `Δ` after `P → P` ties as well; one whose
    two components differ does not."""
    two = F >> F
    tied = two.reparametrise(delta(2), at=F.params)
    close(tied(AT), F(F(AT)), 1e-6)
    scaled = lambda p: jax.tree.map(lambda x: 3 * x, p)
    after = two.reparametrise(lambda p: delta(2)(scaled(p)), at=F.params)
    once = F.reparametrise(scaled, at=F.params)
    close(after(AT), once(once(AT)), 1e-6)
    uneven = two.reparametrise(lambda p: (p, scaled(p)), at=F.params)
    assert not jnp.allclose(uneven(AT), F(F(AT)))
    assert not jnp.allclose(uneven(AT), once(once(AT)))
    assert gather((0, 0))((1,)) == delta(2)(1)


def test_gather_refuses_a_number_that_the_parameters_do_not_have():
    """Python would count a number below 0 from the end, and tie what nobody asked for."""
    with pytest.raises(CdlError, match=r"`index` has -1: parameters are numbered from 0\."):
        gather((0, -1))
    two = gather((0, 2))
    with pytest.raises(
        CdlError, match=r"`index` has 2, and there are 2 spaces of parameters, numbered from 0: give a n"
    ):
        two(("p", "q"))
    assert two(("p", "q", "r")) == ("p", "r")
