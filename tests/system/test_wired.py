"""Systems in the boxes of a diagram are their definition: side by side, and then the lens; nested is flat."""

import itertools
import random
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hlo import computations
from programs import equations

import cdl
from cdl import laws, MealyF, MooreF
from cdl.errors import CdlError, PortMismatch
from cdl.laws._systems import by_hand
from cdl.system import box, Interface, System, wire, Wired


TICKS = 6
GATE = Interface({"a": float, "b": float}, {"x": float, "y": float})


class Leak(eqx.Module):
    """A Moore machine: shows its state, and mixes what comes in."""

    rate: jax.Array

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        return MooreF({"x": s, "y": 2 * s - 1}, lambda i: jnp.tanh(self.rate * s + i["a"] - 0.5 * i["b"]))


class Sum(eqx.Module):
    """A Mealy machine: answers at once, and counts."""

    rate: jax.Array

    def __call__(self, s: Any, /) -> MealyF[Any, Any, Any]:
        return MealyF(lambda i: ({"x": i["a"] * self.rate + s, "y": jnp.sin(i["b"])}, s + 0.1 * i["a"]))


def moore(rate: float) -> System:
    return box(Leak(jnp.array(rate)), jnp.array(rate / 2), inputs=GATE.inputs, outputs=GATE.outputs)


def mealy(rate: float) -> System:
    return box(Sum(jnp.array(rate)), jnp.array(rate / 3), inputs=GATE.inputs, outputs=GATE.outputs)


def diagram(draw: random.Random, parts: dict[str, System]) -> Wired:
    """Random wires between these boxes: a box that answers at once is driven by those before it, by Moore machines, or
    from outside."""
    names = list(parts)
    wires = {}
    for at, name in enumerate(names):
        before = [n for i, n in enumerate(names) if i < at or isinstance(parts[n](parts[n].state), MooreF)]
        for port in "ab":
            sources = ["u", "v", *(f"{n}.{p}" for n in before for p in "xy")]
            wires[f"{name}.{port}"] = draw.choice(sources)
    outputs = {p: f"{draw.choice(names)}.{draw.choice('xy')}" for p in "xy"}
    return wire(parts, wires, outputs, inputs={"u": float, "v": float}, name="some")


def renamed(inner: Wired) -> Wired:
    """A diagram with the ports of a gate, so that it goes into a box of one."""
    ports = {"gate.u": "a", "gate.v": "b"}
    return wire({"gate": inner}, ports, {"x": "gate.x", "y": "gate.y"}, inputs={"a": float, "b": float})


def some(draw: random.Random, depth: int = 0) -> Wired:
    """A random system of two to five boxes: machines with a state, machines that answer at once, some with one machine
    and some that differ in their weights, and diagrams of these."""
    tied = [moore(0.3), mealy(0.7)]
    parts: dict[str, System] = {}
    for name in "pqrst"[: draw.randint(2, 5)]:
        kind = draw.randrange(5 if depth < 2 else 4)
        fresh = draw.uniform(0.1, 0.9)
        parts[name] = (
            tied[kind]
            if kind < 2
            else moore(fresh)
            if kind == 2
            else mealy(fresh)
            if kind == 3
            else renamed(some(draw, depth + 1))
        )
    return diagram(draw, parts)


@pytest.mark.parametrize("seed", range(8))
def test_a_system_is_its_boxes_side_by_side_and_then_the_lens(seed):
    draw = random.Random(seed)
    system = some(draw)
    inputs = {p: jnp.array([draw.uniform(-1, 1) for _ in range(TICKS)]) for p in "uv"}
    laws.system(system, [{p: inputs[p][t] for p in "uv"} for t in range(TICKS)], tolerance=1e-5)
    outputs, last = cdl.run(system, system.state, inputs)
    assert len(outputs["x"]) == TICKS + isinstance(system(system.state), MooreF)
    assert set(system.states(last)) == set(system.boxes)


