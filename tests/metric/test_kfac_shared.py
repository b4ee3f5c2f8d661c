"""Layers that are used many times: the two ways to make one block of all uses, each where it is exact."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import metric_problems as problems
import numpy as np
from jax.flatten_util import ravel_pytree

from cdl.metric import Categorical, fisher, Gaussian, kfac, natural, negative_log_likelihood


def layer(outputs=3):
    return problems.double(eqx.nn.Linear(2, outputs, key=jr.key(1)))


def sequences(n):
    """Of 4 steps each."""
    return jr.normal(jr.key(0), (n, 4, 2), jnp.float64)


def apart(model, net, shared):
    """How far the product with a vector is from the exact one, over the length of the latter."""
    v = eqx.filter(problems.double(eqx.nn.Linear(2, net.out_features, key=jr.key(2))), eqx.is_inexact_array)
    both = eqx.filter_jit(lambda net: (kfac(model, net, shared=shared).mv(v), fisher(model, net).mv(v)))(net)
    found, exact = (np.asarray(ravel_pytree(x)[0]) for x in both)
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


def test_expanding_is_exact_for_a_prediction_at_each_use():
    x = sequences(1)
    model = lambda net: Gaussian(jax.vmap(jax.vmap(net))(x), 0.5)
    assert apart(model, layer(), "expand") < 1e-14
    assert apart(model, layer(), "reduce") > 0.1


def test_reducing_is_exact_for_a_prediction_from_the_mean_of_the_uses():
    x = sequences(1)
    model = lambda net: Categorical(jax.vmap(jax.vmap(net))(x).mean(1))
    assert apart(model, layer(), "reduce") < 1e-14
    assert apart(model, layer(), "expand") > 0.1


def test_both_are_the_known_block_where_there_is_one_use():
    x = sequences(3)[:, 0]
    for model in (lambda net: Categorical(jax.vmap(net)(x)), lambda net: Gaussian(jax.vmap(net)(x), 0.5)):
        one, other = (
            eqx.filter_jit(lambda n, m=model, s=s: kfac(m, n, shared=s))(layer()) for s in ("expand", "reduce")
        )
        assert np.allclose(one.blocks.inputs, other.blocks.inputs, atol=1e-14)
        assert np.allclose(one.blocks.outputs, other.blocks.outputs, atol=1e-14)


def test_reducing_adds_up_the_uses_of_one_example_alone():
    """By NumPy: of `y = mean_r W a_r` the input is the mean of each example, and the output has its Fisher matrix."""
    x, net = sequences(5), layer()
    model = lambda net: Categorical(jax.vmap(jax.vmap(net))(x).mean(1))
    block = eqx.filter_jit(lambda net: kfac(model, net, shared="reduce"))(net).blocks
    a = np.append(np.asarray(x).mean(1), np.ones((5, 1)), axis=1)
    p = np.asarray(jax.nn.softmax(model(net).logits))
    assert np.allclose(block.inputs, a.T @ a / 5, atol=1e-14)
    assert np.allclose(block.outputs, np.mean([np.diag(q) - np.outer(q, q) for q in p], axis=0), atol=1e-14)


def test_one_example_without_an_axis_and_drawn_targets_reduce_too():
    x = sequences(1)[0]
    alone = eqx.filter_jit(lambda n: kfac(lambda n: Categorical(jax.vmap(n)(x).mean(0)), n, shared="reduce"))(layer())
    batch = eqx.filter_jit(
        lambda n: kfac(lambda n: Categorical(jax.vmap(n)(x).mean(0)[None]), n, shared="reduce", key=jr.key(0))
    )(layer())
    assert np.allclose(alone.blocks.inputs, batch.blocks.inputs)
    assert np.linalg.matrix_rank(batch.blocks.outputs) == 1


def test_steps_descend_by_either():
    x, y = sequences(6), jnp.arange(6) % 3
    model = lambda net: Categorical(jax.vmap(jax.vmap(net))(x).mean(1))
    loss = lambda net: negative_log_likelihood(model(net), y)
    net = layer()
    ends = []
    for metric in ("kfac", "kfac-reduce"):
        tx = natural(model, 0.5, metric=metric, damping=1e-2, kl=0.1)
        change, _ = eqx.filter_jit(lambda n, tx=tx: tx.update(eqx.filter_grad(loss)(n), tx.init(n), n))(net)
        ends.append(float(loss(eqx.apply_updates(net, change))))
    assert max(ends) < float(loss(net))
    assert ends[0] != ends[1]


def test_kfac_is_taken_of_each_network_under_vmap():
    x, keys = sequences(2)[:, 0], jr.split(jr.key(0), 3)
    stacked = eqx.filter_vmap(lambda key: eqx.nn.Linear(2, 3, key=key, dtype=jnp.float64))(keys)
    alone = eqx.filter_jit(lambda net: kfac(lambda n: Gaussian(jax.vmap(n)(x)), net).blocks)
    each, first = eqx.filter_vmap(alone)(stacked), alone(jax.tree.map(lambda w: w[0], stacked))
    assert np.allclose(each.outputs[0], first.outputs)
