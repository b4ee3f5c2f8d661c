"""A system that rewires itself as a fixed diagram: with one more box, the manager, through which all wires go.

| the mathematics                                  | here                                                     |
| ------------------------------------------------ | -------------------------------------------------------- |
| a coalgebra `S → [p, q](S)`                      | a box with the state `S`, `q`'s inputs and `p`'s outputs |
| systems of interface `p` in it                   | `managed(rewired)`: these and that box, in a fixed diagram |

So a fixed diagram can do what one that changes does, with a box that does the changing. What it loses is that the
diagram says which wires there are: every box is wired to the manager, and to nothing else.
"""

from typing import Any, final

import equinox as eqx

from .._functors import MealyF
from .._functors.usage import with_types
from ._box import Box
from ._interface import Interface
from ._oapply import wire
from ._rewired import Rewired
from ._rewiring import Rewiring
from ._wired import Wired


@with_types
def managed(system: Rewired) -> Wired:
    """The same system with a fixed diagram, whose box `manager` has the diagram that changes for its machine.

    Its outputs are those of the system, tick by tick. Where it has inputs it is a Mealy machine, which has no output
    after the last input.
    """
    shown, heard = system.systems.interface.outputs, system.systems.interface.inputs
    inside, outside = system.interface.inputs, system.interface.outputs
    manager = Box(
        machine=Manager(system.diagram, tuple(system.systems.nested.wiring.boxes), tuple(heard), tuple(outside)),
        state=system.state[0],
        interface=Interface(
            {**{f"from/{x}": port for x, port in shown.items()}, **{f"in/{x}": port for x, port in inside.items()}},
            {**{f"to/{x}": port for x, port in heard.items()}, **{f"out/{x}": port for x, port in outside.items()}},
        ),
        name="manager",
    )
    return wire(
        {"systems": system.systems, "manager": manager},
        {
            **{f"systems.{x}": f"manager.to/{x}" for x in heard},
            **{f"manager.from/{x}": f"systems.{x}" for x in shown},
            **{f"manager.in/{x}": x for x in inside},
        },
        {x: f"manager.out/{x}" for x in outside},
        inputs=inside,
        name=system.name,
    )


@final
class Manager(eqx.Module):
    """A diagram that changes as a machine: its inputs are what the boxes show and what comes from outside."""

    diagram: Rewiring
    boxes: tuple[str, ...] = eqx.field(static=True)
    inputs: tuple[str, ...] = eqx.field(static=True)
    outputs: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, s: Any, /) -> MealyF[Any, Any, Any]:
        def step(given: Any) -> Any:
            i: dict[str, dict[str, Any]] = {at: {} for at in self.boxes}
            d: dict[str, Any] = {}
            for name, value in given.items():
                side, _, rest = name.partition("/")
                at, _, port = rest.partition("/")
                if side == "from":
                    i[at][port] = value
                else:
                    d[rest] = value
            out, seen = self.diagram.optic.forward((s, i))
            after, inputs = self.diagram.optic.backward(seen, d)
            to = {}
            for name in self.inputs:
                at, _, port = name.partition("/")
                to[f"to/{name}"] = inputs[at][port]
            return {**to, **{f"out/{x}": out[x] for x in self.outputs}}, after

        return MealyF(step)
