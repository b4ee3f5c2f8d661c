"""Closed boxes: the name in the middle, the names of the ends inside of the border."""

from dataclasses import dataclass
from typing import TypeAlias

from ..._drawing.diagram import Canvas
from ._scene import Part


Anchor: TypeAlias = tuple[str, int, bool]  # the node of an end, its column, and whether an arrow may point to it
Anchors: TypeAlias = dict[tuple[str, str], Anchor]  # by "left" or "right", and the port


@dataclass(frozen=True)
class Leaf:
    """A closed box. Its first end is in unit 0, the others below."""

    part: Part

    @property
    def units(self) -> int:
        """How many it takes: one more where the name would stand beside an end on one side alone."""
        few, many = sorted((len(self.part.inputs), len(self.part.outputs)))
        return max(1, many + (many % 2 and few <= many // 2 < many))

    @property
    def width(self) -> int:
        sides = self.part.inputs, self.part.outputs
        rows = [[ports[i] if i < len(ports) else "" for ports in sides] for i in range(self.units)]
        wide = max(sum(map(len, row)) + 2 * all(row) for row in rows)
        beside = max(map(len, rows[self.units // 2])) if self.units % 2 else 0  # in the row of the name
        return max(wide + 4, len(self.part.name) + (2 * beside + 8 if beside else 6))

    def ends(self) -> tuple[dict[str, int], dict[str, int]]:
        """The units of the ends on the left, and on the right."""
        left, right = ({port: i for i, port in enumerate(x)} for x in (self.part.inputs, self.part.outputs))
        return left, right

    def draw(self, canvas: Canvas, x: int, row: int) -> Anchors:
        """Draws it with its first end in a row; gives where each of its ends is."""
        right = x + self.width - 1
        ends = [(port, (x + 2, row + 2 * i)) for i, port in enumerate(self.part.inputs)]
        ends += [(port, (right - 1 - len(port), row + 2 * i)) for i, port in enumerate(self.part.outputs)]
        size = {"width": self.width, "height": 2 * self.units + 1, "tint": self.part.tint}
        key = canvas.node(self.part.name, self.part.kind, x, row - 1, ends=ends, **size).key
        found: Anchors = {("left", port): (key, x, True) for port in self.part.inputs}
        return found | {("right", port): (key, right, False) for port in self.part.outputs}
