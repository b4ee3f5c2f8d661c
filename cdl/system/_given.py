"""What comes into a system from outside, in the types of its ports."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .._engine.arrays._carrier import Carrier, cast, misfit
from .._engine.arrays._given import arrays
from .._engine.arrays.shapes import shown
from .._functors.described import described
from .._functors.words import short
from ..errors import PortMismatch
from ._asked import Asked
from ._exact import exact
from ._system import System


def given_to(system: System, inputs: Any) -> Any:
    """What comes into a system from outside: a value of each port's type. A system without inputs takes anything.

    **Raises:** `PortMismatch` for a port that has no value, a value that has no port, and one of another type; a Python
    number takes the type of its port by the rule of `fold`: written out, where that type holds it.
    """
    ports = system.interface.inputs
    if not ports:
        return {}
    if isinstance(inputs, Asked):
        return inputs
    if not isinstance(inputs, Mapping) or set(inputs) != set(ports):
        given = short(sorted(map(str, inputs))) if isinstance(inputs, Mapping) else described(inputs)
        raise PortMismatch(
            f"`{system.name}` was given {given}, and its inputs are {short(sorted(ports))}: give a dictionary "
            "with a value for each."
        )
    return {name: _given(system, name, inputs[name], port.struct) for name, port in ports.items()}


def _given(system: System, name: str, value: Any, struct: Any) -> Any:
    value = arrays(value, f"the input `{name}` of `{system.name}`")
    leaves, structure = jax.tree.flatten(struct)
    own = Carrier.of(value)
    if not own.alike(Carrier(structure, tuple(leaves))) or misfit(leaves, own) is not None:
        raise PortMismatch(
            f"`{system.name}` was given {shown(value)} for `{name}`, whose type is {shown(struct)}: "
            f"{_cast_to(own, leaves)}."
        )
    return exact(jax.tree.map(cast, value, struct))


def _cast_to(own: Carrier, leaves: list[Any]) -> str:
    """What to write for a value of another type than that of a port with these leaves."""
    if len(leaves) == len(own.leaves) == 1 and own.leaves[0].shape == leaves[0].shape:
        real = not jnp.issubdtype(own.leaves[0].dtype, jnp.complexfloating)
        return f'write `.astype("{leaves[0].dtype}")`' if real else "give its `.real`"
    return "give a value of that type"
