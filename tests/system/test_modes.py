"""Systems in modes beside what they are by definition: the machine of the mode, and nothing of the others."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl import MooreF
from cdl.system import box, modes, wire


def flowing(s: Any) -> MooreF[Any, Any, Any]:
    """An open valve shows how fast it flows, and takes a pressure."""
    return MooreF({"flow": 2 * s["level"] ** 2}, lambda i: {"level": s["level"] + i["pressure"], "time": s["time"] + 1})


def waiting(s: Any) -> MooreF[Any, Any, Any]:
    """A closed one shows a vector, and takes two numbers."""

    def step(i: Any) -> Any:
        return {"level": jnp.sin(s["level"]) * i["push"] + i["leak"].sum(), "time": s["time"] + 1}

    return MooreF({"held": jnp.stack([s["level"], 1.0 - s["level"]])}, step)


def settling(s: Any) -> MooreF[Any, Any, Any]:
    """A third, which shows nothing and takes nothing."""
    return MooreF({}, lambda i: {"level": s["level"] / 2, "time": s["time"] + 1})


def choose(s: Any) -> Any:
    return jnp.where(s["level"] > 2, 2, jnp.where(s["level"] > 0.5, 1, 0))


def start(level: Any = 0.0) -> Any:
    return {"level": jnp.asarray(level), "time": jnp.array(0)}


TWO = jnp.zeros(2)
VALVE: Any = {
    "open": box(flowing, start(), inputs={"pressure": float}, outputs={"flow": float}),
    "closed": box(waiting, start(), inputs={"push": float, "leak": TWO}, outputs={"held": TWO}),
    "settling": box(settling, start(), outputs={}),
}


def inputs(ticks: int) -> Any:
    draw = np.random.default_rng(0)
    return {
        "open": {"pressure": jnp.asarray(draw.uniform(0, 1, ticks), jnp.float32)},
        "closed": {
            "push": jnp.asarray(draw.uniform(-1, 3, ticks), jnp.float32),
            "leak": jnp.asarray(draw.uniform(-0.5, 1.5, (ticks, 2)), jnp.float32),
        },
    }


def by_definition(level: Any, given: Any, ticks: int) -> Any:
    """The mode and what it shows, tick by tick, each machine alone."""
    s, found = start(level), []
    for t in range(ticks + 1):
        number = int(choose(s))
        name, machine = list(VALVE)[number], (flowing, waiting, settling)[number]
        found.append((number, machine(s).out))
        if t < ticks:
            s = machine(s).step(jax.tree.map(lambda x, t=t: x[t], given.get(name, {})))
    return found, s


def test_modes_are_the_machine_of_the_mode_and_zero_elsewhere():
    system, given = modes(VALVE, choose, start()), inputs(30)
    outputs, last = cdl.run(system, system.state, given)
    expected, end = by_definition(0.0, given, 30)
    assert outputs["mode"].tolist() == [number for number, _ in expected]
    assert set(outputs["mode"].tolist()) == {0, 1, 2}
    for t, (number, out) in enumerate(expected):
        shows: Any = {0: out.get("flow", 0.0), 1: out.get("held", TWO)}
        np.testing.assert_allclose(outputs["open"]["flow"][t], shows[0], rtol=1e-5)
        np.testing.assert_allclose(outputs["closed"]["held"][t], shows[1], rtol=1e-5)
        assert number == 1 or not outputs["closed"]["held"][t].any()
    np.testing.assert_allclose(last["level"], end["level"], rtol=1e-5)
    assert last["time"] == 30


def test_the_gradient_is_that_of_the_modes_that_were_passed_through_and_ensembles_differ_in_them():
    given = inputs(6)

    def total(level: Any) -> Any:
        system = modes(VALVE, choose, start(level))
        outputs, last = cdl.run(system, system.state, given)
        return jnp.sum(outputs["open"]["flow"]) + jnp.sum(outputs["closed"]["held"][:, 0]) + last["level"]

    def by_hand(level: Any) -> Any:
        expected, s = [], start(level)
        numbers = [number for number, _ in by_definition(level0, given, 6)[0]]
        for t, number in enumerate(numbers):
            name, machine = list(VALVE)[number], (flowing, waiting, settling)[number]
            out = machine(s).out
            expected.append(out.get("flow", 0.0) + out.get("held", TWO)[0])
            if t < 6:
                s = machine(s).step(jax.tree.map(lambda x, t=t: x[t], given.get(name, {})))
        return sum(expected) + s["level"]

    levels = jnp.array([0.1, 0.9, 3.0])
    values, found = jax.jit(jax.vmap(jax.value_and_grad(total)))(levels)
    for k, level0 in enumerate(levels):
        value, slope = jax.value_and_grad(by_hand)(level0)
        np.testing.assert_allclose(values[k], value, rtol=1e-5)
        np.testing.assert_allclose(found[k], slope, rtol=1e-4)


def test_modes_are_a_system_like_others():
    watch = box(
        lambda s: MooreF({"last": s}, lambda i: i["now"]["flow"]),
        0.0,
        inputs={"now": {"flow": float}},
        outputs={"last": float},
    )
    system = wire(
        {"valve": modes(VALVE, choose, start()), "watch": watch},
        {"valve.open": "open", "valve.closed": "closed", "watch.now": "valve.open"},
        {"mode": "valve.mode", "last": "watch.last"},
        inputs={"open": {"pressure": float}, "closed": {"push": float, "leak": TWO}},
    )
    outputs, _ = cdl.run(system, system.state, inputs(5))
    plain = modes(VALVE, choose, start())
    expected, _ = cdl.run(plain, plain.state, inputs(5))
    np.testing.assert_allclose(outputs["last"][1:], expected["open"]["flow"][:-1], rtol=1e-6)
    alone = modes({"settling": VALVE["settling"]}, lambda s: jnp.array(0), start(1.0))
    assert cdl.run(alone, alone.state, jnp.arange(3))[0]["mode"].tolist() == [0] * 4


def test_a_number_of_no_mode_is_refused_when_it_comes():
    system = modes(VALVE, lambda s: s["time"], start())
    with pytest.raises(Exception, match=r"`choose` of `modes`(.|\n)*3 modes"):
        jax.block_until_ready(cdl.run(system, system.state, inputs(5)))
