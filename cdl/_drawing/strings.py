"""String diagrams of parametric maps: wires from left to right, parameters on top.

Drawing is a functor: a term is run on wires. A box ends the wires that come in and begins those that go out; the
identity lets them pass; a copy is a dot; what stands side by side stands one below the other. A piece has an axis, a
row that its neighbours share, so its size is how far it goes above and below the axis, and across.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx

from .._functors.poly import superscript
from .._optics.types import refusing, show
from .._para import Para
from .diagram import Canvas, Diagram, Node, Point
from .terms import Along, Beside, Cross, Fan, Leaf, name, Named, Same, Space, Term, term_of, Then


class Size(NamedTuple):
    above: int
    below: int
    across: int

    @property
    def rows(self) -> int:
        return self.above + 1 + self.below


@dataclass(frozen=True)
class End:
    """A wire that is not finished: where it begins, and the corners so far."""

    source: Node
    points: tuple[Point, ...]

    def to(self, *points: Point) -> "End":
        return replace(self, points=self.points + points)


def shape_of(fn: Callable[[Any], Any], at: Any, called: str) -> Any:
    """The type of what a map gives at an input.

    **Raises:** `PortMismatch` where it takes no such input.
    """
    with refusing(lambda: f"`{called}` does not take {show(at)}", "Give `draw` an input that it takes, or none."):
        return eqx.filter_eval_shape(fn, at)


def string_diagram(para: Para[Any, Any, Any], at: Any = None) -> Diagram:
    """The string diagram of a parametric map; with an input, its wires have the shapes of arrays."""
    term, canvas = term_of(para), Canvas()
    ins = outs = None
    if at is not None:
        shape: Any = shape_of(lambda x: para.fn(para.params, x), at, name(para.fn))
        ins, outs = split(at, term.source), split(shape, term.target)
    size = _size(term)
    begin = [canvas.node(_shown(ins, "x", i), "port", 0, row) for i, row in enumerate(_entries(term, size.above))]
    left = max((n.width for n in begin), default=0)
    ends = [End(n, ((n.right, n.y),)) for n in begin]
    ends = _run(term, ends, left + gap(len(ends)), size.above, canvas, loose=True)
    right = max([left, *(e.points[-1][0] for e in ends)])
    rows = [e.points[-1][1] for e in ends]
    if rows != sorted(rows):
        right += gap(len(ends))
        ends = _route(ends, sorted(rows), right)
    for i, end in enumerate(ends):
        out = canvas.node(_shown(outs, "y", i), "port", right + 5, end.points[-1][1])
        _finish(canvas, end, out, (out.x, out.y))
    return canvas.finished()


def space(numbers: int) -> str:
    """`ℝ¹²`: what the parameters of a box are."""
    return "ℝ" + superscript(numbers)


def box(
    canvas: Canvas, words: str, params: int, x: int, y: int, *, ports: int = 1, width: int = 0, tint: int = 0
) -> Node:
    """A box with its parameters above it; `y` is its upper row, two below that of the parameters."""
    made = canvas.node(words, "box", x, y, width=width, height=2 * max(1, ports) + 1, tint=tint)
    if params:
        parameter(canvas, space(params), made.key, (made.middle[0], y))
    return made


def parameter(canvas: Canvas, words: str, target: str, to: Point) -> Node:
    """A parameter, two rows above what it goes to."""
    port = canvas.node(words, "parameter", to[0] - (len(words) - 1) // 2, to[1] - 3)
    canvas.wire(port.key, target, [(to[0], port.y), to])
    return port


def _size(term: Term) -> Size:
    match term:
        case Leaf(words, params, source, target):
            ports = max(1, source.wires(), target.wires())
            label = len(space(params)) if params else 0
            return Size(ports + 3 * bool(params), ports, max(len(words) + 4, label))
        case Same(source) | Cross(_, source):
            n = source.wires()
            return Size(n - 1, n - 1, 1)
        case Then(f, g):
            a, b = _size(f), _size(g)
            across = a.across + gap(g.source.wires()) + b.across
            return Size(max(a.above, b.above), max(a.below, b.below), across)
        case Beside(f, g) | Fan(f, g):
            a, b = _size(f), _size(g)
            rows = a.rows + 1 + b.rows
            fan = 1 + gap(2 * f.source.wires()) if isinstance(term, Fan) else 0
            return Size(rows // 2, rows - 1 - rows // 2, fan + max(a.across, b.across))
        case Along(inner, cell):
            a = _size(inner)
            return Size(a.above + 10, a.below + 2, max(a.across + 8, len(cell) + 4))
        case Named(inner, words):
            a = _size(inner)
            return Size(a.above + 2, a.below + 2, max(a.across + 8, len(words) + 6))


def gap(wires: int) -> int:
    """Columns between two pieces: room for every wire between them to turn in one of its own."""
    return 2 * max(wires, 1) + 3


def _entries(term: Term, axis: int) -> list[int]:
    """The rows at which wires come into a piece."""
    match term:
        case Beside(f, g):
            upper, lower = _axes(f, g, term, axis)
            return _entries(f, upper) + _entries(g, lower)
        case Then(first) | Along(first) | Named(first):
            return _entries(first, axis)
        case _:
            return _rows(term.source, axis)


def _rows(wires: Space, axis: int) -> list[int]:
    n = wires.wires()
    return [axis - (n - 1) + 2 * i for i in range(n)]


def _axes(f: Term, g: Term, term: Term, axis: int) -> tuple[int, int]:
    top = axis - _size(term).above
    a, b = _size(f), _size(g)
    return top + a.above, top + a.rows + 1 + b.above


def _route(ends: list[End], rows: list[int], x: int) -> list[End]:
    """Every wire on its row, before column `x`."""
    found = turns([e.points[-1][1] for e in ends], rows, x)
    return [end.to(*corners) for end, corners in zip(ends, found, strict=True)]


def turns(here: list[int], rows: list[int], x: int) -> list[list[Point]]:
    """The corners by which wires come from the rows where they are to others, before column `x`.

    Each turns in a column of its own, and those in order do not cross. One that would run on along another, which comes
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


