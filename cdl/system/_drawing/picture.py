"""Diagrams, and systems in them, as pictures.

| what                     | its picture                                                                              |
| ------------------------ | ---------------------------------------------------------------------------------------- |
| a diagram                | its boxes and wires, in a frame                                                          |
| systems in a diagram     | the same; a box with a diagram of systems inside is open: a frame in the frame           |
| one that rewires itself  | its systems, and a box for the diagram, which depends on a state, between all wires      |
| a box                    | the box, with the types of its ports                                                     |

A Moore machine has a bar on its right, and so has the frame around one: what leaves it comes from its state.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..._drawing.diagram import Diagram
from .._end import End
from .._interface import Interface, Port
from ._frame import scene_diagram
from ._scene import cut, Net, nets_of, Part, Scene, shortened, typed


OPEN = 40  # boxes that are drawn with all that is inside of them
FEW = 12  # and where there are more, those that are drawn before those with a diagram inside are closed
MOST = 60  # boxes that are drawn of one diagram
DIAGRAM = "."  # no box has this name
BAR = "┃  the outputs of the box or frame come from its state; those of others wait for the inputs"


class Wires(Protocol):
    """What is drawn of a diagram."""

    @property
    def boxes(self) -> Mapping[str, Interface]: ...

    @property
    def wires(self) -> Mapping[str, str]: ...

    @property
    def inputs(self) -> Mapping[str, Port]: ...

    @property
    def outputs(self) -> Mapping[str, str]: ...

    def port(self, source: str) -> Port: ...


@dataclass(frozen=True)
class Drawn:
    """What is drawn of a system: the name, the ports, and of one that is a diagram of systems that, and these.

    Of a diagram that depends on a state there is the type of that in the place of the wires.
    """

    name: str
    interface: Interface
    moore: bool = False
    wiring: Wires | None = None
    inside: Mapping[str, "Drawn"] = field(default_factory=dict)
    state: str = ""


def wiring_diagram(wiring: Wires) -> Diagram:
    """A diagram, with nothing in its boxes."""
    notes: dict[str, None] = {}
    parts = {name: _part(name, x) for name, x in wiring.boxes.items()}
    return scene_diagram(_scene(wiring, parts, "", notes), tuple(notes))


def system_diagram(system: Drawn) -> Diagram:
    """A system, with what is inside; one that has nothing inside with the types of its ports."""
    if not system.inside:
        return _alone(system)
    depth, notes = _depth(system), dict[str, None]()

    def scene(system: Drawn, deep: int) -> Scene:
        parts = {}
        for at, x in system.inside.items():
            words = at if at == x.name else f"{at}: {x.name}"
            if not x.inside:
                parts[at] = _part(words, x.interface, x.moore)
            elif deep < depth:
                parts[at] = _part(words, x.interface, inside=scene(replace(x, name=words), deep + 1))
            else:
                parts[at] = _part(f"{words} …", x.interface, x.moore)
                notes[f"…  a diagram that is drawn closed; with all open there are {_boxes(whole)} boxes"] = None
        if system.wiring is None:
            notes[f"wires  which end drives which depends on a state, {system.state}"] = None
            return _rewired(system, parts)
        return replace(_scene(system.wiring, parts, system.name, notes), moore=system.moore)

    whole = system
    made = scene(system, 1)
    if len({*_kinds(system)}) > 1:
        notes[BAR] = None
    return scene_diagram(made, tuple(notes))


def _rewired(system: Drawn, parts: dict[str, Part]) -> Scene:
    """All that the boxes give goes into the box of the diagram, and all that they take comes out of it."""
    inputs, outputs = system.interface.inputs, system.interface.outputs
    given = {f"{at}.{port}": x for at, box in system.inside.items() for port, x in box.interface.outputs.items()}
    taken = {f"{at}.{port}": x for at, box in system.inside.items() for port, x in box.interface.inputs.items()}
    nets = [Net((End.of(end),), ((DIAGRAM, end),), typed(x)) for end, x in {**inputs, **given}.items()]
    nets += [Net(((DIAGRAM, end),), (End.of(end),), typed(x)) for end, x in {**outputs, **taken}.items()]
    parts[DIAGRAM] = Part("wires", (*inputs, *given), (*outputs, *taken), tint=2)
    return Scene(parts, tuple(nets), {x: x for x in inputs}, {x: x for x in outputs}, system.name, system.moore)


def _alone(system: Drawn) -> Diagram:
    inputs, outputs = (
        {port: shortened(str(x)) for port, x in ports.items()}
        for ports in (system.interface.inputs, system.interface.outputs)
    )
    nets = nets_of({f"box.{port}": port for port in inputs}, {port: f"box.{port}" for port in outputs}, lambda _: "")
    part = _part(system.name, system.interface, system.moore)
    return scene_diagram(Scene({"box": part}, nets, inputs, outputs, None))


def _part(name: str, interface: Interface, moore: bool = False, inside: Scene | None = None) -> Part:
    return Part(name, tuple(interface.inputs), tuple(interface.outputs), "moore" if moore else "box", inside=inside)


def _scene(wiring: Wires, parts: Mapping[str, Part], name: str, notes: dict[str, None]) -> Scene:
    nets = nets_of(wiring.wires, wiring.outputs, lambda source: typed(wiring.port(source)))
    whole = Scene(parts, nets, {x: x for x in wiring.inputs}, {x: x for x in wiring.outputs}, name)
    if len(parts) > MOST:
        of = f" of {name}" if name else ""
        notes[f"the first {MOST} of {len(parts)} boxes{of}, with the wires among them"] = None
    return cut(whole, MOST)


def _depth(system: Drawn) -> int:
    """How deep boxes are drawn open."""
    deepest = _deepest(system)
    if _boxes(system) <= OPEN:
        return deepest
    return max((depth for depth in range(1, deepest) if _boxes(system, depth) <= FEW), default=1)


def _boxes(system: Drawn, depth: int = -1) -> int:
    """How many boxes are drawn where those at a depth are closed."""
    return sum(_boxes(x, depth - 1) if x.inside and depth != 1 else 1 for x in system.inside.values())


def _deepest(system: Drawn) -> int:
    return 1 + max((_deepest(x) for x in system.inside.values() if x.inside), default=0)


def _kinds(system: Drawn) -> Iterator[bool]:
    """Of a system, and of each that is inside of it, whether it is a Moore machine."""
    yield system.moore
    for x in system.inside.values():
        yield from _kinds(x)
