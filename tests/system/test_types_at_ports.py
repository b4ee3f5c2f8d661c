"""What crosses a port has the port's type, and stands for no number of Python's, whose type would be another's."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import cdl
from cdl import MealyF, MooreF
from cdl.errors import CdlError
from cdl.system import box, field, managed, modes, rewire, Rewired, rewiring, share, System, wire


PORTS: Any = {"inputs": {"a": float}, "outputs": {"x": float}}
SEEN: list[Any] = []


def saw(value: Any, then: Any) -> Any:
    SEEN.append(value)
    return then


def moore(s: Any) -> MooreF[Any, Any, Any]:
    return saw(s, MooreF({"x": 0.1}, lambda i: saw(i, 0.5)))


def mealy(s: Any) -> MealyF[Any, Any, Any]:
    return saw(s, MealyF(lambda i: saw(i, ({"x": 0.1}, 0.5))))


M, N = box(moore, 0.0, **PORTS), box(mealy, 0.0, **PORTS)
WIRED = wire({"m": M, "n": N, "o": N}, {"m.a": "a", "n.a": "a", "o.a": "m.x"}, {"x": "n.x"}, inputs={"a": float})


def rewired() -> Rewired:
    forward, back = lambda s, i: saw((s, i), {"x": 0.1}), lambda s, i, d: saw(d, {"m": {"a": 0.1}})
    return rewire(rewiring(forward, back, lambda s, i, d: 0.5, 0.0), {"m": M}, {"x": float}, inputs={"a": float})


SYSTEMS: dict[str, Callable[[], System]] = {
    "moore": lambda: M,
    "mealy": lambda: N,
    "wired": lambda: WIRED,
    "rewired": rewired,
    "managed": lambda: managed(rewired()),
    "modal": lambda: modes({"m": M, "n": M}, lambda s: saw(s, jnp.int32(0)), 0.0),
    "boxed": lambda: box(WIRED, WIRED.state, **PORTS),
}


def kinds(value: Any) -> set[str]:
    """The types of arrays; that of a number of Python's with a star."""
    return {f"{jnp.asarray(x).dtype}{'*' * jnp.asarray(x).weak_type}" for x in jax.tree.leaves(value)}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_number_of_python_is_an_array_of_the_ports_type_wherever_it_comes_from(name):
    system = SYSTEMS[name]()
    SEEN.clear()
    begin = jax.tree.map(lambda x: 0.0 if not x.shape else jnp.full(x.shape, 0.0), system.state)
    inputs = jax.tree.map(lambda _: 0.1, {name: port.struct for name, port in system.interface.inputs.items()})
    layer = system(begin)
    found = [layer.out, layer.step(inputs)] if isinstance(layer, MooreF) else layer.step(inputs)
    assert kinds((SEEN, found)) - {"int32"} == {"float32"}
    _, stepper = (after := cdl.machines.start(system, begin).step(inputs))
    assert kinds(after[0]) - {"int32"} == kinds(stepper.state) == {"float32"}


class Leak(eqx.Module):
    rate: jax.Array

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        return MooreF({"x": self.rate * s}, lambda i: self.rate * s)


@pytest.mark.parametrize("rates", [(0.3, 0.7), (0.3, jnp.bfloat16(0.7))], ids=["alike", "apart"])
def test_weights_that_are_numbers_of_python_have_one_type_alone_and_beside_others(rates):
    each = [box(Leak(jnp.asarray(r)), jnp.bfloat16(1.3), outputs={"x": jnp.bfloat16}) for r in rates]
    system = wire(dict(zip("pq", each, strict=True)), {}, {x: f"{x}.x" for x in "pq"})
    together = cdl.run(system, system.state, jnp.arange(3))[0]
    for name, one in zip("pq", each, strict=True):
        assert together[name].dtype == jnp.bfloat16
        assert (together[name] == cdl.run(one, one.state, jnp.arange(3))[0]["x"]).all()
    assert [x.machine.rate.weak_type for x in system.boxes.values()] == [x.machine.rate.weak_type for x in each]


@pytest.mark.parametrize("name", ["wired", "rewired", "modal"])
def test_a_state_of_another_type_is_refused(name):
    system = SYSTEMS[name]()
    inputs = {name: jax.tree.map(lambda x: jnp.ones(2), port.struct) for name, port in system.interface.inputs.items()}
    for wrong in (jnp.bfloat16, jnp.int32):
        with pytest.raises(CdlError, match=r"state .*(bf16|i32).*f32"):
            cdl.run(system, jax.tree.map(lambda x, wrong=wrong: x.astype(wrong), system.state), inputs)


def test_rates_are_of_the_types_of_their_variables():
    clock = field(lambda v, i: saw((v, i), {"t": 1.0}), {"t": float}, inputs={"u": float})
    for each in (clock, share({"p": clock, "q": clock}, {"t": ["p.t", "q.t"]})):
        SEEN.clear()
        assert kinds((each.rate({"t": 0.1}, {"u": 0.1}), SEEN)) == {"float32"}
