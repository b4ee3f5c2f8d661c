"""Natural gradient: least squares in one step, solvers that agree, trust regions, damping that follows the loss."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import metric_problems as problems
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

from cdl.errors import CdlError
from cdl.metric import (
    Blocks,
    Categorical,
    Cg,
    Dense,
    fisher,
    Gaussian,
    LevenbergMarquardt,
    natural,
    natural_gradient,
    negative_log_likelihood,
    pullback,
)


def trained(tx, loss, params, steps, **told):
    """The losses before each step and at the end."""

    def step(state, _):
        p, kept = state
        value, g = jax.value_and_grad(loss)(p)
        with jax.numpy_dtype_promotion("standard"):
            change, kept = optax.with_extra_args_support(tx).update(g, kept, p, value=value, value_fn=loss, **told)
        return (optax.apply_updates(p, change), kept), value

    (last, _), values = jax.jit(lambda s: jax.lax.scan(step, s, length=steps))((params, tx.init(params)))
    return [*map(float, values), float(loss(last))], last


def scaled_regression(condition):
    """A regression whose inputs have axes of lengths between 1 and this."""
    x, y, w = problems.regression(40, 6)
    u, _, v = jnp.linalg.svd(x, full_matrices=False)
    return (u * jnp.geomspace(1, condition, 6)[None]) @ v, 100 * y[:40], w


def test_one_step_without_damping_solves_least_squares():
    x, y, w = problems.regression()
    model = lambda w: Gaussian(x @ w, 0.3)
    loss = lambda w: negative_log_likelihood(model(w), y)
    best = jnp.linalg.lstsq(x, y)[0]
    for how in (Dense(), Cg(10)):
        assert np.allclose(trained(natural(model, how=how), loss, w, 1)[1], best, atol=1e-8)


def test_axes_of_very_different_lengths_stop_a_gradient_and_not_a_natural_one():
    x, y, w = scaled_regression(100.0)  # the metric has a condition number of 10⁴
    model = lambda w: Gaussian(x @ w)
    loss = lambda w: negative_log_likelihood(model(w), y)
    best = float(loss(jnp.linalg.lstsq(x, y)[0]))
    metric = np.linalg.eigvalsh(x.T @ x / 40)
    assert 0.99e4 < metric[-1] / metric[0] < 1.01e4
    left = lambda tx: trained(tx, loss, w, 30)[0][-1] - best
    begin = float(loss(w)) - best
    assert left(natural(model, how=Cg(6))) < 1e-8 * begin
    assert left(optax.sgd(1 / float(metric[-1]))) > 0.1 * begin
    assert min(left(optax.adam(rate)) for rate in (0.1, 1.0)) > 0.05 * begin


@pytest.fixture(scope="module")
def network():
    with jax.enable_x64(True):
        x = jr.normal(jr.key(0), (12, 3), jnp.float64)
        net = problems.double(eqx.nn.MLP(3, 4, 3, 1, activation=jnp.tanh, key=jr.key(1)))
        params, rest = eqx.partition(net, eqx.is_inexact_array)
        model = lambda p: Categorical(jax.vmap(eqx.combine(p, rest))(x))
        loss = lambda p: negative_log_likelihood(model(p), jnp.arange(12) % 4)
        return model, loss, params


def test_conjugate_gradients_agree_with_the_dense_matrix(network):
    model, loss, params = network
    both = jax.jit(
        lambda p: [
            natural_gradient(fisher(model, p), jax.grad(loss)(p), damping=1e-3, how=h) for h in (Dense(), Cg(99))
        ]
    )
    dense, cg = (ravel_pytree(x)[0] for x in both(params))
    assert np.abs(dense - cg).max() < 1e-8 * np.abs(dense).max()


def test_blocks_are_the_inverses_of_blocks():
    x, _, w = problems.regression(d=4)
    parts = (w[:1], w[1:])
    model = lambda p: Gaussian(x @ jnp.concatenate(p))
    matrix = x.T @ x / len(x)
    found = jax.jit(lambda p: natural_gradient(fisher(model, p), p, how=Blocks()))(parts)
    assert np.allclose(found[0], jnp.linalg.solve(matrix[:1, :1], parts[0]))
    assert np.allclose(found[1], jnp.linalg.solve(matrix[1:, 1:], parts[1]))


def test_a_singular_metric_is_damped_or_refused_by_name():
    x, _, w = problems.regression()
    model = lambda w: Gaussian(x @ jnp.array([w[0], w[1] + w[2], 0.0]))  # only the sum of two counts
    solved = lambda g, damping: natural_gradient(fisher(model, w), g, damping=damping)
    for damping in (0.0, 1e-20):  # one that rounding takes away
        with pytest.raises(CdlError, match=r"rank 2 of 3.*`damping`"):
            solved(w, damping)
        with pytest.raises(Exception, match=r"singular(.|\n)*`damping`"):
            jax.block_until_ready(jax.jit(solved, static_argnums=1)(w, damping))
    assert np.isfinite(jax.jit(solved, static_argnums=1)(w, 1e-3)).all()
    line = pullback(lambda w: w[:1], jnp.ones(2))
    assert np.allclose(natural_gradient(line, jnp.array([1.0, 0.0]), how=Cg()), [1, 0])


def test_a_step_stays_within_its_divergence(network):
    model, loss, params = network
    far = natural(model, 100.0, damping=1e-3, kl=1e-4)
    change = jax.jit(lambda p: far.update(jax.grad(loss)(p), far.init(p), p)[0])(params)
    divergence = jnp.mean(model(params).kl(model(optax.apply_updates(params, change))))
    assert 0.95e-4 < divergence < 1.05e-4


def test_damping_that_follows_the_loss_never_makes_it_larger(network):
    model, loss, params = network
    losses, _ = trained(natural(model, damping=LevenbergMarquardt(1e-6), how=Cg(20)), loss, params, 25)
    assert all(b <= a for a, b in itertools.pairwise(losses))
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("metric", ["ggn", "empirical"])
def test_other_metrics_descend_too_where_they_are_told_the_targets(network, metric):
    model, loss, params = network
    tx = natural(model, 0.5, metric=metric, damping=1e-2, kl=0.1, how=Cg(10))
    assert trained(tx, loss, params, 10, targets=jnp.arange(12) % 4)[0][-1] < 1.0


def test_the_model_is_taken_at_the_data_of_the_step():
    x, y, w = problems.regression()
    tx = natural(lambda w, x: Gaussian(x @ w), how=Cg(9))
    g = jax.grad(lambda w: negative_log_likelihood(Gaussian(x @ w), y))(w)
    change, _ = tx.update(g, tx.init(w), w, data=x)
    assert np.allclose(w + change, jnp.linalg.lstsq(x, y)[0], atol=1e-8)


def test_conjugate_gradients_take_gradients_of_any_size_and_do_not_hide_one_that_is_not_finite():
    with jax.enable_x64(False):
        x = jr.normal(jr.key(0), (20, 3))
        metric = fisher(lambda w: Gaussian(x @ w, 1.0), jnp.zeros(3))
        g = jnp.array([1.0, -2.0, 0.5])
        step = natural_gradient(metric, g, how=Cg(10))
        for size in (1e20, 1e-24):
            assert np.allclose(natural_gradient(metric, size * g, how=Cg(10)) / size, step, rtol=1e-3)
        assert not np.isfinite(natural_gradient(metric, g.at[0].set(jnp.nan), how=Cg(10))).any()


def judged(rule, losses):
    """The dampings after steps of gains `losses` each, of a model that stays where it is."""
    w = jnp.ones(2)
    tx, dampings = natural(lambda w: Gaussian(w), damping=rule), []
    state = tx.init(w)
    for value, after in losses:
        change, state = tx.update(w, state, w, value=jnp.array(value), value_fn=lambda _, after=after: jnp.array(after))
        dampings.append(float(state.damping))
    return dampings, change


def test_damping_grows_to_a_bound_where_no_step_gains():
    dampings, change = judged(LevenbergMarquardt(1.0, factor=10.0, most=1e3), [(1.0, 2.0)] * 5)
    assert dampings == [10.0, 100.0, 1e3, 1e3, 1e3]
    assert not change.any()
    dampings, _ = judged(LevenbergMarquardt(1.0, factor=10.0, least=1e-2), [(2.0, -9.0)] * 4)
    assert dampings == pytest.approx([1e-1, 1e-2, 1e-2, 1e-2])


def test_damping_stays_where_the_loss_does_and_grows_where_it_is_not_a_number():
    assert judged(LevenbergMarquardt(1.0), [(1.0, 1.0)])[0] == [1.0]
    assert judged(LevenbergMarquardt(1.0), [(1.0, np.nan), (np.nan, 1.0), (1.0, np.inf)])[0] == [2.0, 4.0, 8.0]


@pytest.mark.parametrize(("kind", "how"), [(jnp.bfloat16, Dense()), (jnp.float16, Cg(5))], ids=["dense", "cg"])
def test_half_precision_is_solved_in_single(kind, how):
    with jax.enable_x64(False):
        x = jr.normal(jr.key(0), (20, 3)).astype(kind)
        w = jnp.ones(3, kind)
        found = natural_gradient(fisher(lambda w: Gaussian(x @ w), w), w, how=how)
        exact = np.asarray(x, np.float64)
        assert found.dtype == kind
        assert np.allclose(np.float64(found), np.linalg.solve(exact.T @ exact / 20, np.ones(3)), rtol=0.05)


def test_a_schedule_stands_behind_a_natural_gradient():
    x = jnp.array([2.0, 3.0])
    rates = optax.piecewise_constant_schedule(1.0, {1: 0.5})
    tx = optax.chain(natural(lambda p: Gaussian(p)), optax.scale_by_schedule(rates))
    state, p = tx.init(x), x
    for left in (0.0, 0.5):
        with jax.numpy_dtype_promotion("standard"):
            change, state = tx.update(p / 2, state, x)
        assert jnp.allclose(x + change, left * x)


def test_a_scale_that_is_not_above_zero_is_sampled_as_nan():
    assert jnp.isnan(Gaussian(jnp.zeros(3), jnp.array([1.0, 0.0, -1.0])).sample(jr.key(0))).tolist() == [
        False,
        True,
        True,
    ]
