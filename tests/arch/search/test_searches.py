"""Searches: one budget, NaN last, resumed bit for bit, and pruning that does nothing is random search."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest


@pytest.fixture(scope="module")
def task():
    from cdl_arch.data import Dataset
    from cdl_arch.search import Blocks, of_dataset

    rng = np.random.default_rng(0)
    labels = np.arange(40, dtype=np.int32) % 2
    images = (rng.normal(size=(40, 2, 2, 1)) + labels[:, None, None, None]).astype(np.float32)
    data = Dataset("points", images, labels, 2)
    return of_dataset(Blocks((2, 2, 1), 2, width=4, depth=2), data, data, steps=8, batch=8, rate=0.05)


def methods():
    from cdl_arch import search as of

    return {
        "random": of.Random(),
        "pruned": of.Pruned(of.isometry, 0.5),
        "evolution": of.Evolution(population=2, tournament=2),
        "controller": of.Controller(),
        "enas": of.Enas(draws=2),
        "darts": of.Darts(cost=2),
    }


@pytest.mark.parametrize("name", ["random", "pruned", "evolution", "controller", "enas", "darts"])
def test_every_method_spends_the_budget_and_gives_codes_of_the_space(task, name):
    from cdl_arch.search import search

    method = methods()[name]
    found = search(task, method, jr.split(jr.key(0), 2), budget=6, batch=2)
    assert found.codes.shape == (2, 6 - method.cost, 8)
    assert found.round == (6 - method.cost) // 2
    assert jnp.isfinite(found.validation).any()
    assert (found.codes < jnp.array(task.space.sizes)[None, None]).all()
    assert found.best.shape == (2, 8)


def test_to_leave_out_nothing_is_random_search(task, getkey):
    from cdl_arch.search import isometry, Pruned, Random

    key = getkey()
    _, random = Random().ask(task, (), 5, key)
    _, same = Pruned(isometry, 0.0).ask(task, (), 5, key)
    _, blind = Pruned(lambda task, code, key: jnp.zeros(()), 0.5).ask(task, (), 5, key)
    assert (random == same).all()
    assert blind.shape == random.shape
    nan = lambda task, code, key: jnp.where(code[0] == 0, jnp.nan, 1.0)
    assert (Pruned(nan, 0.75).ask(task, (), 5, key)[1][:, 0] != 0).all()


def test_scores_that_are_not_numbers_come_last():
    from cdl_arch.search import ranked, Search

    scores = jnp.array([jnp.nan, 2.0, -jnp.nan, jnp.inf, -jnp.inf, 2.0])
    assert ranked(scores).tolist() == [4, 1, 5, 3, 0, 2]
    codes = jnp.arange(3)[None, :, None]
    found = Search((), 1, codes, jnp.array([[jnp.nan, 0.2, 0.1]]), jnp.ones((1, 3), bool))
    assert found.best.tolist() == [[1]]


def test_reinforce_moves_to_what_did_well_and_not_by_nan():
    from cdl_arch.search._methods import reinforced

    logits = jnp.array([[0.0, 0.0, -jnp.inf], [0.0, 0.0, 0.0]])
    codes = jnp.array([[0, 2], [1, 1], [1, 0]], jnp.int32)
    new = reinforced(logits, codes, jnp.array([1.0, 0.5, jnp.nan]), 1.0)
    assert new[0, 0] > 0 > new[0, 1]
    assert new[0, 2] == -jnp.inf
    assert new[1, 2] > new[1, 1] > new[1, 0]
    assert (reinforced(logits, codes, jnp.full(3, jnp.nan), 1.0) == logits).all()


def test_evolution_forgets_the_oldest_and_counts_nan_as_worst(task):
    from cdl_arch.search import Evolution

    method = Evolution(population=2, tournament=2)
    state = method.begin(task, jr.key(0))
    codes = jnp.arange(3)[:, None] * jnp.ones((1, 8), jnp.int32)
    held, known = method.tell(task, state, codes, jnp.array([0.9, jnp.nan, 0.5]))
    assert held[:, 0].tolist() == [1, 2]
    assert known.tolist() == [-1.0, 0.5]
    _, children = method.ask(task, (held, known), 6, jr.key(1))
    assert ((children != 2).sum(1) + (children == 2).sum(1) == 8).all()


def test_a_training_that_is_not_finite_is_nan_and_not_stable(task):
    import dataclasses

    from cdl_arch.search import trained

    wild = dataclasses.replace(task, rate=1e30)
    out = trained(wild, jnp.zeros((2, 8), jnp.int32), jr.split(jr.key(0), 2))
    assert jnp.isnan(out.validation).all()
    assert not out.stable.any()


def test_resampled_searches_find_the_best_where_they_see_all():
    from cdl_arch.search import bootstrap, Pool

    validation = np.array([[0.9, 0.1], [np.nan, 0.2], [0.5, 0.3]])
    pool = Pool(
        validation,
        np.array([[0.0, 0.8], [0.0, np.nan], [0.0, 0.7]]),
        np.array([[True, True], [False] * 2, [True, True]]),
    )
    every = bootstrap(pool, 3, draws=10)
    assert np.allclose(every.accuracy, 0.8)
    assert np.allclose(every.stable, 2 / 3)
    pruned = bootstrap(pool, 2, scores=np.array([1.0, np.nan, 0.0]), share=1 / 3, draws=10)
    assert np.allclose(pruned.stable, 1)
    tied = Pool(np.full((2, 2), 0.5), np.array([[0.0, 0.0], [0.0, 1.0]]), np.ones((2, 2), bool))
    blind, by_score = (bootstrap(tied, 2, scores=s, draws=400).accuracy for s in (None, np.array([0.0, 1.0])))
    assert (blind == by_score).all()  # equals are found in the order drawn, and not in that of the score


@pytest.mark.parametrize(
    ("n", "share", "drawn"), [(1, 0.8, 5), (1, 1 - 1 / 3, 3), (2, 1 / 3, 3), (10, 0.28, 14), (3, 0.7, 10), (1, 0.0, 1)]
)
def test_as_many_are_drawn_as_leave_enough_and_no_more(n, share, drawn):
    from cdl_arch.search._scores import to_draw

    assert to_draw(n, share) == drawn


def test_what_pruning_leaves_is_in_the_order_in_which_it_was_drawn(task, getkey):
    from cdl_arch.search import Pruned, Random

    key = getkey()
    _, drawn = Random().ask(task, (), 8, key)
    _, left = Pruned(lambda task, code, key: -code.sum().astype(float), 0.5).ask(task, (), 4, key)
    rows = [drawn.tolist().index(code) for code in left.tolist()]
    assert rows == sorted(rows)


def test_the_shared_net_learns_though_some_candidates_blow_up(task, getkey):
    from cdl_arch.search._supernet import clipped

    fine = clipped({"w": jnp.array([3.0, 4.0])})["w"]
    assert jnp.allclose(fine, jnp.array([0.6, 0.8]))
    for size in (jnp.nan, jnp.inf):
        assert (clipped({"w": jnp.array([1.0, size])})["w"] == 0).all()
    assert (clipped({"w": jnp.array([0.1, 0.2])})["w"] == jnp.array([0.1, 0.2])).all()
