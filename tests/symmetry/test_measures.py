"""How far a map is from being equivariant: expected values of the Lie derivative, and its attribution to layers."""

import functools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.symmetry import attributed, fields, groups, lie_derivative, lie_error, monoid_error, monoids


SIDE = 16
TURN = np.array([[0.0, -1.0], [1.0, 0.0]])


@pytest.fixture
def double():
    """Double precision, where what is zero but for rounding is to be seen."""
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def turn(x):
    return jnp.asarray(TURN, x.dtype) @ x


def noise(band, number=64):
    """Images `float64[number, 16, 16]` of normal noise, without the frequencies above a band."""
    frequencies = np.abs(np.fft.fftfreq(SIDE, 1 / SIDE)) <= band
    spectrum = np.fft.fft2(np.random.default_rng(0).normal(size=(number, SIDE, SIDE)))
    return jnp.asarray(np.real(np.fft.ifft2(spectrum * (frequencies[:, None] & frequencies))))


def whole(f, images, speed=1.0):
    """The mean of `‖L f‖²` of a map of images under translation along columns, as a sum over the pixels. `speed`: of
    what comes out, in its own pixels."""
    found = lie_error(f, fields.translation, lambda y: speed * fields.translation(y), images)
    return float(found.mean) * jax.eval_shape(f, images[0]).size


def convolved(padding, stride=1):
    kernel = jnp.asarray(np.random.default_rng(1).normal(size=(1, 1, 3, 3)))

    def f(x):
        x = jnp.pad(x, 1, mode="wrap") if padding == "periodic" else jnp.pad(x, 1)
        return jax.lax.conv_general_dilated(x[None, None], kernel, (stride, stride), "VALID")[0, 0]

    return f


def test_a_vector_times_a_function_of_its_length_turns_with_it(double):
    xs = jr.normal(jr.key(0), (100, 2))
    assert float(lie_error(lambda x: x * jnp.tanh(x @ x), turn, turn, xs).mean) < 1e-32


def test_the_error_of_a_matrix_is_that_of_its_commutator(double):
    W = jr.normal(jr.key(0), (2, 2))
    commutator = W @ TURN - TURN @ W
    xs = jr.normal(jr.key(1), (100_000, 2))
    found = 2 * float(lie_error(lambda x: W @ x, turn, turn, xs).mean)
    assert found == pytest.approx(float(jnp.mean(jnp.sum((xs @ commutator.T) ** 2, 1))), rel=1e-12)
    assert found == pytest.approx(float(jnp.sum(commutator**2)), rel=0.02)  # the expectation over normal numbers


def test_an_invariant_map_has_no_error_relative_to_its_values(double):
    found = lie_error(lambda x: x @ x, turn, fields.still, jr.normal(jr.key(0), (100, 2)))
    assert float(found.mean) < 1e-30
    assert float(found.relative) < 1e-14


def test_a_circular_convolution_commutes_with_translation_and_padding_and_strides_do_not(double):
    assert whole(convolved("periodic"), noise(8)) < 1e-26
    assert whole(convolved("zeros"), noise(8)) > 1
    assert whole(convolved("periodic", 2), noise(8), 0.5) > 1
    assert whole(convolved("periodic", 2), noise(3), 0.5) < 1e-26  # what the smaller image can hold


def test_relu_makes_frequencies_that_the_pixels_cannot_hold(double):
    full, low = whole(jax.nn.relu, noise(8)), whole(jax.nn.relu, noise(2))
    assert 150 < full < 300
    assert 0.2 < low < 0.6


def test_a_square_of_low_frequencies_does_not(double):
    assert whole(jnp.square, noise(2)) < 1e-29
    assert 5 < whole(jnp.square, noise(4)) < 20


@pytest.mark.parametrize("X", [groups.truncated_translations(5), monoids.saturating_counter(5)], ids=["shift", "count"])
def test_an_element_without_an_inverse_has_an_error_too(X):
    (name,) = X.names
    act = functools.partial(X, name)
    xs = jr.normal(jr.key(0), (50, 5))
    assert float(monoid_error(lambda x: 2 * x, act, act, xs).mean) == 0
    reverse = monoid_error(lambda x: x[::-1], act, act, xs)
    assert 0.1 < float(reverse.mean) < 10
    assert 0 < float(reverse.relative) <= 2


def test_a_lie_derivative_is_that_of_a_discrete_action_for_a_short_time(double):
    W, x, t = jr.normal(jr.key(0), (2, 2)), jr.normal(jr.key(1), (2,)), 1e-6
    f = lambda x: jnp.tanh(W @ x)
    c, s = np.cos(t), np.sin(t)
    R = jnp.asarray([[c, -s], [s, c]])
    slope = (R.T @ f(R @ x) - f(x)) / t
    assert jnp.allclose(lie_derivative(f, turn, turn)(x), slope, atol=1e-5)


def test_the_chain_law_is_exact_on_whole_numbers(double):
    rng = np.random.default_rng(0)
    W, V = (jnp.asarray(rng.integers(-3, 4, (2, 2)).astype(float)) for _ in range(2))
    f, g = (lambda x: (W @ x) ** 2), (lambda x: V @ x * x)
    xs = jnp.asarray(rng.integers(-5, 6, (20, 2)).astype(float))
    parts = attributed([f, g], [turn, turn, turn], xs).parts
    composite = jax.vmap(lie_derivative(lambda x: g(f(x)), turn, turn))(xs)
    assert float(jnp.max(jnp.abs(parts[0] + parts[1] - composite))) == 0.0
    assert jnp.array_equal(parts[1], jax.vmap(lie_derivative(g, turn, turn))(jax.vmap(f)(xs)))


def test_the_parts_of_all_layers_are_the_error_of_the_network(double):
    images = noise(4, 8)
    maps = [convolved("periodic"), jnp.square, convolved("zeros"), jax.nn.relu, jnp.mean]
    move = fields.translation
    found = attributed(maps, [move, move, move, move, move, fields.still], images)
    network = lambda x: functools.reduce(lambda x, f: f(x), maps, x)
    total = lie_error(network, move, fields.still, images)
    assert float(jnp.sum(found.shares)) == pytest.approx(float(total.mean), rel=1e-9)
    assert float(found.mean[0]) < 1e-25  # the layer that commutes has no part in it
    assert min(map(float, found.mean[1:4])) > 1e-6
    assert float(found.mean[4]) < 1e-25
