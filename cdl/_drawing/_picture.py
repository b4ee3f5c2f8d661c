"""Pictures in the making: boxes at their places, and strands of which an end may be open.

A picture has its axis at row 0. It is put beside others by moving it, or by making room inside it, and its open strands
are led on and tied to theirs: what is beyond an open end, in the direction of its side, is always free.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .diagram import Kind, Point


@dataclass(eq=False)
class Spot:
    """A node or a frame, with its upper left cell."""

    words: str
    kind: Kind | None  # none for a frame
    x: int
    y: int
    width: int
    height: int = 1
    tint: int = 0

    @property
    def right(self) -> int:
        return self.x + self.width - 1

    @property
    def bottom(self) -> int:
        return self.y + self.height - 1


@dataclass(eq=False)
class Strand:
    """A wire: its corners in its own direction, what it comes from, and what it goes to."""

    points: list[Point]
    source: Spot | None = None
    target: Spot | None = None
    back: bool = False
    joined: "Strand | None" = None

    def found(self) -> "Strand":
        return self if self.joined is None else self.joined.found()


@dataclass(frozen=True)
class Loose:
    """An end of a strand that is open: its head, where it goes on to, or else its tail, where it comes from."""

    strand: Strand
    head: bool

    @property
    def at(self) -> Point:
        return self.strand.found().points[-1 if self.head else 0]

    def to(self, *points: Point) -> None:
        """Led on, by these corners."""
        for point in points:
            here = self.strand.found().points
            here.insert(len(here) if self.head else 0, point)

    def end(self, spot: Spot, *points: Point) -> None:
        """Led to a spot, where it ends."""
        self.to(*points)
        if self.head:
            self.strand.found().target = spot
        else:
            self.strand.found().source = spot

    def tie(self, other: "Loose") -> None:
        """With the open end of another strand, a tail if this is a head: the two are one."""
        first, second = (self, other) if self.head else (other, self)
        one, two = first.strand.found(), second.strand.found()
        one.points += two.points
        one.target, two.joined = two.target, one


@dataclass(frozen=True)
class Pair:
    """The two strands of a wire, as far as there are two."""

    there: Loose | None
    back: Loose | None


def loose(wires: Iterable[Pair]) -> list[Loose]:
    """Every open end of some wires."""
    return [end for wire in wires for end in (wire.there, wire.back) if end is not None]


@dataclass
class Picture:
    """Spots and strands, and the wires that are open on three sides, in the order of the type there."""

    spots: list[Spot] = field(default_factory=list)
    strands: list[Strand] = field(default_factory=list)
    left: list[Pair] = field(default_factory=list)
    right: list[Pair] = field(default_factory=list)
    above: list[Pair] = field(default_factory=list)

    @property
    def first(self) -> int:
        """Its first column."""
        return min((x for x, _ in self._corners()), default=0)

    @property
    def last(self) -> int:
        """Its last column."""
        return max((x for x, _ in self._corners()), default=0)

    @property
    def top(self) -> int:
        """Its first row."""
        return min((y for _, y in self._corners()), default=0)

    @property
    def bottom(self) -> int:
        """Its last row."""
        return max((y for _, y in self._corners()), default=0)

    def _corners(self) -> Iterator[Point]:
        yield from (point for strand in self.wires for point in strand.points)
        for spot in self.spots:
            yield from ((spot.x, spot.y), (spot.right, spot.bottom))

    @property
    def wires(self) -> list[Strand]:
        """Its strands, without those that have become part of another."""
        return [strand for strand in self.strands if strand.joined is None]

    def spot(self, words: str, kind: Kind | None, x: int, y: int, width: int, height: int = 1, tint: int = 0) -> Spot:
        new = Spot(words, kind, x, y, width, height, tint)
        self.spots.append(new)
        return new

    def strand(
        self, at: Point, *, source: Spot | None = None, target: Spot | None = None, back: bool = False
    ) -> Strand:
        new = Strand([at], source, target, back)
        self.strands.append(new)
        return new

    def open_at(self, spot: Spot, points: list[Point], *, leaves: bool) -> Pair:
        """A wire at a box: at the first point what goes there leaves it, or comes in; at the second what comes back."""
        there = self.strand(points[0], source=spot if leaves else None, target=None if leaves else spot)
        if len(points) == 1:
            return Pair(Loose(there, leaves), None)
        back = self.strand(points[1], source=None if leaves else spot, target=spot if leaves else None, back=True)
        return Pair(Loose(there, leaves), Loose(back, not leaves))

    def name(self, end: Loose, words: str, to: Point, before: int = 0) -> None:
        """Leads an end to a name, to the point after this number of letters: to the middle if it comes from above."""
        kind: Kind = "parameter" if to[0] == end.at[0] else "port"
        end.end(self.spot(words, kind, to[0] - before, to[1], len(words)), to)

    def move(self, across: int, down: int) -> None:
        for spot in self.spots:
            spot.x, spot.y = spot.x + across, spot.y + down
        for strand in self.wires:
            strand.points[:] = [(x + across, y + down) for x, y in strand.points]

    def make_room(self, column: int, across: int) -> None:
        """Inserts this number of columns before that one."""
        for spot in self.spots:
            if spot.x >= column:
                spot.x += across
            elif spot.right >= column:
                spot.width += across
        for strand in self.wires:
            strand.points[:] = [(x + across * (x >= column), y) for x, y in strand.points]

    def add(self, other: "Picture") -> None:
        """With the spots and strands of another."""
        self.spots += other.spots
        self.strands += other.strands
