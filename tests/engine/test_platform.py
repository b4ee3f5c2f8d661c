"""What is made for a GPU or a TPU, tried on the CPU: products in one operation, and a level in one chunk."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import agrees, inherits
from few import few
from indexed_cells import H, KindsF, reader, TREES
from inherited_cells import cells_of, Handing, SMALL, tops

import cdl
from benchmarks._launches import launches
from benchmarks._problems import loss, problem
from cdl._engine.arrays import _platform
from cdl._engine.folds import _batched, _tiled
from cdl._engine.folds._group import Group
from cdl._engine.forests._bucket import Size
from cdl._engine.forests._tiles import tiled


KINDS = 5


def group_of(counts: list[int], length: int) -> Group:
    """Rows of constructors with these numbers of rows, the last of them repeated up to the length."""
    number = np.repeat(np.arange(len(counts)), counts)
    until = np.cumsum(counts)[number]
    fill: Any = lambda x: jnp.array(np.pad(x, (0, length - len(x)), mode="edge"), jnp.int32)
    place, first = tiled(np.cumsum(counts) - counts, len(number))
    firsts = jnp.array(np.pad(first, (0, 2 * length - len(first))), jnp.int32)
    kind, count = fill((3 * number) % KINDS), jnp.int32(len(number))
    tiles = _batched.tiles_in(firsts, jnp.int32(0), fill(place), kind, count, KINDS)
    return Group(kind, count, length, fill(until), tiles)


def rows_of(counts: list[int], length: int) -> tuple[Any, Any, Any]:
    """Of such rows the constructor's place in the stacks, the tiles, and which rows of these count."""
    number = jnp.array(np.pad(np.repeat(np.arange(len(counts)), counts), (0, length - sum(counts)), mode="edge"))
    tiles, inside = _batched.tiles_of(number, (3 * number) % KINDS, KINDS)
    return (3 * number) % KINDS, tiles, inside & (tiles.rows < sum(counts))


GROUPS = [
    ([1], 1), ([4], 4), ([2, 1, 5], 8), ([40], 64), ([1, 1, 1, 1, 1], 64), ([3, 30, 31, 1], 65), ([32, 33, 64, 2], 131),
    ([100, 1, 200, 3, 8], 512),
]  # fmt: skip


@pytest.mark.parametrize(("counts", "length"), few(GROUPS, 0, 2, 6), ids=str)
def test_a_batched_product_is_the_tiled_one_and_that_of_each_row(counts, length):
    group, keys = group_of(counts, length), jr.split(jr.key(length), 3)
    own = np.asarray(group.own)
    for many in (1, 3):
        w = jr.normal(keys[0], (KINDS, 7, 4))
        for transposed, n in ((False, 4), (True, 7)):
            x = jr.normal(keys[1], (length, many, n))
            spec = "rmn,rno->rmo" if transposed else "rmn,ron->rmo"
            each = jnp.einsum(spec, x, w[group.kind])[own]
            for way in (_batched, _tiled):
                found = way.product(x, w, group, x.dtype, None, transposed)
                np.testing.assert_allclose(found[own], each, rtol=1e-5, atol=1e-5)
                assert np.isfinite(found).all()


@pytest.mark.parametrize(("counts", "length"), few(GROUPS, 0, 2, 6), ids=str)
def test_sums_by_constructor_are_those_of_each_row(counts, length):
    kind, tiles, inside = rows_of(counts, length)
    keys = jr.split(jr.key(length), 2)
    y, x = jr.normal(keys[0], (length, 2, 3)), jr.normal(keys[1], (length, 2, 4))
    own = jnp.arange(length) < sum(counts)
    each = jnp.where(own[:, None, None], jnp.einsum("rmo,rmn->ron", y, x), 0)
    expected = jax.ops.segment_sum(each, kind, KINDS)
    found = _batched.sums(y, x, tiles, inside, KINDS, x.dtype, None)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_a_row_that_is_infinite_is_nothing_to_the_sums_of_other_constructors():
    _, tiles, inside = rows_of([2, 1, 5], 8)
    y, x = jnp.ones((8, 1, 3)), jnp.ones((8, 1, 4)).at[2].set(jnp.inf)  # the row of number 1, whose kind is 3
    finite = np.isfinite(_batched.sums(y, x, tiles, inside, KINDS, x.dtype, None)).all((1, 2))
    assert finite.tolist() == [kind != 3 for kind in range(KINDS)]


