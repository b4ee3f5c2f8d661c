"""K-FAC: a block for each linear layer, also of one that is used at many nodes; exact where it should be."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import metric_problems as problems
import numpy as np
from jax.flatten_util import ravel_pytree

import cdl
from cdl.metric import Categorical, fisher, Gaussian, kfac, natural, negative_log_likelihood


def mlp():
    return problems.double(eqx.nn.MLP(3, 4, 2, 1, activation=jnp.tanh, key=jr.key(1)))


def test_the_blocks_of_one_example_are_exact():
    net, x = mlp(), jr.normal(jr.key(0), (1, 3), jnp.float64)
    model = lambda net: Categorical(jax.vmap(net)(x))
    v = eqx.filter(problems.double(eqx.nn.MLP(3, 4, 2, 1, key=jr.key(2))), eqx.is_inexact_array)

    @eqx.filter_jit
    def products(net):
        """Of a vector in one layer, which is all that a block sees."""
        zeros = jax.tree.map(jnp.zeros_like, v)
        inside = [eqx.tree_at(lambda t: t.layers[1], v, zeros.layers[1])]
        inside.append(eqx.tree_at(lambda t: t.layers[0], v, zeros.layers[0]))
        both = [(kfac(model, net).mv(u), fisher(model, net).mv(u)) for u in inside]
        return [(block.layers[i], exact.layers[i]) for i, (block, exact) in enumerate(both)]

    for block, exact in products(net):
        assert np.allclose(ravel_pytree(block)[0], ravel_pytree(exact)[0], atol=1e-15)


def test_the_solution_is_that_of_the_dense_block():
    net, x = mlp(), jr.normal(jr.key(0), (5, 3), jnp.float64)
    found = eqx.filter_jit(lambda net: kfac(lambda net: Categorical(jax.vmap(net)(x)), net))(net)
    block = found.blocks.layers[0]
    matrix = np.kron(block.outputs, block.inputs) + 1e-3 * np.eye(8)
    g = eqx.filter(net, eqx.is_inexact_array)
    first = g.layers[0]
    wanted = np.linalg.solve(matrix, np.concatenate([first.weight, first.bias[:, None]], 1).ravel()).reshape(2, 4)
    solved = found.solve(g, damping=1e-3).layers[0]
    assert np.allclose(solved.weight, wanted[:, :3])
    assert np.allclose(solved.bias, wanted[:, 3])


def test_a_layer_that_is_used_at_every_node_has_one_block_over_all_its_uses():
    """Each copy of the untied network has a block. Those of one layer, expanded, are the block of `fold`."""
    net, trees = problems.reader(), problems.TREES
    forest, para = cdl.pack(cdl.TreeF, trees), cdl.para.Para.of(problems.reader())
    networks = [cdl.unroll(para, tree) for tree in trees]
    found = eqx.filter_jit(lambda net: kfac(lambda net: Categorical(cdl.fold(net, forest)), net))(net)
    inputs, outputs = [], np.zeros((3, 3))
    for network in networks:
        scores = jax.jit(jax.jacobian(network.at))(network.params)
        p = jax.nn.softmax(network())
        for place, grads in zip(network.places, scores, strict=True):
            if place.constructor is cdl.Fork:  # the gradient of a use is `g aᵀ`, and that of the bias is `g`
                g = grads.fork.bias  # (classes, outputs)
                a = np.einsum("coi,co->i", grads.fork.weight, g) / np.sum(np.square(g))
                inputs.append(np.append(a, 1.0))
                outputs += np.asarray(g.T @ (jnp.diag(p) - jnp.outer(p, p)) @ g) / len(trees)
    assert len(inputs) == 2
    assert np.allclose(found.blocks.fork.inputs, np.mean([np.outer(a, a) for a in inputs], axis=0))
    assert np.allclose(found.blocks.fork.outputs, outputs)


def test_drawn_targets_have_the_exact_block_for_their_mean():
    net, x = mlp(), jr.normal(jr.key(0), (4, 3), jnp.float64)
    model = lambda net: Categorical(jax.vmap(net)(x))
    exact = eqx.filter_jit(lambda net: kfac(model, net).blocks.layers[1].outputs)(net)
    drawn = eqx.filter_jit(lambda net, keys: jax.vmap(lambda k: kfac(model, net, key=k).blocks.layers[1].outputs)(keys))
    found = drawn(net, jr.split(jr.key(3), 4000)).mean(0)
    assert np.abs(found - exact).max() < 0.01


class Mixed(eqx.Module):
    scale: jax.Array
    layer: eqx.nn.Linear

    def __call__(self, x):
        return self.layer(self.scale * x)


def test_other_arrays_have_a_dense_block_and_descend():
    net = problems.double(Mixed(jnp.ones(3), eqx.nn.Linear(3, 4, use_bias=False, key=jr.key(0))))
    x = jr.normal(jr.key(1), (8, 3), jnp.float64)
    model = lambda net: Categorical(jax.vmap(net)(x))
    loss = lambda net: negative_log_likelihood(model(net), jnp.arange(8) % 4)
    tx = natural(model, 0.5, metric="kfac", damping=1e-2, kl=0.1)

    @eqx.filter_jit
    def stepped(net):
        g = eqx.filter_grad(loss)(net)
        change, _ = tx.update(g, tx.init(net), net)
        return loss(net) - loss(eqx.apply_updates(net, change)), kfac(model, net).mv(g).scale, g.scale

    gained, product, g = stepped(net)
    assert gained > 0
    alone = fisher(lambda s: model(eqx.tree_at(lambda n: n.scale, net, s)), net.scale)
    assert np.allclose(product, alone.mv(g))


def test_rows_of_padding_are_no_uses():
    """Lists of other lengths are padded; the block is that of the lists one by one."""

    class Sum(cdl.Algebra[cdl.ListF[jax.Array, jax.Array], jax.Array]):
        first: eqx.nn.Linear
        cell: eqx.nn.Linear

        def __call__(self, layer: cdl.ListF[jax.Array, jax.Array]) -> jax.Array:
            if isinstance(layer, cdl.Cons):
                return jnp.tanh(self.cell(jnp.append(self.first(layer.head), layer.tail)))
            return jnp.zeros(2)

    keys = jr.split(jr.key(0), 3)
    net = Sum(eqx.nn.Linear(1, 2, key=keys[0]), eqx.nn.Linear(4, 2, key=keys[1]))
    values = [jr.normal(jr.fold_in(keys[2], n), (n, 1)) for n in (6, 1)]
    rows = jnp.stack([jnp.pad(x, ((0, 6 - len(x)), (0, 0))) for x in values])

    def padded(net: Any) -> Gaussian:
        return Gaussian(cdl.fold(net, cdl.Seq(rows, np.array([6, 1]))), 1.0)

    def by_hand(net: Any) -> Gaussian:
        def one(x: Any) -> Any:
            state = jnp.zeros(2)
            for head in reversed(list(x)):
                state = jnp.tanh(net.cell(jnp.append(net.first(head), state)))
            return state

        return Gaussian(jnp.stack([one(x) for x in values]), 1.0)

    found, wanted = eqx.filter_jit(lambda net: [kfac(model, net).blocks for model in (padded, by_hand)])(net)
    for name in ("first", "cell"):
        a, b = getattr(found, name), getattr(wanted, name)
        assert np.allclose(a.inputs, b.inputs, atol=1e-6)
        assert np.allclose(a.outputs, b.outputs, atol=1e-6)
