"""Wiring diagrams: an operad, a lens, and what is refused when one is built."""

import random
from collections import OrderedDict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl.errors import PortMismatch
from cdl.system import box, Interface, Port, Wiring


GATE = Interface({"a": float, "b": float}, {"x": float, "y": float})


def some(draw: random.Random, most: int = 3) -> Wiring:
    """A diagram of one to three gates in a gate, with wires drawn from every source there is: loops too, outputs that
    drive nothing, and several inputs with one driver."""
    boxes = "pqr"[: draw.randint(1, most)]
    sources = ["a", "b", *(f"{box}.{port}" for box in boxes for port in "xy")]
    wires = {f"{box}.{port}": draw.choice(sources) for box in boxes for port in "ab"}
    return Wiring(dict.fromkeys(boxes, GATE), wires, {p: draw.choice(sources[2:]) for p in "xy"}, GATE.inputs)


@pytest.mark.parametrize("seed", range(40))
def test_substitution_is_associative_and_has_the_identity_for_its_unit(seed):
    draw = random.Random(seed)
    f, g, h = some(draw), some(draw), some(draw)
    at, then = draw.choice(list(f.boxes)), draw.choice(list(g.boxes))
    assert f.substitute(at, g).substitute(f"{at}.{then}", h) == f.substitute(at, g.substitute(then, h))
    assert _named(f.substitute(at, Wiring.identity(GATE)), {f"{at}.box": at}) == f
    assert _named(Wiring.identity(GATE).substitute("box", f), {f"box.{box}": box for box in f.boxes}) == f
    if other := [box for box in f.boxes if box != at]:
        assert f.substitute(at, g).substitute(other[0], h) == f.substitute(other[0], h).substitute(at, g)


def _named(wiring: Wiring, names: dict[str, str]) -> Wiring:
    """A diagram with other names for its boxes."""

    def source(x: str) -> str:
        box, dot, port = x.rpartition(".")
        return f"{names.get(box, box)}{dot}{port}"

    boxes = {names.get(box, box): x for box, x in wiring.boxes.items()}
    wires = {source(target): source(x) for target, x in wiring.wires.items()}
    return Wiring(boxes, wires, {p: source(x) for p, x in wiring.outputs.items()}, wiring.inputs)


@pytest.mark.parametrize("seed", range(20))
def test_a_diagram_in_a_diagram_is_the_composite_of_their_lenses(seed):
    draw = random.Random(seed)
    f, g = some(draw), some(draw)
    at = draw.choice(list(f.boxes))
    whole = f.substitute(at, g)
    out = {box: {p: draw.random() for p in "xy"} for box in whole.boxes}
    given = {p: draw.random() for p in "ab"}

    inner = {box: out[f"{at}.{box}"] for box in g.boxes}
    outer: Any = {box: g.lens().get(inner) if box == at else out[box] for box in f.boxes}
    assert whole.lens().get(out) == f.lens().get(outer)
    back = f.lens().put(outer, given)
    within = g.lens().put(inner, back.pop(at))
    assert whole.lens().put(out, given) == {**back, **{f"{at}.{box}": x for box, x in within.items()}}


def test_a_port_is_the_shape_of_what_flows_through_it():
    assert Port.of(bool).struct == jax.ShapeDtypeStruct((), bool)
    assert Port.of(jnp.zeros((2, 3))).struct == jax.ShapeDtypeStruct((2, 3), jnp.float32)
    assert Port.of({"u": jnp.bfloat16}).struct == {"u": jax.ShapeDtypeStruct((), jnp.bfloat16)}
    assert Port.of(Port.of(int)) == Port.of(int) != Port.of(int, "m")
    assert hash(Port.of(int)) == hash(Port.of(int))
    assert str(GATE) == "(a: f32[], b: f32[]) → (x: f32[], y: f32[])"
    assert str(Port.of(float, "m")) == "f32[] in m"
    assert Port.of(np.zeros((2, 3))) == Port.of(jnp.zeros((2, 3)))
    assert Port.of(Port.of(float), "m") == Port.of(float, "m") == Port.of(Port.of(float, "m"))
    assert [Port.of(x).struct.dtype for x in (np.int32, np.bool_)] == [jnp.int32, jnp.bool_]


def test_an_error_lists_what_is_like_the_name_first_and_not_all_of_a_large_diagram():
    boxes = dict.fromkeys([f"b{k}" for k in range(50)], Interface({"heat": float}, {"out": float}))
    with pytest.raises(PortMismatch, match=r"`b7.heat`, .* 42 more"):
        Wiring(boxes, {"b7.heta": "x"}, {}, {"x": float})


def test_a_port_an_interface_and_a_system_are_written_short():
    ports = Interface({"heat": Port.of(float, "W")}, {"out": bool})
    assert repr(ports.inputs["heat"]) == "Port(f32[] in W)"
    assert repr(ports) == "Interface(heat: f32[] in W) → (out: bool[])"
    shows = lambda s: cdl.MooreF({"out": s}, lambda i: s)
    bit = box(shows, False, inputs=ports.inputs, outputs=ports.outputs, name="b")
    assert repr(bit) == "Box('b': (heat: f32[] in W) → (out: bool[]))"


def test_ports_whose_dictionaries_are_equal_in_another_order_are_not_joined():
    boxes = {
        "p": Interface({}, {"x": OrderedDict(b=float, a=float)}),
        "q": Interface({"x": {"a": float, "b": float}}, {}),
    }
    with pytest.raises(PortMismatch, match="join ports of one type"):
        Wiring(boxes, {"q.x": "p.x"}, {})
