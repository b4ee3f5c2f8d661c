"""A search that is stopped goes on bit for bit, and no other search goes on from its file."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from test_trainings import task_of

from cdl.errors import CheckpointError


@dataclasses.dataclass(frozen=True)
class Remembering:
    """Asks for codes that depend on everything that it was told."""

    cost: int = 0

    def begin(self, task, key):
        return jr.bits(key, (2,)).astype(jnp.int32)

    def ask(self, task, state, n, key):
        sizes = jnp.asarray(task.space.sizes, jnp.int32)
        codes = (state.sum() + jnp.arange(n * len(sizes), dtype=jnp.int32).reshape(n, -1)) % sizes[None]
        return state + jnp.int32(1), codes

    def tell(self, task, state, codes, scores):
        seen = jnp.nan_to_num(1000 * scores).astype(jnp.int32).sum() + codes.sum().astype(jnp.int32)
        return 31 * state + seen


@pytest.fixture(scope="module")
def task():
    return task_of(steps=4)


def same(one, other):
    pairs = jax.tree.map(lambda a, b: np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True), one, other)
    return all(jax.tree.leaves(pairs))


def test_search_goes_on_bit_for_bit_from_a_checkpoint(task, tmp_path, monkeypatch):
    from cdl_arch.search import _search, search

    options = {"method": Remembering(), "keys": jr.split(jr.key(1), 2), "budget": 8, "batch": 2}
    whole = search(task, **options)
    rounds, one = [], _search._round
    monkeypatch.setattr(_search, "_round", lambda *given: rounds.append(given[2].round) or one(*given))
    for stop in (1, 2, 3):
        half = search(task, **options, checkpoint=tmp_path / str(stop), rounds=stop)
        assert half.round == stop
        assert jnp.isnan(half.validation[:, 2 * stop :]).all()
        rounds.clear()
        assert same(search(task, **options, checkpoint=tmp_path / str(stop)), whole)
        assert rounds == list(range(stop, 4))  # and what was done is not done again


def scaled(by, task, code, key):
    return by * code[0].astype(jnp.float32)


def test_another_search_does_not_go_on_from_a_file_and_says_what_differs(task, tmp_path):
    from cdl_arch.search import Pruned, search

    file, keys = tmp_path / "x", jr.split(jr.key(0), 2)
    method = Pruned(functools.partial(scaled, 1.0), 0.5)

    def again(task=task, method=method, keys=keys, budget=4):
        return search(task, method, keys, budget=budget, batch=2, checkpoint=file, rounds=1)

    again()
    again(method=Pruned(functools.partial(scaled, 1.0), 0.5))  # equal, though not the same object
    wider = dataclasses.replace(task, space=dataclasses.replace(task.space, width=5))
    others = [
        ({"method": dataclasses.replace(method, share=0.25)}, "share=0.25"),
        ({"method": Pruned(functools.partial(scaled, 2.0), 0.5)}, "2.0"),
        ({"keys": jr.split(jr.key(1), 2)}, "keys"),
        ({"budget": 6}, "6 trainings"),
        ({"task": dataclasses.replace(task, rate=0.2)}, "rate=0.2"),
        ({"task": dataclasses.replace(task, test=task.train)}, "data"),
        ({"task": wider}, "width=5"),
    ]
    for given, words in others:
        with pytest.raises(CheckpointError, match=words):
            again(**given)
