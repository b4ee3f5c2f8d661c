"""Trainings: blocks of both kinds learn in both precisions, a blow-up is seen when it comes last, codes are checked."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from few import few

from cdl.errors import CdlError


def points(classes=2, n=40):
    from cdl_arch.data import Dataset

    rng = np.random.default_rng(0)
    labels = np.arange(n, dtype=np.int32) % classes
    images = (0.3 * rng.normal(size=(n, 4, 4, 1)) + labels[:, None, None, None]).astype(np.float32)
    return Dataset("points", images, labels, classes)


def task_of(block="dense", **options):
    from cdl_arch.search import Blocks, of_dataset

    space = Blocks((4, 4, 1), 2, width=4, depth=2, minimum=1, block=block)
    return of_dataset(space, points(), points(), **{"steps": 60, "batch": 8, "rate": 0.1, **options})


PLAIN = [0, 2, 1, 1, 0, 2, 1, 1, 1]  # relu, √½ (x + f), a norm, gain 1; both blocks


@pytest.mark.parametrize("double", few([False, True], 1))
@pytest.mark.parametrize("block", few(["dense", "conv"], 0))
def test_blocks_learn_in_both_precisions(block, double):
    from cdl_arch.search import gradient_norm, isometry, scored, trained

    with jax.enable_x64(double):
        task = task_of(block)
        codes = jnp.asarray([PLAIN], jnp.int32)
        out = trained(task, codes, jr.split(jr.key(0), 1))
        assert out.test[0] > 0.9
        assert out.stable[0]
        assert out.loss.dtype == jnp.result_type(float)
        for score in (isometry, gradient_norm):
            assert jnp.isfinite(scored(score, task, codes, jr.key(0))).all()


@pytest.mark.parametrize("name", few(["Evolution", "Controller", "Enas", "Darts"], 3))
def test_searches_run_in_double_precision(name):
    from cdl_arch import search as of

    options = {"population": 2, "tournament": 2} if name == "Evolution" else {}
    with jax.enable_x64(True):
        found = of.search(task_of(steps=2), getattr(of, name)(**options), jr.split(jr.key(0), 1), budget=8, batch=2)
        assert jnp.isfinite(found.validation).any()


def test_a_blow_up_in_the_last_update_is_seen():
    from cdl_arch.search import trained

    wild = task_of(steps=1, rate=1e38)
    out = trained(wild, jnp.asarray([[3, 1, 0, 3, 3, 1, 0, 3, 1]], jnp.int32), jr.split(jr.key(0), 1))
    assert jnp.isnan(out.validation).all()
    assert jnp.isnan(out.test).all()
    assert not out.stable.any()


def test_a_code_that_a_compiled_function_makes_is_refused_when_it_runs():
    space = task_of().space
    with pytest.raises(Exception, match="out of range"):
        jax.jit(space.checked)(jnp.full(9, 7, jnp.int32)).block_until_ready()


def test_the_parts_of_a_task_are_drawn_and_only_what_is_used_is_read():
    from cdl_arch.data import Dataset
    from cdl_arch.data.folders import Folders
    from cdl_arch.search import Blocks, of_dataset

    class Lazy(Folders):
        def __init__(self, count):
            self.count, self.rows = count, []

        @property
        def shape(self):
            return self.count, 4, 4, 1

        def __getitem__(self, rows):
            self.rows.extend(rows)
            return np.zeros((len(rows), 4, 4, 1), np.float32)

    pictures = Lazy(400)
    sorted_by_class = Dataset("sorted", pictures, np.repeat([0, 1], 200).astype(np.int32), 2)
    space = Blocks((4, 4, 1), 2, width=4, depth=1)
    task = of_dataset(space, sorted_by_class, points(), most=40)
    assert len(pictures.rows) == len(set(pictures.rows)) == 40
    assert len(task.validation.labels) == 10
    assert set(task.train.labels.tolist()) == set(task.validation.labels.tolist()) == {0, 1}
    huge = Dataset("huge", Lazy(10**9), np.broadcast_to(np.int32(0), 10**9), 2)
    for data, most, words in ((huge, None, "59.6 GiB"), (points(), 1, "40")):
        with pytest.raises(CdlError, match=words):
            of_dataset(space, data, points(), most=most)
