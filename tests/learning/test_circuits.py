"""Boolean circuits that learn by reverse derivative ascent: what they do learn, and what they do not."""

from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import CdlError
from cdl.learning import circuits, supervised
from cdl.optics import z2


def bits(n: int) -> Any:
    return jnp.array(list(product((0.0, 1.0), repeat=n)))


def one_pass(learner: Any, xs: Any, ys: Any) -> Any:
    return jax.lax.scan(learner.step, learner.state, (xs, ys))


def test_ascent_is_the_supervised_learner_with_pieces_made_of_bits():
    model = circuits.table(3)
    same = supervised(model, circuits.ERROR, circuits.FLIP, rate=circuits.WHOLE)
    for x in bits(3):
        for y in (jnp.zeros(1), jnp.ones(1)):
            entries, error = same.step(same.state, (x, y))
            expected, expected_error = circuits.ascend(model).step(model.params, (x, y))
            assert (entries.tolist(), error.tolist()) == (expected.tolist(), expected_error.tolist())
            assert int(entries.sum()) == int(y[0])  # the one entry that is asked for, where it is to be 1


@pytest.mark.parametrize(
    ("n", "function"),
    [(3, lambda xs: xs.sum(1) > 1.5), (5, lambda xs: xs.sum(1) > 2.5), (8, lambda xs: xs.sum(1) % 2 == 1)],
    ids=["majority of 3", "majority of 5", "parity of 8"],
)
def test_a_table_learns_any_function_in_one_pass(n, function):
    model, xs = circuits.table(n), bits(n)
    ys = function(xs).astype(jnp.float32)[:, None]

    @jax.jit
    def learn(xs, ys):
        entries, _ = one_pass(circuits.ascend(model), xs, ys)
        return entries, jax.vmap(model.at(entries))(xs), circuits.majority(model).step(model.params, (xs, ys))[0]

    for found in learn(xs, ys):
        assert found.tolist() == ys.tolist()


def test_votes_are_counted_where_changes_mod_2_would_cancel():
    """Two samples that want the same bit changed: added mod 2 they leave it, by majority they change it."""
    model = circuits.table(1)
    twice, ones = jnp.array([[1.0], [1.0]]), jnp.array([[1.0], [1.0]])
    changes = jax.vmap(lambda x: model.optic.put((model.params, x), jnp.ones(1))[0])(twice)
    assert (jnp.sum(changes, axis=0) % 2).tolist() == [[0.0], [0.0]]
    learner = circuits.majority(model)
    assert learner.step(learner.state, (twice, ones))[0].tolist() == [[0.0], [1.0]]


@pytest.mark.parametrize(("n", "learnt"), [(4, True), (8, True), (16, False)])
def test_a_parity_of_few_bits_is_learnt_and_one_of_sixteen_is_not(n, learnt):
    """Reverse derivative ascent on a parity is a random walk: it stops when it finds the answer, among `2ⁿ`."""
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, n).astype(np.float32)
    xs = rng.integers(0, 2, (4000, n)).astype(np.float32)
    found, errors = one_pass(
        circuits.ascend(circuits.parity(n)), jnp.asarray(xs), jnp.asarray(xs @ secret % 2)[:, None]
    )
    assert (found.tolist() == secret.tolist()) is learnt
    late = float(jnp.mean(errors[-500:]))
    assert late == 0.0 if learnt else 0.4 < late < 0.6


