"""What a forest says of its nodes, on the host and under `jit`, and the way back from it to trees."""

import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_families import flat, random_family, random_family_trees
from random_signatures import random_signature, random_trees

import cdl
from cdl import annotate, Corpus, Fork, Leaf, ListF, Many, Node, pack, RoseF, TreeF
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


def test_numbers_come_back_as_they_were_packed_and_arrays_with_their_types():
    words = [Leaf(2.5), Fork(Leaf(1.0), Leaf(0.1))]
    found = pack(TreeF, words).trees()
    assert found[0] == words[0]
    assert type(found[0].label) is float
    assert found[1].right.label == float(np.float32(0.1))
    arrays = pack(TreeF, [Fork(Leaf(np.ones(2, np.float32)), Leaf(np.zeros(2, np.float32)))]).trees()
    assert arrays[0].left.label.dtype == np.float32
    assert arrays[0].left.label.tolist() == [1.0, 1.0]
    assert pack(TreeF, []).trees() == []


def test_a_deep_tree_comes_back():
    tree = Zero()
    for _ in range(3000):
        tree = Succ(tree)
    assert pack(cdl.functors.NatF, [tree]).trees() == [tree]


def test_a_traced_forest_has_no_trees():
    forest = pack(TreeF, [Leaf(1.0)])
    with pytest.raises(cdl.CdlError, match=r"this forest is traced: call `forest.trees\(\)` outside"):
        jax.eval_shape(lambda f: f.trees() and 0, forest)


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
    with pytest.raises(cdl.CdlError, match=f"and no sort {len(kinds)}"):
        forest.of_sort(len(kinds))


def test_an_empty_list_is_a_tree_too():
    trees = [cdl.to_list([]), cdl.to_list([1, 2])]
    assert pack(ListF, trees).trees() == trees


HOST = ("size", "depth", "fill")
EVERYWHERE = ("count", "mask", "tree_of")


def ask(forest, what):
    found = {
        "trees": forest.trees,
        "len": forest.__len__,
        "nodes": lambda: forest.nodes(0),
        "sort": lambda: forest.of_sort(0),
    }
    return found[what]() if what in found else getattr(forest, what)


def same_bucket():
    corpus = Corpus(RoseF, ROSES)
    first = corpus[[0, 1]]
    return [first, corpus.pack([1, 0], bucket=first.bucket)]


@pytest.mark.parametrize("what", [*HOST, *EVERYWHERE, "trees", "len", "nodes", "sort"])
def test_several_forests_stacked_are_not_one(what):
    stacked = jax.tree.map(lambda *xs: jnp.stack(xs), *same_bucket())
    assert "several, stacked, (2,)" in repr(stacked)
    with pytest.raises(cdl.CdlError, match=r"several, stacked along axes of shape \(2,\): use `jax.vmap`, or take one"):
        ask(stacked, what)
    if what in (*EVERYWHERE, "sort"):
        found = jax.vmap(lambda f: ask(f, what))(stacked)
        assert jnp.array_equal(found, jnp.stack([ask(f, what) for f in same_bucket()]))


@pytest.mark.parametrize("what", [*HOST, "nodes"])
def test_what_is_known_on_the_host_alone_is_refused_under_jit(what):
    with pytest.raises(cdl.CdlError, match=rf"`{what}` is of a forest on the host, and this one is traced: "):
        jax.eval_shape(lambda f: ask(f, what) and 0, same_bucket()[0])


SUM = cdl.algebra(lambda layer: layer.label + layer.kids.sum(0.0))
READERS = {
    "fold": lambda f: cdl.fold(SUM, f),
    "annotate": lambda f: annotate(SUM, f),
    "inherit": lambda f: cdl.inherit(lambda x, layer: (x, Node(0.0, layer.kids.map(lambda _: x))), f, jnp.zeros(2)),
    "trees": lambda f: f.trees(),
}


def test_a_gradient_is_shown_in_the_places_of_the_numbers():
    forest = cdl.pack(cdl.TreeF, [cdl.Leaf(5.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0))])
    times = cdl.algebra(lambda layer: layer.label if isinstance(layer, cdl.Leaf) else layer.left * layer.right)
    slopes = eqx.filter_grad(lambda f: cdl.fold(times, f)[1])(forest)
    assert eqx.combine(slopes, forest).trees() == [cdl.Leaf(0.0), cdl.Fork(cdl.Leaf(3.0), cdl.Leaf(2.0))]


@pytest.mark.parametrize("name", READERS)
def test_who_reads_a_forest_reads_one_with_its_payload(name):
    read, (forest, other) = READERS[name], same_bucket()
    stacked = jax.tree.map(lambda *xs: jnp.stack(xs), forest, other)
    with pytest.raises(cdl.CdlError, match="one forest, and this is several, stacked"):
        read(stacked)
    with pytest.raises(cdl.CdlError, match=r"a forest with its payload, and this one has none, as `forest.schedule`"):
        read(forest.schedule)
    payloads = eqx.tree_at(lambda f: f.payload, forest, stacked.payload)
    with pytest.raises(cdl.CdlError, match=r"array \(rows,\) of payload, and this one has \(2, \d+\) in its place"):
        read(payloads)
    slope = eqx.filter_grad(lambda f: cdl.fold(SUM, f).sum())(forest)
    assert "some of its arrays" in repr(slope)
    told = r"eqx\.combine\(gradient, forest\)" if name == "trees" else "only some of its arrays, as a gradient has"
    with pytest.raises(cdl.CdlError, match=told):
        read(slope)
    with pytest.raises(cdl.CdlError, match="this one has ShapeDtypeStruct"):
        read(eqx.filter_eval_shape(lambda: forest))


@pytest.mark.parametrize("given", [0.5, True, "a", None, np.bool_(False), slice(0, 1)], ids=repr)
def test_a_sort_and_a_tree_are_told_by_whole_numbers(given):
    forest = same_bucket()[0]
    for name in ("of_sort", "nodes"):
        method = inspect.unwrap(getattr(type(forest), name))
        with pytest.raises(cdl.CdlError, match=f"`{name}` takes the number of a .*, and was given"):
            method(forest, given)
    assert inspect.unwrap(type(forest).of_sort)(forest, np.uint8(0)).sum() == 5
