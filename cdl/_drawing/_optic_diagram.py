"""The diagram of an optic, a parametrised one or a learner: its picture, with a name at the end of each strand."""

from typing import Any

import jax

from .._functors.poly import subscript
from .._optics import ParaOptic
from .._optics.reversal import numbers
from .._optics.types import show, value_type
from ..learning import Learner
from ._optic_term import Bent, none, parametrised, Piece, plain, takes_parameters, then, Twice
from ._optics import picture
from ._picture import Loose, loose, Pair, Picture
from .diagram import Canvas, Diagram
from .strings import gap, shape_of, space, split, turns
from .terms import join, name, Space


Name = tuple[str, str]  # of what goes there, and of what comes back
LONGEST = 20


def optic_diagram(optic: Any, at: Any = None) -> Diagram:
    """The string diagram of an optic or a lens; with an input, its ends have the shapes of arrays."""
    if isinstance(optic, Learner):
        return _of_learner(optic, at)
    if isinstance(optic, ParaOptic):
        source, target = (at, value_type(optic, at)) if at is not None else (optic.source, optic.target)
        piece = parametrised(optic.optic)
        above = _weights(piece.above, optic.params)
    else:
        source, target = at, None if at is None else shape_of(optic.get, at, name(optic))
        piece = parametrised(optic) if at is None and takes_parameters(optic) else plain(optic)
        above = _names(piece.above, "p")
    return _drawn(piece, _names(piece.source, "x", source), _names(piece.target, "y", target), above)


def _of_learner(learner: Any, at: Any) -> Diagram:
    """A learner with its rate. Its state comes from above, and so does the target of what is supervised."""
    read, data, wanted = parametrised(learner.optic), at, None
    piece, target = read, none()
    if isinstance(read, Bent):
        piece, target = read.inner, read.fall
        data, wanted = (None, None) if at is None else at
    left = _names(piece.source, "input", data)
    if isinstance(piece, Twice):
        left += [("", "target′") for _ in left]
    closed = then(piece, plain(learner.rate))
    join(closed.target, none())
    states = read.above.wires()
    marks = [subscript(i) for i in range(states)] if states > 1 else [""] * states
    above = [(f"state{mark}", f"next{mark}") for mark in marks]
    return _drawn(closed, left, [], above + _names(target, "target", wanted))


def _names(of: Space, word: str, value: Any = None) -> list[Name]:
    """The shapes of what is on each wire, or what the wire says of itself, or a word."""
    if value is not None:
        _refine(of, value)
    wires = of.each()
    values = [None] * len(wires) if value is None else split(value, of)
    found = []
    several = sum(not wire.words for wire in wires) > 1
    for i, (wire, x) in enumerate(zip(wires, values, strict=True)):
        shape = "" if x is None else show(x)
        words = shape if 0 < len(shape) < LONGEST else wire.words or word + subscript(i) * several
        found.append((words, f"{words}′"))
    return found


def _weights(of: Space, params: Any) -> list[Name]:
    """How many numbers are on each wire."""
    _refine(of, params)
    words = [wire.words or space(numbers(x)) for wire, x in zip(of.each(), split(params, of), strict=True)]
    return [(word, f"{word}′") for word in words]


def _refine(of: Space, value: Any) -> None:
    """No wire where there is nothing in the value."""
    here = of.found()
    if here.parts is None and not jax.tree.leaves(value):
        here.parts = ()
    for part, x in zip(here.parts or (), value if here.parts else (), strict=True):
        _refine(part, x)


def _drawn(piece: Piece, left: list[Name], right: list[Name], above: list[Name]) -> Diagram:
    made = picture(piece)
    _in_order(made)
    tops = sorted(_ends(made.above, above), key=lambda end: end[0].at[0])
    past = made.first - LONGEST
    for end, words in tops:  # so that names do not touch
        begin = end.at[0] - (len(words) - 1) // 2
        made.make_room(end.at[0], max(0, past + 2 - begin))
        past = end.at[0] - (len(words) - 1) // 2 + len(words) - 1
    row = made.top - 3
    for end, words in tops:
        x = end.at[0]
        end.end(made.spot(words, "parameter", x - (len(words) - 1) // 2, row, len(words)), (x, row))
    column = made.first - 5
    for end, words in _ends(made.left, left):
        y = end.at[1]
        end.end(made.spot(words, "port", column - len(words) + 1, y, len(words)), (column, y))
    column = made.last + 5
    for end, words in _ends(made.right, right):
        y = end.at[1]
        end.end(made.spot(words, "port", column, y, len(words)), (column, y))
    return _finished(made)


def _ends(wires: list[Pair], names: list[Name]) -> list[tuple[Loose, str]]:
    """The open ends of wires, each with its name."""
    each = [((wire.there, words), (wire.back, again)) for wire, (words, again) in zip(wires, names, strict=True)]
    return [(end, words) for wire in each for end, words in wire if end is not None]


def _in_order(made: Picture) -> None:
    """The wires that come out on rows in the order of their type."""
    ends = loose(made.right)
    here = [end.at[1] for end in ends]
    if here != sorted(here):
        for end, corners in zip(ends, turns(here, sorted(here), made.last + gap(len(ends)) + 1), strict=True):
            end.to(*corners)


def _finished(made: Picture) -> Diagram:
    canvas = Canvas()
    made.move(-made.first, -made.top)
    keys = {}
    for spot in made.spots:
        if spot.kind is None:
            keys[spot] = canvas.frame(spot.words, spot.x, spot.y, spot.width, spot.height).key
        else:
            size = {"width": spot.width, "height": spot.height, "tint": spot.tint}
            keys[spot] = canvas.node(spot.words, spot.kind, spot.x, spot.y, **size).key
    for strand in made.wires:
        assert strand.source is not None
        assert strand.target is not None
        source, target = keys[strand.source], keys[strand.target]
        canvas.wire(source, target, strand.points, arrow=strand.target.kind != "dot", back=strand.back)
    return canvas.finished()