def test_a_table_of_sixteen_bits_reads_the_entry_of_its_input():
    """Its sums of minterms reach `3¹⁶`, which no floating number of 32 bits holds exactly."""
    n, rng = 16, np.random.default_rng(0)
    entries = np.append(rng.integers(0, 2, 2**n - 1), 1).astype(np.float32)
    model = circuits.table(n)
    step = jax.jit(jax.vmap(lambda entries, x: model.optic.forward((entries, x))[0], (None, 0)))
    xs = np.concatenate([np.ones((1, n)), rng.random((20, n)) < 0.9]).astype(np.float32)
    places = xs.astype(int) @ 2 ** np.arange(n)[::-1]
    assert step(entries[:, None], xs)[:, 0].tolist() == entries[places].tolist()
    change, dx = jax.jit(model.optic.put)((entries[:, None], xs[0]), np.ones(1, np.float32))
    assert np.flatnonzero(change).tolist() == [2**n - 1]
    assert dx.tolist() == [float(entries[-1] != entries[-1 - 2**i]) for i in reversed(range(n))]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_parity_is_exact_in_every_floating_type(dtype):
    """Three thousand ones, where 16 bits count to 256 or to 2,048; and votes of as many samples, by one."""
    n = 3001
    model, ones = circuits.parity(n), jnp.ones(n, dtype)
    assert model.at(ones)(ones).tolist() == [1.0]
    voter = circuits.parity(1)
    xs, ys = jnp.ones((n, 1), dtype), (jnp.arange(n) < n // 2 + 1).astype(dtype)[:, None]
    after, _ = circuits.majority(voter.at(jnp.zeros(1, dtype))).step(jnp.zeros(1, dtype), (xs, ys))
    assert after.tolist() == [1.0]
    assert after.dtype == dtype


def test_sums_and_products_are_those_of_floating_numbers_mod_2():
    """Every way to write one, at all bits, beside `jax.vjp` on numbers small enough."""

    def wired(pair):
        p, x = pair
        table = jnp.prod(x[None, :] + np.ones((4, 2), np.float32), axis=1) @ p
        chosen = jnp.where(np.array([True]), x[:1], x[1:]) + x[np.array([1])] ** 3
        return (1 - table) * jax.jit(jnp.square)(x[0]) + jnp.cumsum(x)[1:] - chosen + jnp.pad(p[:1], 1)[1:2]

    def beside(p, x):
        y, pull = jax.vjp(wired, (p, x))
        optic = z2.reverse(wired)
        found, expected = (optic.get((p, x)), optic.put((p, x), jnp.ones(1))), (y, pull(jnp.ones(1))[0])
        return jax.tree.map(lambda ours, theirs: jnp.all(ours == theirs % 2), found, expected)

    every = bits(6)
    assert all(x.all() for x in jax.tree.leaves(jax.jit(jax.vmap(beside))(every[:, :4], every[:, 4:])))


def test_a_number_that_is_not_whole_is_not_a_bit():
    same = z2.reverse(lambda x: x * x)
    with pytest.raises(CdlError, match=r"0\.5"):
        same.get(jnp.array([1.0, 0.5]))
    with pytest.raises(CdlError, match="nan"):
        same.put(jnp.ones(1), jnp.array([jnp.nan]))
    assert np.isnan(jax.jit(same.get)(jnp.array([1.0, 0.5]))).all()
    assert np.isnan(jax.jit(same.put)(jnp.array([1.0, 0.5]), jnp.ones(2))).all()
    assert same.get(jnp.array([3.0, -1.0, 2.0])).tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("dtype", [jnp.int32, jnp.uint8, jnp.bool_], ids=str)
def test_samples_may_be_whole_numbers_and_truth_values_which_have_no_change(dtype):
    inputs, answers = jnp.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), jnp.array([[0.0], [1], [1], [0]])
    learner, one = circuits.majority(circuits.table(2)), circuits.ascend(circuits.table(2))
    with jax.numpy_dtype_promotion("standard"):
        for step in (learner.step, jax.jit(learner.step)):
            assert step(learner.state, (inputs.astype(dtype), answers.astype(dtype)))[0].tolist() == answers.tolist()
        of_one = one.step(one.state, (inputs[1].astype(dtype), answers[1].astype(dtype)))[0]
    assert of_one.tolist() == one.step(one.state, (inputs[1], answers[1]))[0].tolist()


def test_only_floating_bits_have_a_change():
    product = z2.reverse(lambda pair: pair[0] * pair[1])
    assert product.put((jnp.array(1.0), jnp.array(0.0)), jnp.array(1.0)) == (0.0, 1.0)
    assert product.put((jnp.array(1), jnp.array(0)), jnp.array(1)) == (None, None)
