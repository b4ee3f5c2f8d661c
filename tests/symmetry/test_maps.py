"""Equivariant layers: that they commute, how they begin, what they cost, and what is refused when they are built."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from few import few

from cdl.symmetry import chain, Equivariant, hom, hom_defect, NormGate, Pointwise
from cdl.symmetry.groups import (
    cyclic,
    permutations,
    rotations,
    scalings,
    signed_permutations,
    so,
    truncated_translations,
)
from cdl.symmetry.monoids import flip_flop, idempotent, saturating_counter, transformations


S = permutations(4)
PAIRS = {
    "deep sets": (S, S),
    "edges to nodes": (S.power(2), S),
    "signed": (signed_permutations(3), signed_permutations(3)),
    "causal": (truncated_translations(5), truncated_translations(5)),
    "counter": (saturating_counter(4), saturating_counter(4).transposed),
    "projection": (idempotent(np.full((3, 3), 1 / 3)), idempotent(np.diag([1, 0, 1]))),
    "functions": (transformations(3).power(2), transformations(3)),
    "vectors": (so(3), so(3)),
    "matrices to numbers": (so(3).power(2), so(3).trivial()),
    "images": (rotations(3), rotations(3)),
}


@pytest.mark.parametrize("name", few(PAIRS, 0, 2, 4, 6, 8))
def test_a_layer_commutes_with_the_action_and_is_its_dense_layer(name):
    X, Y = PAIRS[name]
    layer = Equivariant(X, Y, 2, 3, key=jr.key(0))
    layer = eqx.tree_at(lambda f: f.beta, layer, replace_fn=lambda b: b + 0.7) if layer.beta is not None else layer
    xs = jr.normal(jr.key(1), (5, 2, *X.shape))
    assert hom_defect(layer, X, Y, xs) < 2e-6
    dense = jnp.einsum("ocmn,cn->om", layer.weight, xs[0].reshape(2, X.size))
    bias = layer.bias
    dense = dense if bias is None else dense + bias
    assert jnp.allclose(layer(xs[0]).reshape(3, Y.size), dense, atol=1e-6)
    assert (layer.theta.shape, layer.weight.shape) == ((3, 2, hom(X, Y).dimension), (3, 2, Y.size, X.size))


@pytest.mark.parametrize("name", few(PAIRS, 1, 3, 5, 7, 9))
def test_a_layer_is_the_dense_layer_along_the_tying(name):
    X, Y = PAIRS[name]
    layer = Equivariant(X, Y, key=jr.key(0))
    x = jr.normal(jr.key(1), X.shape)
    para = layer.para()
    assert jnp.allclose(para(x), layer(x))
    ours = eqx.filter_grad(lambda f: jnp.sum(f(x) ** 2))(layer).theta
    theirs = jax.grad(lambda p: jnp.sum(para.fn(p, x) ** 2))(para.params)[0]
    by_hand = jax.grad(lambda W: jnp.sum(layer._dense((W, layer.bias), x) ** 2))(layer.weight)
    summed = jnp.asarray(layer.tying.basis, jnp.float32).reshape(layer.tying.dimension, -1) @ by_hand.ravel()
    assert jnp.allclose(ours, theirs, atol=1e-5)
    assert jnp.allclose(ours, summed, atol=1e-4)


@pytest.mark.parametrize("name", few(PAIRS, 0, 3, 6))
def test_outputs_have_the_variance_of_the_inputs_at_first(name):
    X, Y = PAIRS[name]
    one = lambda key, other: Equivariant(X, Y, 3, 2, bias=False, key=key)(jr.normal(other, (3, *X.shape)))
    found = jax.vmap(one)(*jr.split(jr.key(0), (2, 3_000))).reshape(3_000, 2, Y.size)
    variance = jnp.mean(found**2, (0, 1))
    assert 0.85 < variance.max() < 1.2


def test_with_means_inputs_that_are_not_centred_do_not_grow_with_the_places():
    def size(n, mean):
        X = permutations(n)
        one = lambda key: Equivariant(X, X, mean=mean, key=key)(jnp.full(n, 5.0))
        return jnp.mean(jax.vmap(one)(jr.split(jr.key(0), 100)) ** 2)

    assert size(100, mean=True) < 30 < 500 < size(100, mean=False)


def test_layers_of_the_same_actions_are_trees_of_one_form():
    ours, theirs = (Equivariant(permutations(3), permutations(3), key=jr.key(i)) for i in (0, 1))
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    assert hash(ours.source) == hash(theirs.source)
    half = jax.tree.map(lambda a, b: (a + b) / 2, ours, theirs)
    assert jnp.allclose(half.theta, (ours.theta + theirs.theta) / 2)


def test_a_network_compiles_batches_and_learns():
    net = chain(
        Equivariant(S.power(2), S, 1, 4, key=jr.key(0)),
        jax.nn.relu,
        Equivariant(S, S.trivial(), 4, 1, key=jr.key(1)),
    )
    xs = jr.normal(jr.key(2), (64, 1, 4, 4))
    ys = jnp.trace(xs[:, 0], axis1=1, axis2=2)

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(net):
        return jnp.mean((jax.vmap(net)(xs)[:, 0] - ys) ** 2)

    first = loss(net)[0]
    for _ in range(60):
        net = eqx.apply_updates(net, jax.tree.map(lambda g: -0.02 * g, loss(net)[1]))
    assert loss(net)[0] < first / 4
    assert hom_defect(net, S.power(2), S.trivial(), xs[:5]) < 1e-5


COMMUTE = [
    (jax.nn.relu, S),
    (jnp.tanh, signed_permutations(3)),
    (jax.nn.relu, scalings(2)),
    (jnp.sin, flip_flop().transposed),
    (jnp.tanh, truncated_translations(3)),
    (jnp.exp, cyclic(3)),  # overflows
    (lambda x: x * (x @ x), so(3)),
    (lambda x: -x, idempotent(np.full((2, 2), 0.5))),
]


@pytest.mark.parametrize("case", range(len(COMMUTE)))
def test_functions_that_commute_are_taken(case):
    function, X = COMMUTE[case]
    x = jr.normal(jr.key(0), X.shape)
    assert jnp.array_equal(Pointwise(function, X)(x), function(x))


def test_norm_gate_commutes():
    gate = NormGate(so(3), 4, key=jr.key(0))
    xs = jr.normal(jr.key(1), (6, 4, 3))
    assert hom_defect(gate, so(3), so(3), xs) < 2e-6
    assert jnp.all(jnp.isfinite(jax.grad(lambda x: jnp.sum(gate(x)))(jnp.zeros((4, 3)))))
