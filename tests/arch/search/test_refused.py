"""What a task, a space, a method, a search and a pool cannot be is refused, with the two things that differ."""

import dataclasses

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import unchecked

from cdl.errors import CdlError


ROWS = 8


@pytest.fixture(autouse=True)
def _as_users_run_it():
    """Without the checks of annotations that only the tests have."""
    with unchecked():
        yield


def part(rows=ROWS, labels=None):
    from cdl_arch.search import Part

    return Part(jnp.ones((rows, 2, 2, 1)), jnp.zeros(ROWS, jnp.int32) if labels is None else jnp.asarray(labels))


def space(**options):
    from cdl_arch.search import Blocks

    return Blocks((2, 2, 1), 3, **{"width": 2, "depth": 1, **options})


@pytest.fixture(scope="module")
def task():
    from cdl_arch.search import Task

    return Task(space(), part(), part(), part(), steps=4, batch=4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"optimiser": "Adam"}, r"optimisers of a task are momentum, adam: there is no 'Adam'"),
        ({"batch": 0}, r"`batch` is 0: give at least 1"),
        ({"steps": -1}, r"`steps` is -1"),
        ({"rate": -1.0}, r"`rate` is -1.0: give a finite number above 0"),
        ({"rate": float("nan")}, r"`rate` is nan"),
        ({"train": part(labels=[0] * 7 + [3])}, r"`train` has the label 3, and those of 3 classes are 0 to 2"),
        ({"test": part(labels=[0] * 7 + [-1])}, r"`test` has the label -1"),
        ({"validation": part(rows=4)}, r"batch of 4 .* inputs of `validation` are not arrays with 8 rows"),
        ({"batch": None, "test": part(rows=4)}, r"`test` has 8 labels, and its inputs have 4 rows"),
        ({"train": part(rows=0, labels=np.zeros(0, np.int32))}, r"labels of `train` are int32\[0\]"),
        ({"train": part(labels=[0.0] * 8)}, r"labels of `train` are float"),
        ({"train": part(labels=[[0]] * 8)}, r"labels of `train` are int\d\d\[8, 1\]"),
    ],
)
def test_a_task_that_no_training_has_is_refused(task, given, words):
    with pytest.raises(CdlError, match=words):
        dataclasses.replace(task, **given)


def test_a_batch_of_a_forest_is_refused():
    from cdl_arch.search import Signatures, tree_task

    with pytest.raises(CdlError, match=r"`batch=None`, which a forest needs"):
        tree_task(Signatures(width=2), 4, 1, batch=2)
    with pytest.raises(CdlError, match=r"`depth` is -1"):
        tree_task(Signatures(width=2), 4, -1)
    with pytest.raises(CdlError, match=r"`trees` is 0"):
        tree_task(Signatures(width=2), 0)
    with pytest.raises(CdlError, match=r"choice at `First`, place 0, is 9"):
        Signatures().canonical(np.array([9, 0, 0, 0, 0, 0, 0, 0]))


def test_pictures_without_labels_are_refused():
    from cdl_arch.data import Dataset
    from cdl_arch.search import of_dataset

    data = Dataset("few", np.zeros((8, 2, 2, 1), np.float32), np.zeros(4, np.int32), 3)
    with pytest.raises(CdlError, match=r"`few` has 8 pictures and 4 labels"):
        of_dataset(space(), data, data)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"width": 0}, r"`width` is 0"),
        ({"block": "convolution"}, r"dense or conv, .* not 'convolution'"),
        ({"classes": 1}, r"`classes` is 1: give at least 2"),
        ({"shape": (2, 0, 1)}, r"`shape` is 0: give at least 1"),
        ({"shape": (2, 2)}, r"\(height, width, channels\): not 'dense', of \(2, 2\)"),
    ],
)
def test_a_space_without_numbers_is_refused(given, words):
    with pytest.raises(CdlError, match=words):
        dataclasses.replace(space(), **given)


def test_keys_and_codes_are_one_for_each_candidate(task):
    from cdl_arch.search import Random, retrained, search, trained

    codes = jnp.zeros((3, 4), jnp.int32)
    with pytest.raises(CdlError, match=r"codes are of shape \(4,\): give `int\[n, places\]`"):
        trained(task, codes[0], jr.split(jr.key(0), 4))
    with pytest.raises(CdlError, match=r"`keys` is key<fry>\[2\], and an array of 3 keys"):
        trained(task, codes, jr.split(jr.key(0), 2))
    for keys in (jr.key(0), jr.split(jr.key(0), 0)):
        with pytest.raises(CdlError, match=r"an array of one or more keys .* `jax.random.split\("):
            search(task, Random(), keys)
    with pytest.raises(CdlError, match=r"codes are of shape \(4,\): give"):
        retrained(task, codes[0], jr.split(jr.key(0), 2))


