"""What is drawn of boxes that are wired: parts with named ends, nets that join them, and what stands in a part.

| the drawing                                | here                                                       |
| ------------------------------------------ | ---------------------------------------------------------- |
| a box, closed, or open with what is inside | a `Part`, which has a `Scene` inside of it where it is open |
| a wire, which may fork                     | a `Net`: from its sources to its targets                   |
| a port of the whole                        | a pin of the part `""`, which is the outside               |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ..._drawing.diagram import Kind
from .._end import End


Pin: TypeAlias = tuple[str, str]  # a part, or "" for the outside, and a port: an `End`
LONGEST = 20  # letters of a type


@dataclass(frozen=True)
class Net:
    """What joins ends. A directed one has one source; in another all of them share a variable, at a dot if it is a
    `junction`."""

    sources: tuple[Pin, ...]
    targets: tuple[Pin, ...]
    words: str = ""
    directed: bool = True
    junction: bool = False


@dataclass(frozen=True)
class Part:
    """A box, with the ends on its left and on its right."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    kind: Kind = "box"
    tint: int = 0
    inside: "Scene | None" = None


@dataclass(frozen=True)
class Scene:
    """Parts and nets. `inputs` and `outputs` have a text for each port of the whole, `frame` is what is written on the
    frame around all; where it is `None` there is none. `moore`: whether the whole is a Moore machine."""

    parts: Mapping[str, Part]
    nets: tuple[Net, ...]
    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    frame: str | None = ""
    moore: bool = False


def typed(port: Any) -> str:
    """The type of a port, and its unit; nothing for a number without one."""
    shape = getattr(port.struct, "shape", None)
    return shortened(str(port)) if shape != () or port.unit else ""


def shortened(words: str) -> str:
    """A text on one line, cut where it is too long to stand on a wire."""
    line = " ".join(words.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def nets_of(wires: Mapping[str, str], outputs: Mapping[str, str], words: Callable[[str], str]) -> tuple[Net, ...]:
    """A net for each source of a diagram, with a text of it."""
    ends: dict[str, list[Pin]] = {}
    for target, source in wires.items():
        ends.setdefault(source, []).append(End.of(target))
    for port, source in outputs.items():
        ends.setdefault(source, []).append(("", port))
    return tuple(Net((End.of(source),), tuple(some), words(source)) for source, some in ends.items())


def cut(scene: Scene, most: int) -> Scene:
    """The first parts of a scene, with the nets among them and the ports that these still have."""
    kept = {name: scene.parts[name] for name in list(scene.parts)[:most]}
    if len(kept) == len(scene.parts):
        return scene

    def stays(pins: tuple[Pin, ...]) -> tuple[Pin, ...]:
        return tuple(x for x in pins if not x[0] or x[0] in kept)

    found = [replace(net, sources=stays(net.sources), targets=stays(net.targets)) for net in scene.nets]
    nets = tuple(net for net in found if net.sources and net.targets)
    used = {x for net in nets for x in (*net.sources, *net.targets)}
    inputs, outputs = ({x: words for x, words in y.items() if ("", x) in used} for y in (scene.inputs, scene.outputs))
    return replace(scene, parts=kept, nets=nets, inputs=inputs, outputs=outputs)
