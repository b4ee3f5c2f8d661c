"""What a family takes: targets inside its range, classes that are masked, batches that have examples."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.metric import (
    Bernoulli,
    Categorical,
    empirical_fisher,
    fisher,
    Gaussian,
    ggn,
    kfac,
    negative_log_likelihood,
    Poisson,
)


@pytest.mark.parametrize(
    ("family", "targets", "word"),
    [(Categorical, [0, 3], "0 to 2"), (Bernoulli, [0.5, 1.0], "Bernoulli"), (Poisson, [0, -1], "Poisson")],
    ids=["categorical", "bernoulli", "poisson"],
)
def test_targets_are_checked_when_a_program_runs(family, targets, word):
    shape = (2, 3) if family is Categorical else (2,)
    loss = eqx.filter_jit(lambda y: negative_log_likelihood(family(jnp.zeros(shape)), y))
    with pytest.raises(Exception, match=word):
        jax.block_until_ready(loss(jnp.array(targets)))
    assert jnp.isfinite(loss(jnp.ones(2, jnp.array(targets).dtype)))


MASK = np.array([0.0, -np.inf, 0.0])


def test_a_masked_class_has_no_part_in_a_divergence():
    z, w = jr.normal(jr.key(0), (2, 4, 3), jnp.float64)
    p, q = (Categorical(x + MASK[None]) for x in (z, w))
    a, b = (np.exp(x[:, ::2]) / np.exp(x[:, ::2]).sum(1, keepdims=True) for x in map(np.asarray, (z, w)))
    assert np.allclose(p.kl(q), (a * np.log(a / b)).sum(1), atol=1e-14)
    assert (Categorical(z).kl(q) == np.inf).all()  # the class that is masked had a chance
    slopes = jax.grad(lambda p, q: p.kl(q).sum(), (0, 1))(p, q)
    free = jax.grad(lambda p, q: p.kl(q).sum(), (0, 1))(Categorical(z[:, ::2]), Categorical(w[:, ::2]))
    for found, wanted in zip(slopes, free, strict=True):
        assert np.allclose(found.logits[:, ::2], wanted.logits, atol=1e-14)
        assert not found.logits[:, 1].any()


def test_the_metrics_of_a_masked_model_are_those_of_the_model_without_the_class():
    keys = jr.split(jr.key(1), 2)
    x, net = jr.normal(keys[0], (4, 2), jnp.float64), jr.normal(keys[1], (3, 2), jnp.float64)
    masked, free = lambda w: Categorical(x @ w.T + MASK[None]), lambda w: Categorical((x @ w.T)[:, ::2])
    y = jnp.array([0, 1, 1, 0])
    for metric, more in ((fisher, []), (empirical_fisher, [y]), (ggn, [y])):
        found = metric(masked, net, *(2 * y for y in more)).as_matrix()
        assert np.allclose(found, metric(free, net, *more).as_matrix(), atol=1e-15)
    layer = eqx.nn.Linear(2, 3, use_bias=False, key=keys[0], dtype=jnp.float64)
    out = kfac(lambda layer: Categorical(jax.vmap(layer)(x) + MASK[None]), layer).blocks.outputs
    assert np.isfinite(out).all()
    assert np.allclose(out[1], 0, atol=1e-15)


def test_a_masked_class_is_not_drawn_and_has_no_density():
    one = Categorical(jnp.zeros((200, 3)) + MASK[None])
    assert set(one.sample(jr.key(0)).tolist()) == {0, 2}
    assert np.allclose(one.log_density(jnp.tile(jnp.arange(2), 100)), np.tile([-np.log(2), -np.inf], 100))


def test_what_is_certain_has_its_density_and_its_divergence():
    sure = Bernoulli(jnp.array([np.inf, -np.inf]))
    assert sure.log_density(jnp.array([1, 0])).tolist() == [0, 0]
    assert sure.log_density(jnp.array([0, 1])).tolist() == [-np.inf, -np.inf]
    assert sure.kl(sure).tolist() == [0, 0]
    assert np.allclose(sure.kl(Bernoulli(jnp.zeros(2))), np.log(2))
    never = Poisson(jnp.array([-np.inf, -np.inf]))
    assert never.log_density(jnp.array([0, 1])).tolist() == [0, -np.inf]
    assert np.allclose(never.kl(Poisson(jnp.array([0.0, -np.inf]))), [1, 0])
    assert jnp.isnan(Gaussian(jnp.zeros(1), jnp.array(-1.0)).fisher(Gaussian(jnp.ones(1))).mean).all()
