"""How a forest is laid out and cut into chunks."""

import dataclasses
from itertools import pairwise
from typing import Any, Generic, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl._engine.forests._aligned import zeros
from cdl._engine.forests._bucket import cut, Size
from cdl._engine.forests._schedule import chunks, ROWS, SIZE, TIME
from cdl._engine.forests._variant import Variant


SIZES = (Size(1, 4), Size(16, 24), Size(64, 90), Size(2, 1024))
X = TypeVar("X", covariant=True)


class Twos:
    """The name of the functor `(Many X)²`."""


class Two(cdl.Base[Twos, X], Generic[X]):
    """Two groups of children."""

    left: cdl.Many[X]
    right: cdl.Many[X]


ROSE = Variant(cdl.Node, (), ((True, 0),), (True,))


def one_by_one(groups: Any, ends: Any) -> list[tuple[int, int, int]]:
    """The size, first row and rows of each chunk, by a loop over chunks."""
    widths = tuple(s.rows for s in SIZES)
    first = cut(widths, max(widths))
    found = []
    for _, row, rows in groups.tolist():
        even, at = [], row
        while at < row + rows:
            size = int(first[min(row + rows - at, max(widths))])
            even.append((size, at, min(SIZES[size].rows, row + rows - at)))
            at += even[-1][2]
        if all(ends[at + many] - ends[at] <= SIZES[size].edges for size, at, many in even):
            found += even
            continue
        at = row
        while at < row + rows:
            size = int(first[min(row + rows - at, max(widths))])
            if ends[at + 1] - ends[at] > SIZES[size].edges:
                size = min(
                    (s for s in range(4) if SIZES[s].edges >= ends[at + 1] - ends[at]), key=lambda s: SIZES[s].edges
                )
            many = min(SIZES[size].rows, row + rows - at)
            while ends[at + many] - ends[at] > SIZES[size].edges:
                many -= 1
            found.append((size, at, many))
            at += many
    return found


@pytest.mark.parametrize("seed", range(8))
def test_groups_are_cut_as_a_loop_over_chunks_cuts_them(seed):
    chance = np.random.default_rng(seed)
    counts = chance.geometric(0.02, size=12)
    first = np.cumsum(counts) - counts
    groups = np.stack([np.zeros(12, int), first, counts], 1)
    degrees = np.minimum(chance.geometric(0.5, size=counts.sum()) ** chance.integers(1, 4), 1000)
    ends = np.concatenate([[0], np.cumsum(degrees)])
    table = chunks([SIZES], [ROSE], groups, np.stack([np.zeros_like(ends), ends]))
    assert [tuple(row) for row in table[:, [SIZE, TIME, ROWS]].tolist()] == one_by_one(groups, ends)


def test_forests_of_one_bucket_have_arrays_of_one_shape():
    leaf, fork = Two(cdl.Many(), cdl.Many()), lambda x: Two(cdl.Many([x]), cdl.Many([x, x]))
    whole = cdl.pack(Two, [leaf, fork(fork(leaf))])
    shapes = lambda forest: jax.tree.map(jnp.shape, forest)
    assert shapes(whole) == shapes(cdl.pack(Two, [leaf, leaf], bucket=whole.bucket))  # which have no edge


def test_jax_takes_over_an_array_without_a_copy():
    if jax.default_backend() != "cpu":
        pytest.skip("the host's memory is the CPU's alone")
    for shape in (7, (33, 5), 100_003):
        array = zeros(shape, np.float32)
        assert jax.device_put(array).unsafe_buffer_pointer() == array.ctypes.data
        assert array.shape == np.zeros(shape).shape
        assert not array.any()


def test_a_batch_is_not_changed_by_the_next_one_of_its_corpus():
    corpus = cdl.Corpus(cdl.ListF, [cdl.to_list([float(i)] * n) for i, n in enumerate((3, 9, 1, 4))])
    first = corpus[[0, 1]]
    before = jax.tree.map(np.array, first)
    for some in ([2, 3], [1, 0], [3]):
        corpus.pack(some, bucket=first.bucket)
    same = jax.tree.map(lambda a, b: bool(np.array_equal(a, b)), dataclasses.replace(first), before)
    assert all(jax.tree.leaves(same))
    assert all(a < b for a, b in pairwise(np.asarray(first.start).tolist()))
