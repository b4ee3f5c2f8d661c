"""The fields that move images: each is the derivative of the motion that it names."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

from cdl.symmetry import fields


@pytest.mark.parametrize("axis", [-2, -1])
def test_a_translation_by_a_pixel_is_the_exponential_of_the_field(axis):
    unit = jnp.eye(35).reshape((35, 5, 7))
    matrix = np.asarray(fields.translation(unit, axis), np.float64).reshape((35, 35)).T
    x = np.random.default_rng(0).normal(size=(5, 7))
    assert np.allclose((expm(matrix) @ x.ravel()).reshape((5, 7)), np.roll(x, 1, axis), atol=1e-4)


def test_the_highest_frequency_of_an_even_axis_stands_still():
    x = jnp.asarray([[1.0, -1.0] * 4] * 3)
    assert float(jnp.max(jnp.abs(fields.translation(x)))) < 1e-6


def blob(t, scale):
    """A smooth image away from its centre, turned by `t` and scaled. It is a function: no pixel is interpolated."""
    r, s = np.meshgrid(*[np.arange(60) - 29.5] * 2, indexing="ij")
    r, s = (r * np.cos(t) + s * np.sin(t)) / scale, (s * np.cos(t) - r * np.sin(t)) / scale
    return np.exp(-((r + 3) ** 2) / 80 - (s - 1) ** 2 / 50)


def test_the_blob_turns_as_rot90_does():
    assert np.allclose(blob(np.pi / 2, 1.0), np.rot90(blob(0.0, 1.0)))


@pytest.mark.parametrize(
    ("field", "moved"), [(fields.rotation, lambda t: blob(t, 1.0)), (fields.scaling, lambda t: blob(0.0, 1 + t))]
)
def test_a_field_is_the_derivative_of_its_motion(field, moved):
    slope = (moved(1e-5) - moved(-1e-5)) / 2e-5
    found = np.asarray(field(jnp.asarray(moved(0.0), jnp.float32)))
    assert np.max(np.abs(found - slope)) < 0.05 * np.max(np.abs(slope))


@pytest.mark.parametrize("field", [fields.translation, fields.rotation, fields.scaling, fields.still])
def test_axes_in_front_are_kept_and_a_field_is_linear(field):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 6, 8)), jnp.float32)
    assert field(x).shape == x.shape
    assert field(x).dtype == x.dtype
    assert field(x.astype(jnp.bfloat16)).dtype == jnp.bfloat16
    assert jnp.allclose(field(x)[1, 2], field(x[1, 2]), atol=1e-5)
    assert jnp.allclose(field(2 * x), jax.jvp(field, (x,), (2 * x,))[1], atol=1e-5)
