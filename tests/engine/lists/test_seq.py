"""`Seq` and `Packed`: what they hold, and what they refuse."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl


LENGTHS = [3, 0, 5, 1, 4, 2]


@pytest.fixture
def ragged():
    rng = np.random.default_rng(0)
    return [{"x": rng.normal(size=(n, 2)).astype(np.float32), "token": rng.integers(9, size=n)} for n in LENGTHS]


def test_a_batch_is_made_of_lists_of_different_lengths(ragged):
    seq = cdl.Seq.of(ragged)
    assert (len(seq), seq.time, seq.fill) == (6, 5, 0.5)
    assert seq.lengths.tolist() == LENGTHS
    for i, rows in enumerate(ragged):
        assert np.array_equal(seq.values["x"][i, : len(rows["x"])], rows["x"])
        assert np.array_equal(seq.values["token"][i, : len(rows["x"])], rows["token"])
    assert repr(seq) == "Seq: 6 lists, the longest 5, fill 0.50; arrays of 5"
    assert cdl.Seq.of(ragged, time=8).values["x"].shape == (6, 8, 2)


def test_inside_jit_it_is_a_pytree():
    seq = cdl.Seq(jnp.ones((2, 3, 4)), jnp.array([1, 2]))
    doubled = jax.jit(lambda s: jax.tree.map(lambda x: 2 * x, s))(seq)
    assert isinstance(doubled, cdl.Seq)
    assert doubled.lengths.tolist() == [2, 4]
    shown = []
    jax.eval_shape(lambda s: shown.append(repr(s)), seq)
    assert shown == ["Seq: 2 lists, traced; arrays of 3"]
    made = jax.jit(lambda x, n: cdl.Seq(x, n).lengths)(jnp.ones((2, 3)), jnp.array([1, 9]))  # what is traced is trusted
    assert made.tolist() == [1, 9]


@pytest.mark.parametrize("lanes", [None, 1, 2, 9])
def test_lists_are_laid_end_to_end_and_found_again(ragged, lanes):
    packed = cdl.Packed.of(ragged, lanes=lanes)
    assert (len(packed), packed.lanes) == (6, lanes or 3)
    places = sorted(zip(*(x[packed.owner >= 0].tolist() for x in (packed.owner, packed.place)), strict=True))
    assert places == [(i, t) for i, n in enumerate(LENGTHS) for t in range(n)]
    again = packed.padded()
    assert jax.tree.all(jax.tree.map(np.array_equal, again, cdl.Seq.of(ragged)))


def test_an_epoch_of_packed_batches_has_few_shapes():
    rng = np.random.default_rng(1)
    batches = [[np.zeros(n, np.float32) for n in rng.geometric(0.03, 64)] for _ in range(30)]
    shapes = lambda **how: {cdl.Packed.of(b, lanes=16, **how).values.shape for b in batches}
    assert len(shapes()) <= 7  # of 30 batches whose longest lists are 100 to 277 long
    assert shapes(steps=320) == {(320, 16)}


@cdl.algebra
def total(layer: cdl.ListF[Any, Any]) -> Any:
    return layer.head["x"].sum() + layer.tail if isinstance(layer, cdl.Cons) else 0.0
