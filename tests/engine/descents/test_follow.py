"""How likely trees are under a coalgebra: `follow` beside `likelihood`, and `likelihood` beside `ana`."""

from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close, follows

from cdl import Base, choose, follow, Fork, Leaf, likelihood, pack, TreeF


TREES = [Fork(Fork(Leaf(1.0), Leaf(-0.4)), Leaf(0.3)), Leaf(2.0), Fork(Leaf(0.1), Fork(Leaf(0.2), Leaf(0.5)))]


class Grow(eqx.Module):
    """A coalgebra in which left is not right."""

    w: jax.Array
    v: jax.Array

    def __call__(self, seed: jax.Array) -> TreeF[jax.Array, jax.Array]:
        return choose(self.v @ seed, Leaf(seed[0]), Fork(jnp.tanh(self.w @ seed), jnp.sin(self.w.T @ seed)))


def distance(proposed, true):
    return -((proposed.label - true.label) ** 2) if isinstance(true, Leaf) else 0.0


@pytest.mark.parametrize("payload", [None, distance])
def test_follow_is_likelihood_in_value_and_gradient(payload):
    with jax.enable_x64(True):
        forest = pack(TreeF[float, Any], TREES)
        grow, seeds = Grow(jr.normal(jr.key(0), (3, 3)), jr.normal(jr.key(1), (2, 3))), jr.normal(jr.key(2), (3, 3))
        follows(forest, TREES, grow, seeds, payload)


class Ladder:
    """The name of a functor with two optional places."""


X = TypeVar("X", covariant=True)


class Rung(Base[Ladder, X], Generic[X]):
    label: float
    left: X | None
    right: X | None


RUNGS = [
    Rung(0.5, None, None),
    Rung(0.1, Rung(0.2, None, Rung(0.3, None, None)), None),
    Rung(0.4, Rung(0.7, Rung(0.8, None, None), Rung(0.9, None, None)), Rung(0.6, None, None)),
]


def ladder(seed):
    left, right = jnp.tanh(seed + 1), jnp.sin(2 * seed)
    scores = jnp.stack([seed, -seed, seed * seed, jnp.cos(seed)])
    some = [(None, None), (left, None), (None, right), (left, right)]
    return choose(scores, *(Rung(seed, *places) for places in some))


def test_optional_places_that_are_filled_are_followed():
    seeds = jnp.array([0.3, -0.2, 0.9])
    found = follow(ladder, pack(Rung, RUNGS), seeds)
    each = zip(seeds, RUNGS, strict=True)
    close(found, jnp.stack([likelihood(ladder, seed)(tree) for seed, tree in each]), 1e-6)


def small(levels):
    """Grows no further than so many levels."""
    scores = jnp.where(levels > 0, jnp.array([0.3, 1.0]), jnp.array([0.0, -jnp.inf]))
    return choose(scores, Leaf(levels), Fork(levels - 1, levels - 1))


def all_small(levels: int = 2) -> list[Any]:
    """Every tree that `small` grows from a number of levels."""
    below = all_small(levels - 1) if levels else []
    return [Leaf(levels), *(Fork(a, b) for a in below for b in below)]


def test_likelihoods_of_all_trees_that_can_grow_sum_to_one():
    assert sum(float(jnp.exp(likelihood(small, jnp.array(2))(tree))) for tree in all_small()) == pytest.approx(1.0)


def test_follow_adds_log_probabilities_of_bfloat16_in_float32():
    """In `bfloat16` a sum of logarithms of a half stops at -256."""
    from cdl.functors import NatF, Succ, Zero

    dtype = jnp.bfloat16
    coin = lambda seed: choose(jnp.zeros(2, dtype) + seed, Zero(), Succ(seed))
    tree: Any = Zero()
    for _ in range(1200):
        tree = Succ(tree)
    seed = jnp.zeros((), dtype)
    with jax.numpy_dtype_promotion("standard"):
        found, wanted = follow(coin, pack(NatF, [tree]), seed[None])[0], likelihood(coin, seed)(tree)
    assert found.dtype == wanted.dtype == jnp.float32
    assert jnp.allclose(found, wanted, rtol=1e-5)
    assert found < -800


@pytest.mark.parametrize("read", [follow, likelihood])
def test_a_payload_function_may_give_a_python_number(read):
    half, tree = lambda mine, given: -0.5 if isinstance(given, Leaf) else 0, Fork(Leaf(1.0), Leaf(2.0))
    even = lambda s: choose(jnp.zeros(2), Leaf(s), Fork(0.5 * s, 0.5 * s))
    if read is follow:
        found = follow(even, pack(TreeF, [tree]), jnp.array([4.0]), payload=half)[0]
    else:
        found = likelihood(even, jnp.array(4.0), payload=half)(tree)
    assert jnp.allclose(found, 3 * jnp.log(0.5) - 1.0)
