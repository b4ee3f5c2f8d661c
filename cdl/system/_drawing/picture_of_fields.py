"""Fields that share variables as pictures: boxes with the variables on their right, a dot for each junction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._drawing.diagram import Diagram
from .._interface import Port
from ._frame import scene_diagram
from ._scene import cut, Net, Part, Pin, Scene, shortened, typed


MOST = 60  # fields that are drawn of one diagram


@dataclass(frozen=True)
class Fields:
    """What is drawn of a field: its name, its inputs, and its variables; and of one that is shared its parts, with the
    junction of each variable of a part."""

    name: str
    inputs: Mapping[str, Port]
    variables: Mapping[str, Port]
    parts: Sequence["Fields"] = ()
    ends: Sequence[Mapping[str, str]] = ()


def fields_diagram(of: Fields) -> Diagram:
    """A field, or fields that share variables."""
    notes: list[str] = []
    if of.parts:
        return scene_diagram(_scene(of, notes), tuple(notes))
    nets = [Net((("", port),), (("field", port),)) for port in of.inputs]
    nets += [Net((("field", port),), (("", port),), directed=False) for port in of.variables]
    part = Part(of.name, tuple(of.inputs), tuple(of.variables))
    inputs, outputs = ({x: shortened(str(port)) for x, port in y.items()} for y in (of.inputs, of.variables))
    return scene_diagram(Scene({"field": part}, tuple(nets), inputs, outputs, None))


def _scene(of: Fields, notes: list[str]) -> Scene:
    parts: dict[str, Part] = {}
    joined: dict[str, list[Pin]] = {junction: [] for junction in of.variables}
    driven: dict[str, list[Pin]] = {port: [] for port in of.inputs}
    for number, (part, ends) in enumerate(zip(of.parts, of.ends, strict=True)):
        at, inside = str(number), _scene(part, notes) if part.parts else None
        parts[at] = Part(part.name, tuple(part.inputs), tuple(part.variables), inside=inside)
        for own, junction in ends.items():
            joined[junction].append((at, own))
        for port in part.inputs:
            driven[port].append((at, port))
    nets = [Net((("", port),), tuple(pins), typed(of.inputs[port])) for port, pins in driven.items() if pins]
    nets += [
        Net(tuple(pins), (("", at),), typed(of.variables[at]), directed=False, junction=True)
        for at, pins in joined.items()
    ]
    if len(parts) > MOST:
        notes.append(f"the first {MOST} of {len(parts)} fields of {of.name}, with the variables that these have")
    whole = Scene(parts, tuple(nets), {x: x for x in of.inputs}, {x: x for x in of.variables}, of.name)
    return cut(whole, MOST)
