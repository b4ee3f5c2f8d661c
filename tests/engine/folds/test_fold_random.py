"""`fold` is `cata` at every tree, in value and in gradient, for random signatures with and without keys.

Numbers are drawn anew for the trees, since no two children may be equal under a `max`.
"""

import dataclasses
import random
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import agrees
from any_algebra import any_algebra
from few import few
from random_signatures import PAYLOADS, random_signature, random_trees, RECURSIVE

from cdl import Forest, pack
from cdl._engine.forests._bucket import Size


# Random signatures whose small trees have few variants, so that each compiles soon.
SEEDS = (22, 3, 28, 55, 41, 49)
MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in (5, 12, 14, 16, 52, 73)]


def one_size(signature: Any, trees: list[Any]) -> Forest:
    """The trees, in a bucket whose chunks are all of one size that none of the groups fills."""
    bucket = pack(signature, trees).bucket
    sizes = (Size(4, 16),)
    return pack(signature, trees, bucket=dataclasses.replace(bucket, sizes=sizes, pieces=sizes))


def with_numbers(trees: list[Any], seed: int) -> list[Any]:
    """The trees with other floats, no two of them equal: where two are, a `max` has no gradient."""
    rng = random.Random(seed)
    return jax.tree.map(lambda x: rng.gauss(0, 1) if isinstance(x, float) else x, trees)


def random_case(seed: int, x64: bool, tolerance: float, forest: Any, **how: Any) -> None:
    """A random signature, random trees of it and an algebra: with a key for odd seeds."""
    signature, _ = random_signature(seed)
    trees = with_numbers(random_trees(signature, seed, 4, 8), seed)
    key = jr.key(seed) if seed % 2 else None
    with jax.enable_x64(x64):
        dtype = jnp.float64 if x64 else jnp.float32
        alg = any_algebra(signature, jr.key(seed), dtype, noisy=key is not None)
        agrees(forest(signature, trees), trees, alg, tolerance, key=key, **how)


def test_the_random_signatures_are_small_and_have_every_kind_of_field():
    kinds = set()
    for seed in SEEDS:
        signature, constructors = random_signature(seed)
        assert len(pack(signature, random_trees(signature, seed, 4, 8)).bucket.variants) <= 6
        kinds |= {kind for c in constructors for kind in c.__kinds__.values()}
    assert kinds == {*PAYLOADS, *RECURSIVE}


@pytest.mark.parametrize("seed", [*few(SEEDS, 0, 1, 2, 3), *MORE])
def test_folding_trees_of_a_random_signature_agrees_in_double_precision(seed):
    random_case(seed, True, 1e-10, pack)


@pytest.mark.parametrize("seed", few([22, 28, 3], 1))
def test_folding_trees_of_a_random_signature_agrees_in_single_precision(seed):
    random_case(seed, False, 1e-4, one_size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 400))
def test_folding_trees_of_many_random_signatures_agrees(seed):
    x64 = seed % 4 < 3
    random_case(seed, x64, 1e-10 if x64 else 1e-4, pack if seed % 3 else one_size, as_one=not x64)
