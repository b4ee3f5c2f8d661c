"""A learner is a system that rewires itself: its parameters are the state, and their step is the next state."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from programs import primitives

from cdl import ParaOptic
from cdl.learning import layers, optimisers
from cdl.para import Para
from cdl.system import rewire, rewiring
from cdl_arch.system.cells import as_diagram, as_network, cell


RATE = 0.1
SIZES = [(3, 5), (5, 4), (4, 2)]


def learner(model: Any, optimiser: Any = None) -> Any:
    learn = optimisers.descent(RATE) if optimiser is None else optimiser
    return model.reparametrise(learn.optic, at=learn.start(model.params))


def three(key: Any) -> list[Any]:
    return [learner(layers.dense(n, m, jnp.tanh, key=k)) for (n, m), k in zip(SIZES, jr.split(key, 3), strict=True)]


def network(params: Any, x: Any) -> Any:
    for (weight, bias), _ in params:
        x = jnp.tanh(weight @ x + bias)
    return x


BRACKETINGS: dict[str, Callable[..., Any]] = {
    "left": lambda f, g, h: (f >> g) >> h,
    "right": lambda f, g, h: f >> (g >> h),
}


@pytest.mark.parametrize("bracketing", BRACKETINGS)
def test_three_learners_composed_are_gradient_descent_exactly_in_either_bracketing(getkey, bracketing):
    parts = three(getkey())
    whole = BRACKETINGS[bracketing](*parts)
    state, params = whole.params, tuple(part.params for part in parts)
    for _ in range(5):
        x, target = jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
        y, seen = whole.optic.forward((state, x))
        state, dx = whole.optic.backward(seen, y - target)
        loss: Any = lambda params, x, target=target: jnp.sum((network(params, x) - target) ** 2) / 2
        grads, change = jax.grad(loss, (0, 1))(params, x)
        params = jax.tree.map(lambda p, g: p - RATE * g, params, grads)
        assert dx.tolist() == change.tolist()
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(params), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("bracketing", BRACKETINGS)
def test_a_tick_of_the_system_goes_forward_through_each_learner_once(getkey, bracketing):
    calls: list[int] = []

    def counted(k: int) -> Any:
        def fn(weight: Any, x: Any) -> Any:
            calls.append(k)
            return jnp.tanh(weight @ x)

        n, m = SIZES[k]
        return learner(ParaOptic.of(Para(jnp.ones((m, n)), fn)))

    names = ("left", "middle", "right")
    diagram = as_diagram(BRACKETINGS[bracketing](*map(counted, range(3))), names)
    cells = {name: cell(jr.normal(getkey(), (4,))) for name in names}
    system = rewire(diagram, cells, {"value": jnp.zeros(2)}, inputs={"change": jnp.zeros(2)})
    calls.clear()
    once = lambda state, change: (lambda layer: (layer.out, layer.step({"change": change})))(system(state))
    jaxpr = jax.make_jaxpr(once)(system.state, jnp.ones(2))
    assert calls == [0, 1, 2]
    assert primitives(jaxpr)["tanh"] == 3


def test_a_diagram_of_cells_is_a_network_and_a_network_is_a_diagram_of_cells(getkey):
    """Interacting systems with a diagram that changes, written without a network, and networks; both ways."""
    names = ("left", "middle", "right")
    weights = jr.normal(getkey(), (2, 3))

    def shown(i: Any) -> Any:
        return jnp.stack([i[name]["value"] for name in names])

    trust = rewiring(
        lambda w, i: {"value": w @ shown(i)},
        lambda w, i, d: {name: {"change": (d["change"] @ w)[k]} for k, name in enumerate(names)},
        lambda w, i, d: w - RATE * jnp.outer(d["change"], shown(i)),
        weights,
    )
    linear = learner(layers.linear(3, 2, key=getkey()).at(weights))
    x, dy = jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
    once = as_network(trust, names)
    for model in (once, as_network(as_diagram(linear, names), names), as_network(as_diagram(once, names), names)):
        y, seen = model.optic.forward((model.params, x))
        after, dx = model.optic.backward(seen, dy)
        expected, kept = linear.optic.forward((weights, x))
        assert y.tolist() == expected.tolist()
        for a, b in zip((after, dx), linear.optic.backward(kept, dy), strict=True):
            assert a.tolist() == b.tolist()
    inside = {name: {"value": x[k]} for k, name in enumerate(names)}
    for diagram in (trust, as_diagram(once, names)):
        out, seen = diagram.optic.forward((weights, inside))
        after, changes = diagram.optic.backward(seen, {"change": dy})
        assert out["value"].tolist() == (weights @ x).tolist()
        assert after.tolist() == (weights - RATE * jnp.outer(dy, x)).tolist()
        assert [changes[name]["change"].tolist() for name in names] == (dy @ weights).tolist()