def test_a_system_that_does_something_else_is_found_out():
    system = chain([moore(0.3), mealy(0.7)], 0)
    inputs = [{"u": jnp.array(t), "v": jnp.array(t)} for t in (1.0, 2.0, 3.0)]
    late = lambda machine, state, given: cdl.run(machine, state, jax.tree.map(lambda x: jnp.roll(x, 1), given))
    with pytest.raises(cdl.errors.LawBroken, match="boxes side by side"):
        laws.system(system, inputs, by=late, tolerance=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_is_that_of_the_definition_tied_where_a_system_is_given_twice(seed):
    draw = random.Random(seed)
    system = some(draw)
    inputs = {p: jnp.array([draw.uniform(-1, 1) for _ in range(TICKS)]) for p in "uv"}
    each = [{p: inputs[p][t] for p in "uv"} for t in range(TICKS)]

    def total(outputs: Any) -> Any:
        return sum(jnp.sum(x**2) for x in jax.tree.leaves(outputs))

    def defined(system: Wired) -> Any:
        return total(by_hand(system, each))

    found = eqx.filter_grad(lambda s: total(cdl.run(s, s.state, inputs)[0]))(system)
    expected = eqx.filter_grad(defined)(system)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def chain(parts: list[System], depth: int) -> Wired:
    """Boxes in a row, each driven by the one before; or two halves of the row, each in a box, and so on."""
    if depth and len(parts) > 1:
        half = len(parts) // 2
        parts = [renamed(chain(parts[:half], depth - 1)), renamed(chain(parts[half:], depth - 1))]
    names = [f"n{i}" for i in range(len(parts))]
    wires = {f"{name}.{p}": f"{before}.{q}" for before, name in itertools.pairwise(names) for p, q in ("ax", "by")}
    wires |= {"n0.a": "u", "n0.b": "v"}
    return wire(
        dict(zip(names, parts, strict=True)),
        wires,
        {p: f"{names[-1]}.{p}" for p in "xy"},
        inputs={"u": float, "v": float},
    )


def test_nesting_costs_nothing():
    parts = [moore(0.1 * i) if i % 3 else mealy(0.1 * i) for i in range(8)]
    flat, nested = chain(parts, 0), chain(parts, 3)
    inputs = {p: jnp.linspace(-1, 1, TICKS) for p in "uv"}
    assert cdl.run(flat, flat.state, inputs)[0]["x"].tolist() == cdl.run(nested, nested.state, inputs)[0]["x"].tolist()

    def size(system: Wired) -> int:
        return len(list(equations(eqx.filter_make_jaxpr(lambda s: cdl.run(s, s.state, inputs)[0])(system)[0])))

    def instructions(system: Wired) -> int:
        compiled = eqx.filter_jit(lambda s: cdl.run(s, s.state, inputs)[0]).lower(system).compile()
        return sum(map(len, computations(compiled.compiled.as_text()).values()))

    assert [x.aval for x in jax.tree.leaves(nested)] == [x.aval for x in jax.tree.leaves(flat)]
    assert [len(step.paths) for step in nested.plan.steps] == [len(step.paths) for step in flat.plan.steps]
    assert size(nested) <= 1.02 * size(flat)
    assert instructions(nested) <= 1.02 * instructions(flat)


def test_boxes_alike_are_computed_as_one_whether_their_weights_are_one_or_many():
    for parts in ([moore(0.5)] * 50, [moore(i / 50) for i in range(50)]):
        system = chain(parts, 0)
        assert len(system.plan.steps) == 1
    assert system.plan.steps[0].many == 50
    tied = chain([moore(0.5)] * 50, 0)
    assert tied.machines[0].rate.shape == ()
    assert {id(x.machine) for x in tied.boxes.values()} == {id(tied.machines[0])}


def test_a_machine_that_draws_numbers_has_other_keys_in_each_box():
    def noisy(s: Any, /, *, key: Any = None) -> MooreF[Any, Any, Any]:
        return MooreF({"x": jax.random.normal(key)}, lambda i: s)

    source = box(noisy, 0.0, outputs={"x": float})
    system = wire({"p": source, "q": source}, {}, {"x": "p.x", "y": "q.x"})
    outputs, _ = cdl.run(system, system.state, jnp.arange(3), key=jax.random.key(0))
    assert len({*outputs["x"].tolist(), *outputs["y"].tolist()}) == 8


def test_a_loop_without_a_state_is_named_box_by_box():
    parts = {"p": mealy(0.1), "q": mealy(0.2), "r": moore(0.3)}
    wires = {"p.a": "q.x", "p.b": "u", "q.a": "p.x", "q.b": "r.x", "r.a": "p.x", "r.b": "q.x"}
    with pytest.raises(PortMismatch, match=r"loop `(p` → `q` → `p|q` → `p` → `q)`.* Moore"):
        wire(parts, wires, {"x": "r.x"}, inputs={"u": float})


class Power(eqx.Module):
    """Adds a power of what it hears; the exponent is static."""

    exponent: Any = eqx.field(static=True)

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        return MooreF({"x": s}, lambda i: jnp.float32(i["u"] ** self.exponent))


def test_boxes_whose_static_values_are_equal_and_not_the_same_are_not_computed_as_one():
    ports: dict[str, Any] = {"inputs": {"u": int}, "outputs": {"x": float}}
    inputs = {"u": jnp.array([2000])}
    with jax.numpy_dtype_promotion("standard"):
        parts = {name: box(Power(k), 0.0, **ports) for name, k in (("p", 3), ("q", 3.0))}
        system = wire(parts, {"p.u": "u", "q.u": "u"}, {"p": "p.x", "q": "q.x"}, inputs={"u": int})
        cdl.run(system, system.state, inputs)
    assert len(system.plan.steps) == 2


def test_what_comes_in_is_of_the_type_of_its_port():
    one: System = box(
        lambda s: MooreF({"x": s}, lambda i: i["u"]), 0.0, inputs={"u": float}, outputs={"x": float}, name="one"
    )
    told = "astype", "give a value", ".real"
    for wrong, words in zip((jnp.array([200], jnp.uint8), jnp.ones((1, 3)), jnp.array([1j])), told, strict=True):
        with pytest.raises(CdlError, match=rf"`one` .* `u`.* f32\[\].*{words}"):
            cdl.run(one, one.state, {"u": wrong})
    answer, _ = cdl.machines.start(one, one.state).step({"u": 2.0})
    assert answer["x"] == 2.0
    assert jax.tree.leaves(one(one.state).step({"u": 2})) == [2.0]


def test_the_law_takes_ticks_a_key_and_a_system_that_shows_nothing():
    noisy = lambda s, *, key=None: MooreF({"x": s + jax.random.normal(key)}, lambda i: i["a"] + jax.random.uniform(key))
    b = box(noisy, 0.0, inputs={"a": float}, outputs={"x": float})
    pair = wire({"p": b, "q": b}, {"p.a": "u", "q.a": "p.x"}, {"x": "q.x"}, inputs={"u": float})
    laws.system(pair, [{"u": 1}, {"u": jnp.array(2.0)}], key=jax.random.key(0), tolerance=1e-6)
    with pytest.raises(CdlError, match="empty"):
        laws.system(pair, [])
    with pytest.raises(CdlError, match=r"`system` was given \['v'\], and its inputs are \['u'\]"):
        laws.system(pair, [{"u": 1.0}, {"v": 1.0}])
    still = box(lambda s: MooreF({"k": s}, lambda i: s), jax.random.key(0), outputs={"k": jax.random.key(0)})
    for shows in ({}, {"k": "p.k"}):
        laws.system(wire({"p": still}, {}, shows), [{}, {}])
