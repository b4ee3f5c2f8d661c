"""The figures of the source of systems: their terms compute the networks that they are drawn as."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import cdl
from cdl.system import Rewired


def parameters(neuron: Any, state: Any) -> Any:
    """The weight and the bias of a neuron, and the same of those in its boxes."""
    linear, inside = state[0].linear, neuron.systems.states(state[1])
    each = neuron.systems.boxes.items()
    return (
        linear.weight[0],
        linear.bias[0],
        [parameters(x.inner, inside[at]) if isinstance(x.inner, Rewired) else x.machine.values[0] for at, x in each],
    )


def value(tree: Any) -> Any:
    """By hand: `tanh` of the weighted sum, from the inside to the outside."""
    if not isinstance(tree, tuple):
        return tree
    weight, bias, inside = tree
    return jnp.tanh(jnp.sum(weight * jnp.stack(list(map(value, inside)))) + bias)


def changes(neuron: Any, state: Any) -> list[Any]:
    """What each innermost cell was told last."""
    found: list[Any] = []
    inside = neuron.systems.states(state[1])
    for at, x in neuron.systems.boxes.items():
        found += changes(x.inner, inside[at]) if isinstance(x.inner, Rewired) else [inside[at]["change"]]
    return found


def cells_of(tree: Any) -> list[Any]:
    return [cell for x in tree[2] for cell in cells_of(x)] if isinstance(tree, tuple) else [tree]


def test_figure_of_three_layers_ticks_by_a_step_of_descent():
    from systems.figures import figures, RATE

    network = figures()["drawn-nested-3"]
    before = parameters(network, network.state)
    outputs, after = cdl.run(network, network.state, {"change": jnp.array([0.7])})
    np.testing.assert_allclose(outputs["value"][0], value(before), rtol=1e-6)
    slopes = jax.grad(lambda tree: 0.7 * value(tree))(before)
    np.testing.assert_allclose(changes(network, after), cells_of(slopes), rtol=1e-5)

    def stepped(tree: Any, slope: Any) -> Any:
        if not isinstance(tree, tuple):
            return tree
        inside = [stepped(x, y) for x, y in zip(tree[2], slope[2], strict=True)]
        return tree[0] - RATE * slope[0], tree[1] - RATE * slope[1], inside

    found, expected = map(jax.tree.leaves, (parameters(network, after), stepped(before, slopes)))
    assert len(found) == 7 * 2 + 8
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(outputs["value"][1], value(parameters(network, after)), rtol=1e-6)
