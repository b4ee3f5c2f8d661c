"""A corpus: masks, sums of corpora, its line, and the type of its real numbers."""

from typing import Annotated, Any, Never, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float32
from random_signatures import random_signature, random_trees

from cdl import algebra, Base, Corpus, fold, Fork, Leaf, pack, TreeF


TREES = [Leaf(1.0), Fork(Leaf(2.0), Leaf(3.0)), Leaf(4.0)]


@algebra
def total(layer: TreeF[Any, Any]) -> Any:
    return layer.label if isinstance(layer, Leaf) else layer.left + layer.right


def test_a_mask_chooses_trees():
    corpus = Corpus(TreeF, TREES)
    for mask in ([True, False, True], np.array([True, False, True]), jnp.array([True, False, True])):
        assert corpus[mask].trees() == [TREES[0], TREES[2]]
    assert len(corpus[corpus.nodes > 5]) == 0
    assert corpus[np.array([2, 0], np.uint64)].trees() == [TREES[2], TREES[0]]


def test_a_corpus_is_one_line():
    assert repr(Corpus(TreeF, TREES)) == "Corpus of `A + X²`: 3 trees, 5 nodes"


@pytest.mark.parametrize("seed", range(8))
def test_a_sum_has_the_trees_of_both_and_folds_as_they_do(seed):
    signature, _ = random_signature(seed)
    some, others = random_trees(signature, seed, 4, 30), random_trees(signature, seed + 100, 3, 50)
    both = Corpus(signature, some) + Corpus(signature, others)
    assert len(both) == 7
    assert both[:].trees() == [*some, *others]
    assert both[[5, 1]].trees() == [others[1], some[1]]
    assert both.nodes.tolist() == [*Corpus(signature, some).nodes, *Corpus(signature, others).nodes]


class Other(Base["Others", Never]):
    label: int


class Others:
    """Another signature."""


class Mixed:
    """Numbers of every kind."""


class Box(Base[Mixed, Never]):
    real: float
    whole: int
    exact: Float32[Array, ""]
    free: Annotated[Any, "any"]


class Pair(Base[Mixed, Never]):
    both: tuple[float, float]


MixedF = Union[Box, Pair]


def test_real_numbers_have_the_type_that_is_asked_for():
    box = Box(0.5, 3, np.float32(0.25), 1.5)
    forest = pack(MixedF, [box, Pair((1.0, 2.0))], dtype=jnp.bfloat16)
    found = forest.trees()
    wanted = [jnp.bfloat16, np.int32, np.float32, jnp.bfloat16, jnp.bfloat16, jnp.bfloat16]
    assert [x.dtype for x in jax.tree.leaves(found)] == wanted
    assert fold(total, pack(TreeF, TREES, dtype=jnp.float16)).dtype == jnp.float16
    assert fold(total, Corpus(TreeF, TREES, dtype=jnp.bfloat16)[[1]]).tolist() == [5.0]


def test_python_numbers_and_arrays_become_one_variant():
    trees = [Fork(Leaf(1.0), Leaf(np.float32(2.0))), Leaf(np.float32(3.0)), Leaf(4.0)]
    forest = pack(TreeF, trees, dtype=jnp.bfloat16)
    assert len(forest.bucket.variants) == 2
    assert {x.dtype for x in jax.tree.leaves(forest.trees())} == {jnp.dtype(jnp.bfloat16)}
    assert fold(total, forest).tolist() == [3.0, 3.0, 4.0]
