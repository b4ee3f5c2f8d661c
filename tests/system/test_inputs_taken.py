"""What systems take: whole numbers of every type for a choice, states in the types of boxes, numbers of Python."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl import MooreF
from cdl.system import among, box, Interface, modes, rewire, System, wire


def echo(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"x": s}, lambda i: i["a"])


GATE: Any = {"inputs": {"a": float}, "outputs": {"x": float}}
BOXES = {name: box(echo, 0.0, **GATE) for name in "pq"}
PAIR = wire(BOXES, {"p.a": "q.x", "q.a": "p.x"}, {"x": "p.x"})


@pytest.mark.parametrize("number", [1, np.int64(1), jnp.uint8(1)], ids=["int", "int64", "uint8"])
def test_a_choice_takes_whole_numbers_of_every_type(number):
    diagram = among([PAIR.wiring] * 2, lambda s: number, lambda s, i, d: s, 0)
    given = {name: {"a": jnp.ones(1)} for name in "pq"}
    for system in (rewire(diagram, BOXES, {"x": float}), modes(BOXES, lambda s: number, jnp.array(0.0))):
        assert cdl.run(system, system.state, given)[0]


def test_pack_gives_states_the_types_of_their_boxes():
    packed = PAIR.pack({"p": 1, "q": jnp.float32(2)})
    assert [x.tolist() for x in packed] == [[1.0, 2.0]]
    assert {path: float(x) for path, x in PAIR.states(PAIR.pack({"q": 3.0})).items()} == {"p": 0.0, "q": 3.0}
    chance = wire({"p": box(lambda s: MooreF({}, lambda i: s), jax.random.key(0), outputs={})}, {}, {})
    assert chance.pack({"p": jax.random.key(7)}) == (jax.random.key(7),)


class Own(System):
    """A system whose state is what it is given."""

    state: Any
    interface: Interface = eqx.field(static=True, default=Interface({"a": float}, {"x": float}))
    name: str = "own"

    def __call__(self, s: Any, /, *, key: Any = None) -> MooreF[Any, Any, Any]:
        return MooreF({"x": 0.5 * jnp.asarray(s["n"], jnp.float32)}, lambda i: {"n": s["n"] + 1})


@pytest.mark.parametrize("one", [1, np.float64(1), jnp.array(1)], ids=["int", "float64", "array"])
def test_own_systems_begin_with_numbers_of_python(one):
    parts = {"o": Own({"n": one}), "r": Own({"n": one})}
    system = wire(parts, {"o.a": "a", "r.a": "o.x"}, {"x": "r.x"}, inputs={"a": float})
    assert cdl.run(system, system.state, {"a": jnp.ones(2)})[0]["x"].tolist() == [0.5, 1.0, 1.5]
