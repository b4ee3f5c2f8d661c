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

from cdl import cata, fold, Fork, Leaf, pack, Para, unroll
from cdl.para import fanout, identity, swap
from cdl.para.two_cells import (
    gather,
)


def affine(seed: int) -> Para[Any, Any, Any]:
    w, b = jr.normal(jr.key(seed), (3, 3)), jr.normal(jr.key(seed + 50), (3,))
    return Para((w, b), lambda p, x: jnp.tanh(p[0] @ x + p[1]))


F, G = map(affine, range(2))
AT = jnp.array([0.3, -1.0, 0.7])


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


def test_partial_tying_is_by_level_by_constructor_by_every_k_steps_or_by_anything():
    tree = Fork(Fork(Leaf(1.0), Leaf(2.0)), Leaf(3.0))
    para = Para(
        jnp.array(1.0), lambda p, layer: p * (layer.label if isinstance(layer, Leaf) else layer.left - layer.right)
    )
    untied = unroll(para, tree)
    assert len(untied.params) == 5
    by_level = untied.tied(lambda p: p.depth)
    by_twos = untied.tied(lambda p: p.depth // 2)
    assert [p.height for p in untied.places] == [2, 1, 0, 0, 0]
    gradient = lambda net: jnp.stack(jax.grad(lambda params: net.fn(params, ()))(net.params))
    slopes = jnp.stack(jax.grad(lambda params: untied.at(params))(untied.params))
    for tied, groups in (
        (by_level, [[0], [1, 4], [2, 3]]),
        (untied.tied(lambda p: p.constructor), [[0, 1], [2, 3, 4]]),
        (by_twos, [[0, 1, 4], [2, 3]]),
    ):
        close(gradient(tied), jnp.stack([sum(slopes[i] for i in group) for group in groups]), 1e-6)
    tied_again = by_level.reparametrise(gather((0, 0, 1)), at=by_twos.params)  # by levels, and those by twos
    close(tied_again(()), by_twos(()), 1e-6)
