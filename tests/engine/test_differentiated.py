"""A value with a gradient at some rows alone: an identity, but for its derivative, under every transformation."""

import jax
import jax.numpy as jnp
import pytest
from agreement import close

from cdl._engine.arrays._rows import differentiated


X, MASK = jnp.arange(6.0).reshape(3, 2) + 1, jnp.array([True, False, True])
SLOPE = jnp.where(MASK[:, None], 3 * X**2, 0)


def cubes(mask: jax.Array, x: jax.Array) -> jax.Array:
    return differentiated(mask, x) ** 3


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint, jax.vmap])
def test_it_is_the_identity_with_the_slopes_of_the_rows_that_are_meant(wrap):
    of = wrap(cubes)
    close(of(MASK, X), X**3, 1e-6)
    close(jax.grad(lambda x: of(MASK, x).sum())(X), SLOPE, 1e-6)
    close(jax.jvp(lambda x: of(MASK, x), (X,), (jnp.ones_like(X),))[1], SLOPE, 1e-6)
    twice = jax.jvp(jax.grad(lambda x: of(MASK, x).sum()), (X,), (jnp.ones_like(X),))[1]
    close(twice, jnp.where(MASK[:, None], 6 * X, 0), 1e-6)


def test_rows_may_share_the_value_or_the_mask():
    one = jax.grad(lambda x: jax.vmap(cubes, (0, None))(MASK, x).sum())(X[0])
    close(one, 2 * 3 * X[0] ** 2, 1e-6)
    close(jax.grad(lambda x: jax.vmap(cubes, (None, 1))(MASK, x).sum())(X), SLOPE, 1e-6)


def test_a_step_of_a_loop_may_have_it():
    loop = lambda x: jax.lax.scan(lambda x, mask: (cubes(mask, x), None), x, jnp.array([True, False]))[0].sum()
    close(jax.grad(loop)(X), jnp.zeros_like(X), 1e-6)
    close(
        jax.grad(jax.jit(lambda x: jax.lax.scan(lambda x, m: (cubes(m, x), None), x, jnp.array([True]))[0].sum()))(X),
        3 * X**2,
        1e-6,
    )
