"""String diagrams of optics: every wire there and back, parameters from above, and names around what they are of.

| the drawing                          | here                                                           |
| ------------------------------------ | -------------------------------------------------------------- |
| a wire `(X, X')`                     | two: there to the right, or down; back to the left, or up      |
| `(P, P') ⊗ (X, X') → (Y, Y')`        | a box, with `P` above, `X` on its left and `Y` on its right    |
| a name                               | a frame around what it is of                                   |
| a 2-cell, such as an optimiser       | a box across, from which the parameters below it come          |
"""

from ._optic_term import Along, Bent, Beside, Box, Cross, Named, Piece, Same, Then, Twice
from ._picture import Loose, loose, Pair, Picture
from .strings import gap, turns
from .terms import Space


STEP = 4  # columns between what goes down into a box and what comes up


def picture(piece: Piece) -> Picture:
    """The picture of a term."""
    match piece:
        case Box(source, target, above, words):
            return _box(words, source, target, above)
        case Same(source):
            return _through(source)
        case Cross(source, first=first):
            return _exchanged(_through(source), first.wires())
        case Then(first=f, second=Same()):
            return picture(f)
        case Then(first=f, second=Cross(first=first)):
            return _exchanged(picture(f), first.wires())
        case Then(first=f, second=g):
            return _joined(picture(f), picture(g))
        case Beside(first=f, second=g):
            return _stacked(picture(f), picture(g))
        case Along(inner=f, cell=cell):
            made = picture(f)
            made.above = _across(cell, made.above, made, made.top - 3)
            return made
        case Named(inner=f, name=words):
            return _framed(picture(f), words)
        case Bent(inner=f, rise=rise, fall=fall, before=before):
            return _bent(picture(f), rise.wires(), fall.wires(), before)
        case Twice(inner=f):
            return _doubled(picture(f))


def _box(words: str, source: Space, target: Space, above: Space) -> Picture:
    made = Picture()
    lefts, rights, tops = _places(source, 2), _places(target, 2), _places(above, STEP)
    high = max(1, *(sum(map(len, places)) for places in (lefts, rights)))
    width = max(len(words) + 4, tops[-1][-1] - tops[0][0] + 5 if tops else 0)
    spot = made.spot(words, "box", 0, -high, width, 2 * high + 1)
    middle = (width - 1) // 2
    made.left = [made.open_at(spot, [(0, row) for row in rows], leaves=False) for rows in lefts]
    made.right = [made.open_at(spot, [(spot.right, row) for row in rows], leaves=True) for rows in rights]
    made.above = [made.open_at(spot, [(middle + x, spot.y) for x in xs], leaves=False) for xs in tops]
    return made


