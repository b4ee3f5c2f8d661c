"""A corpus: masks, sums of corpora, its line, and the type of its real numbers."""

import functools
import inspect
import itertools
from typing import Annotated, Any, Never, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float32
from random_signatures import random_signature, random_trees

from cdl import algebra, Base, CdlError, Corpus, fold, Fork, functor, Leaf, pack, TreeF
from cdl._engine.forests import _epoch, _pack
from cdl.errors import PayloadMismatch


TREES = [Leaf(1.0), Fork(Leaf(2.0), Leaf(3.0)), Leaf(4.0)]


@algebra
def total(layer: TreeF[Any, Any]) -> Any:
    return layer.label if isinstance(layer, Leaf) else layer.left + layer.right


def test_a_mask_chooses_trees():
    corpus = Corpus(TreeF, TREES)
    for mask in ([True, False, True], np.array([True, False, True]), jnp.array([True, False, True])):
        assert corpus[mask].trees() == [TREES[0], TREES[2]]
    assert len(corpus[corpus.nodes > 5]) == 0
    with pytest.raises(IndexError, match="a truth value for each tree: there are 3, and it has 2"):
        corpus[[True, False]]
    with pytest.raises(IndexError, match="a slice, a list of numbers of trees or a mask, and got `float64`"):
        corpus[np.array([0.5])]


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


def test_a_sum_is_packed_as_all_at_once():
    both = Corpus(TreeF, TREES[:1]) + Corpus(TreeF, TREES[1:]) + Corpus(TreeF, [])
    assert fold(total, both[:]).tolist() == fold(total, pack(TreeF, TREES)).tolist() == [1.0, 5.0, 4.0]


def test_the_bucket_of_an_epoch_has_the_room_that_epochs_before_needed(monkeypatch):
    monkeypatch.setattr(_epoch, "TRIED", 1)
    monkeypatch.setattr(_pack, "MARGIN", 1.0)
    comb: Any = lambda n: functools.reduce(Fork, [Leaf(1.0)] * n, Leaf(2.0))
    trees = [comb(n) for n in range(60)]
    corpus = Corpus(TreeF, trees)
    buckets = [next(corpus.batches(4, key=jax.random.key(i), prefetch=0))[1].bucket for i in range(30)]
    rooms = [(b.nodes, b.inner, b.leaves) for b in buckets]
    fresh = [Corpus(TreeF, trees).batches(4, key=jax.random.key(i), prefetch=0) for i in range(30)]
    assert any(next(a)[1].bucket.nodes < b.nodes for a, b in zip(fresh, buckets, strict=True))  # some are lighter
    assert all(x <= y for a, b in itertools.pairwise(rooms) for x, y in zip(a, b, strict=True))


class Other(Base["Others", Never]):
    label: int


class Others:
    """Another signature."""


def test_corpora_that_do_not_fit_are_not_added():
    corpus = Corpus(TreeF, TREES)
    with pytest.raises(CdlError, match=r"of one corpus are of `A \+ X²`, and those of the other of `int`"):
        corpus + Corpus(Other, [Other(1)])
    with pytest.raises(CdlError, match=r"`Leaf` is `float32` of shape \(2,\) in some trees, and .*\(3,\)"):
        Corpus(TreeF, [Leaf(np.ones(2, np.float32))]) + Corpus(TreeF, [Leaf(np.ones(3, np.float32))])


@pytest.mark.parametrize("other", [TREES, 1, 2.0, None], ids=repr)
def test_what_is_not_a_corpus_is_not_added(other):
    corpus = Corpus(TreeF, TREES)
    for add in (lambda: inspect.unwrap(Corpus.__add__)(corpus, other), lambda: other + corpus):
        with pytest.raises(CdlError, match=r"is added to another, and was given .*: make one of the trees"):
            add()


def test_the_sum_of_corpora_is_python_s():
    corpora = [Corpus(TreeF, TREES[i : i + 1]) for i in range(3)]
    assert sum(corpora)[:].trees() == TREES


@pytest.mark.parametrize(
    "which",
    [np.array([2**64 - 1], np.uint64), np.array([2**63 + 1], np.uint64), [2**63], [2**64], [0, 2**70], [-(2**70)]],
    ids=str,
)
def test_numbers_past_64_bits_are_of_no_tree(which):
    with pytest.raises(IndexError, match=r"trees are numbered from 0 to 2, and -?[0-9]+ was asked for") as error:
        Corpus(TreeF, TREES)[which]
    assert all(str(int(end)) in str(error.value) for end in (min(which), max(which)))


def test_what_is_no_list_of_numbers_is_shown():
    corpus = Corpus(TreeF, TREES)
    assert corpus[np.array([2, 0], np.uint64)].trees() == [TREES[2], TREES[0]]
    for which, found in (
        (None, "None"),
        ([[1], [1, 2]], r"\[\[1\], \[1, 2\]\]"),
        ("a", "'a'"),
        (0, "`int64` of shape"),
    ):
        with pytest.raises(IndexError, match=f"numbers of trees or a mask, and got {found}.*: write"):
            inspect.unwrap(Corpus.__getitem__)(corpus, which)


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
    by_place = {i: dtype for i, _, dtype in forest.bucket.storage if i in (1,)}
    found = forest.trees()
    assert [np.asarray(x).dtype for x in (found[0].real, found[0].exact, found[0].free)] == [
        jnp.bfloat16,
        np.float32,
        jnp.bfloat16,
    ]
    assert type(found[0].whole) is int
    assert by_place
    assert [x.dtype for x in found[1].both] == [jnp.bfloat16] * 2
    assert fold(total, pack(TreeF, TREES, dtype=jnp.float16)).dtype == jnp.float16
    assert fold(total, Corpus(TreeF, TREES, dtype=jnp.bfloat16)[[1]]).tolist() == [5.0]


def test_python_numbers_and_arrays_become_one_variant():
    trees = [Fork(Leaf(1.0), Leaf(np.float32(2.0))), Leaf(np.float32(3.0)), Leaf(4.0)]
    forest = pack(TreeF, trees, dtype=jnp.bfloat16)
    assert len(forest.bucket.variants) == 2
    assert fold(total, forest).tolist() == [3.0, 3.0, 4.0]
    assert [np.asarray(t.label).item() for t in forest.trees()[1:]] == [3.0, 4.0]


@pytest.mark.parametrize(
    ("dtype", "error", "words"),
    [
        (jnp.int8, CdlError, "`dtype` is `int8`, and it is the type of real numbers"),
        (jnp.complex64, CdlError, "`dtype` is `complex64`"),
        ("big", CdlError, "`dtype` is 'big': give a type of real numbers"),
        (jnp.float64, CdlError, "`jax_enable_x64` is off"),
    ],
)
def test_a_type_that_is_none_of_real_numbers_is_refused(dtype, error, words):
    with pytest.raises(error, match=words):
        pack(TreeF, TREES, dtype=dtype)


def test_a_number_that_would_become_infinite_is_refused():
    with pytest.raises(PayloadMismatch, match=r"`Leaf.label` holds 100000.0, and `float16` ends at 65504"):
        pack(TreeF, [Leaf(1e5)], dtype=jnp.float16)
    with pytest.raises(PayloadMismatch, match=r"become infinite. Scale the values, or give another `dtype`"):
        pack(TreeF, [Leaf(1e5)], dtype=jnp.float16)
    with jax.enable_x64(True):
        assert fold(total, pack(TreeF, TREES, dtype=jnp.float64)).dtype == jnp.float64


def test_a_family_has_a_functor_for_each_sort():
    assert tuple(map(str, functor((TreeF, Other)))) == ("A + X²", "int")
