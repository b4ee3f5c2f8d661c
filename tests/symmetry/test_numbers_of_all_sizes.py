"""Gates and functions at each place, at numbers of all sizes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.symmetry import NormGate
from cdl.symmetry.groups import so


GATE = NormGate(so(3), key=jr.key(0))
HALF = eqx.tree_at(lambda g: g.scale, GATE, jnp.zeros(()))


@pytest.mark.parametrize("size", [1e-37, 1e-30, 1e-20, 1.0, 1e20, 3e38])
def test_a_gate_has_a_length_for_numbers_of_any_size(size):
    x = jnp.asarray([size, 0.0, -size])
    assert np.allclose(HALF(x) / size, x / size / 2)
    open_gate = eqx.tree_at(lambda g: g.scale, GATE, jnp.ones(()))
    assert jnp.all(jnp.isfinite(open_gate(x)))
    assert jnp.all(jnp.isfinite(jax.grad(lambda v: jnp.sum(open_gate(v)))(x)))


def test_the_length_and_its_derivative_are_those_of_the_norm():
    gate = eqx.tree_at(lambda g: (g.scale, g.shift), GATE, (jnp.asarray(0.7), jnp.asarray(-0.2)))
    plain = lambda x: x * jax.nn.sigmoid(0.7 * jnp.linalg.norm(x) - 0.2)
    for x in jr.normal(jr.key(0), (5, 3)):
        assert np.allclose(gate(x), plain(x), rtol=1e-6)
        assert np.allclose(jax.jacobian(gate)(x), jax.jacobian(plain)(x), rtol=1e-5, atol=1e-6)
        twice = jax.hessian(lambda v: jnp.sum(gate(v)))(x), jax.hessian(lambda v: jnp.sum(plain(v)))(x)
        assert np.allclose(*twice, rtol=1e-4, atol=1e-5)
