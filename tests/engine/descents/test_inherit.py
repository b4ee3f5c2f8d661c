"""Passes from the root down, and up and down again: `annotate` and `inherit` beside `decorate` and `inherited`."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close, heads, inherits
from any_algebra import any_algebra, H
from families import FAMILY, Lam, Lit, Neg, Return, ROOTS, Then, TREES, While
from few import few
from random_signatures import random_signature, random_trees

from cdl import annotate, choose, decorate, fmap, follow, Fork, inherit, inherited, Leaf, pack, TreeF


class Down(eqx.Module):
    """A step for any signature: what a child inherits depends on its value, and on how deep it is."""

    across: jax.Array
    each: jax.Array

    def __call__(self, inherited: Any, layer: Any) -> Any:
        vector, depth = inherited
        mixed = jnp.sin(self.across @ vector)
        return fmap(lambda child: (jnp.tanh(mixed + self.each @ child), depth + 1), layer)


class Sides(eqx.Module):
    """A step of binary trees, in which left is not right."""

    w: jax.Array

    def __call__(self, inherited: jax.Array, layer: TreeF[float, jax.Array]) -> Any:
        match layer:
            case Leaf():
                return layer
            case Fork(left, right):
                return Fork(jnp.tanh(self.w @ inherited + right), jnp.cos(self.w.T @ inherited) * left)


COMBS = [Fork(Fork(Leaf(1.0), Leaf(-0.4)), Leaf(0.3)), Leaf(2.0), Fork(Leaf(0.1), Fork(Leaf(0.2), Leaf(0.5)))]


@pytest.mark.parametrize("seed", few([2, 3, 0], 0))
def test_inherit_over_annotate_is_the_definition_with_gradients(seed):
    with jax.enable_x64(True):
        signature, _ = random_signature(seed)
        trees = random_trees(signature, seed, 3, 12)
        step = Down(jr.normal(jr.key(3), (H, H)), jr.normal(jr.key(4), (H, H)))
        tops = jr.normal(jr.key(7), (3, H)), jnp.arange(3)
        alg = any_algebra(signature, jr.key(seed), jnp.float64)
        inherits(pack(signature, trees), trees, (alg, step), tops)


def test_left_is_not_right():
    with jax.enable_x64(True):
        alg = any_algebra(TreeF, jr.key(0), jnp.float64)
        step = Sides(jr.normal(jr.key(1), (H, H)))
        inherits(pack(TreeF, COMBS), COMBS, (alg, step), jr.normal(jr.key(2), (3, H)))


def of_expr(inherited, layer):
    match layer:
        case Lit():
            return layer
        case Neg():
            return Neg(inherited * 2)
        case Lam(body):
            return Lam(body.map(lambda _: (inherited[0], inherited + 1)))


def of_stmt(inherited, layer):
    number, vector = inherited
    match layer:
        case Return():
            return Return(vector * number)
        case While(_, body):
            return While(vector - 1, body.map(lambda _: (number * 3, jnp.sin(vector))))
        case Then():
            return Then((number + 7, vector), vector * 5)


def test_a_family_inherits_by_a_step_for_each_sort():
    forest = pack(FAMILY, TREES)
    tops = jnp.arange(6.0).reshape(2, 3) + 1, (jnp.arange(2.0), jnp.full((2, 3), 0.5))
    exprs, (numbers, vectors) = inherit((of_expr, of_stmt), forest, tops)
    for sort, some in enumerate(ROOTS):
        for place, tree in enumerate(some):
            top = jax.tree.map(lambda x, place=place: x[place], tops[sort])
            below = inherited((of_expr, of_stmt), (top, top))[sort](TREES[tree])
            for i, head in enumerate(heads(below)):
                at = forest.nodes(tree).start + i
                close((numbers[at], vectors[at]) if isinstance(head, tuple) else exprs[at], head, 1e-6)


def test_one_program_serves_every_forest_of_a_bucket():
    step = eqx.debug.assert_max_traces(max_traces=1)(
        lambda forest: inherit(lambda depth, layer: fmap(lambda _: depth + 1, layer), forest, jnp.zeros(len(forest)))
    )
    run = eqx.filter_jit(step)
    first = pack(TreeF[float, Any], COMBS)
    depths = [run(pack(TreeF[float, Any], trees, bucket=first.bucket)) for trees in (COMBS, COMBS[::-1])]
    assert depths[0][: first.size].tolist() == [0, 1, 2, 2, 1, 0, 0, 1, 1, 2, 2]
    assert depths[1][first.nodes(0)].tolist() == [0, 1, 1, 2, 2]


def test_annotate_is_decorate_in_pre_order_and_zero_past_the_last():
    forest = pack(TreeF, COMBS)
    alg = any_algebra(TreeF, jr.key(0), jnp.float32)
    found = annotate(alg, forest)
    for i, tree in enumerate(COMBS):
        close(found[forest.nodes(i)], jnp.stack(heads(decorate(alg)(tree))), 1e-5)
    assert found.shape == (forest.bucket.nodes, H)
    assert not found[forest.size :].any()
    with pytest.raises(IndexError, match="trees are numbered from 0 to 2; 3 was asked for"):
        forest.nodes(3)


def test_descents_give_what_nothing_reads_a_gradient_of_zero():
    step = lambda w: lambda pair, layer: fmap(lambda _: (jnp.cos(w[0] * pair[0]), jnp.tanh(w[1] * pair[1])), layer)
    below = lambda w, s: (jnp.cos(w[0] * s[0]), jnp.tanh(w[1] * s[1]))
    grow = lambda w: lambda s: choose(jnp.stack([s[0], 1 - s[0]]), Leaf(s[1]), Fork(below(w, s), s))
    forest, w, tops = pack(TreeF, COMBS), jnp.array([0.7, 1.3]), (jnp.full(3, 0.3), jnp.ones(3))
    down = jax.grad(lambda w: inherit(step(w), forest, tops)[0][: forest.size].sum())(w)
    likely = jax.grad(lambda w: follow(grow(w), forest, tops).sum())(w)
    assert down[0] != 0 != likely[0]
    assert down[1] == likely[1] == 0
