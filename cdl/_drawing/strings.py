"""The picture of a term: wires from left to right and perhaps back, parameters from above.

| the drawing                          | here                                                                |
| ------------------------------------ | ------------------------------------------------------------------- |
| a wire `X`                           | to the right, or down                                               |
| a wire `(X, X')` of an optic         | two: there to the right, or down; back to the left, or up           |
| `P × X → Y`                          | a box, with `P` above, `X` on its left and `Y` on its right         |
| `x ↦ (x, x)`                         | a dot                                                               |
| a wire that is fed back              | below what it is fed to                                             |
| a name                               | a frame around what it is of                                        |
| a 2-cell, such as `Δ`, an optimiser  | a box across, from which the parameters below it come               |

Drawing is a functor: the picture of a composite is made from those of its parts. Each has an axis, a row that they
share.
"""

from .._terms import Along, Beside, Box, Loop, Named, real, Space, Term, Then, Turned, Wires
from ._picture import Loose, loose, Pair, Picture
from .diagram import Point


STEP = 4  # columns between what goes down into a box and what comes up


def picture(term: Term, *, fed: bool = False) -> Picture:
    """The picture of a term. Parameters with no way back stand above their box, unless it is `fed` by a cell."""
    match term:
        case Box():
            made = _box(term)
            return made if fed else _given(made, term.above)
        case Wires(source=source, target=target):
            if term.copies:
                return _turned(_through(target), term, 0)
            return _exchanged(_through(source), term)
        case Then(first=f, second=Wires() as moved) if not moved.copies:
            return _exchanged(picture(f, fed=fed), moved)
        case Then(first=f, second=g):
            return _joined(picture(f, fed=fed), picture(g, fed=fed))
        case Beside(first=f, second=g):
            return _stacked(picture(f, fed=fed), picture(g, fed=fed))
        case Along(inner=f, cell=cell):
            made = picture(f, fed=True)
            made.above = _across(cell, made.above, made, made.top - 3)
            return made if fed else _given(made, term.above)
        case Named(inner=f, name=words):
            return _framed(picture(f, fed=fed), words)
        case Loop(inner=f, fed=wires):
            return _looped(picture(f, fed=fed), wires.wires())
        case Turned(inner=f, wires=moved, up=up):
            return _turned(picture(f, fed=fed), moved, up)


def gap(wires: int) -> int:
    """Columns between two pieces: every wire between them has one to turn in."""
    return 2 * max(wires, 1) + 3


def turns(here: list[int], rows: list[int], x: int) -> list[list[Point]]:
    """The corners by which wires come from the rows where they are to others, before column `x`.

    Each turns in another column, and those in order do not cross. One that would run on along another, which comes
    to its row before it has left it, steps aside first.
    """
    ups = [i for i, (old, row) in enumerate(zip(here, rows, strict=True)) if row < old]
    downs = [i for i, (old, row) in enumerate(zip(here, rows, strict=True)) if row > old]
    turn = {i: x - 3 - 2 * (len(here) - 1 - k) for k, i in enumerate(ups)}
    turn |= {i: x - 3 - 2 * k for k, i in enumerate(downs)}
    taken = {*rows, *here}
    found: list[list[Point]] = []
    for i, (old, row) in enumerate(zip(here, rows, strict=True)):
        corners: list[Point] = []
        if i in turn and any(rows[j] == old and turn[j] < turn[i] for j in turn):
            aside = next(r for r in (old + 1, old - 1, old) if r not in taken or r == old)
            column = x - 2 * len(here) - 2
            corners, old = [(column, old), (column, aside)], aside
        corners += [(turn[i], old), (turn[i], row)] if i in turn else []
        found.append([*corners, (x - 2, row)])
    return found


def _box(term: Box) -> Picture:
    made = Picture()
    lefts, rights = _places(term.source, 2), _places(term.target, 2)
    tops = [] if term.above is None else _places(term.above, STEP)
    high = max(1, *(sum(map(len, places)) for places in (lefts, rights)))
    width = max(len(term.name) + 4, tops[-1][-1] - tops[0][0] + 5 if tops else 0, _label(term.above))
    spot = made.spot(term.name, "box", 0, -high, width, 2 * high + 1)
    middle = (width - 1) // 2
    made.left = [made.open_at(spot, [(0, row) for row in rows], leaves=False) for rows in lefts]
    made.right = [made.open_at(spot, [(spot.right, row) for row in rows], leaves=True) for rows in rights]
    made.above = [made.open_at(spot, [(middle + x, spot.y) for x in xs], leaves=False) for xs in tops]
    return made


