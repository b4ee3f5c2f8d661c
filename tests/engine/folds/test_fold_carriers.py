"""Carriers are any pytree: tables of integers, tuples, dicts, truth values, and parts with and without a gradient."""

import random
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import agrees
from few import few

from cdl import algebra, cata, fold, Fork, Leaf, pack, TreeF


def tree(rng: random.Random, size: int) -> Any:
    if size < 2:
        return Leaf(rng.gauss(0, 1))
    left = rng.randint(1, size - 1)
    return Fork(tree(rng, left), tree(rng, size - left))


TREES = [tree(random.Random(size), size) for size in (1, 7, 2, 12, 5)]


def same(alg: Any) -> None:
    """`fold` gives the definition's values, exactly, for a carrier without floats."""
    fast = fold(alg, pack(TreeF, TREES))
    slow = jax.tree.map(lambda *xs: jnp.stack([jnp.asarray(x) for x in xs]), *map(cata(alg), TREES))
    assert eqx.tree_equal(fast, slow, typematch=True)


def test_tables_of_integers_are_composed_in_order():
    @algebra
    def table(layer: Any) -> jax.Array:
        match layer:
            case Leaf(x):
                return jnp.arange(9, dtype=jnp.int32).reshape(3, 3) + (10 * jnp.asarray(x)).astype(jnp.int32)
            case Fork(left, right):
                return (left @ right - left) % 7

    same(table)


def test_a_carrier_may_be_a_tuple_of_a_number_and_a_truth_value():
    @algebra
    def depth_and_sign(layer: Any) -> tuple[Any, Any]:
        match layer:
            case Leaf(x):
                return 1, x > 0
            case Fork((m, a), (n, b)):
                return 1 + jnp.maximum(m, n), jnp.logical_and(a, jnp.logical_not(b))

    same(depth_and_sign)


@pytest.mark.parametrize("ignored", few([0, 3], 1))
def test_the_floats_of_a_mixed_carrier_have_a_gradient(getkey, ignored):
    weights = {"left": jr.normal(getkey(), (3, 3)), "right": jr.normal(getkey(), (3, 3))}

    def make(weights: dict[str, jax.Array]) -> Any:
        @algebra
        def mixed(layer: Any) -> dict[str, Any]:
            match layer:
                case Leaf(x):
                    size, state = jnp.int32(1), jnp.full(3, x)
                case Fork(left, right):
                    size = left["size"] + right["size"]
                    state = jnp.tanh(weights["left"] @ left["state"] + weights["right"] @ jnp.sin(right["state"]))
                    state = state * (1 + 1 / size)
            return {"state": state, "size": size, "even": size % 2 == 0, "constant": jnp.ones(ignored)}

        return mixed

    agrees(pack(TreeF, TREES), TREES, weights, 1e-4, make=make)
