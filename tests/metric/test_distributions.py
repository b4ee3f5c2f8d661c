"""Families of distributions: densities that sum to one, Fisher matrices in closed form, divergences."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree


def families():
    from cdl.metric import Bernoulli, Categorical, Gaussian, Poisson

    z = jr.normal(jr.key(0), (3, 2), jnp.float64)
    return [Categorical(z[:, None, :]), Bernoulli(z), Gaussian(z, jnp.exp(z[:, ::-1])), Poisson(z)]


def targets(family):
    """Every target that has a chance, or nodes over them, with weights: one axis of nodes before those of a target."""
    name, like = type(family).__name__, jax.tree.leaves(family)[0]
    if name == "Gaussian":
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        along = nodes.reshape(-1, 1, 1)
        density = jnp.exp(-jnp.square(along) / 2)
        return family.mean[None] + family.scale[None] * along, weights.reshape(-1, 1, 1) / density * family.scale[None]
    if name == "Categorical":
        return jnp.broadcast_to(jnp.arange(2)[:, None, None], (2, 3, 1)), jnp.ones((2, 1, 1))
    count = 2 if name == "Bernoulli" else 60
    return jnp.broadcast_to(jnp.arange(count)[:, None, None], (count, *like.shape)), jnp.ones((count, 1, 1))


def alone(family):
    """The same with an example for each number, so that densities are not added up."""
    event = 1 if type(family).__name__ == "Categorical" else 0
    return jax.tree.map(lambda x: jnp.reshape(x, (-1, *x.shape[x.ndim - event :])), family)


@pytest.mark.parametrize("place", range(4), ids=["categorical", "bernoulli", "gaussian", "poisson"])
def test_a_family_is_normalised_and_its_metric_is_the_mean_of_squared_scores(place):
    family = families()[place]
    ys, weights = targets(family)
    flat = alone(family)
    ys, weights = jnp.reshape(ys, (len(ys), -1)), jnp.broadcast_to(weights, ys.shape).reshape(len(ys), -1)
    v = jax.tree.map(lambda x: jr.normal(jr.key(1), x.shape, x.dtype), flat)
    other = jax.tree.map(lambda x: x * 1.1, flat)

    @jax.jit
    def both_sides(ys, weights):
        logs = jax.vmap(flat.log_density)(ys)
        chance = jnp.exp(logs) * weights
        scores = jax.vmap(jax.grad(lambda z, y: z.log_density(y).sum()), (None, 0))(flat, ys)
        each = jax.tree.map(lambda s, v: jnp.reshape(s * v[None], (*chance.shape, -1)).sum(-1), scores, v)
        along = sum(jax.tree.leaves(each)) * chance
        wanted = jax.tree.map(lambda s: jnp.sum(s * along.reshape(along.shape + (1,) * (s.ndim - 2)), axis=0), scores)
        gap = ((logs - jax.vmap(other.log_density)(ys)) * chance).sum(0)
        return chance.sum(0), (flat.fisher(v), wanted), (flat.kl(other), gap)

    total, fishers, divergences = both_sides(ys, weights)
    assert np.allclose(total, 1, atol=1e-10)
    for sides in (fishers, divergences):
        for found, wanted in zip(*map(jax.tree.leaves, sides), strict=True):
            assert np.allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("place", range(4))
def test_the_metric_is_the_hessian_of_the_divergence(place):
    family = families()[place]
    flat, back = ravel_pytree(family)
    columns = jax.vmap(lambda e: ravel_pytree(family.fisher(back(e)))[0])
    hessian = jax.hessian(lambda z: family.kl(back(z)).sum())
    found, wanted = jax.jit(lambda z: (columns(jnp.eye(len(z))), hessian(z)))(flat)
    assert np.allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("place", range(4))
def test_draws_have_the_shape_of_targets_and_the_score_has_mean_zero(place):
    family = families()[place]

    @jax.jit
    def scores(keys):
        draws = jax.vmap(family.sample)(keys)
        return jax.vmap(jax.grad(lambda z, y: z.log_density(y).sum()), (None, 0))(family, draws)

    assert family.log_density(family.sample(jr.key(0))).shape == family.shape == (3,)
    for s in map(np.asarray, jax.tree.leaves(scores(jr.split(jr.key(2), 2000)))):
        assert np.all(np.abs(s.mean(0)) < 5 * s.std(0) / np.sqrt(2000) + 1e-3)


def test_one_example_needs_no_axis():
    from cdl.metric import Categorical, Gaussian

    assert Categorical(jnp.zeros(4)).shape == Gaussian(jnp.array(0.0)).shape == ()
    assert np.allclose(Categorical(jnp.zeros(4)).log_density(jnp.array(1)), -np.log(4))
