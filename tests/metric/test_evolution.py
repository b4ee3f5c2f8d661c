"""Natural evolution strategies: the estimate is the natural gradient, and steps do not depend on the loss's units."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from cdl.metric import evolve, fisher, Gaussian, natural_estimate, natural_gradient, SearchDistribution


def test_the_estimate_is_the_inverse_of_the_fisher_metric_times_the_estimated_gradient():
    search = SearchDistribution.about(jnp.array([3.0, -2.0]), 0.5)
    noise, values = jr.normal(jr.key(0), (6, 2), jnp.float64), jr.normal(jr.key(1), (6,), jnp.float64)
    drawn = search.mean[None] + 0.5 * noise

    def density(search):
        return Gaussian(search.mean[None], jnp.exp(search.log_scale)[None])

    slope = jax.grad(lambda s: jnp.mean(values * jax.vmap(density(s).log_density)(drawn[:, None])[:, 0]))(search)
    wanted = jax.jit(lambda s: natural_gradient(fisher(density, s), slope))(search)
    step, widening = natural_estimate(search, noise, values)
    assert np.allclose(step, wanted.mean)
    assert np.allclose(widening, wanted.log_scale)


def test_it_finds_a_minimum_on_very_different_scales_without_a_gradient():
    def step(search, key):
        return evolve(search, lambda p: p["x"] ** 2 + 100 * jnp.sum(jnp.round(p["y"] * 100) ** 2), key, population=20)

    search = SearchDistribution.about({"x": jnp.array(3.0), "y": jnp.array([-1.0, 2.0])}, 0.5)
    search, values = jax.jit(lambda s: jax.lax.scan(step, s, jr.split(jr.key(0), 200)))(search)
    assert float(search.mean["x"]) ** 2 < 1e-6
    assert float(jnp.abs(search.mean["y"]).max()) < 0.005
    assert values[-1] < values[0]


def test_a_step_is_the_same_for_every_increasing_function_of_the_loss():
    search, key = SearchDistribution.about(jnp.arange(4.0)), jr.key(0)
    loss = lambda p: jnp.sum(p**2)
    one, other = (evolve(search, fn, key)[0] for fn in (loss, lambda p: jnp.exp(3 * loss(p)) - 5))
    assert jnp.array_equal(one.mean, other.mean)
    assert jnp.array_equal(one.log_scale, other.log_scale)


def test_equal_losses_share_the_mean_of_their_ranks():
    from cdl.metric._evolution import _utilities

    values = np.array([3.0, 1.0, 1.0, np.inf, 0.0, np.nan, 1.0, 2.0])
    raw = np.maximum(0, np.log(5) - np.log(1 + np.arange(8)))
    raw = 1 - 8 * raw / raw.sum()  # of the ranks 0 to 7; the values' are 5, 1–3, 1–3, 6–7, 0, 6–7, 1–3, 4
    wanted = [raw[5], *[raw[1:4].mean()] * 2, raw[6:].mean(), raw[0], raw[6:].mean(), raw[1:4].mean(), raw[4]]
    assert np.allclose(_utilities(jnp.asarray(values)), wanted, atol=1e-12)
