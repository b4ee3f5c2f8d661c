"""Diagrams that depend on a state: coalgebras of [p, q], beside what they are by hand."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl import MealyF, MooreF
from cdl.system import among, box, fixed, Interface, rewire, rewiring, route, wire, Wiring


GATE = Interface({"a": float}, {"x": float})


def a(i: Any) -> Any:
    return i["a"]


def follow(s: Any) -> MooreF[Any, Any, Any]:
    """Shows a number that goes a tenth of the way to what it hears."""
    return MooreF({"x": s}, lambda i: s + 0.1 * (a(i) - s))


def people(xs: Any) -> dict[str, Any]:
    return {f"p{i}": box(follow, x, inputs={"a": float}, outputs={"x": float}) for i, x in enumerate(xs)}


def heard(i: Any) -> Any:
    return jnp.stack([x["x"] for x in i.values()])


def each(values: Any) -> dict[str, Any]:
    return {f"p{i}": {"a": values[i]} for i in range(len(values))}


def test_a_constant_state_is_the_fixed_system():
    wiring = Wiring({"p0": GATE, "p1": GATE}, {"p0.a": "p1.x", "p1.a": "u"}, {"x": "p0.x"}, {"u": float})
    systems = people([1.0, -1.0])
    plain = wire(systems, wiring.wires, wiring.outputs, inputs=wiring.inputs)
    same = rewire(fixed(wiring), systems, {"x": float}, inputs={"u": float})
    inputs = {"u": jnp.linspace(0, 3, 20)}
    one, other = (cdl.run(x, x.state, inputs)[0]["x"] for x in (plain, same))
    assert one.tolist() == other.tolist()


def opinions(spread: Any, n: int, rate: float) -> Any:
    """People who listen to each other by weights, which grow with what they have in common."""
    return rewiring(
        lambda A, i: {"spread": spread(heard(i)), "mean": jnp.mean(heard(i))},
        lambda A, i, d: each(jax.nn.softmax(A, axis=1) @ heard(i)),
        lambda A, i, d: A + rate * jnp.outer(heard(i), heard(i)) / n,
        jnp.zeros((n, n)),
    )


def test_people_who_listen_to_those_they_agree_with_come_together_too():
    with jax.enable_x64(True):
        xs = np.random.default_rng(0).uniform(0, 1, 8)
        system = rewire(opinions(jnp.ptp, 8, 0.1), people(xs), {"spread": float, "mean": float})
        outputs, (weights, _) = cdl.run(system, system.state, jnp.arange(200))
        assert outputs["spread"][-1] < 1e-8 < 0.5 < outputs["spread"][0]
        assert (np.diff(outputs["spread"]) < 0).all()  # for any draw: each goes towards a mean of all
        x, A = xs, np.zeros((8, 8))
        for _ in range(200):
            p = np.exp(A) / np.exp(A).sum(1, keepdims=True)
            x, A = x + 0.1 * (p @ x - x), A + 0.1 * np.outer(x, x) / 8
        np.testing.assert_allclose(weights, A, rtol=1e-9)


def test_the_gradient_goes_through_a_hundred_rewirings():
    with jax.enable_x64(True):
        xs = jnp.asarray(np.random.default_rng(1).uniform(-1, 1, 4))

        def total(w: Any) -> Any:
            made = rewire(opinions(jnp.ptp, 4, 0.1).at(w), people(xs), {"spread": float, "mean": float})
            outputs, _ = cdl.run(made, made.state, jnp.arange(100))
            return 1e4 * outputs["mean"][-1]

        w, e = jnp.asarray(np.random.default_rng(2).normal(size=(4, 4))), 1e-5
        found, last = jax.jit(jax.grad(total))(w), jax.jit(total)
        for i, j in ((0, 1), (2, 3), (3, 3)):
            moved = [last(w.at[i, j].add(side * e)) for side in (1, -1)]
            np.testing.assert_allclose(found[i, j], (moved[0] - moved[1]) / (2 * e), rtol=1e-6)


def test_an_ensemble_of_rewired_systems_runs_under_vmap():
    def last(x: Any) -> Any:
        made = rewire(opinions(jnp.ptp, 3, 0.1), people(x), {"spread": float, "mean": float})
        return cdl.run(made, made.state, jnp.arange(10))[0]["spread"]

    xs = jnp.asarray(np.random.default_rng(3).normal(size=(5, 3)), jnp.float32)
    np.testing.assert_allclose(jax.vmap(last)(xs), jnp.stack([*map(jax.jit(last), xs)]), rtol=1e-5)


def tower(offset: float) -> Any:
    """A tower that shows its height plus what it has heard."""
    return box(
        lambda s: MooreF({"x": s + offset}, lambda i: 0.5 * (s + a(i))),
        0.0,
        inputs=GATE.inputs,
        outputs=GATE.outputs,
    )


def phones() -> tuple[dict[str, Any], list[Wiring]]:
    """Two towers and a phone, which one tower hears: near the first, or near the second."""
    systems = {
        "near": tower(1.0),
        "far": tower(-1.0),
        "phone": box(follow, 0.0, inputs=GATE.inputs, outputs=GATE.outputs),
    }
    boxes = dict.fromkeys(systems, GATE)
    wirings = [
        Wiring(boxes, {"near.a": "phone.x", "far.a": "far.x", "phone.a": "near.x"}, {"x": "phone.x"}, {"move": float}),
        Wiring(boxes, {"near.a": "near.x", "far.a": "phone.x", "phone.a": "far.x"}, {"x": "phone.x"}, {"move": float}),
    ]
    return systems, wirings


def test_a_phone_that_moves_is_wired_to_the_nearer_tower_and_a_switch_box_in_a_fixed_diagram_does_the_same():
    systems, wirings = phones()
    choose = lambda place: jnp.int32(place > 0)
    moving = rewire(
        among(wirings, choose, lambda place, i, d: place + d["move"], jnp.array(-2.0)),
        systems,
        {"x": float},
        inputs={"move": float},
    )
    inputs = {"move": jnp.concatenate([jnp.full(6, 1.0), jnp.full(6, -1.0)])}
    outputs, (place, _) = cdl.run(moving, moving.state, inputs)
    assert place == -2.0
    assert outputs["x"][2] > outputs["x"][1] > 0
    assert outputs["x"][8] < outputs["x"][6]

    def switch(place: Any) -> MealyF[Any, Any, Any]:
        def step(i: Any) -> Any:
            first = place <= 0
            out = {
                "near": jnp.where(first, i["phone"], i["near"]),
                "far": jnp.where(first, i["far"], i["phone"]),
                "phone": jnp.where(first, i["near"], i["far"]),
            }
            return out, place + i["move"]

        return MealyF(step)

    ports = dict.fromkeys(systems, float)
    boxed = box(switch, -2.0, inputs={**ports, "move": float}, outputs=ports)
    wires = {
        **{f"{x}.a": f"switch.{x}" for x in systems},
        **{f"switch.{x}": f"{x}.x" for x in systems},
        "switch.move": "move",
    }
    still = wire({**systems, "switch": boxed}, wires, {"x": "phone.x"}, inputs={"move": float})
    np.testing.assert_allclose(cdl.run(still, still.state, inputs)[0]["x"], outputs["x"], rtol=1e-6)


def test_a_number_of_no_diagram_is_refused_when_it_comes():
    systems, wirings = phones()
    late = among(wirings, lambda place: place, lambda place, i, d: place + 1, jnp.array(0))
    system = rewire(late, systems, {"x": float}, inputs={"move": float})
    with pytest.raises(Exception, match=r"`choose` of `among`(.|\n)*2 diagrams"):
        jax.block_until_ready(cdl.run(system, system.state, {"move": jnp.zeros(4)}))


def test_a_wire_may_be_open_and_says_so():
    values = {"x": jnp.array([1.0, 2.0])}
    assert [float(x) for x in (route(values, jnp.array(1))[0]["x"], route(values, jnp.array(-1))[0]["x"])] == [2.0, 0.0]
    assert [bool(route(values, jnp.array(n))[1]) for n in (0, -1, 2)] == [True, False, False]
    assert route(jnp.arange(200.0), jnp.int8(5))[0] == 5.0
