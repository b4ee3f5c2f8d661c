"""The isometry defect: its closed forms, and what is not finite comes last."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.metric import isometry_defect, jacobian_moments, residual_isometry_defect


N = 256


def block_moments(seed, a, b):
    """Of the composites of 4 and of 12 blocks `x ↦ a x + b W x`: singular values to the power of two and four."""
    rng, product, found = np.random.default_rng(seed), np.eye(N), []
    for depth in range(1, 13):
        product = a * product + b * rng.normal(size=(N, N)) @ product / N**0.5
        if depth in (4, 12):
            gram = product.T @ product
            found.append([np.trace(gram) / N, np.sum(gram**2) / N])
    return np.array(found).T


CLOSED = [
    (0.0, 1.0, 4, 1.61),
    (0.0, 1.0, 12, 2.56),
    (1.0, 1.0, 12, 10.6),
    (0.5**0.5, 0.5**0.5, 12, 2.30),
    ((11 / 12) ** 0.5, (1 / 12) ** 0.5, 12, 1.07),
    (1.0, 0.1, 12, 0.33),
]


@pytest.mark.parametrize(("a", "b", "depth", "shown"), CLOSED)
def test_the_closed_form_of_residual_blocks(a, b, depth, shown):
    assert residual_isometry_defect(a, b, depth) == pytest.approx(shown, abs=0.05 if shown > 10 else 0.006)


@pytest.mark.parametrize(("a", "b"), [(a, b) for a, b, depth, _ in CLOSED[3:] if depth == 12])
def test_wide_blocks_have_the_moments_of_the_closed_form(a, b):
    """Averaged over three draws of the weights."""
    second, fourth = np.mean([block_moments(seed, a, b) for seed in range(3)], axis=0)
    for place, depth in enumerate((4, 12)):
        found = abs(np.log(second[place])) + np.log(fourth[place] / second[place] ** 2)
        assert found == pytest.approx(residual_isometry_defect(a, b, depth), rel=0.05)


def test_probes_estimate_the_moments_of_the_jacobian():
    n = 100
    W = jr.normal(jr.key(0), (n, n)) / n**0.5
    f = lambda x: jnp.tanh(0.5 * x + W @ x)
    x = 0.1 * jr.normal(jr.key(1), (n,))
    J = np.asarray(jax.jacrev(f)(x))
    second, fourth = jacobian_moments(f, x)
    gram = J.T @ J
    assert np.allclose([second, fourth], [np.trace(gram) / n, np.sum(gram**2) / n], rtol=1e-12)
    exact = float(isometry_defect(f, x))
    assert float(isometry_defect(f, x, jr.key(2), probes=64)) == pytest.approx(exact, abs=0.1)


def test_an_isometry_has_no_defect_and_a_scaling_has_its_logarithm():
    turn = jnp.linalg.qr(jr.normal(jr.key(0), (20, 20)))[0]
    x = jnp.ones(20)
    assert abs(isometry_defect(lambda x: turn @ x, x)) < 1e-12
    assert float(isometry_defect(lambda x: 3 * x, x)) == pytest.approx(2 * np.log(3), abs=1e-12)
    assert abs(isometry_defect(lambda x: {"a": x[:5], "b": x[5:]}, x)) < 1e-12
    assert abs(isometry_defect(lambda pair: pair[0], (x, 3))) < 1e-12  # what is no floating number does not move


def test_uniform_attention_over_tokens_loses_twice_the_logarithm_of_their_number():
    x = jr.normal(jr.key(0), (16, 2))
    mean = lambda x: jnp.broadcast_to(x.mean(0, keepdims=True), x.shape)
    assert float(isometry_defect(mean, x)) == pytest.approx(2 * np.log(16), abs=1e-9)
    assert float(isometry_defect(lambda x: x + mean(x), x)) == pytest.approx(0.49, abs=0.003)


def test_what_is_not_finite_sorts_last():
    x = jnp.ones(3)
    nets = [lambda x: 2 * x, lambda x: jnp.log(-x), lambda x: x, lambda x: 0 * x, lambda x: 1e300 * x]
    scores = np.array([float(isometry_defect(f, x)) for f in nets])
    assert np.argsort(scores, kind="stable").tolist()[:2] == [2, 0]
    assert scores[1] == scores[3] == scores[4] == np.inf


def test_jacobian_moments_are_right_of_two_parts_of_complex():
    """The map `z ↦ A z` of two parts has each singular value of `A` twice."""
    a = np.random.default_rng(0).normal(size=(2, 3, 3))
    turned = jnp.array(a[0] + 1j * a[1])
    sizes = np.linalg.svd(turned)[1]
    parts = lambda x: (lambda z: (z.real, z.imag))(turned @ jax.lax.complex(x[0], x[1]))
    found = jacobian_moments(parts, (jnp.ones(3), jnp.ones(3)))
    assert np.allclose(found, [np.mean(sizes**2), np.mean(sizes**4)])


def test_vectors_are_normalised_as_the_exact_traces_are():
    """Of a map to another number of outputs, too: the mean is over the inputs."""
    J = np.random.default_rng(1).normal(size=(2, 3))
    sizes = np.linalg.svd(J)[1]
    wanted = [np.sum(sizes**2) / 3, np.sum(sizes**4) / 3]
    assert np.allclose(jacobian_moments(lambda x: jnp.array(J) @ x, jnp.ones(3)), wanted)
    assert np.allclose(
        jacobian_moments(lambda x: jnp.array(J) @ x, jnp.ones(3), jr.key(0), probes=5000), wanted, rtol=0.06
    )


def test_residual_isometry_defect_is_finite_for_any_size():
    for scale in (1e-200, 1e-3, 1.0, 1e100):
        found = residual_isometry_defect(0.6 * scale, 0.8 * scale, 3)
        kappa = 2 * 0.36 * 0.64 + 0.64**2
        assert np.isclose(found, 6 * abs(np.log(scale)) + np.log1p(3 * kappa))
