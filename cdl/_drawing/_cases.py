"""Signatures, algebras and machines: the operations, each a box with its places.

| the drawing                       | its boxes                                                     |
| --------------------------------- | ------------------------------------------------------------- |
| a signature `F`                   | its constructors, from fields to `X`                          |
| an algebra `P × F S → S`          | its cases, from fields to `S`, in a frame into which `P` goes |
| a coalgebra `P × S → F S`         | the layers that it may give, from `S` to fields, in the same  |
| a machine `P × S → O × [I, S]`    | `out` and `step`, with the state fed back                     |
| a machine `P × S → [I, O × S]`    | `step`, with the state fed back                               |

In a family there is a frame for each sort, and `S₀`, `S₁` in the place of `S`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._functors import MealyF, MooreF
from .._functors.poly import by_sort, lettered
from .._functors.read import layout
from .._para.family import Kinds
from .._terms import name, numbers, real
from .diagram import Canvas, Diagram, Point


class Row(NamedTuple):
    """An operation: its name, its inputs, and its output."""

    name: str
    inputs: tuple[str, ...]
    output: str


def signature_diagram(kinds: Kinds, titles: Sequence[str], notes: Sequence[str]) -> Diagram:
    """The constructors of each sort of a signature, with its name."""
    return _framed(kinds, "X", titles, [0] * len(kinds), notes=notes)


def algebra_diagram(algs: Sequence[Any], kinds: Kinds) -> Diagram:
    """The cases of an algebra, which share its parameters; of a family, those of each sort."""
    return _framed(kinds, "S", list(map(name, algs)), list(map(numbers, algs)))


def coalgebra_diagram(coalgs: Sequence[Any], kinds: Kinds) -> Diagram:
    """The layers that a coalgebra may give at a seed, with their places; of a family, those of each sort."""
    return _framed(kinds, "S", list(map(name, coalgs)), list(map(numbers, coalgs)), grows=True)


def machine_diagram(machine: Any, kind: type[Any]) -> Diagram:
    """A machine as a box (a Moore machine as two), with its state fed back."""
    canvas = Canvas()
    moore = kind is MooreF
    has_input = moore or kind is MealyF
    params = numbers(machine)
    top = 3 if params else 0
    left = 8  # where the frame begins: before it is the input
    out = canvas.node("out", "box", left + 9, top + 2, width=8) if moore else None
    step = canvas.node("step" if has_input else "next", "box", left + 9, top + (6 if moore else 2), width=8, height=5)
    shows = out or step
    rows = (step.y + 1, step.y + 3)
    dot_column, right = left + 4, step.right + 5
    state = step.middle[1] if not has_input else rows[1 if not moore else 0]
    title = name(machine)
    entry = max(step.middle[0], left + len(title) + 6)
    edge = max(right, entry) + 3
    frame = canvas.frame(title, left, top, edge - left + 1, step.bottom + 5 - top)
    ports = []
    if has_input:
        ports.append(canvas.node("I", "port", 2, rows[0 if not moore else 1]))
        canvas.wire(ports[0].key, step.key, [(2, ports[0].y), (step.x, ports[0].y)])
    shown = canvas.node("O", "port", edge + 5, shows.middle[1] if moore else rows[0])
    canvas.wire(shows.key, shown.key, [(shows.right, shown.y), (shown.x, shown.y)])
    after = step.middle[1] if moore else rows[1]
    loop = [(step.right, after), (right, after), (right, step.bottom + 2), (dot_column, step.bottom + 2)]
    at = step.middle[0], step.bottom + 2
    if out is not None:
        dot = canvas.node(" ", "dot", dot_column, state)
        canvas.wire(step.key, dot.key, [*loop, (dot_column, state)], arrow=False, label="S", at=at)
        canvas.wire(dot.key, step.key, [(dot_column, state), (step.x, state)])
        to = out.middle[1]
        canvas.wire(dot.key, out.key, [(dot_column, state), (dot_column, to), (out.x, to)])
    else:
        canvas.wire(step.key, step.key, [*loop, (dot_column, rows[1]), (step.x, rows[1])], label="S", at=at)
    if params:
        _parameter(canvas, params, frame.key, (entry, top))
    return canvas.finished()


def _parameter(canvas: Canvas, numbers: int, target: str, to: Point) -> None:
    """Parameters, two rows above what they go to."""
    words = real(numbers)
    port = canvas.node(words, "parameter", to[0] - (len(words) - 1) // 2, to[1] - 3)
    canvas.wire(port.key, target, [(to[0], port.y), to])


def _framed(
    kinds: Kinds,
    letter: str,
    titles: Sequence[str],
    params: Sequence[int],
    *,
    notes: Sequence[str] = (),
    grows: bool = False,
) -> Diagram:
    """The operations of each sort in a frame, one below the other; places have the letter, or one for each sort."""
    canvas, letters, y = Canvas(notes=list(notes)), by_sort(letter, len(kinds)), 0
    for some, own, title, count in zip(kinds, letters, titles, params, strict=True):
        y = _stack(canvas, [_row(kind, letters, own) for kind in some], title, count, y, grows=grows)
    return canvas.finished()


def _row(kind: type[Any], letters: tuple[str, ...], own: str) -> Row:
    """A constructor as an operation; its places are written with the letters of their sorts, its value with its own."""
    record = layout(kind)
    pairs = zip(record.names, record.factors, strict=True)
    return Row(kind.__name__, tuple(f"{field}: {lettered(term, letters)}" for field, term in pairs), own)


def _stack(canvas: Canvas, rows: list[Row], title: str, params: int, y: int, *, grows: bool = False) -> int:
    """Operations one below the other, in a frame: from many places to one, or where it `grows` from one to many.

    From row `y` on; gives the row where the next frame may begin.
    """
    top = y + (3 if params else 0)
    inner = max(len(row.name) for row in rows) + 4
    wide = max([1, *(len(words) for row in rows for words in row.inputs)])
    before_box, behind = (len(rows[0].output), wide) if grows else (wide, len(rows[0].output))
    left = 3 + before_box + 6
    y = top + 2
    for row in rows:
        many = max(1, len(row.inputs))
        made = canvas.node(row.name, "box", left, y, width=inner, height=2 * many + 1)
        one, each = (row.output,), row.inputs
        for words, before in ((each, True), (one, False)) if not grows else ((one, True), (each, False)):
            begin = made.middle[1] if len(words) == 1 else y + 1
            for i, word in enumerate(words):
                x = left - 6 - len(word) if before else made.right + 6
                port = canvas.node(word, "port", x, begin + 2 * i)
                if before:
                    canvas.wire(port.key, made.key, [(port.right, port.y), (made.x, port.y)])
                else:
                    canvas.wire(made.key, port.key, [(made.right, port.y), (port.x, port.y)])
        y += made.height + 1
    across = max(left + inner + 6 + behind + 2, len(title) + 6)
    entry = max(across // 2, len(title) + 6)
    frame = canvas.frame(title, 0, top, max(across, entry + 4), y + 1 - top)
    if params:
        _parameter(canvas, params, frame.key, (entry, top))
    return y + 2
