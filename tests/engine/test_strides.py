"""A loop in strides runs each of its turns, also where XLA knows its bounds."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl import algebra, annotate, Fork, Leaf, pack, TreeF
from cdl._engine.arrays._strides import strides


@pytest.mark.parametrize("size", [1, 2, 32])
@pytest.mark.parametrize(("begin", "end"), [(0, 0), (0, 1), (0, 2), (0, 33), (1, 2), (5, 69), (3, 1)])
def test_every_turn_is_run(begin, end, size):
    def visited(begin, end):
        return strides(lambda at, seen: seen.at[at].add(1), begin, end, size, jnp.zeros(128, jnp.int32))

    expected = np.zeros(128, np.int32)
    expected[np.arange(begin, end, size)] = 1
    known = jax.jit(lambda: visited(jnp.int32(begin), jnp.int32(end)))()
    given = jax.jit(visited)(jnp.int32(begin), jnp.int32(end))
    for turns, seen in (known, given):
        assert int(turns) == expected.sum()
        np.testing.assert_array_equal(seen, expected)


def test_a_forest_that_is_a_constant_of_the_program_has_the_same_gradient():
    weights = jr.normal(jr.key(0), (3,))

    @jax.grad
    def gradient(weights, forest):
        @algebra
        def net(layer: TreeF[float, jax.Array]) -> jax.Array:
            match layer:
                case Leaf(x):
                    return jnp.tanh(x * weights[:1])
                case Fork(left, right):
                    return jnp.tanh(weights[1:2] * left + weights[2:] * right)

        return jnp.sum(annotate(net, forest))

    for trees in ([Leaf(0.5)], [Fork(Leaf(0.5), Leaf(1.0))]):
        forest = pack(TreeF, trees)
        closed, given = (
            jax.jit(lambda w, forest=forest: gradient(w, forest))(weights),
            jax.jit(gradient)(weights, forest),
        )
        np.testing.assert_allclose(closed, given, rtol=1e-6)
        assert jnp.any(given[0] != 0)
