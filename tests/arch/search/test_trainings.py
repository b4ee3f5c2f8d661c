"""Trainings: blocks of both kinds learn in both precisions, a blow-up is seen when it comes last, codes are checked."""

import dataclasses

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

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


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("block", ["dense", "conv"])
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


@pytest.mark.parametrize("name", ["Evolution", "Controller", "Enas", "Darts"])
def test_searches_run_in_double_precision(name):
    from cdl_arch import search as of

    options = {"population": 2, "tournament": 2} if name == "Evolution" else {}
    with jax.enable_x64(True):
        found = of.search(task_of(steps=2), getattr(of, name)(**options), jr.split(jr.key(0), 1), budget=8, batch=2)
        assert jnp.isfinite(found.validation).any()


def test_a_signature_is_trained_in_double_precision():
    from cdl_arch.search import Signatures, trained, tree_task

    with jax.enable_x64(True):
        task = tree_task(Signatures(width=2), 4, 2, steps=2)
        out = trained(task, jnp.zeros((1, 8), jnp.int32), jr.split(jr.key(0), 1))
        assert out.loss.dtype == jnp.float64
        assert jnp.isfinite(out.test).all()
