"""Batches that are packed ahead: the same for any number of workers, in few programs, from any step on."""

import threading
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl_arch.data import ahead, Batches


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


@pytest.mark.slow
def test_processes_of_the_standard_library_serve_too():
    import multiprocessing

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert list(ahead(abs, [-1, -2], executor=executor)) == [1, 2]


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


@pytest.mark.parametrize("programs", [1, 2, 4])
def test_epochs_run_in_few_programs(corpus, programs):
    keep_last = programs > 1
    made = batches(corpus, programs=programs, keep_last=keep_last)
    form: Any = lambda batch: (batch[0].bucket, len(batch[0]), jax.tree.map(jnp.shape, batch[1]))
    forms = {str(form(batch)) for epoch in range(4) for batch in made(epoch)}
    assert len(forms) <= programs
    assert len(forms) > programs // 2


def test_an_epoch_compiles_at_most_four_programs(corpus):
    total = cdl.algebra(lambda layer: layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0.0)
    summed: Any = eqx.filter_jit(eqx.debug.assert_max_traces(lambda f: cdl.fold(total, f).sum(), max_traces=4))
    found = [float(summed(forest)) for epoch in range(2) for forest, _ in batches(corpus)(epoch)]
    assert sum(found[:13]) == pytest.approx(sum(found[13:]), abs=1e-3)
    assert 1 < eqx.debug.get_num_traces(summed) <= 4


def test_batches_of_nothing_are_refused(corpus):
    for rows, size in [(np.arange(0), 4), (np.arange(9), 0)]:
        with pytest.raises(cdl.CdlError, match=f"batches of {size} out of {len(rows)} trees"):
            Batches(corpus, rows, size)
    with pytest.raises(cdl.CdlError, match="in 1 programs"):
        Batches(corpus, np.arange(9), 4, programs=1)
