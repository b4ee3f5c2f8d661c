"""Scenes on a canvas: boxes, frames around those that are open, to any depth, and the wires between them."""

from dataclasses import dataclass
from functools import cached_property

from ..._drawing.diagram import Canvas, Diagram
from ._columns import Key
from ._layout import Block, Layout
from ._leaf import Anchor, Anchors, Leaf
from ._nets import draw_net
from ._routes import route_of
from ._scene import Part, Scene


INSIDE = 2  # columns from a border to the name of an end inside of it
OUTSIDE = 4  # and to one outside


def scene_diagram(scene: Scene, notes: tuple[str, ...] = ()) -> Diagram:
    """The diagram of a scene."""
    canvas, whole = Canvas(notes=list(notes)), Open(scene, whole=True)
    whole.draw(canvas, 0, whole.layout.above - 2 if scene.frame is not None else -1)
    return canvas.finished()


@dataclass(frozen=True)
class Open:
    """A scene in its frame. The names of its ends are inside of the frame; of the `whole`, outside."""

    scene: Scene
    whole: bool = False

    @cached_property
    def layout(self) -> Layout:
        blocks = {name: _block(part) for name, part in self.scene.parts.items()}
        return Layout(self.scene, blocks, len(self.scene.frame or "") + 6)

    @property
    def units(self) -> int:
        return self.layout.units + 2

    @property
    def width(self) -> int:
        """From border to border."""
        widths, end = self.layout.widths, self.layout.gaps[-1].end
        return end + 3 - widths[0] if self.whole else end + 1 + widths[-1] + 2 * INSIDE

    def ends(self) -> tuple[dict[str, int], dict[str, int]]:
        """The units of the ends on the left, and on the right."""
        units = self.layout.columns.units
        left = {port: 1 + units["in", port] for port in self.scene.inputs}
        return left, {port: 1 + units["out", port] for port in self.scene.outputs}

    def draw(self, canvas: Canvas, x: int, row: int) -> Anchors:
        """Draws it with its first unit in a row, and the border above; gives where each of its ends is."""
        names = self.layout.widths[0]
        border = x + (names + OUTSIDE if self.whole and names else 0)
        drawn = Framed(self, canvas, border, border + (1 - names if self.whole else INSIDE), row + 2)
        if self.scene.frame is not None:
            top, bottom = row + 2 - self.layout.above, row + 2 * self.layout.units + self.layout.below
            drawn.frame = canvas.frame(
                self.scene.frame, border, top, self.width, bottom - top + 1, moore=self.scene.moore
            ).key
        drawn.draw()
        return drawn.outside


def _block(part: Part) -> Block:
    return Open(part.inside) if part.inside else Leaf(part)


class Framed:
    """An open scene while it is drawn: `origin` is its first column of text, `top` its first row. `pins` has each end
    inside, `outside` each end of the frame."""

    def __init__(self, of: Open, canvas: Canvas, border: int, origin: int, top: int) -> None:
        self.of, self.layout, self.canvas = of, of.layout, canvas
        self.border, self.origin, self.top = border, origin, top
        self.pins: dict[tuple[Key, str, str], Anchor] = {}
        self.outside: Anchors = {}
        self.frame = ""

    def draw(self) -> None:
        for column, items in enumerate(self.layout.columns.columns):
            for item in items:
                kind, name = item.key
                if kind == "part":
                    x, row = self.origin + self.layout.x(item, column), self.top + self.layout.row(item.key)
                    found = self.layout.blocks[name].draw(self.canvas, x, row)
                    self.pins |= {(item.key, side, port): pin for (side, port), pin in found.items()}
                elif kind != "via":
                    self._name(item.key)
        for net in range(len(self.of.scene.nets)):
            draw_net(
                self.canvas, route_of(self.layout, net, self.pins, self.origin, self.top), self.of.scene.nets[net].words
            )

    def _name(self, key: Key) -> None:
        """The name of an end of the frame."""
        left, whole = key[0] == "in", self.of.whole
        words = (self.of.scene.inputs if left else self.of.scene.outputs)[key[1]]
        right = self.border + self.of.width - 1
        if left:
            x = self.border - OUTSIDE - len(words) + 1 if whole else self.border + INSIDE
        else:
            x = right + OUTSIDE if whole else right - INSIDE - len(words) + 1
        row = self.top + self.layout.row(key)
        node = self.canvas.node(words, "port", x, row)
        inner, outer = (node.right, node.x) if left else (node.x, node.right)
        self.pins[key, "right" if left else "left", key[1]] = node.key, inner, whole and not left
        self.outside["left" if left else "right", key[1]] = node.key, outer, False
        if self.frame and whole and left and not any(("", key[1]) in net.sources for net in self.of.scene.nets):
            self.canvas.wire(node.key, self.frame, [(inner, row), (self.border, row)])
