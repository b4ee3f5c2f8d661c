"""A learner is a system that rewires itself: its parameters are the state, and their step is the next state."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

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


def tanhs(jaxpr: Any) -> int:
    found = 0
    for eqn in jaxpr.eqns:
        inner = [x.jaxpr for x in jax.tree.leaves(list(eqn.params.values())) if hasattr(x, "jaxpr")]
        found += (eqn.primitive.name == "tanh") + sum(map(tanhs, inner))
    return found


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
    assert tanhs(jaxpr.jaxpr) == 3


def test_an_optimiser_with_a_memory_keeps_it_in_the_state(getkey):
    model, momentum = layers.dense(3, 2, jnp.tanh, key=getkey()), optimisers.momentum(RATE, 0.9)
    whole = learner(model, momentum)
    state, speed, params = whole.params, jax.tree.map(jnp.zeros_like, model.params), model.params
    for _ in range(4):
        x, dy = jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
        state, _ = whole.optic.put((state, x), dy)
        _, back = jax.vjp(lambda p, x=x: network([p], x), params)
        speed = jax.tree.map(lambda w, g: 0.9 * w + RATE * g, speed, back(dy)[0])
        params = jax.tree.map(lambda p, w: p - w, params, speed)
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves((speed, params)), strict=True):
        assert a.tolist() == b.tolist()


class FongSpivakTuyeras:
    """A learner `A → B` as *Backprop as Functor* has it: parameters, `I : P × A → B`, `U : P × A × B → P` and
    `r : P × A × B → A`; of a map `I`, by gradient descent on half the squared error, and the composite of two."""

    def __init__(self, implement: Any, update: Any, request: Any) -> None:
        self.implement, self.update, self.request = implement, update, request

    @staticmethod
    def of(implement: Any) -> "FongSpivakTuyeras":
        error = lambda p, a, b: jnp.sum((implement(p, a) - b) ** 2) / 2
        return FongSpivakTuyeras(
            implement,
            lambda p, a, b: jax.tree.map(lambda p, g: p - RATE * g, p, jax.grad(error)(p, a, b)),
            lambda p, a, b: a - jax.grad(error, 1)(p, a, b),
        )

    def then(self, other: "FongSpivakTuyeras") -> "FongSpivakTuyeras":
        I, U, r, J, V, s = self.implement, self.update, self.request, other.implement, other.update, other.request
        return FongSpivakTuyeras(
            lambda pq, a: J(pq[1], I(pq[0], a)),
            lambda pq, a, c: (U(pq[0], a, s(pq[1], I(pq[0], a), c)), V(pq[1], I(pq[0], a), c)),
            lambda pq, a, c: r(pq[0], a, s(pq[1], I(pq[0], a), c)),
        )


def test_update_and_request_of_a_composite_are_those_of_backprop_as_functor(getkey):
    with jax.enable_x64(True):
        f, g, h = three(getkey())
        one: Any = FongSpivakTuyeras.of(lambda p, a: network([p], a))
        for whole, params in (
            ((f >> g) >> h, ((f.params, g.params), h.params)),
            (f >> (g >> h), (f.params, (g.params, h.params))),
        ):
            book = one.then(one).then(one) if params[1] is h.params else one.then(one.then(one))
            a, c = jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
            b, seen = whole.optic.forward((params, a))
            after, change = whole.optic.backward(seen, b - c)
            pairs = [(b, book.implement(params, a)), (after, book.update(params, a, c))]
            for found, expected in [*pairs, (a - change, book.request(params, a, c))]:
                for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
                    np.testing.assert_allclose(x, y, rtol=0, atol=1e-12)


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
