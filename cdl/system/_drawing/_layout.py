"""Where everything of a scene is: columns, lanes below them for wires that go back, and tracks between them.

| the drawing                          | here                                                                    |
| ------------------------------------ | ----------------------------------------------------------------------- |
| the rows of items                    | `row`, from `columns`                                                   |
| a wire that goes back                | a lane below all items, from behind its source to before its target     |
| what is between two columns          | a `Gap`: where it begins, its first track, and where it ends            |
"""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

from ..._drawing.diagram import Canvas
from ._columns import Columns, Crossing, Item, Key
from ._leaf import Anchors
from ._ranks import columns
from ._scene import Scene
from ._tracks import Piece, tracks


class Block(Protocol):
    """A box, closed or open, with its size in columns and in units, and a unit for each of its ends."""

    @property
    def units(self) -> int: ...

    @property
    def width(self) -> int: ...

    def ends(self) -> tuple[dict[str, int], dict[str, int]]: ...

    def draw(self, canvas: Canvas, x: int, row: int) -> Anchors: ...


class Gap(NamedTuple):
    """Columns of text between one column of items and the next: the first, that of the first track, and the last."""

    begin: int
    track: int
    end: int


class Layout:
    """The places of what is in a scene: rows from 0, columns of text from 0. The last gap ends at `least` or later."""

    def __init__(self, scene: Scene, blocks: Mapping[str, Block], least: int) -> None:
        self.scene, self.blocks, self.least = scene, blocks, least
        items = {name: Item(("part", name), x.width, x.units, *x.ends()) for name, x in blocks.items()}
        self.columns: Columns = columns(scene, items)

    def units_of(self, key: Key) -> int:
        return self.blocks[key[1]].units if key[0] == "part" else 1

    def row(self, key: Key, port: str = "", side: str = "left") -> int:
        """The row of an item, or of one of its ends."""
        offset = self.blocks[key[1]].ends()[side == "right"][port] if key[0] == "part" and port else 0
        return 2 * (self.columns.units[key] + offset)

    @cached_property
    def units(self) -> int:
        """How many there are, with lanes."""
        items = max((unit + self.units_of(key) for key, unit in self.columns.units.items()), default=1)
        return max([items, *(row // 2 + 1 for row in self.lanes.values())])

    @property
    def above(self) -> int:
        """How far above the first row the border of a frame is: of a box that is there, the border is between."""
        return 2 + any(key[0] == "part" and not unit for key, unit in self.columns.units.items())

    @property
    def below(self) -> int:
        """How far below the last row it is."""
        last = [key for key, unit in self.columns.units.items() if unit + self.units_of(key) == self.units]
        return 2 + any(key[0] == "part" for key in last)

    @cached_property
    def lanes(self) -> dict[int, int]:
        """The row below all items of each net that goes back: those that go far are further down."""
        spans: dict[int, tuple[int, int, float]] = {}
        for net in range(len(self.scene.nets)):
            at = [i for i, some in enumerate(self.columns.between) if net in some and some[net].back]
            if at:
                ends = [self.row(*end) for i in at for end in self.columns.between[i][net].right]
                spans[net] = at[0], at[-1], -sum(ends) / len(ends)
        below = max((unit + self.units_of(key) for key, unit in self.columns.units.items()), default=0)
        found: dict[int, int] = {}
        for net, (begin, end, _) in sorted(spans.items(), key=lambda x: (x[1][1] - x[1][0], x[1][2], x[0])):
            met = [row for other, row in found.items() if spans[other][0] <= end and begin <= spans[other][1]]
            found[net] = max((row + 2 for row in met), default=2 * below)
        return found

    @cached_property
    def pieces(self) -> list[list[Piece]]:
        """The upright pieces between one column and the next."""
        return [tracks([self._piece(x) for x in some.values()]) for some in self.columns.between]

    def _piece(self, x: Crossing) -> Piece:
        left = [self.row(key, port, "right") for key, port in x.left]
        right = [self.row(key, port) for key, port in x.right]
        left += [self.lanes[x.net]] if "left" in x.back else []
        right += [self.lanes[x.net]] if "right" in x.back else []
        return Piece(x.net, tuple(left), tuple(right))

    @cached_property
    def widths(self) -> list[int]:
        return [max((x.width for x in column), default=0) for column in self.columns.columns]

    @cached_property
    def gaps(self) -> list[Gap]:
        """One behind each column but the last. The text on a wire stands before the first track."""
        x, found = self.widths[0], list[Gap]()
        for column, (pieces, wide) in enumerate(zip(self.pieces, self.widths[1:], strict=True)):
            begun = [net for net in self.columns.between[column].values() if net.begins]
            words = [len(self.scene.nets[net.net].words) for net in begun]
            track = x + max([0, *(1 + n for n in words if n)]) + 2
            many = 1 + max((piece.track for piece in pieces), default=-1)
            found.append(Gap(x, track, track + 2 * many + 1 if self.columns.between[column] else x + 1))
            x = found[-1].end + 1 + wide
        last = found.pop()
        return [*found, last._replace(end=max(last.end, self.least))]

    def x(self, item: Item, column: int) -> int:
        """The first column of text of a box, which stands in the middle of its column."""
        return self.gaps[column - 1].end + 1 + (self.widths[column] - item.width) // 2
