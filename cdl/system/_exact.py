"""What crosses the ports of a machine, in exactly the types that these have.

A Python number, and what is computed from such numbers alone, takes the type of what it meets: a port of 32 bits would
hand on 16 of them. So what comes in, what is shown and what is kept are arrays of a fixed type, here alone.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .._engine.arrays._given import arrays
from .._engine.arrays.shapes import is_weak, shown
from .._functors import MealyF, MooreF
from .._functors.words import short
from .._schemes.expect import expect_answer, expect_step
from ..errors import CarrierMismatch, PortMismatch
from ._interface import Interface


def exact(value: Any) -> Any:
    """A value as arrays, each of a fixed type."""
    return jax.tree.map(lambda x: jnp.asarray(x, x.dtype) if is_weak(x) else x, jax.tree.map(jnp.asarray, value))


def strong(state: Any) -> Any:
    """A state that a user gives, of arrays of fixed types. **Raises:** `PayloadMismatch` for what is not a number."""
    return exact(arrays(state, "a state"))


def fitted(name: str, interface: Interface, state: Any, layer: Any) -> Any:
    """A layer of a machine, with what it shows, and its next state, in the types of the ports and of its state.

    **Raises:** `PortMismatch` for other outputs than its ports; `CarrierMismatch` for a step that is not a function,
    does not answer with a pair where it should, or does not keep the state's type.
    """
    expect_step(name, layer)
    if isinstance(layer, MooreF):
        return MooreF(shows(name, interface, layer.out), lambda inputs: keeps(name, state, layer.step(inputs)))

    def answer(inputs: Any) -> Any:
        out, after = expect_answer(name, layer.step(inputs))
        return shows(name, interface, out), keeps(name, state, after)

    return MealyF(answer)


def shows(name: str, interface: Interface, out: Any) -> dict[str, Any]:
    """The outputs of a system, as its ports are. **Raises:** `PortMismatch` where they are others."""
    expected = {port: of.struct for port, of in interface.outputs.items()}
    if not isinstance(out, Mapping) or set(out) != set(expected):
        given = short(sorted(out, key=str)) if isinstance(out, Mapping) else shown(out)
        raise PortMismatch(
            f"`{name}` gives {given}, and its outputs are {short(sorted(expected))}: give a dictionary with a value "
            "for each."
        )
    found = {port: exact(arrays(out[port], f"the output `{port}` of `{name}`")) for port in expected}
    for port, struct in expected.items():
        if types(found[port]) != types(struct):
            raise PortMismatch(
                f"the output `{port}` of `{name}` is {shown(found[port])}, and its port is {shown(struct)}: give both "
                "one type."
            )
    return found


def keeps(name: str, state: Any, after: Any) -> Any:
    """The next state of a system. **Raises:** `CarrierMismatch` where it has another type than the state before."""
    after = exact(arrays(after, f"the next state of `{name}`"))
    if types(after) != types(state):
        raise CarrierMismatch(
            f"a step of `{name}` goes from {shown(state)} to {shown(after)}: keep the state's structure, shapes and "
            "types."
        )
    return after


def types(value: Any) -> Any:
    """The structure, shapes and types of a value."""
    leaves, structure = jax.tree.flatten(value)
    return structure, [(tuple(x.shape), x.dtype) for x in map(_shaped, leaves)]


def _shaped(x: Any) -> Any:
    return x if hasattr(x, "dtype") else jax.eval_shape(lambda: jax.numpy.asarray(x))
