"""`fold` under JAX's transformations: no new trace for new data, second derivatives, batches of algebras."""

import dataclasses
import random
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import close
from programs import primitives

from cdl import Algebra, cata, Corpus, fold, Fork, Leaf, Many, Node, pack, RoseF, TreeF
from cdl.compiled import Levels


class Reader(Algebra[Any, jax.Array]):
    """Reads binary trees and rose trees, with weights that do not commute."""

    left: jax.Array
    right: jax.Array

    def __init__(self, key: jax.Array) -> None:
        self.left, self.right = jr.normal(key, (2, 3, 3)) / 2

    def __call__(self, layer: Any) -> jax.Array:
        match layer:
            case Leaf(label):
                return jnp.sin(self.left @ jnp.full(3, label))
            case Fork(left, right):
                return jnp.tanh(self.left @ left + self.right @ jnp.sin(right))
            case Node(label, children):
                kids = children.map(lambda x: jnp.tanh(self.left @ x * label)).sum(jnp.ones(3))
                return jnp.tanh(self.right @ kids + label)
            case _:
                raise AssertionError


def binary(rng: random.Random, size: int) -> Any:
    if size < 2:
        return Leaf(rng.gauss(0, 1))
    left = rng.randint(1, size - 1)
    return Fork(binary(rng, left), binary(rng, size - left))


def rose(rng: random.Random, size: int) -> Any:
    kids = []
    while size > 1:
        kids.append(rng.randint(1, size - 1))
        size -= kids[-1]
    return Node(rng.gauss(0, 1), Many(rose(rng, k) for k in kids))


def trees_of(grow: Any, seed: int, *sizes: int) -> list[Any]:
    rng = random.Random(seed)
    return [grow(rng, size) for size in sizes]


def loss(alg: Any, forest: Any) -> Any:
    return summed(fold(alg, forest))


def summed(state: Any) -> Any:
    """A number in which each part of each state has another weight."""
    return jnp.sum(jnp.cos(state) @ jnp.arange(3, dtype=state.dtype))


def test_another_forest_of_the_same_bucket_is_data(getkey):
    step = eqx.filter_jit(eqx.debug.assert_max_traces(eqx.filter_grad(loss), max_traces=1))
    first = pack(TreeF, trees_of(binary, 0, 9, 3, 7))
    for seed in range(4):
        alg = Reader(getkey())
        forest = pack(TreeF, trees_of(binary, seed, 1 + seed, 13 - seed, 5), bucket=first.bucket)
        step(alg, forest)


def test_batches_of_a_corpus_run_in_one_program(getkey):
    step = eqx.filter_jit(eqx.debug.assert_max_traces(eqx.filter_grad(loss), max_traces=1))
    corpus, rng = Corpus(TreeF, trees_of(binary, 0, *range(1, 11))), random.Random(0)
    alg = Reader(getkey())
    for _ in range(4):
        step(alg, corpus[rng.sample(range(10), 3)])


@pytest.mark.parametrize("function", [loss, eqx.filter_grad(loss)], ids=["value", "gradient"])
def test_the_program_does_not_grow_with_depth_or_with_trees(function, getkey):
    alg = Reader(getkey())
    deep: Any = Leaf(0.0)
    for i in range(200):
        deep = Fork(deep, Leaf(float(i)))
    few = trees_of(binary, 1, 5, 9)
    bucket = dataclasses.replace(pack(TreeF, few).bucket, nodes=4096, inner=4096, leaves=4096)
    forests = [few, few * 30, [*few, deep], [deep] * 9]
    sized = [pack(TreeF, f, bucket=bucket) for f in forests]
    sizes = {primitives(eqx.filter_make_jaxpr(function)(alg, forest)[0]).total() for forest in sized}
    assert len(sizes) == 1
    assert 50 < sizes.pop() < 5_000


@pytest.mark.parametrize(("signature", "grow"), [(TreeF, binary), (RoseF, rose)])
def test_a_batch_of_algebras_folds_under_vmap_as_each_of_them(signature, grow, getkey):
    forest = pack(signature, trees_of(grow, 0, 6, 1, 9))
    algs = eqx.filter_vmap(Reader)(jr.split(getkey(), 4))
    together = eqx.filter_jit(eqx.filter_vmap(fold, in_axes=(eqx.if_array(0), None)))(algs, forest)
    for i, value in enumerate(together):
        close(value, fold(jax.tree.map(lambda x, i=i: x[i], algs), forest), 1e-5)


@pytest.mark.parametrize(("signature", "grow"), [(TreeF, binary), (RoseF, rose)])
def test_forward_mode_and_second_derivatives_agree_with_the_definition(signature, grow, getkey):
    with jax.enable_x64(True):
        trees = trees_of(grow, 0, 6, 1, 9)
        forest, alg, along = pack(signature, trees), Reader(getkey()), Reader(getkey())
        alg, along = jax.tree.map(lambda x: x.astype(jnp.float64), (alg, along))
        fast: Any = lambda alg: summed(fold(alg, forest, how=Levels(forward=True)))
        slow: Any = lambda alg: sum(summed(cata(alg)(t)) for t in trees)
        reverse: Any = lambda alg: loss(alg, forest)
        along_with = lambda f: eqx.filter_jvp(f, (alg,), (along,))
        close(eqx.filter_jit(lambda: along_with(fast))(), along_with(slow), 1e-10)
        second = eqx.filter_jit(lambda: along_with(eqx.filter_grad(reverse)))()
        close(second, along_with(eqx.filter_grad(slow)), 1e-10)
