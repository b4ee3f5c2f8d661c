"""A system that rewires itself, and the same as a fixed diagram with a manager in it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl import MooreF
from cdl.system import box, managed, rewire, rewiring, wire


def relay(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"x": s, "twice": 2 * s}, lambda i: 0.5 * s + i["a"])


def clock(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"t": s}, lambda i: s + 1)


def sink(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({}, lambda i: s + i["a"])


def rewired(weights: Any, *, drive: bool) -> Any:
    """Three boxes, and one that shows nothing, that hear each other by weights, which change with what they say."""
    ports: Any = {"inputs": {"a": float}, "outputs": {"x": float, "twice": float}}
    inner = wire(
        {"in": box(relay, 0.3, **ports)}, {"in.a": "a"}, {"x": "in.x", "twice": "in.twice"}, inputs={"a": float}
    )
    systems = {
        "p": box(relay, 0.1, **ports),
        "q": inner,
        "clock": box(clock, 0.0, outputs={"t": float}),
        "sink": box(sink, 0.0, inputs={"a": float}, outputs={}),
    }

    def said(i: Any) -> Any:
        return jnp.stack([i["p"]["x"], i["q"]["twice"]])

    def back(w: Any, i: Any, d: Any) -> Any:
        heard = w @ said(i) + (d["u/v"] if drive else 0.0)
        return {"p": {"a": heard[0]}, "q": {"a": heard[1]}, "sink": {"a": i["clock"]["t"]}}

    def update(w: Any, i: Any, d: Any) -> Any:
        return w - 0.1 * jnp.outer(said(i), said(i))

    return rewire(
        rewiring(lambda w, i: {"sum": jnp.sum(w @ said(i))}, back, update, weights),
        systems,
        {"sum": float},
        inputs={"u/v": float} if drive else {},
        name="talk",
    )


@pytest.mark.parametrize("drive", [True, False])
def test_a_diagram_that_changes_is_a_fixed_one_with_a_manager_tick_by_tick(drive):
    system = rewired(jnp.array([[0.1, 0.4], [-0.3, 0.2]]), drive=drive)
    fixed = managed(system)
    inputs = {"u/v": jnp.linspace(-1, 1, 8)} if drive else jnp.arange(8)
    one, last = cdl.run(system, system.state, inputs)
    other, end = cdl.run(fixed, fixed.state, inputs)
    assert other["sum"].tolist() == one["sum"][: 8 + (not drive)].tolist()
    states = fixed.states(end)
    assert states["manager"].tolist() == last[0].tolist()
    assert {path.removeprefix("systems."): float(x) for path, x in states.items() if path != "manager"} == {
        path: float(x) for path, x in system.systems.states(last[1]).items()
    }
    assert (fixed.name, set(fixed.interface.inputs)) == ("talk", set(system.interface.inputs))
    wired = {target for target, source in fixed.wiring.wires.items() if not source.startswith("manager.")}
    assert all(target.startswith("manager.") for target in wired)


def test_the_gradient_of_the_weights_is_the_same():
    inputs = {"u/v": jnp.linspace(-1, 1, 8)}

    def total(weights: Any, make: Any) -> Any:
        system = make(rewired(weights, drive=True))
        return jnp.sum(cdl.run(system, system.state, inputs)[0]["sum"][:8] ** 2)

    weights = jnp.array([[0.1, 0.4], [-0.3, 0.2]])
    one, other = (jax.grad(total)(weights, make) for make in (lambda x: x, managed))
    np.testing.assert_allclose(one, other, rtol=1e-5)
    assert np.all(np.asarray(one) != 0)
