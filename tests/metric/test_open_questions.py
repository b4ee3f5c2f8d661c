"""Three questions that a source leaves open, as far as they are known: bounds, no gradients, wide networks."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.scipy.stats import multivariate_normal, norm

from cdl.metric import fisher, Gaussian, natural_estimate, SearchDistribution


@pytest.fixture(autouse=True)
def broadcasting():
    with jax.numpy_rank_promotion("allow"):
        yield


LOADINGS = np.array([[1.0, 2.0], [2.0, -1.0], [0.0, 0.0]])  # orthogonal columns, so that posteriors are independent
NOISE = 0.7


def evidence(x: jax.Array, w: jax.Array) -> jax.Array:
    """`log p(x)` for `x = W z + noise`, `z ~ N(0, 1)`."""
    return multivariate_normal.logpdf(x, jnp.zeros(len(w)), w @ w.T + NOISE**2 * jnp.eye(len(w)))


def bound(mean: jax.Array, scale: jax.Array, x: jax.Array, w: jax.Array) -> jax.Array:
    """The evidence lower bound of a diagonal Gaussian: `E log p(x | z) − KL(q ‖ p)`, exactly."""
    far = jnp.sum((x - w @ mean) ** 2) + jnp.sum(scale**2 * jnp.sum(w**2, 0))
    likelihood = -far / (2 * NOISE**2) - len(x) * jnp.log(NOISE * jnp.sqrt(2 * jnp.pi))
    return likelihood - jnp.sum(mean**2 + scale**2 - 1 - 2 * jnp.log(scale)) / 2


def test_the_bound_of_a_variational_autoencoder_is_below_the_evidence_and_meets_it_at_the_posterior():
    w = jnp.array(LOADINGS)
    x = jr.normal(jr.key(0), (20, 3))
    encoders = jr.normal(jr.key(1), (10, 2, 4))
    means = jnp.einsum("eij,nj->eni", encoders[:, :, :3], x)
    scales = jnp.exp(encoders[:, None, :, 3] + jnp.zeros((10, 20, 2)))
    below = jax.vmap(jax.vmap(lambda m, s, x: bound(m, s, x, w), (0, 0, 0)), (0, 0, None))(means, scales, x)
    exact = jax.vmap(lambda x: evidence(x, w))(x)
    assert (below <= exact).all()

    precision = 1 + jnp.sum(w**2, 0) / NOISE**2
    best = jax.vmap(lambda x: bound((w.T @ x) / NOISE**2 / precision, precision**-0.5, x, w))(x)
    assert np.allclose(best, exact, atol=1e-12)

    z = means[0, 0] + scales[0, 0] * jr.normal(jr.key(2), (20_000, 2))  # the bound is what it says: a mean over draws
    each = norm.logpdf(x[0], z @ w.T, NOISE).sum(1) + norm.logpdf(z).sum(1)
    each -= norm.logpdf(z, means[0, 0], scales[0, 0]).sum(1)
    assert abs(each.mean() - below[0, 0]) < 5 * each.std() / np.sqrt(len(z))


def test_where_posteriors_are_not_independent_the_bound_of_independent_ones_stays_below():
    x = jr.normal(jr.key(3), (3,))
    w = jnp.array([[2.0, 2.0], *LOADINGS[1:]])
    step: Any = jax.grad(lambda p: -bound(p[0], jnp.exp(p[1]), x, w))
    found = jax.lax.fori_loop(
        0, 2000, lambda _, p: jax.tree.map(lambda a, g: a - 0.02 * g, p, step(p)), (jnp.zeros(2), jnp.zeros(2))
    )
    assert jnp.linalg.norm(jnp.concatenate(step(found))) < 1e-6
    precision = jnp.eye(2) + w.T @ w / NOISE**2
    lost = (jnp.sum(jnp.log(jnp.diag(precision))) - jnp.linalg.slogdet(precision)[1]) / 2
    assert lost > 0.04
    assert np.isclose(evidence(x, w) - bound(found[0], jnp.exp(found[1]), x, w), lost, atol=1e-9)


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
