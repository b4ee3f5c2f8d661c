"""Passes from the root down, and up and down again: `annotate` and `inherit` beside `decorate` and `inherited`."""

from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close, heads, inherits, pre_order
from any_algebra import any_algebra, H
from families import algebras, FAMILY, Lam, Lit, Neg, Return, ROOTS, Then, TREES, While
from random_signatures import random_signature, random_trees

from cdl import algebra, annotate, Base, decorate, fmap, Fork, inherit, inherited, Leaf, pack, TreeF


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


@pytest.mark.parametrize("seed", [2, 3, pytest.param(0, marks=pytest.mark.slow)])
def test_up_and_down_any_signature_is_the_definition_in_value_and_gradient(seed):
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


def test_the_payload_that_a_step_reads_has_its_gradient():
    @algebra
    def nothing(layer: TreeF[float, Any]) -> Any:
        return jnp.zeros(0)

    def add_left(inherited, layer):
        match layer:
            case Leaf():
                return layer
            case Fork(left, _):
                return Fork(inherited, inherited * left)

    @algebra
    def sums(layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(x):
                return x * x
            case Fork(a, b):
                return a + 2 * b

    forest = pack(TreeF[float, Any], COMBS)
    assert annotate(nothing, forest).shape == (forest.bucket.nodes, 0)

    def total(payload):
        new = eqx.tree_at(lambda f: f.payload, forest, payload)
        return jnp.sum(inherit(add_left, new, jnp.ones(3), values=annotate(sums, new)))

    slope = jax.grad(total)(forest.payload)
    change = 1e-3
    for row in range(3):
        moved = (forest.payload[0].at[row].add(change),)
        back = (forest.payload[0].at[row].add(-change),)
        assert jnp.allclose(slope[0][row], (total(moved) - total(back)) / (2 * change), atol=2e-2)


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


def test_a_family_is_decorated_as_it_is_annotated():
    algs, forest = algebras(jnp.float32), pack(FAMILY, TREES)
    found, below = annotate(algs, forest), decorate(*algs)
    for sort, some in enumerate(ROOTS):
        for tree in some:
            decorated = pre_order(below[sort](TREES[tree]))
            for i, node in enumerate(decorated):
                at = forest.nodes(tree).start + i
                of = 0 if isinstance(node.head, jax.Array) else 1
                close(jax.tree.map(lambda x, at=at: x[at], found[of]), node.head, 1e-5)


class Ladder:
    """The name of a functor with two optional places."""


X = TypeVar("X", covariant=True)


class Rung(Base[Ladder, X], Generic[X]):
    label: float
    left: X | None
    right: X | None


def test_optional_places_that_are_filled_inherit_without_values():
    def deeper(depth, layer):
        assert all(place in ((), None) for place in (layer.left, layer.right))
        return fmap(lambda _: 2 * depth + layer.label, layer)

    trees = [
        Rung(1.0, None, Rung(2.0, Rung(3.0, None, None), None)),
        Rung(4.0, Rung(5.0, None, None), Rung(6.0, None, None)),
    ]
    forest = pack(Rung, trees)
    expected = [0.5, 2.0, 6.0, 0.25, 4.5, 4.5]
    assert [
        x for top, tree in zip((0.5, 0.25), trees, strict=True) for x in heads(inherited(deeper, top)(tree))
    ] == expected
    assert inherit(deeper, forest, jnp.array([0.5, 0.25]))[: forest.size].tolist() == expected


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
