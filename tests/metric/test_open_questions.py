"""Three questions that a source leaves open, as far as they are known: bounds, no gradients, wide networks."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.scipy.stats import multivariate_normal

from cdl.metric import fisher, Gaussian, natural_estimate, SearchDistribution


@pytest.fixture(autouse=True)
def broadcasting():
    with jax.numpy_rank_promotion("allow"):
        yield


NOISE = 0.7


def bound(mean: jax.Array, scale: jax.Array, x: jax.Array, w: jax.Array) -> jax.Array:
    """The evidence lower bound of a diagonal Gaussian: `E log p(x | z) − KL(q ‖ p)`, exactly."""
    far = jnp.sum((x - w @ mean) ** 2) + jnp.sum(scale**2 * jnp.sum(w**2, 0))
    likelihood = -far / (2 * NOISE**2) - len(x) * jnp.log(NOISE * jnp.sqrt(2 * jnp.pi))
    return likelihood - jnp.sum(mean**2 + scale**2 - 1 - 2 * jnp.log(scale)) / 2


@pytest.mark.parametrize("row", [[1.0, 2.0], [2.0, 2.0]], ids=["independent", "correlated"])
def test_bound_of_independent_gaussians_loses_correlations(row):
    w, x = jnp.array([row, [2.0, -1.0], [0.0, 0.0]]), jr.normal(jr.key(3), (3,))
    evidence = multivariate_normal.logpdf(x, jnp.zeros(3), w @ w.T + NOISE**2 * jnp.eye(3))
    precision = jnp.eye(2) + w.T @ w / NOISE**2
    best = jnp.linalg.solve(precision, w.T @ x) / NOISE**2, jnp.diag(precision) ** -0.5
    lost = (jnp.sum(jnp.log(jnp.diag(precision))) - jnp.linalg.slogdet(precision)[1]) / 2
    assert np.isclose(evidence - bound(*best, x, w), lost, atol=1e-9)
    assert np.allclose(jax.grad(bound, (0, 1))(*best, x, w), 0, atol=1e-9)
    assert lost > 0.04 if row[0] == row[1] else abs(lost) < 1e-9


def test_the_error_of_an_estimate_without_gradients_falls_with_the_root_of_the_draws():
    search, aim = SearchDistribution.about(jnp.array([1.0, -2.0, 0.5]), 0.3), jnp.array([0.0, 1.0, 1.0])
    exact = 0.3**2 * (search.mean - aim)
    draws = np.array([16, 64, 256, 1024])

    def error(key: Any, n: int) -> Any:
        noise = jr.normal(key, (n, 3))
        values = jnp.sum((search.mean + 0.3 * noise - aim) ** 2, 1) / 2
        return jnp.sum((natural_estimate(search, noise, values)[0] - exact) ** 2)

    errors = [np.sqrt(jax.vmap(lambda key, n=int(n): error(key, n))(jr.split(jr.key(n), 200)).mean()) for n in draws]
    slope = np.polyfit(np.log(draws), np.log(errors), 1)[0]
    assert abs(slope + 0.5) < 0.05


POINTS = np.linspace(-2, 2, 6)[:, None] * np.array([1.0, -0.5])
TARGETS = np.sin(POINTS[:, 0])


def wide(params: Any, points: Any) -> jax.Array:
    inner, outer = params
    return jnp.tanh(points @ inner) @ outer / jnp.sqrt(len(outer))


def drawn(key: Any, width: int) -> Any:
    first, second = jr.split(key)
    return jr.normal(first, (2, width)), jr.normal(second, (width,))


def descended(f: Any, params: Any) -> jax.Array:
    """The outputs at the points after gradient descent on them."""
    slope = jax.grad(lambda p: jnp.sum((f(p) - TARGETS) ** 2) / 2)
    return f(jax.lax.fori_loop(0, 100, lambda _, p: jax.tree.map(lambda a, g: a - 0.1 * g, p, slope(p)), params))


@pytest.mark.slow
def test_a_wide_network_learns_as_its_linearisation_and_its_tangent_kernel_has_the_values_of_the_metric():
    def gap(key: Any, width: int) -> Any:
        start = drawn(key, width)
        net = lambda p: wide(p, POINTS)
        linear = lambda p: jax.jvp(net, (start,), (jax.tree.map(jnp.subtract, p, start),))
        return jnp.linalg.norm(descended(net, start) - descended(lambda p: sum(linear(p)), start))

    widths = [16, 64, 256, 1024]
    gaps = [jax.vmap(lambda key, n=n: gap(key, n))(jr.split(jr.key(n), 16)).mean() for n in widths]
    assert all(a > b for a, b in itertools.pairwise(gaps))
    assert np.polyfit(np.log(widths), np.log(np.array(gaps)), 1)[0] < -0.4

    start = drawn(jr.key(0), 8)
    jacobian = jnp.concatenate([x.reshape(6, -1) for x in jax.jacobian(lambda p: wide(p, POINTS))(start)], 1)
    kernel = jacobian @ jacobian.T
    metric = 6 * fisher(lambda p: Gaussian(wide(p, POINTS), 1.0), start).as_matrix()
    np.testing.assert_allclose(np.linalg.eigvalsh(metric)[-6:], np.linalg.eigvalsh(kernel), rtol=1e-9, atol=1e-12)
