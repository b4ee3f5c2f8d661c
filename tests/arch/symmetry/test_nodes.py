"""Networks on sets, graphs and tensors: what is written by hand, the dense layers of `hom`, and any number of nodes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import defect, same, trained, unchecked
from few import few

from cdl.errors import CdlError
from cdl.para import CoKleisli
from cdl.symmetry import hom, is_hom
from cdl.symmetry.groups import permutations
from cdl_arch.symmetry import (
    Convolution,
    deep_sets,
    DeepSet,
    GraphLayer,
    GraphNetwork,
    Layers,
    Tensors,
)


ORDERS = [(1, 1), (1, 0), (0, 1), (2, 2), (2, 1), (1, 2), (2, 0), (0, 2), (3, 1)]


def inputs(order, n, channels=2, dtype=None):
    return jr.normal(jr.key(1), (channels, *(n for _ in range(order))), dtype)


@pytest.mark.parametrize("n", few([1, 3], 1))
@pytest.mark.parametrize(("order", "out"), ORDERS)
def test_a_layer_of_tensors_is_the_dense_layer_of_hom_in_value_and_gradient(order, out, n):
    with jax.enable_x64(True):
        made = Tensors(order, out, 2, 3, dtype=jnp.float64, key=jr.key(0))
        made = eqx.tree_at(lambda f: f.beta, made, jr.normal(jr.key(3), made.beta.shape, jnp.float64))
        same(lambda f, x: f(x, n), lambda f, x: f.at(n)(x), made, inputs(order, n, dtype=jnp.float64))


@pytest.mark.parametrize(
    ("order", "out", "n", "dimension"),
    [
        (1, 1, 5, 2),
        (2, 2, 2, 8),
        (2, 2, 3, 14),
        (2, 2, 4, 15),
        (2, 1, 4, 5),
        (2, 0, 4, 2),
        (3, 2, 5, 52),
    ],
)
def test_there_are_as_many_operations_as_maps_where_there_are_nodes_enough(order, out, n, dimension):
    X, made = permutations(n), Tensors(order, out, 1, 1, key=jr.key(0))
    assert hom(X.power(order), X.power(out)).dimension == dimension
    basis = jax.vmap(lambda theta: eqx.tree_at(lambda f: f.theta, made, theta).at(n).weight.ravel())(
        jnp.eye(made.theta.shape[-1])[:, None, None]
    )
    assert np.linalg.matrix_rank(np.asarray(basis)) == dimension


def test_the_fifteen_operations_of_matrices_are_those_of_the_literature():
    """Maron et al.: each by hand, in the order of the partitions of `(i, j), (k, l)`."""
    x, eye, one = inputs(2, 4, 1)[0], jnp.eye(4), jnp.ones((4, 4))
    diagonal, rows, columns = jnp.diagonal(x), x.mean(1), x.mean(0)
    trace, total = diagonal.mean(), x.mean()
    down, across = (lambda v: one * v[:, None]), (lambda v: one * v[None, :])
    by_hand = {
        "aaaa": jnp.diag(diagonal),
        "aaab": jnp.diag(rows),
        "aaba": jnp.diag(columns),
        "aabb": eye * trace,
        "aabc": eye * total,
        "abaa": down(diagonal),
        "abab": x,
        "abac": down(rows),
        "abba": x.T,
        "abbb": across(diagonal),
        "abbc": across(rows),
        "abca": down(columns),
        "abcb": across(columns),
        "abcc": one * trace,
        "abcd": one * total,
    }
    made = Tensors(2, 2, 1, 1, bias=False, key=jr.key(0))
    assert made.theta.shape == (1, 1, 15)
    for i, (partition, expected) in enumerate(by_hand.items()):
        only = eqx.tree_at(lambda f: f.theta, made, jnp.zeros((1, 1, 15)).at[..., i].set(1.0))
        assert jnp.allclose(only(x[None])[0], expected, atol=1e-6), partition


def test_a_deep_set_is_the_layer_that_is_written_by_hand():
    with jax.enable_x64(True):
        made = DeepSet(2, 3, dtype=jnp.float64, key=jr.key(0))

        def by_hand(f, x):
            own, shared = f.tensors.theta[..., 0], f.tensors.theta[..., 1]
            return own @ x + (shared @ x.mean(1) + f.tensors.beta[:, 0])[:, None]

        for n in (1, 5):
            x = inputs(1, n, dtype=jnp.float64)
            same(lambda f, x: f(x), by_hand, made, x)
            same(lambda f, x: f(x), lambda f, x, n=n: f.at(n)(x), made, x)
            same(lambda f, x: f(x), lambda f, x: f.tensors(x), made, x)


def stacks():
    a, b = jr.split(jr.key(0))
    of_graphs = Layers([Tensors(2, 2, 2, 3, key=a), Tensors(2, 1, 3, 2, key=b), Tensors(1, 0, 2, 1, key=a)], jnp.tanh)
    return {"sets": (deep_sets((2, 4, 4), 3, key=a), 1), "graphs": (of_graphs, 2)}


@pytest.mark.parametrize("name", few(["sets", "graphs"], 0))
def test_a_network_commutes_before_and_after_training_and_is_its_dense_form_for_every_n(name):
    net, order = stacks()[name]
    for now in (net, trained(net, (inputs(order, 4),))):
        for n in (1, 4):
            x, X = inputs(order, n), permutations(n)
            assert defect(now, X.power(order), X.trivial(), x) <= 1e-6
            assert jnp.allclose(now(x), now.at(n)(x), atol=1e-5)
        layer, X = now.layers[0], permutations(4)
        assert defect(layer, X.power(order), X.power(order), inputs(order, 4)) <= 1e-6


def graph(n, dtype=None):
    a, b = jr.split(jr.key(4))
    return jr.normal(a, (n, n), dtype), jr.normal(b, (2, n), dtype)


def test_a_graph_layer_is_the_one_that_is_written_by_hand_and_two_of_hom():
    with jax.enable_x64(True):
        made = GraphLayer(2, 3, dtype=jnp.float64, key=jr.key(0))
        made = eqx.tree_at(lambda f: f.beta, made, jnp.array([[1.0], [2.0], [3.0]]))
        adjacency, x = graph(4, jnp.float64)

        def by_hand(f, adjacency, x):
            nodes = []
            for i in range(4):
                received = sum(adjacency[i, j] * x[:, j] for j in range(4))
                nodes.append(f.own @ x[:, i] + f.messages @ received + f.beta[:, 0])
            return jnp.stack(nodes, 1)

        def dense(f, adjacency, x):
            own, messages = f.at(4)
            return own(x) + messages(jnp.einsum("jk,cl->cjkl", adjacency, x))

        call = lambda f, adjacency, x: f(adjacency, x)
        same(call, by_hand, made, adjacency, x)
        same(call, dense, made, adjacency, x)


def test_a_graph_network_is_a_map_of_actions_on_matrices_and_nodes():
    """`(P A Pᵀ, P X)` to `P Y`, before and after training; and the same parameters on graphs of every size."""
    net = GraphNetwork((2, 4, 3), key=jr.key(0))
    for now in (net, trained(net, graph(5))):
        for n in (3, 5):
            adjacency, x = graph(n)
            X = permutations(n)
            both = X.power(2) + X + X

            def flat(given, now=now, n=n):
                matrix, nodes = given[: n * n].reshape(n, n), given[n * n :].reshape(2, n)
                return now(matrix, nodes)[0]

            given = jnp.concatenate([adjacency.ravel(), x.ravel()])
            size = float(jnp.max(jnp.abs(flat(given))))
            assert is_hom(flat, both, X, [given], tolerance=1e-6 * size)
            first = lambda given, flat=flat: flat(given).at[1:].set(0.0)
            assert not is_hom(first, both, X, [given], tolerance=1e-6 * size)


def test_every_layer_reads_the_same_matrix_as_a_co_kleisli_map():
    """The composite of `CoKleisli` is `Para` tied along the diagonal: the matrix once, and its gradient summed."""
    net = GraphNetwork((2, 4, 3), key=jr.key(0))
    adjacency, x = graph(4)
    first, second = net.layers
    assert isinstance(net.cokleisli, CoKleisli)
    by_hand = second(adjacency, jax.nn.relu(first(adjacency, x)))
    assert jnp.array_equal(net(adjacency, x), by_hand)
    a, b = first.cokleisli.para(adjacency), (CoKleisli.pure(jax.nn.relu) >> second.cokleisli).para(adjacency)
    untied = a >> b
    assert jnp.array_equal(untied(x), by_hand)
    tied = jax.grad(lambda m: net(m, x).sum())(adjacency)
    apart = jax.grad(lambda ms: untied.fn(ms, x).sum())((adjacency, adjacency))
    assert jnp.allclose(tied, apart[0] + apart[1], rtol=1e-5, atol=1e-5)


def test_a_function_between_layers_is_checked_at_the_channels_of_each():
    def some(x):
        return jnp.cumsum(x, -1) if len(x) == 4 else x

    with pytest.raises(CdlError, match="cycle"):
        GraphNetwork((2, 3, 4, 1), function=some, key=jr.key(0))
    GraphNetwork((2, 3, 4), function=some, key=jr.key(0))  # it is not applied after the last


def test_a_network_that_begins_with_numbers_is_told_how_many_nodes():
    a, b = jr.split(jr.key(0))
    net = Layers([Tensors(0, 1, 2, 3, key=a), Tensors(1, 1, 3, 2, key=b)], jnp.tanh)
    x = jnp.array([1.0, -2.0])
    for n in (1, 4):
        assert jnp.allclose(net(x, n), net.at(n)(x), atol=1e-6)
    later = Layers([Tensors(0, 0, 2, 3, key=a), Tensors(0, 2, 3, 1, key=b)], jnp.tanh)
    assert later(x, n=4).shape == (1, 4, 4)
    same, x = Tensors(1, 1, 2, 3, key=a), jnp.ones((2, 4))
    assert jnp.array_equal(same(x, n=4), same(x))


def test_convolution_takes_integers_of_numpy():
    make = lambda n: Convolution((4,), n, 2, (n,), key=jr.key(0))
    with unchecked():
        assert eqx.tree_equal(make(np.int64(3)), make(3))
