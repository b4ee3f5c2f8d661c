"""How long an output takes to answer: counted on the wires."""

import itertools
import math
from typing import Any

import jax.numpy as jnp

from cdl import MealyF, MooreF
from cdl.system import box, latency, System, wire


PORTS: Any = {"inputs": {"a": float}, "outputs": {"x": float}}


def slow() -> System:
    return box(lambda s: MooreF({"x": s}, lambda i: i["a"]), 0.0, **PORTS)


def quick() -> System:
    return box(lambda s: MealyF(lambda i: ({"x": i["a"]}, s)), (), **PORTS)


def row(*parts: System) -> System:
    names = [f"n{k}" for k in range(len(parts))]
    wires = {f"{name}.a": f"{before}.x" for before, name in itertools.pairwise(names)}
    last = f"{names[-1]}.x"
    return wire(dict(zip(names, parts, strict=True)), {**wires, "n0.a": "u"}, {"y": last}, inputs={"u": float})


def test_a_tick_is_counted_for_each_moore_machine_and_none_for_what_answers_at_once():
    assert latency(slow()) == {"x": {"a": (1, 1)}}
    assert latency(quick()) == {"x": {"a": (0, 0)}}
    assert latency(row(slow(), quick(), slow(), quick())) == {"y": {"u": (2, 2)}}


def test_after_a_loop_the_longest_path_has_no_end_and_an_input_that_does_not_arrive_is_left_out():
    system = wire(
        {"p": slow(), "q": slow(), "r": slow()},
        {"p.a": "u", "q.a": "q.x", "r.a": "p.x"},
        {"y": "r.x", "z": "q.x"},
        inputs={"u": float, "v": float},
    )
    assert latency(system) == {"y": {"u": (2, 2)}, "z": {}}

    def add(s: Any) -> Any:
        return MooreF({"x": s}, lambda i: i["a"] + 0.5 * i["b"])

    echo = box(add, jnp.array(0.0), inputs={"a": float, "b": float}, outputs={"x": float})
    loop = wire({"p": echo, "q": slow()}, {"p.a": "u", "p.b": "q.x", "q.a": "p.x"}, {"y": "q.x"}, inputs={"u": float})
    assert latency(loop) == {"y": {"u": (2, math.inf)}}
