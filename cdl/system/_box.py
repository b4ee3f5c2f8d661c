"""Open systems: machines with an interface, and boxes, which are machines that a user gives.

| the mathematics                            | here                                                       |
| ------------------------------------------ | ---------------------------------------------------------- |
| a lens `S y^S → A y^B`                     | a `System` that is a Moore machine: `MooreF(out, step)`    |
| a causal map with a state                  | one that is a Mealy machine: `MealyF(step)`                |

Inputs and outputs are dictionaries, by the names of the ports.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from .._drawing.diagram import Diagram
from .._engine._given import arrays
from .._engine.shapes import is_weak, shown
from .._functors import MealyF, MooreF
from .._functors.usage import with_usage
from .._functors.words import short
from .._schemes.algebras import name_of, wants_key
from .._schemes.compose import layer_of
from .._schemes.expect import expect_machine
from ..errors import CarrierMismatch, CdlError, PortMismatch
from ._asked import Asked, no_port
from ._interface import Interface
from ._picture import Drawn, system_diagram


class System(eqx.Module):
    """A machine with named and typed ports, and a state to begin in: `run(system, system.state, inputs)`.

    `inputs` is an array for each port, with an axis of time; a system that has none is run on ticks, such as
    `jnp.arange(100)`. `interface`: its ports. `state`: the one to begin in, a pytree of arrays. `name`: what a picture
    calls it.
    """

    interface: eqx.AbstractVar[Interface]
    state: eqx.AbstractVar[Any]
    name: eqx.AbstractVar[str]

    @property
    def __called__(self) -> str:
        return self.name

    @abstractmethod
    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        """The layer at a state: `MooreF`, or `MealyF` where an output waits for an input."""

    def __diagram__(self) -> Diagram:
        return system_diagram(self.drawn())

    def drawn(self) -> Drawn:
        """What a picture shows of it."""
        return Drawn(self.name, self.interface, is_moore(self))


@final
class Box(System):
    """A machine as it is given, with its ports. Made by `box`."""

    machine: Callable[..., Any]
    state: Any
    interface: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        layer = layer_of(self.machine, state, key)

        def step(inputs: Any) -> Any:
            return layer.step(given_to(self, inputs))

        return MooreF(layer.out, step) if isinstance(layer, MooreF) else MealyF(step)

    def drawn(self) -> Drawn:
        inner = self.machine.drawn() if isinstance(self.machine, System) else super().drawn()
        return replace(inner, name=self.name)


@with_usage
def box(
    machine: Callable[..., Any],
    state: Any,
    *,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any],
    name: str | None = None,
) -> Box:
    """A machine as a system.

    **Arguments:** `machine`: from a state to `MooreF(out, step)` or `MealyF(step)`, whose inputs and outputs are
    dictionaries by the names of the ports. `state`: the one to begin in; `()` where there is none. `inputs`,
    `outputs`: for each port what `Port.of` takes. `name`: the machine's own, if it is not given.

    **Raises:** `PortMismatch` where the machine does not give the outputs; `CarrierMismatch` where a step does not
    keep the state's type; `CdlError` for what is no machine.
    """
    expect_machine("box", machine)
    interface = Interface(inputs or {}, outputs)
    made = Box(machine=machine, state=strong(state), interface=interface, name=name or name_of(machine))
    is_moore(made)
    return made


def strong(state: Any) -> Any:
    """A state of arrays, each of a type of its own: a number of Python's would take that of whatever it meets."""
    return jax.tree.map(lambda x: jnp.asarray(x, x.dtype) if is_weak(x) else x, arrays(state, "a state"))


def given_to(system: System, inputs: Any) -> Any:
    """What comes into a system from outside: a value of each port's type. A system without inputs takes anything.

    **Raises:** `PortMismatch` for a port that has no value, a value that has no port, and one of another type; a number
    of Python's takes the type of its port where that holds it.
    """
    ports = system.interface.inputs
    if not ports:
        return {}
    if isinstance(inputs, Asked):
        return inputs
    if not isinstance(inputs, Mapping) or set(inputs) != set(ports):
        given = sorted(map(str, inputs)) if isinstance(inputs, Mapping) else inputs
        raise PortMismatch(
            f"`{system.name}` was given {short(given)}, and its inputs are {short(sorted(ports))}: give a dictionary "
            "with a value for each."
        )
    return {name: _given(system, name, inputs[name], port.struct) for name, port in ports.items()}


def _given(system: System, name: str, value: Any, struct: Any) -> Any:
    def in_type(x: Any, s: Any) -> Any:
        holds = is_weak(x) and jnp.result_type(x.dtype, s.dtype) == s.dtype
        return jnp.asarray(x, s.dtype) if holds else x

    same = types(value)[0] == types(struct)[0]
    with jax.numpy_dtype_promotion("standard"):
        value = jax.tree.map(in_type, value, struct) if same else value
    if types(value) != types(struct):
        raise PortMismatch(
            f"`{system.name}` was given {shown(value)} for `{name}`, whose type is {shown(struct)}: give that."
        )
    return value


def is_moore(system: System) -> bool:
    """Whether a system shows its outputs before its inputs come.

    **Raises:** where the machine does not fit the interface.
    """
    kinds: list[type[Any]] = []

    def once(state: Any, inputs: Any, key: Any) -> Any:
        layer = layer_of(system, state, key)
        kinds.append(type(layer))
        return (layer.out, layer.step(inputs)) if isinstance(layer, MooreF) else layer.step(inputs)

    inputs = {name: port.struct for name, port in system.interface.inputs.items()}
    key = jax.eval_shape(lambda: jax.random.key(0)) if wants_key(getattr(system, "machine", system)) else None
    try:
        out, after = eqx.filter_eval_shape(once, system.state, inputs, key)
    except KeyError as error:
        machine = getattr(system, "machine", system)
        name = no_port(lambda given: layer_of(machine, system.state, key).step(given), inputs)
        if name is None:
            raise
        raise PortMismatch(
            f"`{system.name}` looks up {name}, and its inputs are {short(list(inputs))}: give it a port of that name, "
            "or mend the look-up."
        ) from error
    expected = {name: port.struct for name, port in system.interface.outputs.items()}
    found = out if isinstance(out, Mapping) else None
    if found is None or set(found) != set(expected):
        raise PortMismatch(
            f"`{system.name}` gives {short(sorted(found)) if found is not None else shown(out)}, and its outputs are "
            f"{short(sorted(expected))}: give a dictionary with a value for each."
        )
    for name, struct in expected.items():
        if types(found[name]) != types(struct):
            raise PortMismatch(
                f"the output `{name}` of `{system.name}` is {shown(found[name])}, and its port is {shown(struct)}: "
                "give both one type."
            )
    if types(after) != types(system.state):
        raise CarrierMismatch(
            f"a step of `{system.name}` goes from {shown(system.state)} to {shown(after)}: keep the state's structure, "
            "shapes and types."
        )
    return kinds[0] is not MealyF


def expect_system(of: str, name: str, system: Any) -> System:
    """**Raises:** `CdlError` for what is no system."""
    if not isinstance(system, System):
        raise CdlError(f"`{of}` fills the box `{name}` with a system, and was given {short(system)}: make it by `box`.")
    return system


def types(value: Any) -> Any:
    """The structure, shapes and types of a value."""
    leaves, structure = jax.tree.flatten(value)
    return structure, [(tuple(x.shape), x.dtype) for x in map(_shaped, leaves)]


def _shaped(x: Any) -> Any:
    return x if hasattr(x, "dtype") else jax.eval_shape(lambda: jax.numpy.asarray(x))