def _places(wires: Space, step: int) -> list[list[int]]:
    """Where the strands of each wire are, around 0."""
    each = [1 + wire.back for wire in wires.each()]
    places = iter(range(-(sum(each) - 1) * step // 2, sum(each) * step, step))
    return [[next(places) for _ in range(strands)] for strands in each]


def _through(wires: Space) -> Picture:
    made = Picture()
    for rows in _places(wires, 2):
        there = made.strand((0, rows[0]))
        back = made.strand((0, rows[1]), back=True) if len(rows) == 2 else None
        made.left.append(Pair(Loose(there, False), Loose(back, True) if back else None))
        made.right.append(Pair(Loose(there, True), Loose(back, False) if back else None))
    return made


def _exchanged(made: Picture, first: int) -> Picture:
    made.right = made.right[first:] + made.right[:first]
    return made


def _joined(first: Picture, second: Picture) -> Picture:
    """One after the other, with the wires between them tied."""
    ends, others = loose(first.right), loose(second.left)
    here, rows = [end.at[1] for end in ends], [end.at[1] for end in others]
    between = 5 if here == rows else gap(len(ends))
    second.move(first.last + between + 1 - second.first, 0)
    for end, other, corners in zip(ends, others, turns(here, rows, second.first), strict=True):
        end.to(*corners)
        end.tie(other)
    first.add(second)
    first.right = second.right
    first.above += second.above
    return first


def _stacked(upper: Picture, lower: Picture) -> Picture:
    """One below the other; what comes from above to the lower one passes the upper one on its right."""
    if lower.above:
        lower.move(upper.last + 3 - lower.first, 0)
    rows = upper.bottom - upper.top + lower.bottom - lower.top + 3
    upper.move(0, -(rows // 2) - upper.top)
    lower.move(0, upper.bottom + 2 - lower.top)
    upper.add(lower)
    upper.left += lower.left
    upper.right += lower.right
    upper.above += lower.above
    return upper


def _framed(made: Picture, words: str) -> Picture:
    """In a frame, whose name stands to the left of what comes from above."""
    columns = [end.at[0] for end in loose(made.above)]
    x = min(made.first - 3, min(columns, default=made.last) - len(words) - 6)
    right = max(made.last + 3, x + len(words) + 5)
    y, bottom = made.top - 2, made.bottom + 2
    made.spot(words, None, x, y, right - x + 1, bottom - y + 1)
    return made


def _across(cell: Piece, wires: list[Pair], made: Picture, bottom: int) -> list[Pair]:
    """A 2-cell above the wires that it ends in, in boxes whose last row is `bottom`: the wires that it begins in."""
    match cell:
        case Same():
            return wires
        case Then(first=f, second=g):
            below = _across(g, wires, made, bottom)
            return _across(f, below, made, made.top - 3)
        case Beside(first=f, second=g):
            n = f.target.wires()
            _apart(wires[:n], wires[n:], made)
            return _across(f, wires[:n], made, bottom) + _across(g, wires[n:], made, bottom)
    words = cell.name if isinstance(cell, Box | Named) else "swap" if isinstance(cell, Cross) else "r"
    ends, tops = loose(wires), _places(cell.source, STEP)
    columns = [end.at[0] for end in ends] or [made.last + 4]
    x, right = min(columns) - 2, max(columns) + 2
    more = max(0, max(len(words) + 4, STEP * (sum(map(len, tops)) - 1) + 5) - (right - x + 1))
    made.make_room(right + 1, more - more // 2)
    made.make_room(x, more // 2)
    spot = made.spot(words, "box", x, bottom - 2, right - x + 1 + more, 3, tint=1)
    for end in ends:
        end.end(spot, (end.at[0], bottom))
    middle = x + (spot.width - 1) // 2
    places = [[middle + column for column in xs] for xs in tops]
    if len(ends) == sum(map(len, tops)):  # straight through
        straight = iter(ends)
        places = [[next(straight).at[0] for _ in xs] for xs in tops]
    return [made.open_at(spot, [(column, spot.y) for column in xs], leaves=False) for xs in places]


def _apart(some: list[Pair], others: list[Pair], made: Picture) -> None:
    """Room between the boxes that will stand above these wires and those."""
    columns = sorted([end.at[0] for end in loose(wires)] for wires in (some, others))
    if all(columns):
        low, high = max(columns[0]), min(columns[1])
        made.make_room(high, max(0, 6 - (high - low)))


def _bent(made: Picture, rise: int, fall: int, before: bool) -> Picture:
    """With the first wires on the left led up, and the last of those above led to the left."""
    kept = len(made.above) - fall
    rising, falling = made.left[:rise], made.above[kept:]
    row, column = made.top - 2, made.first - 3
    for end in sorted(loose(falling), key=lambda end: end.at[0]):
        end.to((end.at[0], row))
        end.to((column, row))
        row -= 2
    for end in sorted(loose(rising), key=lambda end: end.at[1]):
        end.to((column, end.at[1]))
        end.to((column, made.top))
        column -= STEP
    made.left = [*falling, *made.left[rise:]] if before else [*made.left[rise:], *falling]
    made.above = rising + made.above[:kept]
    return made


def _doubled(made: Picture) -> Picture:
    """With one strand that comes in, for two that do; what comes back stays apart."""
    half = len(made.left) // 2
    wires = []
    x = made.first - 3
    for one, other in zip(made.left[:half], made.left[half:], strict=True):
        assert one.there, "every wire goes there"
        assert other.there, "every wire goes there"
        row = one.there.at[1]
        dot = made.spot(" ", "dot", x, row, 1)
        one.there.end(dot, (x, row))
        other.there.end(dot, (x, other.there.at[1]), (x, row))
        wires.append(Pair(Loose(made.strand((x, row), target=dot), False), one.back))
        x -= 2
    made.left = wires + [Pair(None, other.back) for other in made.left[half:]]
    return made
