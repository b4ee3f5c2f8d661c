"""Batches that are packed ahead: the same for any number of workers, in few programs, from any step on."""

import pathlib
import subprocess
import sys
import threading
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl_arch.data import ahead, Batches


ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def corpus() -> cdl.Corpus:
    chance = np.random.default_rng(0)
    lists = [cdl.to_list(chance.normal(size=n).tolist()) for n in chance.geometric(0.05, size=203)]
    return cdl.Corpus(cdl.ListF, lists)


def batches(corpus: cdl.Corpus, **how: Any) -> Batches:
    return Batches(corpus, np.arange(3, 203), 16, labels=np.arange(203), seed=5, **how)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_items_come_in_order_whatever_the_number_of_workers(workers):
    def make(i: int) -> int:
        time.sleep(0.002 * (i % 3))
        return i * i

    assert list(ahead(make, range(20), workers=workers, depth=5)) == [i * i for i in range(20)]


def test_items_are_made_while_the_one_before_is_in_use():
    third = threading.Event()

    def make(i: int) -> int:
        if i == 2:
            third.set()
        return i

    items = ahead(make, range(9), depth=2)
    assert next(items) == 0
    assert third.wait(10)  # though it has not been asked for
    items.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_of_a_worker_comes_out_where_the_item_is_asked_for(workers):
    items = ahead(lambda i: 1 // (i - 3), range(6), workers=workers)
    assert [next(items) for _ in range(3)] == [-1, -1, -1]
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_no_thread_is_left_behind():
    before = threading.active_count()
    items = ahead(abs, range(100), workers=3, depth=9)
    next(items)
    items.close()
    assert threading.active_count() == before


def test_python_ends_quietly_where_some_items_were_not_asked_for():
    script = "from cdl_arch.data import ahead\nmade = ahead(str, range(9))\nprint(next(made))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def same(a: Any, b: Any) -> bool:
    return bool(eqx.tree_equal(a, b))


def test_an_epoch_is_the_same_for_any_number_of_workers_and_from_any_step_on(corpus):
    whole = list(batches(corpus, workers=0)(2))
    for workers, start in [(1, 0), (3, 0), (2, 5)]:
        assert same(list(batches(corpus, workers=workers)(2, start)), whole[start:])


def test_an_epoch_has_every_tree_once_with_its_label(corpus):
    labels = [labels for _, labels in batches(corpus)(0)]
    assert sorted(np.concatenate(labels).tolist()) == list(range(3, 203))
    forest, rows = next(batches(corpus)(0))
    assert forest.size == corpus.nodes[np.asarray(rows)].sum()
    assert not np.array_equal(labels[0], next(batches(corpus)(1))[1])
    assert {len(some) for some in labels[:-1]} == {16}
    assert len(labels) == batches(corpus).steps == 13


def test_an_epoch_compiles_at_most_four_programs(corpus):
    total = cdl.algebra(lambda layer: layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0.0)
    summed: Any = eqx.filter_jit(eqx.debug.assert_max_traces(lambda f: cdl.fold(total, f).sum(), max_traces=4))
    found = [float(summed(forest)) for epoch in range(2) for forest, _ in batches(corpus)(epoch)]
    assert sum(found[:13]) == pytest.approx(sum(found[13:]), abs=1e-3)
    assert 1 < eqx.debug.get_num_traces(summed) <= 4


def test_an_epoch_of_a_corpus_has_every_tree_once(corpus):
    epoch = lambda **how: [rows for rows, _ in corpus.batches(16, **how)]
    assert np.concatenate(epoch()).tolist() == list(range(203))
    shuffled = np.concatenate(epoch(key=jax.random.key(1))).tolist()
    assert shuffled != sorted(shuffled) == list(range(203))
    assert np.concatenate(epoch(key=jax.random.key(1), prefetch=0)).tolist() == shuffled
    assert np.concatenate(epoch(key=jax.random.key(2))).tolist() != shuffled
    assert [len(rows) for rows in epoch()] == [16] * 12 + [11]
    assert [len(rows) for rows in epoch(drop_last=True)] == [16] * 12
    assert sorted(np.concatenate(epoch(indices=[5, 9, 7], key=jax.random.key(0))).tolist()) == [5, 7, 9]


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_a_batch_of_a_corpus_is_the_forest_of_its_trees(corpus, prefetch):
    for rows, forest in corpus.batches(50, key=jax.random.key(0), prefetch=prefetch):
        assert same(forest, corpus.pack(rows, bucket=forest.bucket))


def test_epochs_of_a_corpus_are_one_program():
    chance = np.random.default_rng(0)
    heavy = [cdl.to_list([1.0] * int(n)) for n in np.minimum(chance.pareto(1.2, size=300) * 5, 400)]
    corpus = cdl.Corpus(cdl.ListF, heavy)
    epochs = lambda **how: [f for i in range(5) for _, f in corpus.batches(32, key=jax.random.key(i), **how)]
    form: Any = lambda forest: (forest.bucket, *map(jnp.shape, jax.tree.leaves(forest)))
    assert len({form(f) for f in epochs(drop_last=True)}) == 1
    assert len({form(f) for f in epochs()}) == 2
    assert len({f.bucket for f in epochs()}) == 1


def test_a_heavy_batch_has_room(corpus):
    light = next(corpus.batches(16, key=jax.random.key(0)))[1].bucket
    heaviest = np.argsort(corpus.nodes)[-16:]
    rows, forest = next(corpus.batches(16, indices=heaviest))
    assert forest.size == corpus.nodes[rows].sum()
    assert forest.bucket.nodes >= forest.size > light.nodes


def test_a_corpus_packs_as_many_batches_ahead_as_it_is_told(corpus, monkeypatch):
    made = []
    pack = corpus._packer.arrays
    monkeypatch.setattr(corpus._packer, "arrays", lambda *given: made.append(given) or pack(*given))
    before = threading.active_count()
    epoch = corpus.batches(10, prefetch=3)
    next(epoch)
    time.sleep(0.3)
    assert len(made) == 4
    assert threading.active_count() == before + 1
    epoch.close()
    assert threading.active_count() == before
    for _ in corpus.batches(10, prefetch=2):
        break
    assert threading.active_count() == before
    made.clear()
    next(lazy := corpus.batches(10, prefetch=0))
    assert (len(made), threading.active_count()) == (1, before)
    lazy.close()


def test_what_packing_raises_comes_out_of_the_loop(corpus, monkeypatch):
    pack = corpus._packer.arrays

    def fails(rows: Any, bucket: Any) -> Any:
        if 42 in rows:
            raise MemoryError("no more")
        return pack(rows, bucket)

    monkeypatch.setattr(corpus._packer, "arrays", fails)
    before = threading.active_count()
    epoch = corpus.batches(10)
    assert [next(epoch)[0][0] for _ in range(4)] == [0, 10, 20, 30]
    with pytest.raises(MemoryError, match="no more"):
        next(epoch)
    assert threading.active_count() == before


def test_batches_are_put_where_the_loop_is_run():
    with jax.enable_x64(True):
        corpus = cdl.Corpus(cdl.ListF, [cdl.to_list([1.0, 2.0])] * 4)
        assert {str(forest.payload[0].dtype) for _, forest in corpus.batches(2)} == {"float64"}
