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
from .._optics import Optic
from ._box import Box
from ._end import End
from ._heard import side_by_side
from ._interface import Interface
from ._oapply import wire
from ._rewired import Rewired
from ._wired import Wired


@with_types
def managed(system: Rewired) -> Wired:
    """The same system with a fixed diagram, in which a box `manager` holds the diagram that changes as its machine.

    Its outputs are those of the system, tick by tick. Where it has inputs it is a Mealy machine, which has no output
    after the last input.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> stays = cdl.system.fixed(cdl.system.Wiring.identity(delay.interface))
        >>> changing = cdl.system.rewire(stays, {"box": delay}, {"out": int}, inputs={"x": int})
        >>> steady = cdl.system.managed(changing)
        >>> [cdl.run(s, s.state, {"x": jnp.array([3, 1, 4])})[0] for s in (changing, steady)]
        [{'out': Array([0, 3, 1, 4], dtype=int32)}, {'out': Array([0, 3, 1], dtype=int32)}]
        >>> sorted(steady.boxes)
        ['manager', 'systems.box']
    """
    beside, ports = system.systems, system.interface
    boxes = beside.nested.wiring.boxes
    shown, heard = (
        tuple(End(at, port) for at, x in boxes.items() for port in getattr(x, side)) for side in ("outputs", "inputs")
    )
    manager = Box(
        machine=Manager(system.diagram, tuple(boxes), shown, heard, tuple(ports.inputs), tuple(ports.outputs)),
        state=system.state[0],
        interface=Interface(
            {
                **{f"from/{x}": port for x, port in beside.interface.outputs.items()},
                **{f"in/{x}": port for x, port in ports.inputs.items()},
            },
            {
                **{f"to/{x}": port for x, port in beside.interface.inputs.items()},
                **{f"out/{x}": port for x, port in ports.outputs.items()},
            },
        ),
        name="manager",
    )
    return wire(
        {"systems": beside, "manager": manager},
        {
            **{f"systems.{x}": f"manager.to/{x}" for x in beside.interface.inputs},
            **{f"manager.from/{x}": f"systems.{x}" for x in beside.interface.outputs},
            **{f"manager.in/{x}": x for x in ports.inputs},
        },
        {x: f"manager.out/{x}" for x in ports.outputs},
        inputs=ports.inputs,
        name=system.name,
    )


@final
class Manager(eqx.Module):
    """A diagram that changes as a machine: its inputs are what the boxes show and what comes from outside."""

    diagram: Optic[Any, Any, Any, Any]
    boxes: tuple[str, ...] = eqx.field(static=True)
    shown: tuple[End, ...] = eqx.field(static=True)
    heard: tuple[End, ...] = eqx.field(static=True)
    inputs: tuple[str, ...] = eqx.field(static=True)
    outputs: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, s: Any, /) -> MealyF[Any, Any, Any]:
        def step(given: Any) -> Any:
            i: dict[str, dict[str, Any]] = {at: {} for at in self.boxes}
            for at, port in self.shown:
                i[at][port] = given[f"from/{side_by_side(at, port)}"]
            out, seen = self.diagram.forward((s, i))
            after, inputs = self.diagram.backward(seen, {x: given[f"in/{x}"] for x in self.inputs})
            to = {f"to/{side_by_side(*end)}": inputs[end.box][end.port] for end in self.heard}
            return {**to, **{f"out/{x}": out[x] for x in self.outputs}}, after

        return MealyF(step)
