"""Packing: a forest says what it holds, keeps the trees' order, and fits the bucket that it is given."""

import random
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import pre_order
from random_signatures import random_signature, random_trees

from cdl import algebra, Corpus, fold, Forest, Fork, Leaf, pack, TreeF
from cdl.errors import TreeTooLarge
from cdl.functors import holes


def comb(size: int, label: float = 0.0) -> Any:
    """A tree of `size` forks, each right child a leaf."""
    tree: Any = Leaf(label)
    for i in range(size):
        tree = Fork(tree, Leaf(float(i)))
    return tree


@algebra
def total(layer: Any) -> Any:
    match layer:
        case Leaf(label):
            return jnp.asarray(label)
        case Fork(left, right):
            return left + 2 * right


COMBS = [comb(size, 10.0 * size) for size in (3, 0, 7, 1)]


def test_a_forest_says_what_it_holds():
    forest = pack(TreeF, COMBS)
    assert repr(forest) == (
        "Forest of A + X²: 4 trees, 26 nodes, 8 levels, fill 0.59; bucket of 64 nodes, 2 variants, chunks of 4×8"
    )
    assert (len(forest), forest.size, forest.depth) == (4, 26, 8)
    one = repr(pack(TreeF, [Leaf(1.0)]))
    assert "1 tree, 1 node, 1 level, fill" in one
    assert "bucket of 64 nodes, 1 variant, " in one


def test_a_traced_forest_says_so():
    seen = []
    eqx.filter_jit(lambda forest: seen.append(repr(forest)))(pack(TreeF, COMBS))
    assert "4 trees, traced" in seen[0]


@pytest.mark.parametrize("which", [[0, 1, 2, 3], [2, 0], [3, 3, 1], np.array([1])])
def test_a_batch_of_a_corpus_folds_as_the_forest_of_its_trees(which):
    batch = Corpus(TreeF, COMBS)[which]
    assert jnp.array_equal(fold(total, batch), fold(total, pack(TreeF, [COMBS[i] for i in which])))


def test_trees_are_packed_into_the_bucket_of_another_forest():
    bucket = pack(TreeF, COMBS).bucket
    forest = pack(TreeF, [comb(9), comb(2)], bucket=bucket)
    assert forest.bucket == bucket
    assert jnp.array_equal(fold(total, forest), fold(total, pack(TreeF, [comb(9), comb(2)])))


def test_an_empty_forest_in_a_bucket_has_no_results():
    empty = pack(TreeF, [], bucket=pack(TreeF, COMBS).bucket)
    assert fold(total, empty).shape == (0,)
    assert (len(empty), empty.size, empty.depth, empty.fill) == (0, 0, 0, 0)
    gradient = eqx.filter_grad(lambda forest: jnp.sum(fold(total, forest)))(empty)
    assert not any(jnp.any(x) for x in gradient.payload)


def test_pack_counts_shared_subtrees_each_time():
    tree: Any = Leaf(1.0)
    for _ in range(6):
        tree = Fork(tree, tree)
    assert pack(TreeF, [tree], max_nodes=127).size == 127
    with pytest.raises(TreeTooLarge, match="126"):
        pack(TreeF, [tree], max_nodes=126)


def test_pack_reads_a_generator_and_keeps_its_error():
    assert len(pack(TreeF, (Leaf(float(i)) for i in range(3)))) == 3
    with pytest.raises(TypeError, match="unsupported operand"):
        pack(TreeF, (Leaf(i + "1") for i in range(3)))


def rows_of(forest: Forest) -> dict[tuple[int, int], int]:
    rows = forest.row[: forest.size].tolist()
    pairs = zip(forest.tree[forest.row].tolist(), forest.order[forest.row].tolist(), strict=True)
    return {pair: row for row, pair in zip(rows, pairs, strict=False)}


@pytest.mark.parametrize("seed", range(12))
def test_each_row_knows_its_tree_and_its_number_in_pre_order(seed):
    signature, _ = random_signature(seed)
    trees = random_trees(signature, seed, random.Random(seed).randint(1, 6), 20)
    forest = pack(signature, trees)
    rows = rows_of(forest)
    nodes = [pre_order(tree) for tree in trees]
    assert sorted(rows) == [(t, i) for t, some in enumerate(nodes) for i in range(len(some))]
    parents = [parents_of(tree) for tree in trees]
    above, child, owner = map(np.asarray, (forest.above, forest.child, forest.owner))
    assert forest.stored_roots[0].tolist() == [rows[t, 0] for t in range(len(trees))]
    for (t, i), row in rows.items():
        children = [(t, j) for j, parent in parents[t].items() if parent == i]
        edges = above[[rows[c] for c in children]].tolist()
        assert child[edges].tolist() == [rows[c] for c in children]
        assert set(owner[edges].tolist()) <= {row}


def parents_of(tree: Any) -> dict[int, int]:
    """The number in pre-order of each node's parent; recursive."""
    found: dict[int, int] = {}

    def visit(node: Any, number: int) -> int:
        after = number + 1
        for child in holes(node):
            found[after] = number
            after = visit(child, after)
        return after

    visit(tree, 0)
    return found