def test_methods_that_learn_nothing_are_refused(task):
    from cdl_arch.search import Controller, Darts, Enas, Evolution, isometry, Pruned, Random, scored, search

    keys = jr.split(jr.key(0), 1)
    with pytest.raises(CdlError, match=r"a round of 1 codes has none to compare"):
        search(task, Controller(), keys, budget=2, batch=1)
    with pytest.raises(CdlError, match=r"`population` is 0"):
        Evolution(population=0)
    with pytest.raises(CdlError, match=r"`tournament` is 0"):
        Evolution(tournament=0)
    with pytest.raises(CdlError, match=r"`tournament` is 4, and `population` 3: compare as many as live, or fewer"):
        Evolution(population=3, tournament=4)
    Evolution(population=3, tournament=3)
    with pytest.raises(CdlError, match=r"draws its first 10 codes at random, and 2 rounds of 5 end before a child"):
        search(task, Evolution(), keys, budget=10)
    for method in (Enas(cost=0), Darts(cost=0)):
        with pytest.raises(CdlError, match=r"trained for 0 steps, with trainings of 4"):
            search(task, method, keys)
    with pytest.raises(CdlError, match=r"`cost` is -4"):
        search(task, Random(cost=-4), keys)
    with pytest.raises(CdlError, match=r"`batch` is 0"):
        search(task, Random(), keys, batch=0)
    with pytest.raises(CdlError, match=r"`inits` is 0"):
        Pruned(isometry, 0.5, inits=0)
    with pytest.raises(CdlError, match=r"`inits` is 0"):
        scored(isometry, task, jnp.zeros((1, 4), jnp.int32), jr.key(0), 0)


def test_a_network_is_asked_for_by_a_code_of_its_space():
    from cdl_arch.search import RIGHT, Signatures

    some, pictures = space(), jnp.ones((2, 2, 2, 1))
    params = some.init(jr.key(0))
    assert some.apply(params, jnp.ones((4, 5)) / 5, pictures).shape == (2, 3)
    with pytest.raises(CdlError, match=r"choice at `0.activation`, place 0, is 9"):
        some.apply(params, jnp.full(4, 9), pictures)
    for code in (jnp.zeros(8, jnp.int32), jnp.zeros(4), jnp.zeros((1, 4), jnp.int32)):
        with pytest.raises(CdlError, match=r"whole numbers of shape \(4,\), or a mixture of shape \(4, 5\)"):
            some.apply(params, code, pictures)
    with pytest.raises(CdlError, match=r"pictures are of \(1, 4, 1\), and those of the space of \(2, 2, 1\)"):
        some.apply(params, jnp.zeros(4, jnp.int32), jnp.ones((2, 1, 4, 1)))
    trees = Signatures(width=2)
    with pytest.raises(CdlError, match=r"choice at `First`, place 0, is 7"):
        trees.apply(trees.init(jr.key(0)), jnp.array((7, *RIGHT[1:])), None)


def test_a_search_that_trained_nothing_has_no_best_code(task):
    from cdl_arch.search import Random, search

    with pytest.raises(CdlError, match=r"has trained nothing yet"):
        _ = search(task, Random(), jr.split(jr.key(0), 1), rounds=0).best


def test_a_checkpoint_in_no_folder_is_refused_before_anything_is_trained(task, tmp_path):
    from cdl.errors import CheckpointError
    from cdl_arch.search import Random, search

    with pytest.raises(CheckpointError, match=r"x` is not a folder. Make it first"):
        search(task, Random(), jr.split(jr.key(0), 1), checkpoint=tmp_path / "x" / "search")


def test_a_pool_whose_arrays_differ_is_refused():
    from cdl_arch.search import bootstrap, Pool

    pool = Pool(np.ones((4, 2)), np.ones((4, 2)), np.ones((4, 2), bool))
    with pytest.raises(CdlError, match=r"arrays of a pool have one shape.*'test': \(8, 2\)"):
        bootstrap(pool._replace(test=np.ones((8, 2))), 2)
    with pytest.raises(CdlError, match=r"`scores` is of shape \(8,\), and the pool has 4"):
        bootstrap(pool, 2, scores=np.ones(8), share=0.5)
    with pytest.raises(CdlError, match=r"`draws` is -1"):
        bootstrap(pool, 2, draws=-1)