def _run(term: Term, ends: list[End], x: int, axis: int, canvas: Canvas, *, loose: bool = False) -> list[End]:
    """The piece with its upper left column at `x`, on wires from the left: the wires that come out.

    What has no box leaves its wires on the rows where they are, if it is `loose`, with nothing above or below it; those
    that were exchanged cross where they next turn.
    """
    match term:
        case Then(f, g):
            between = _run(f, ends, x, axis, canvas, loose=loose)
            return _run(g, between, x + _size(f).across + gap(len(between)), axis, canvas, loose=True)
        case Same() | Cross() if loose:
            return _exchanged(term, ends)
    ends = _route(ends, _entries(term, axis), x)
    match term:
        case Leaf(words, params, source, target):
            size = _size(term)
            ports = max(1, source.wires(), target.wires())
            made = box(canvas, words, params, x, axis - ports, ports=ports, width=size.across)
            for end, row in zip(ends, _rows(source, axis), strict=True):
                _finish(canvas, end, made, (x, row))
            return [End(made, ((made.right, row),)) for row in _rows(target, axis)]
        case Same() | Cross():
            return _exchanged(term, ends)
        case Beside(f, g):
            n = f.source.wires()
            upper, lower = _axes(f, g, term, axis)
            return _run(f, ends[:n], x, upper, canvas) + _run(g, ends[n:], x, lower, canvas)
        case Fan(f, g):
            copies = []
            for end in ends:
                dot = canvas.node(" ", "dot", x, end.points[-1][1])
                _finish(canvas, end, dot, (x, dot.y), arrow=False)
                copies.append(End(dot, ((x, dot.y),)))
            upper, lower = _axes(f, g, term, axis)
            onward = x + 1 + gap(2 * len(ends))
            both = _route(copies * 2, _entries(f, upper) + _entries(g, lower), onward)
            n = len(ends)
            return _run(f, both[:n], onward, upper, canvas) + _run(g, both[n:], onward, lower, canvas)
        case Along(inner, cell, params):
            size, within = _size(term), _size(inner)
            top = axis - within.above - 2
            frame = canvas.frame("", x, top, size.across, within.rows + 4)
            middle = x + (size.across - 1) // 2
            above = box(canvas, cell, params, middle - (len(cell) + 3) // 2, top - 5)
            canvas.wire(above.key, frame.key, [(above.middle[0], above.bottom), (above.middle[0], top)])
            return _through(_run(inner, _onward(ends, 4), x + 4, axis, canvas), x + size.across + 1)
        case Named(inner, words):
            size, within = _size(term), _size(inner)
            canvas.frame(words, x, axis - size.above, size.across, within.rows + 4)
            return _through(_run(inner, _onward(ends, 4), x + 4, axis, canvas), x + size.across + 1)


def _exchanged(term: Same | Cross, ends: list[End]) -> list[End]:
    """What comes out of a piece that has no box."""
    first = term.first.wires() if isinstance(term, Cross) else 0
    return [*ends[first:], *ends[:first]]


def _onward(ends: list[End], columns: int) -> list[End]:
    return [e.to((e.points[-1][0] + columns, e.points[-1][1])) for e in ends]


def _through(ends: list[End], x: int) -> list[End]:
    """The wires on to column `x`, past the border of a frame."""
    return [e.to((x, e.points[-1][1])) for e in ends]


def _finish(canvas: Canvas, end: End, target: Node, to: Point, *, arrow: bool = True) -> None:
    canvas.wire(end.source.key, target.key, [*end.points, (to[0], end.points[-1][1]), to], arrow=arrow)


def _shown(shapes: list[Any] | None, letter: str, i: int) -> str:
    """A port's name: the shapes there, or a letter."""
    if shapes is None:
        return letter + ("" if i == 0 else "′" * i)
    return str(eqx.tree_pformat(shapes[i], struct_as_array=True, width=10**6))


def split(value: Any, wires: Space) -> list[Any]:
    """The parts of a value that go on each wire."""
    here = wires.found()
    if here.parts is None:
        return [value]
    if not here.parts:  # nothing, in whatever brackets
        return []
    return [part for v, w in zip(value, here.parts, strict=True) for part in split(v, w)]
