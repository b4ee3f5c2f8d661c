"""What a diagram that changes reads and gives, checked: a value of its type for each input of each box."""

from collections.abc import Mapping
from typing import Any

from .._engine.arrays._given import arrays
from .._engine.arrays.shapes import shown
from .._functors.words import short
from .._optics import Optic
from ..errors import PortMismatch
from ._asked import Asked, no_port
from ._exact import exact, types
from ._interface import Interface
from ._rewiring import Rewiring, wirings_of
from ._system import System
from ._wired import Wired


MANY = 6  # boxes, or arrays, that are named


def side_by_side(at: str, port: str) -> str:
    """The name of a port of a box among those of all boxes side by side."""
    return f"{at}/{port}"


def expect_wirings(diagram: Rewiring, systems: Mapping[str, System], interface: Interface) -> None:
    """**Raises:** `PortMismatch` where the diagrams that one is chosen from are of other boxes, types or units."""
    for wiring in wirings_of(diagram):
        boxes = {at: system.interface for at, system in systems.items()}
        for at in dict.fromkeys([*boxes, *wiring.boxes]):
            if at not in boxes or at not in wiring.boxes:
                raise PortMismatch(
                    f"`{at}` is a box of {'the systems' if at in boxes else 'the diagram'} alone: the systems are "
                    f"{short(list(boxes))}, and the boxes of the diagram {short(list(wiring.boxes))}."
                )
            if boxes[at] != wiring.boxes[at]:
                raise PortMismatch(
                    f"the box `{at}` is {wiring.boxes[at]}, and `{systems[at].name}` is {boxes[at]}: give both one "
                    "interface."
                )
        if wiring.outside != interface:
            raise PortMismatch(
                f"the diagram is {wiring.outside} outside, and `rewire` was given {interface}: give both one interface."
            )


def expect_looked_up(
    diagram: Optic[Any, Any, Any, Any], state: Any, systems: Mapping[str, System], outside: Interface, error: KeyError
) -> None:
    """**Raises:** `PortMismatch` where a function of a diagram looks up an unknown box or port."""
    shows = {at: Asked({port: x.struct for port, x in box.interface.outputs.items()}) for at, box in systems.items()}
    given = {port: x.struct for port, x in outside.inputs.items()}
    name = no_port(lambda i, d: diagram.backward(diagram.forward((state, i))[1], d), shows, given)
    if name is not None:
        raise PortMismatch(
            f"a function of the diagram looks up {name}. What the boxes show is {_written(shows)}, by box and port, "
            f"and the inputs from outside are {short(list(given))}: mend the look-up."
        ) from error


def _written(inputs: Any) -> str:
    """What a diagram gives to its boxes: their ports, or what stands in the place of these."""
    if not isinstance(inputs, Mapping):
        return shown(inputs)
    each = [f"{at}: {short(list(x)) if isinstance(x, Mapping) else shown(x)}" for at, x in inputs.items()]
    return f"{{{', '.join(each[:MANY] + ['…'] * (len(each) > MANY))}}}"


def by_port(inputs: Any, systems: Wired) -> dict[str, Any]:
    boxes = systems.nested.wiring.boxes
    for at, given in inputs.items() if isinstance(inputs, Mapping) else ():
        if at not in boxes:
            raise PortMismatch(
                f"the diagram gives a value to {short(at)}, which is not a box: there are {short(list(boxes))}."
            )
        ports = boxes[at].inputs
        if extra := [port for port in given if port not in ports] if isinstance(given, Mapping) else []:
            raise PortMismatch(
                f"the diagram gives a value to {short(extra[0])} of `{at}`, whose inputs are {short(list(ports))}."
            )
    found: dict[str, Any] = {}
    for at, boxed in systems.nested.wiring.boxes.items():
        for port, wanted in boxed.inputs.items():
            try:
                value = inputs[at][port]
            except (KeyError, TypeError, IndexError) as error:
                raise PortMismatch(
                    f"the diagram gives no value to `{at}.{port}`: `back` must drive each input, and gives "
                    f"{_written(inputs)}. Give `{{box: {{port: value}}}}`."
                ) from error
            value = exact(arrays(value, f"what the diagram gives to `{at}.{port}`"))
            if types(value) != types(wanted.struct):
                raise PortMismatch(
                    f"the diagram gives {shown(value)} to `{at}.{port}`, which takes {shown(wanted.struct)}: give it "
                    "that."
                )
            found[side_by_side(at, port)] = value
    return found
