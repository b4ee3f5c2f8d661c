"""Systems explained: their ports and boxes, which boxes share weights, when they answer, and the laws that were run."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import cdl
from cdl import explain
from cdl.errors import CdlError
from cdl.explanation import Explanation
from cdl.system import (
    Box,
    box,
    discretise,
    field,
    fixed,
    Interface,
    rewire,
    System,
    wire,
    Wired,
    Wiring,
)
from cdl_arch.system.circuits import disjunction


PORTS: dict[str, Any] = {"inputs": {"in": float}, "outputs": {"out": float}}


class Leak(eqx.Module):
    rate: jax.Array

    def __call__(self, s: Any, /) -> cdl.MooreF[Any, Any, Any]:
        return cdl.MooreF({"out": s}, lambda i: jnp.tanh(self.rate * s + i["in"]))


def leak(rate: float) -> Box:
    return box(Leak(jnp.array(rate)), 0.0, **PORTS)


def row(*parts: Any) -> Wired:
    wires = {f"n{k}.in": f"n{k - 1}.out" if k else "x" for k in range(len(parts))}
    boxes = {f"n{k}": part for k, part in enumerate(parts)}
    return wire(boxes, wires, {"out": f"n{len(parts) - 1}.out"}, inputs={"x": float}, name="row")


@pytest.fixture(scope="module")
def tied() -> Explanation:
    cell = leak(0.5)
    return explain(row(cell, cell, leak(0.3), leak(0.2)))


def test_explain_tells_ports_boxes_and_latencies_of_a_system(tied):
    assert (tied.name, tied.kind) == ("row", "a system, a Moore machine")
    assert {"I = (x: f32[])", "O = (out: f32[])", "`out` answers `x` after 4 ticks"} <= set(tied.where)
    assert tied.boxes[:2] == ("4 boxes", "n0: Leak, Moore, (in: f32[]) → (out: f32[])")


def test_boxes_that_share_weights_are_told_and_counted_once(tied):
    assert tied.size == 3
    assert [line for line in tied.tying if "machines" in line][:2] == [
        "machines[0]: n0, n1 share one set of weights",
        "machines[1] has a row of weights for each of n2, n3",
    ]


def test_the_laws_are_those_of_a_machine_and_that_of_the_diagram(tied):
    assert tied.holds
    assert [x.law.partition(",")[0] for x in tied.laws] == [
        "a system is its boxes",
        "run γ s = respond (ana γ s)",
        "start γ s",
        "∇ (run γ) = Σ ∇ (untied γ)",
        "as many operations for 4 steps as for 8",
    ]


def test_a_system_that_runs_otherwise_than_its_boxes_is_told(monkeypatch):
    monkeypatch.setattr(Wired, "boxes", property(lambda self: {"n0": leak(0.9)}))
    assert not explain(row(leak(0.5))).laws[0].holds


def test_gates_a_loop_and_an_answer_at_once_have_their_latencies():
    gates = explain(disjunction())
    assert gates.holds
    assert gates.size == 0
    assert "`out` answers `a` after 2 ticks" in gates.where
    sums = box(cdl.machines.stateless(lambda i: {"y": i["a"] + i["b"]}), (), inputs=dict.fromkeys("ab", float),
               outputs={"y": float}, name="sum")  # fmt: skip
    loop = wire(
        {"leak": leak(0.5), "sum": sums},
        {"leak.in": "sum.y", "sum.a": "x", "sum.b": "leak.out"},
        {"out": "sum.y"},
        inputs={"x": float},
    )
    found = explain(loop)
    assert found.kind == "a system, a Mealy machine"


def test_explain_takes_a_box_a_changing_diagram_and_a_field():
    one = explain(leak(0.5), {"in": jnp.ones(2)}, state=jnp.array(0.25))
    assert (one.boxes, one.size, one.holds) == ((), 1, True)
    gate = Interface(**PORTS)
    changes = fixed(Wiring({"cell": gate}, {"cell.in": "x"}, {"out": "cell.out"}, {"x": float}))
    again = explain(rewire(changes, {"cell": leak(0.5)}, {"out": float}, inputs={"x": float}))
    assert again.boxes[0] == "1 box"
    assert any("no latency" in line for line in again.where)
    fall = field(lambda s: {"v": -s["v"]}, {"v": float})
    assert explain(discretise(fall, {"v": 1.0}, step=0.1)).where[1] == "I = ()"
    with pytest.raises(CdlError, match=r"`explain\(discretise\("):
        explain(fall)
    with pytest.raises(CdlError, match=r"`explain\(oapply\("):
        explain(Wiring({"p": gate}, {"p.in": "x"}, {"out": "p.out"}, {"x": float}))


class Reader(System):
    """A system of a user's, which reads the state that it begins in."""

    rate: Any
    state: Any
    interface: Interface = eqx.field(static=True, default=Interface({}, {"x": float}))
    name: str = "own"

    def __call__(self, s: Any, /, *, key: Any = None) -> cdl.MooreF[Any, Any, Any]:
        return cdl.MooreF({"x": s - self.state}, lambda i: self.rate * s)


def test_explain_counts_no_state_as_a_parameter():
    systems = {f"p{k}": Reader(jnp.array(0.5 + k), jnp.array(1.0 + k)) for k in range(2)}
    found = explain(wire(systems, {}, {"x": "p0.x"}))
    assert (found.size, found.holds) == (2, True)
    alone = explain(systems["p0"])
    assert (alone.size, alone.where[:2], alone.holds) == (1, ("P = ℝ¹", "S = f32[]"), True)


def test_a_system_that_shows_nothing_or_keys_is_explained():
    echo = box(lambda s: cdl.MooreF({"out": s}, lambda i: i["in"]), 0.0, **PORTS)
    assert explain(wire({"p": echo}, {"p.in": "p.out"}, {})).holds
    key = jax.random.key(0)
    chance = box(lambda s: cdl.MooreF({"k": s}, lambda i: jax.random.split(s)[0]), key, outputs={"k": key})
    for system in (chance, wire({"p": chance}, {}, {"k": "p.k"})):
        assert explain(system).holds
