"""Open systems: machines with an interface.

| the mathematics                            | here                                                       |
| ------------------------------------------ | ---------------------------------------------------------- |
| a lens `S y^S → A y^B`                     | a `System` that is a Moore machine: `MooreF(out, step)`    |
| a causal map with a state                  | one that is a Mealy machine: `MealyF(step)`                |

Inputs and outputs are dictionaries, by the names of the ports.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax

from .._drawing.diagram import Diagram
from .._engine.arrays.shapes import shown
from .._engine.calls._traced import noted
from .._functors import MealyF, MooreF
from .._functors.words import short
from .._schemes.algebras import wants_key
from .._schemes.compose import layer_of
from ..errors import CdlError, PortMismatch
from ._asked import no_port
from ._drawing.picture import Drawn, system_diagram
from ._exact import fitted
from ._interface import Interface


class System(eqx.Module):
    """A machine with named and typed ports, and a state to begin in: `run(system, system.state, inputs)`.

    `inputs` is an array for each port, with an axis of time; a system that has none is run on ticks, such as
    `jnp.arange(100)`. `interface`: its ports. `state`: the one to begin in, a pytree of arrays. `name`: what a picture
    calls it.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> cdl.run(delay, delay.state, {"x": jnp.array([3, 1, 4])})
        ({'out': Array([0, 3, 1, 4], dtype=int32)}, Array(4, dtype=int32))
    """

    interface: eqx.AbstractVar[Interface]
    state: eqx.AbstractVar[Any]
    name: eqx.AbstractVar[str]
    reads_state: ClassVar[bool] = True  # whether a layer may read the state to begin in

    @property
    def __called__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        """Short: `equinox.tree_pformat` writes all that is in it."""
        return f"{type(self).__name__}({self.name!r}: {self.interface})"

    @abstractmethod
    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        """The layer at a state: `MooreF`, or `MealyF` where an output waits for an input."""

    def __diagram__(self) -> Diagram:
        return system_diagram(self.drawn())

    def drawn(self) -> Drawn:
        """What a picture shows of it."""
        return Drawn(self.name, self.interface, is_moore(self))


def is_moore(system: System) -> bool:
    """Whether a system shows its outputs before its inputs come.

    **Raises:** where the machine does not fit the interface.
    """
    kinds: list[type[Any]] = []

    def tick(state: Any, inputs: Any, key: Any) -> Any:
        layer = fitted(system.name, system.interface, state, layer_of(system, state, key))
        kinds.append(type(layer))
        return (layer.out, layer.step(inputs)) if isinstance(layer, MooreF) else layer.step(inputs)

    inputs = {name: port.struct for name, port in system.interface.inputs.items()}
    key = jax.eval_shape(lambda: jax.random.key(0)) if wants_key(getattr(system, "machine", system)) else None
    given = lambda: f"a state of {shown(system.state)} and inputs of {shown(inputs)}"
    try:
        with noted(system.name, given, "give it the state, and the ports, of the shapes that it takes"):
            eqx.filter_eval_shape(tick, system.state, inputs, key)
    except KeyError as error:
        machine = getattr(system, "machine", system)
        name = no_port(lambda given: layer_of(machine, system.state, key).step(given), inputs)
        if name is None:
            raise
        raise PortMismatch(
            f"`{system.name}` looks up {name}, and its inputs are {short(list(inputs))}: give it a port of that name, "
            "or mend the look-up."
        ) from error
    return kinds[0] is not MealyF


def expect_system(of: str, name: str, system: Any) -> System:
    """**Raises:** `CdlError` for what is not a system."""
    if not isinstance(system, System):
        raise CdlError(
            f"`{of}` fills the box `{name}` with a system, and was given {short(system)}: make it by `box`, or by "
            "`discretise` from a field."
        )
    if not isinstance(system.interface, Interface):
        raise CdlError(f"the `interface` of the box `{name}` is {short(system.interface)}: give an `Interface`.")
    return system
