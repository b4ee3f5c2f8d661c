"""Diagrams: boxes, ports and wires at their places.

| the drawing                         | here                                                         |
| ----------------------------------- | ------------------------------------------------------------ |
| a box, or a state of an automaton   | `Node` of kind `box`, `state` or `final`                     |
| a box that holds a state            | `Node` of kind `moore`: with a bar on its right              |
| a named end of a box                | one of a node's `ends`: a text inside of its border          |
| an input, an output, a payload      | `Node` of kind `port`: its name alone                        |
| an entry of a matrix                | `Node` of kind `cell`: a coloured field; of tint 0, an empty one |
| a parameter, above its box          | `Node` of kind `parameter`                                   |
| a wire that becomes several         | `Node` of kind `dot`                                         |
| a wire, or a transition             | `Wire`: a line from one node to another                      |
| a box that shows what is inside     | `Frame`                                                      |

A place is a cell: a column and a row of text. So one layout serves every rendering: text fills the cells, SVG and PNG
draw lines between their centres, and Mermaid lays out the graph by itself. A cell has one letter, and so a line
break in a name is written as one, `�`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias


Kind: TypeAlias = Literal["box", "moore", "state", "final", "port", "parameter", "dot", "cell"]
Point: TypeAlias = tuple[int, int]  # a column and a row
End: TypeAlias = tuple[str, Point]  # a text, and the cell that it begins in

BORDERED = ("box", "moore", "state", "final")


@dataclass(frozen=True)
class Node:
    """A node with its upper left cell, its width and its height. `tint` tells apart the weights that it uses."""

    key: str
    lines: tuple[str, ...]
    kind: Kind
    x: int
    y: int
    width: int
    height: int
    tint: int = 0
    ends: tuple[End, ...] = ()

    @property
    def right(self) -> int:
        """Its last column."""
        return self.x + self.width - 1

    @property
    def bottom(self) -> int:
        """Its last row."""
        return self.y + self.height - 1

    @property
    def middle(self) -> Point:
        return self.x + (self.width - 1) // 2, self.y + (self.height - 1) // 2


@dataclass(frozen=True)
class Wire:
    """A line of upright and level pieces, from the border of one node (or frame) to that of another."""

    source: str
    target: str
    points: tuple[Point, ...]
    label: str = ""
    at: Point = (0, 0)  # the middle of the label
    arrow: bool = True
    back: bool = False  # of an optic, the way back


@dataclass(frozen=True)
class Frame:
    """A box around others, with its name on the border. A Moore machine's has a bar on its right, like a node's."""

    key: str
    name: str
    x: int
    y: int
    width: int
    height: int
    moore: bool = False

    def holds(self, box: "Node | Frame") -> bool:
        """Whether a node or another frame is inside."""
        across = self.x < box.x and box.x + box.width < self.x + self.width
        return across and self.y < box.y and box.y + box.height < self.y + self.height


@dataclass(frozen=True)
class Diagram:
    """What is drawn: nodes, wires between them, frames around some of them, and lines of text below."""

    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    frames: tuple[Frame, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> Point:
        """How many columns and rows it takes, without the notes."""
        corners = [(n.right, n.bottom) for n in self.nodes]
        corners += [(f.x + f.width - 1, f.y + f.height - 1) for f in self.frames]
        corners += [(x + len(w.label) // 2, y) for w in self.wires for x, y in (*w.points, w.at)]
        return max((x for x, _ in corners), default=-1) + 1, max((y for _, y in corners), default=-1) + 1

    def count(self, *kinds: Kind) -> int:
        """How many nodes are of these kinds."""
        return sum(n.kind in kinds for n in self.nodes)


def extent(lines: Iterable[str], kind: Kind) -> Point:
    """How wide and how high a node with this text is."""
    text = tuple(lines)
    pad = (4, 2) if kind in BORDERED else (0, 0)
    return max(map(len, text), default=0) + pad[0], max(len(text), 1) + pad[1]


def printable(words: str) -> str:
    """The same on one line, and as long: with `�` for line breaks, escapes, and whatever else is not printed."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)


@dataclass
class Canvas:
    """A diagram in the making."""

    nodes: list[Node] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def node(
        self,
        text: str | tuple[str, ...],
        kind: Kind,
        x: int,
        y: int,
        *,
        width: int = 0,
        height: int = 0,
        tint: int = 0,
        ends: Iterable[End] = (),
    ) -> Node:
        """A new node with its upper left cell there, no smaller than its text."""
        lines = tuple(map(printable, (text,) if isinstance(text, str) else text))
        least = extent(lines, kind)
        key = f"n{len(self.nodes)}"
        named = tuple((printable(words), at) for words, at in ends)
        new = Node(key, lines, kind, x, y, max(width, least[0]), max(height, least[1]), tint, named)
        self.nodes.append(new)
        return new

    def wire(
        self,
        source: str,
        target: str,
        points: Iterable[Point],
        *,
        label: str = "",
        at: Point = (0, 0),
        arrow: bool = True,
        back: bool = False,
    ) -> None:
        """A new wire; points that stand twice, or in the middle of a straight piece, are left out."""
        kept: list[Point] = []
        for p in points:
            if kept and p == kept[-1]:
                continue
            if len(kept) > 1 and (kept[-2][0] == kept[-1][0] == p[0] or kept[-2][1] == kept[-1][1] == p[1]):
                kept.pop()
            kept.append(p)
        self.wires.append(Wire(source, target, tuple(kept), printable(label), at, arrow, back))

    def frame(self, name: str, x: int, y: int, width: int, height: int, *, moore: bool = False) -> Frame:
        """A new frame."""
        new = Frame(f"f{len(self.frames)}", printable(name), x, y, width, height, moore)
        self.frames.append(new)
        return new

    def finished(self) -> Diagram:
        return Diagram(tuple(self.nodes), tuple(self.wires), tuple(self.frames), tuple(map(printable, self.notes)))
