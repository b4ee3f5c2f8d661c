"""Boxes: machines that a user gives, with their ports."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

import equinox as eqx

from .._functors import MealyF, MooreF
from .._functors.usage import with_usage
from .._schemes.algebras import name_of
from .._schemes.compose import layer_of
from .._schemes.expect import expect_machine
from ._drawing.picture import Drawn
from ._exact import fitted, strong
from ._given import given_to
from ._interface import expect_title, Interface
from ._states import held
from ._system import is_moore, System
from ._ties import tie_to


@final
class Box(System):
    """A machine as it is given, with its ports. Made by `box`.

    A `machine` that is a system of `cdl` has `None` for its state: the box has the one to begin in.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> delay, delay.state
        (Box('<lambda>': (x: i32[]) → (out: i32[])), Array(0, dtype=int32))
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
        state = held(self, state)
        layer = fitted(self.name, self.interface, state, layer_of(self.machine, state, key))

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
    keep the state's type; `CdlError` for what is not a machine.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> cdl.run(delay, delay.state, {"x": jnp.array([3, 1, 4])})[0]
        {'out': Array([0, 3, 1, 4], dtype=int32)}
    """
    expect_machine("box", machine)
    interface = Interface(inputs or {}, outputs)
    called = expect_title("box", name or name_of(machine))
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
