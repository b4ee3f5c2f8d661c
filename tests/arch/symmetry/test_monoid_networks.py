"""Networks that commute with what cannot be undone: futures of states, and minima."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from few import few
from scipy.sparse.csgraph import bellman_ford

from cdl.symmetry import groups, hom, is_hom, monoids, Pointwise
from cdl_arch.symmetry import counter, futures, min_plus, reset, stack


ACTIONS = {
    "counter": counter.counts(6),
    "counter, a circle": counter.circle(6),
    "reset": reset.states(4),
    "reset, a circle": reset.circle(4),
    "stack": stack.stack(2, 3),
    "stack, a circle": stack.circle(2, 3),
    "flip-flop": monoids.flip_flop(),
    "functions": monoids.transformations(3),
    "partial functions": monoids.partial_transformations(3),
    "all permutations": groups.permutations(3),
}


@pytest.mark.parametrize("X", ACTIONS.values(), ids=ACTIONS)
def test_a_map_to_futures_is_one_value_for_each_state(X):
    F = futures.futures(X)
    tying = hom(X, F)
    assert tying.dimension == X.size
    values = np.arange(1.0, 1 + X.size)
    now = np.linalg.solve(tying.basis[:, 0, :].T, values)  # the parameters that give these values now
    weight = np.tensordot(now, tying.basis, 1)
    for word in [(), *((x,) for x in X.names), *((x, y) for x in X.names for y in X.names)]:
        after = X.element(word).toarray()
        assert np.allclose(weight[futures.number(F, word)], values @ after)


@pytest.mark.parametrize(
    ("X", "elements"),
    [("counter", 6), ("reset", 8), ("reset, a circle", 4), ("stack", 89), ("functions", 27), ("partial functions", 64)],
)
def test_the_elements_are_counted(X, elements):
    assert futures.futures(ACTIONS[X]).size == elements


def test_the_layer_of_a_counter_is_a_hankel_matrix():
    layer = futures.foresight(counter.counts(6), key=jr.key(0))
    weight = np.asarray(layer.weight)
    i, k = np.indices((6, 6))
    assert np.array_equal(weight, weight[0][np.minimum(i + k, 5)])
    assert layer.theta.size == 6


@pytest.mark.parametrize("name", few(["counter", "reset", "stack"], 1, 2))
def test_the_layer_is_equivariant_before_and_after_training_and_functions_go_after_it(name):
    X = ACTIONS[name]
    layer = futures.foresight(X, key=jr.key(0))
    F = layer.target
    xs = list(jr.normal(jr.key(1), (5, X.size)))
    assert is_hom(layer, X, F, xs, tolerance=1e-6)
    slope = eqx.filter_grad(lambda f: jnp.sum(jnp.square(f(xs[0]) - 1)))(layer)
    trained = eqx.apply_updates(layer, jax.tree.map(lambda g: -0.01 * g, slope))
    assert is_hom(trained, X, F, xs, tolerance=1e-6)
    assert not is_hom(lambda x: trained(x)[::-1], X, F, xs, tolerance=1e-2)
    assert Pointwise(jnp.tanh, F).source == F  # pulled functions commute with every function of numbers


def test_what_has_an_inverse_is_kept_and_nothing_else():
    assert futures.units(counter.counts(4)).names == ()
    assert futures.units(reset.states(4)).names == ("up",)
    assert futures.units(stack.stack(2, 2)).names == ()
    assert futures.units(groups.permutations(4)) == groups.permutations(4)
    assert futures.foresight_of_units(counter.counts(4), key=jr.key(0)).theta.size == 16  # dense
    assert futures.foresight_of_units(reset.states(4), key=jr.key(0)).theta.size == 8  # two orbits of four


def test_a_stack_gives_back_what_was_pushed_last():
    X, words = stack.stack(2, 3), stack.contents(2, 3)
    assert words[:4] == [(), (0,), (1,), (0, 0)]
    assert X.holds(("pop", "push0", "pop", "push1"), ("pop", "push1"))
    assert not X.holds(("push0", "pop"), ())
    at = lambda word: words[int(jnp.argmax(X(word, jnp.eye(15)[0])))]
    assert at(("pop", "push1", "push0")) == (0,)
    assert float(jnp.sum(X("pop", jnp.eye(15)[0]))) == 0  # nothing is there to be popped
    assert X.names == stack.circle(2, 3).names


def graph(nodes, edges, seed=0):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, edges))
    return min_plus.Graph(
        jnp.asarray(ends[0]), jnp.asarray(ends[1]), jnp.asarray(rng.normal(size=(edges, 2)), jnp.float32)
    )


class Whole(eqx.Module):
    """Lengths that are whole numbers, so that sums are exact."""

    def __call__(self, features):
        return jnp.round(3 * jnp.sum(features * features))


def test_a_layer_of_minima_is_a_map_of_both_algebras():
    G = graph(6, 14)
    layer = eqx.tree_at(lambda f: f.length, min_plus.MinPlus(2, 3, key=jr.key(0)), Whole())
    f = lambda x: layer(jnp.broadcast_to(x, (6,)), G)
    xs = [jnp.asarray(x, jnp.float32) for x in np.random.default_rng(1).integers(-9, 9, (4, 6))]
    assert is_hom(f, min_plus.SHIFTS, min_plus.SHIFTS, [(5.0, x) for x in xs])
    assert is_hom(f, min_plus.MINIMA, min_plus.MINIMA, [tuple(xs[:2]), tuple(xs)])
    assert bool(jnp.all(jnp.isinf(f(min_plus.MINIMA.action(())))))  # no path, and no distance
    mean = lambda x: jnp.full(6, jnp.mean(x))
    assert is_hom(mean, min_plus.SHIFTS, min_plus.SHIFTS, [(5.0, xs[0])], tolerance=1e-5)
    assert not is_hom(mean, min_plus.MINIMA, min_plus.MINIMA, [tuple(xs)], tolerance=1e-2)


def test_many_rounds_are_bellman_and_ford():
    G = graph(7, 18)
    layer = eqx.tree_at(lambda f: f.length, min_plus.MinPlus(2, 3, key=jr.key(0)), Whole())
    lengths = np.full((7, 7), np.inf)
    for i, j, features in zip(*map(np.asarray, G), strict=True):
        lengths[i, j] = min(lengths[i, j], float(Whole()(features)))
    start = jnp.full(7, jnp.inf).at[2].set(0.0)
    wanted = bellman_ford(np.ma.masked_invalid(lengths), indices=2)
    assert np.array_equal(np.asarray(layer.distances(G, start, 7)), wanted)


def test_both_networks_of_graphs_move_with_their_nodes_and_have_gradients():
    G, order = graph(6, 14), np.random.default_rng(0).permutation(6)
    moved = G._replace(senders=jnp.asarray(order)[G.senders], receivers=jnp.asarray(order)[G.receivers])
    start = jnp.full(6, jnp.inf).at[0].set(0.0)
    there = jnp.full(6, jnp.inf).at[order[0]].set(0.0)
    for net in (
        min_plus.MinPlus(2, 3, key=jr.key(0)),
        *(min_plus.SumPassing(2, 4, mean=m, key=jr.key(0)) for m in (True, False)),
    ):
        here = net.distances(G, start, 4)
        assert jnp.allclose(net.distances(moved, there, 4)[order], here, atol=1e-4)
        total = lambda net, here=here: jnp.sum(jnp.where(jnp.isinf(here), 0.0, net.distances(G, start, 4)))
        slopes = jax.tree.leaves(eqx.filter_grad(total)(net))
        assert all(bool(jnp.all(jnp.isfinite(x))) for x in slopes)
        assert any(float(jnp.max(jnp.abs(x))) > 0 for x in slopes)
