"""Eight devices of the host: run by `test_shard.py`, in a Python of its own."""

import dataclasses
import re
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from any_algebra import any_algebra

import cdl


jax.config.update("jax_enable_x64", True)

DEVICES = 8


def grown(leaves: int) -> cdl.Fix[cdl.Tree[float]]:
    """A tree of so many leaves."""
    if leaves == 1:
        return cdl.Leaf(float(CHANCE.normal()))
    left = int(CHANCE.integers(1, leaves))
    return cdl.Fork(grown(left), grown(leaves - left))


SIGNATURE = cdl.TreeF
CHANCE = np.random.default_rng(0)
ANSWERS = CHANCE.normal(size=3 * DEVICES)
TREES = [grown(int(n)) for n in CHANCE.integers(1, 16, size=len(ANSWERS))]
WEIGHTS = np.arange(len(TREES)) % 4 / 2.0  # uneven, and 0 for some


def model() -> Any:
    return any_algebra(SIGNATURE, jr.key(0), jnp.float64, ways=("sum",))


def loss(alg: Any, part: Any) -> Any:
    """The weighted sum of squares of one part, and its weight."""
    forest, answers, weights = part
    wrong = cdl.fold(alg, forest).sum(1) - answers
    return jnp.sum(weights * wrong**2), jnp.sum(weights)


def slope_of_one_device(alg: Any) -> Any:
    def mean(alg: Any) -> Any:
        total, weight = loss(alg, (cdl.pack(SIGNATURE, TREES), jnp.asarray(ANSWERS), jnp.asarray(WEIGHTS)))
        return total / weight

    return eqx.filter_jit(eqx.filter_value_and_grad(mean))(alg)


def parts() -> list[Any]:
    corpus = cdl.Corpus(SIGNATURE, TREES)
    rows = cdl.compiled.balance(corpus.nodes, DEVICES)
    bucket = corpus[rows[int(np.argmax([corpus.nodes[r].sum() for r in rows]))]].bucket
    return [(corpus.pack(r, bucket=bucket), jnp.asarray(ANSWERS[r]), jnp.asarray(WEIGHTS[r])) for r in rows]


def expect_equal(found: Any, wanted: Any) -> None:
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10 * float(np.abs(y).max(initial=1e-3)))


def refused(call: Any, words: str) -> None:
    with pytest.raises(cdl.CdlError, match=re.escape(words)):
        call()


def main() -> None:
    assert jax.device_count() == DEVICES
    wanted = slope_of_one_device(model())
    made = parts()
    mesh = jax.make_mesh((DEVICES,), ("data",))
    shards = cdl.compiled.shard(made, mesh)
    assert int(shards.nodes.sum()) == sum(forest.size for forest, *_ in made)
    assert int(shards.nodes.max() - shards.nodes.min()) <= 30
    assert {len(x.sharding.device_set) for x in jax.tree.leaves(shards.stacked)} == {DEVICES}
    expect_equal(eqx.filter_jit(eqx.filter_value_and_grad(cdl.compiled.shard_mean(loss)))(model(), shards), wanted)
    sums = lambda weight, part: (weight**2 * jnp.sum(part), jnp.array(1.0))  # on half of the devices, the rest copies
    halves = cdl.compiled.shard([jnp.arange(3.0) + i for i in range(4)], jax.make_mesh((2, 4), ("copies", "data")))
    expect_equal(jax.jit(jax.value_and_grad(cdl.compiled.shard_mean(sums)))(jnp.array(3.0), halves), (9 * 7.5, 6 * 7.5))
    slopes = eqx.filter_grad(cdl.compiled.shard_mean(loss))(model(), shards)  # without `jit`
    expect_equal(slopes, wanted[1])
    refused(lambda: cdl.compiled.shard([jnp.zeros(2, int), *[jnp.zeros(2)] * 7], mesh), "has an array `float64[2]`")
    refused(lambda: cdl.compiled.shard([("a", 1.0), *[("b", 1.0)] * 7], mesh), "differ in their structure or in what")
    summed = cdl.compiled.shard_mean(lambda _, part: ((jnp.sum(part[1]), 1.0), jnp.sum(part[2])))
    refused(lambda: summed(None, shards), "gives a pair of numbers")
    keyed = cdl.compiled.shard([(f, jr.key(i)) for i, (f, *_) in enumerate(made)], mesh)
    drawn = eqx.filter_jit(cdl.compiled.shard_mean(lambda _, part: (jr.normal(part[1]), jnp.array(1.0))))(None, keyed)
    expect_equal(drawn, np.mean([jr.normal(jr.key(i)) for i in range(DEVICES)]))
    refused(lambda: cdl.compiled.shard(made[:6], mesh), "8 devices of this process along `data`, and 6 parts")
    other = dataclasses.replace(made[0][0].bucket, nodes=made[0][0].bucket.nodes * 2)
    wider = cdl.pack(SIGNATURE, TREES[:3], bucket=other)
    refused(lambda: cdl.compiled.shard([*made[:7], (wider, *made[7][1:])], mesh), "part 7 is a forest of 3 trees")
    refused(
        lambda: cdl.compiled.shard([*made[:7], (made[7][0], jnp.zeros(2), made[7][2])], mesh),
        "part 7 has an array `float64[2]` where part 0 has `float64[3]`",
    )
    print("agrees")


if __name__ == "__main__":
    main()