@pytest.mark.parametrize("way", few(["of a matrix", "lookup"], 0))
def test_a_fold_made_for_an_accelerator_is_the_definition(accelerator, way):
    with jax.enable_x64(True):
        forest = cdl.pack(KindsF, TREES)
        sizes = [dataclasses.replace(s, rows=40) for s in forest.bucket.sizes[-1:]]
        forest = cdl.pack(KindsF, TREES, bucket=dataclasses.replace(forest.bucket, sizes=tuple(sizes)))
        agrees(forest, TREES, reader(jr.key(0), way), 1e-10)


@pytest.mark.slow
def test_a_descent_made_for_an_accelerator_is_the_definition(accelerator):
    with jax.enable_x64(True):
        step = Handing(cells_of(jr.key(3), "layers"), jr.normal(jr.key(4), (H, 2 * H)))
        inherits(cdl.pack(KindsF, SMALL), SMALL, (reader(jr.key(0), "product"), step), tops(len(SMALL)))


def started(forest: Any, asked: Any) -> dict[str, int]:
    """What a step, forward and backward, starts."""
    step = eqx.filter_jit(eqx.filter_value_and_grad(lambda net: loss(cdl.fold(net, forest)[0])))
    return launches(lambda: jax.tree.leaves(eqx.filter(step(asked.net), eqx.is_array)))


BOUNDS = {"own": 1_160, "stacked": 840, "shared": 845, "binary": 740}  # operations


@pytest.mark.parametrize("name", few(list(BOUNDS), 0))
def test_on_an_accelerator_a_level_is_one_chunk_and_few_operations_are_started(accelerator, name):
    """Each operation is started from the host, and each turn of a loop waits for it."""
    asked = problem(name, 4, 256)
    forest = cdl.pack(asked.signature, asked.trees)
    assert len(forest.chunk[forest.chunk[:, 3] > 0]) <= 1.25 * forest.depth
    found = started(forest, asked)
    assert BOUNDS[name] / 2 < found["operations"] < BOUNDS[name]
    assert found["loops"] < 20


BATCHED = {"own": 2_850, "stacked": 2_530, "shared": 2_200, "binary": 2_040}  # the same of many small chunks


@pytest.mark.slow
@pytest.mark.parametrize("name", BATCHED)
def test_few_operations_are_started_in_many_small_chunks(name):
    asked = problem(name, 4, 256)
    jax.clear_caches()
    with _platform.taken_for(dataclasses.replace(_platform.CPU, batched=True)):
        found = started(cdl.pack(asked.signature, asked.trees), asked)
    jax.clear_caches()
    assert BATCHED[name] / 2 < found["operations"] < BATCHED[name]


def test_batches_that_are_packed_on_a_thread_are_cut_as_here(accelerator):
    corpus = cdl.Corpus(cdl.ListF[float, Any], [cdl.to_list([1.0] * 5)] * 24)
    sizes = Size(8, 8), Size(64, 64)
    corpus._packer.sizes = sizes, sizes, ()  # 12 rows are one chunk where a chunk costs much, and two where it does not
    ahead, here = ([forest.facts for _, forest in corpus.batches(12, prefetch=depth)] for depth in (2, 0))
    np.testing.assert_array_equal(ahead, here)
    with _platform.taken_for(_platform.CPU):
        assert int(here[0][3]) < int(next(corpus.batches(12))[1].facts[3])


def test_a_device_that_is_the_default_decides():
    assert _platform.platform() is _platform.CPU
    with jax.default_device("gpu"):
        assert _platform.platform() is _platform.ACCELERATOR
    with jax.default_device(jax.devices("cpu")[0]):
        assert _platform.platform() is _platform.CPU
