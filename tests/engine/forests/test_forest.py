"""What a forest says of its nodes, on the host and under `jit`, and the way back from it to trees."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_families import flat, random_family, random_family_trees
from random_signatures import random_signature, random_trees

import cdl
from cdl import annotate, Corpus, Fork, Leaf, Many, Node, pack, RoseF, TreeF
from cdl.functors import Succ, Zero


@pytest.mark.parametrize("seed", range(12))
def test_the_trees_of_a_forest_are_those_that_were_packed(seed):
    signatures, kinds = random_family(seed)
    trees = random_family_trees(kinds, seed, 5, 5)
    forest = pack(signatures if len(signatures) > 1 else signatures[0], trees)
    assert forest.trees() == trees
    signature, _ = random_signature(seed)
    trees = random_trees(signature, seed, 6, 40)
    corpus = Corpus(signature, trees)
    assert corpus[[3, 0, 3]].trees() == [trees[3], trees[0], trees[3]]
    assert pack(signature, trees[:2], bucket=corpus[:].bucket).trees() == trees[:2]


def test_trees_have_arrays_of_the_packed_dtype():
    first, second = pack(TreeF, [Leaf(2.5), Fork(Leaf(1.0), Leaf(0.1))]).trees()
    assert (isinstance(first.label, jax.Array), first.label.dtype, first.label.weak_type) == (True, np.float32, False)
    assert second.right.label == np.float32(0.1)
    arrays = pack(TreeF, [Fork(Leaf(np.ones(2, np.float32)), Leaf(np.zeros(2, np.float32)))]).trees()
    assert arrays[0].left.label.dtype == np.float32
    assert arrays[0].left.label.tolist() == [1.0, 1.0]
    assert pack(TreeF, []).trees() == []


def test_a_deep_tree_comes_back():
    tree = Zero()
    for _ in range(3000):
        tree = Succ(tree)
    assert pack(cdl.functors.NatF, [tree]).trees() == [tree]


ROSES = [Node(1.0, Many([Node(2.0, Many()), Node(3.0, Many([Node(4.0, Many())]))])), Node(5.0, Many())]


def test_a_loss_over_all_nodes_is_two_lines_and_runs_under_jit():
    forest = pack(RoseF, ROSES)
    alg = cdl.algebra(lambda layer: layer.label + layer.kids.sum(0.0))

    @jax.jit
    def mean(forest):
        values = annotate(alg, forest)
        return jnp.mean(values**2, where=forest.mask)

    every = [10.0, 2.0, 7.0, 4.0, 5.0]
    assert mean(forest) == np.mean(np.square(every))
    assert forest.count == 5 == forest.mask.sum()
    by_tree = jax.jit(lambda f: jax.ops.segment_sum(annotate(alg, f), f.tree_of, len(f)))(forest)
    assert by_tree.tolist() == [23.0, 5.0]
    assert forest.tree_of[:6].tolist() == [0, 0, 0, 0, 1, 2]


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_the_nodes_of_a_sort_are_told(seed):
    signatures, kinds = random_family(seed)
    trees = random_family_trees(kinds, seed, 4, 4)
    forest = pack(signatures if len(signatures) > 1 else signatures[0], trees)
    roots = [next(s for s, some in enumerate(kinds) if type(tree) in some) for tree in trees]
    wanted = [sort for tree, root in zip(trees, roots, strict=True) for sort, _ in flat(tree, root)]
    for sort in range(len(kinds)):
        assert forest.of_sort(sort)[: forest.size].tolist() == [s == sort for s in wanted]
        assert not forest.of_sort(sort)[forest.size :].any()


@pytest.mark.parametrize("read", [lambda f: f.count, lambda f: f.mask, lambda f: f.tree_of, lambda f: f.of_sort(0)])
def test_vmap_reads_stacked_forests_of_one_bucket(read):
    corpus = Corpus(RoseF, ROSES)
    first = corpus[[0, 1]]
    forests = [first, corpus.pack([1, 0], bucket=first.bucket)]
    stacked = jax.tree.map(lambda *xs: jnp.stack(xs), *forests)
    assert "several, stacked, (2,)" in repr(stacked)
    assert jnp.array_equal(jax.vmap(read)(stacked), jnp.stack([read(f) for f in forests]))


SUM = cdl.algebra(lambda layer: layer.label + layer.kids.sum(0.0))


def test_a_gradient_is_shown_in_the_places_of_the_numbers():
    forest = cdl.pack(cdl.TreeF, [cdl.Leaf(5.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0))])
    times = cdl.algebra(lambda layer: layer.label if isinstance(layer, cdl.Leaf) else layer.left * layer.right)
    slopes = eqx.filter_grad(lambda f: cdl.fold(times, f)[1])(forest)
    assert "some of its arrays" in repr(slopes)
    assert eqx.combine(slopes, forest).trees() == [cdl.Leaf(0.0), cdl.Fork(cdl.Leaf(3.0), cdl.Leaf(2.0))]
