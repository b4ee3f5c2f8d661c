"""Natural gradient as a 2-cell over the model's lens: the metric comes back with the gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import metric_problems as problems
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

import cdl
from cdl.learning import layers, supervised
from cdl.metric import (
    Blocks,
    Categorical,
    Cg,
    log_loss,
    measured,
    natural,
    natural_descent,
    negative_log_likelihood,
)


def chain():
    one, two = jr.split(jr.key(0))
    model = layers.dense(3, 2, jnp.tanh, key=one) >> layers.dense(2, 4, key=two)
    return problems.double(model.batched())


def data():
    return jr.normal(jr.key(1), (6, 3), jnp.float64), jnp.arange(6) % 4


def by_optax(model, params, targets):
    """The parameters after one step of `natural`."""
    tx = natural(model, 0.5, damping=1e-2, kl=0.1)
    g = jax.grad(lambda p: negative_log_likelihood(model(p), targets))(params)
    return optax.apply_updates(params, tx.update(g, tx.init(params), params)[0])


def test_a_chain_as_one_layer_makes_the_steps_of_the_full_metric():
    net, (x, y) = chain(), data()
    learner = supervised(measured(net, whole=True), log_loss(Categorical), natural_descent(0.5, damping=1e-2, kl=0.1))
    state, loss = jax.jit(learner.step)(learner.state, (x, y))
    model = lambda p: Categorical(net.at(p)(x))
    wanted = jax.jit(lambda p: by_optax(model, p, y))(net.params)
    assert np.isclose(loss, negative_log_likelihood(model(net.params), y))
    assert np.allclose(ravel_pytree(state)[0], ravel_pytree(wanted)[0], atol=1e-10)


def test_a_chain_of_layers_makes_the_steps_of_its_blocks():
    """Each bias and matrix is a layer of its own: `linear >> bias`, and the activation has no parameters."""
    net, (x, y) = chain(), data()
    learner = supervised(measured(net), log_loss(Categorical), natural_descent(0.5, damping=1e-2))
    state, _ = jax.jit(learner.step)(learner.state, (x, y))
    model = lambda p: Categorical(net.at(p)(x))
    leaves, structure = jax.tree.flatten(net.params)
    tx = natural(lambda leaves: model(jax.tree.unflatten(structure, leaves)), 0.5, damping=1e-2, how=Blocks())
    g = jax.tree.leaves(jax.grad(lambda p: negative_log_likelihood(model(p), y))(net.params))
    wanted = optax.apply_updates(leaves, jax.jit(tx.update)(g, tx.init(leaves), leaves)[0])
    assert np.allclose(ravel_pytree(state)[0], ravel_pytree(wanted)[0], atol=1e-10)


def test_a_fold_learns_along_the_two_cell():
    forest, targets = cdl.pack(cdl.TreeF, problems.TREES), jnp.array([0, 2])
    net = layers.fold(problems.reader())
    assert not net.optic.inputs
    learner = supervised(measured(net, whole=True), log_loss(Categorical), natural_descent(1.0, damping=1e-3, kl=0.2))
    step = jax.jit(learner.step)
    state, first = step(learner.state, (forest, targets))
    for _ in range(4):
        state, loss = step(state, (forest, targets))
    assert loss < first / 4


def test_a_layer_that_draws_numbers_draws_them_in_a_chain_as_one_layer_too():
    one, two = jr.split(jr.key(0))
    drop = layers.activation(eqx.nn.Dropout(0.5))
    net = problems.double(layers.dense(3, 8, key=one) >> drop >> layers.dense(8, 4, key=two))
    learner = supervised(
        measured(net.batched(), whole=True), log_loss(Categorical), natural_descent(0.5, damping=1e-2, how=Cg(5))
    )
    losses = [jax.jit(learner.step)(learner.state, data(), key=jr.key(i))[1] for i in (0, 0, 1)]
    assert losses[0] == losses[1] != losses[2]