def _label(above: Space | None) -> int:
    """How wide the longest name of parameters is."""
    return max((len(real(wire.numbers)) for wire in above.each()), default=0) if above else 0


def _given(made: Picture, above: Space | None) -> Picture:
    """With a port above what takes parameters that have no way back."""
    ports = list(zip(made.above, above.each() if above else [], strict=True))
    made.above = [wire for wire, _ in ports if wire.back]
    for wire, of in ports:
        if wire.there and not wire.back:
            words, (x, y) = real(of.numbers), wire.there.at
            made.name(wire.there, words, (x, y - 3), (len(words) - 1) // 2)
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


def _exchanged(made: Picture, moved: Wires) -> Picture:
    """With the wires on the right in another order."""
    rest = iter(made.right)
    blocks = [[next(rest) for _ in range(block.wires())] for block in moved.blocks]
    made.right = [wire for i in moved.order for wire in blocks[i]]
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


def _looped(made: Picture, fed: int) -> Picture:
    """With the last wires on the right led below it to the last on the left."""
    for one, other in zip(made.right[-fed:], made.left[-fed:], strict=True):
        assert one.there, "every wire goes there"
        assert other.there, "every wire goes there"
        (_, row), (_, onward) = one.there.at, other.there.at
        right, bottom, left = made.last + 3, made.bottom + 2, made.first - 3
        one.there.to((right, row), (right, bottom), (left, bottom), (left, onward))
        one.there.tie(other.there)
    made.right, made.left = made.right[:-fed], made.left[:-fed]
    return made


def _across(cell: Term, wires: list[Pair], made: Picture, bottom: int) -> list[Pair]:
    """A 2-cell above the wires that it ends in, in boxes whose last row is `bottom`: the wires that it begins in."""
    match cell:
        case Wires() if cell.name == "identity":
            return wires
        case Then(first=f, second=g):
            below = _across(g, wires, made, bottom)
            return _across(f, below, made, made.top - 3)
        case Beside(first=f, second=g):
            n = f.target.wires()
            _apart(wires[:n], wires[n:], made)
            return _across(f, wires[:n], made, bottom) + _across(g, wires[n:], made, bottom)
    words = cell.name if isinstance(cell, Box | Named | Wires) else "r"
    ends, tops = loose(wires), _places(cell.source, STEP)
    columns = [end.at[0] for end in ends] or [made.last + 4]
    x, right = min(columns) - 2, max(columns) + 2
    wide = max(len(words) + 4, STEP * (sum(map(len, tops)) - 1) + 5, _label(cell.source))
    more = max(0, wide - (right - x + 1))
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


def _turned(made: Picture, moved: Wires, up: int) -> Picture:
    """With the wires that lead to the top and to the left of a picture: the first `up` blocks from above."""
    inner = iter([(wire, True) for wire in made.above] + [(wire, False) for wire in made.left])
    sides: list[list[list[Pair]]] = [[[] for _ in range(block.wires())] for block in moved.blocks]
    rising: list[Pair] = []
    falling: list[Pair] = []
    for i in moved.order:
        for wires in sides[i]:
            wire, above = next(inner)
            wires.append(wire)
            if above is not (i < up):
                (falling if above else rising).append(wire)
    row, column = made.top - 2, made.first - 3
    for end in sorted(loose(falling), key=lambda end: end.at[0]):
        end.to((end.at[0], row))
        end.to((column, row))
        row -= 2
    for end in sorted(loose(rising), key=lambda end: end.at[1]):
        end.to((column, end.at[1]))
        end.to((column, made.top))
        column -= STEP
    x, apart = made.first - 3, []
    made.above, made.left = [wires[0] for block in sides[:up] for wires in block], []
    for one, *others in (wires for block in sides[up:] for wires in block):
        for other in others:
            one = _dotted(made, one, other, x)
            apart += [Pair(None, other.back)] if other.back else []
            x -= 2
        made.left.append(one)
    made.left += apart
    return made


def _dotted(made: Picture, one: Pair, other: Pair, x: int) -> Pair:
    """With one strand that comes in, for two that do; what comes back stays apart."""
    assert one.there, "every wire goes there"
    assert other.there, "every wire goes there"
    row = one.there.at[1]
    dot = made.spot(" ", "dot", x, row, 1)
    one.there.end(dot, (x, row))
    other.there.end(dot, (x, other.there.at[1]), (x, row))
    return Pair(Loose(made.strand((x, row), target=dot), False), one.back)
