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
from typing import Any, ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp

from .._drawing.diagram import Diagram
from .._engine._given import arrays
from .._engine._types import cast, misfit, Own
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
from ._ties import tie_to


class System(eqx.Module):
    """A machine with named and typed ports, and a state to begin in: `run(system, system.state, inputs)`.

    `inputs` is an array for each port, with an axis of time; a system that has none is run on ticks, such as
    `jnp.arange(100)`. `interface`: its ports. `state`: the one to begin in, a pytree of arrays. `name`: what a picture
    calls it.
    """

    interface: eqx.AbstractVar[Interface]
    state: eqx.AbstractVar[Any]
    name: eqx.AbstractVar[str]
    reads_state: ClassVar[bool] = True  # whether a layer may read the state to begin in

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
    """A machine as it is given, with its ports. Made by `box`.

    A `machine` that is a system of `cdl` has `None` for its state: the box has the one to begin in.
    """

    reads_state = False
    machine: Callable[..., Any]
    state: Any
    interface: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)

    @property
    def inner(self) -> System | None:
        """The system that is its machine, if one is, with the state that the box begins in."""
        return with_state(self.machine, self.state) if isinstance(self.machine, System) else None

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        layer = layer_of(self.machine, state, key)

        def step(inputs: Any) -> Any:
            return layer.step(given_to(self, inputs))

        return MooreF(layer.out, step) if isinstance(layer, MooreF) else MealyF(step)

    def drawn(self) -> Drawn:
        return replace(self.inner.drawn() if self.inner else super().drawn(), name=self.name)


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
    called = name or name_of(machine)
    made = Box(machine=without_state(machine), state=strong(state), interface=interface, name=called)
    is_moore(made)
    return made


def without_state(machine: Any) -> Any:
    """A system without the state that it begins in, for what holds that itself; another machine as it is."""
    if not isinstance(machine, System) or machine.reads_state or machine.state is None:
        return machine
    made = replace(machine, state=None)
    tie_to(made, machine)
    return made


def with_state(system: System, state: Any) -> System:
    """The other way of `without_state`."""
    return system if system.reads_state else replace(system, state=state)


def strong(state: Any) -> Any:
    """A state of arrays, each of a type of its own: a number of Python's would take that of whatever it meets."""
    return jax.tree.map(lambda x: jnp.asarray(x, x.dtype) if is_weak(x) else x, arrays(state, "a state"))


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
        given = sorted(map(str, inputs)) if isinstance(inputs, Mapping) else inputs
        raise PortMismatch(
            f"`{system.name}` was given {short(given)}, and its inputs are {short(sorted(ports))}: give a dictionary "
            "with a value for each."
        )
    return {name: _given(system, name, inputs[name], port.struct) for name, port in ports.items()}


def _given(system: System, name: str, value: Any, struct: Any) -> Any:
    value = arrays(value, f"the input `{name}` of `{system.name}`")
    leaves, structure = jax.tree.flatten(struct)
    own = Own.of(value)
    if not own.alike(Own(structure, tuple(leaves))) or misfit(leaves, own) is not None:
        traced = any(x.weak_type and written is None for x, written in zip(own.leaves, own.written, strict=True))
        raise PortMismatch(
            f"`{system.name}` was given {shown(value)} for `{name}`, whose type is {shown(struct)}: give that."
            + (" A Python number that is traced stays of its kind: write `2.0`, and not `2`." if traced else "")
        )
    return jax.tree.map(cast, value, struct)


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
