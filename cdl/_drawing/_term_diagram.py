"""The diagram of whatever has a term: its picture, with a name at the end of each strand."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from .._functors.poly import subscript
from .._optics import Lens, Optic, ParaOptic
from .._optics.types import refusing, show, value_type
from .._para import Para
from .._terms import join, name, none, numbers, plain, real, Space, Term, Then, then, Turned
from ..learning import Learner
from ._picture import Loose, loose, Pair, Picture
from .diagram import Canvas, Diagram
from .strings import gap, picture, turns


Name = tuple[str, str]  # of what goes there, and of what comes back
LONGEST = 20


def term_diagram(x: Any, at: Any = None) -> Diagram:
    """The string diagram of what has a term; with an input, its ends have the shapes of arrays. What is not known to be
    a map or an optic is a machine."""
    if isinstance(x, Learner):
        return _of_learner(x, at)
    term, above = x.__term__(), None
    source, target = at, None
    match x:
        case Para(params, fn):
            target = None if at is None else _shape_of(lambda x: fn(params, x), at, name(fn))
        case ParaOptic(params):
            source, target = (at, value_type(x, at)) if at is not None else (x.source, x.target)
            above = _names(term.above or none(), "p", params, lambda x: real(numbers(x)))
        case Optic() | Lens():
            if at is not None:
                target, term = _shape_of(x.get, at, name(x)), plain(term)
            above = _names(term.above or none(), "p")
        case _:
            source, above = None, _states((term.above or none()).ways())
    return _drawn(term, _names(term.source, "x", source), _names(term.target, "y", target), above or [])


def _shape_of(fn: Callable[[Any], Any], at: Any, called: str) -> Any:
    """The type of what a map gives at an input.

    **Raises:** `PortMismatch` where it takes no such input.
    """
    with refusing(lambda: f"`{called}` does not take {show(at)}", "Give `draw` an input that it takes, or none."):
        return eqx.filter_eval_shape(fn, at)


def _of_learner(learner: Learner[Any, Any, Any], at: Any) -> Diagram:
    """A learner with its rate. Its state comes from above, and so does the target of what is supervised."""
    closed, data, wanted, target = learner.__term__(), at, None, none()
    states = (closed.above or none()).wires()
    join(closed.target, none())
    match closed:
        case Then(first=Turned(inner=f, wires=moved), second=rate) if not moved.copies:
            closed, target = then(f, rate), moved.blocks[-1]
            data, wanted = (None, None) if at is None else at
    left = _names(closed.source, "input", data)
    if isinstance(closed, Then) and isinstance(closed.first, Turned):
        left += [("", "target′") for _ in left]
    return _drawn(closed, left, [], _states(states) + _names(target, "target", wanted))


def _states(many: int) -> list[Name]:
    marks = [subscript(i) for i in range(many)] if many > 1 else [""] * many
    return [(f"state{mark}", f"next{mark}") for mark in marks]


def _names(of: Space, word: str, value: Any = None, say: Callable[[Any], str] = show) -> list[Name]:
    """The shapes of what is on each wire, or what the wire says of itself, or a word."""
    if value is not None:
        _refine(of, value)
    wires = of.each()
    values = [None] * len(wires) if value is None else _split(value, of)
    found = []
    several = sum(not wire.numbers for wire in wires) > 1
    for i, (wire, x) in enumerate(zip(wires, values, strict=True)):
        shape = "" if x is None else say(x)
        own = real(wire.numbers) if wire.numbers else word + subscript(i) * several
        words = shape if 0 < len(shape) < LONGEST else own
        found.append((words, f"{words}′"))
    return found


def _refine(of: Space, value: Any) -> None:
    """No wire where there is nothing in the value."""
    here = of.found()
    if here.parts is None and not jax.tree.leaves(value):
        here.parts = ()
    for part, x in zip(here.parts or (), value if here.parts else (), strict=True):
        _refine(part, x)


def _split(value: Any, wires: Space) -> list[Any]:
    """The parts of a value that go on each wire."""
    here = wires.found()
    if here.parts is None:
        return [value]
    if not here.parts:  # nothing, in whatever brackets
        return []
    return [part for v, w in zip(value, here.parts, strict=True) for part in _split(v, w)]


def _drawn(term: Term, left: list[Name], right: list[Name], above: list[Name]) -> Diagram:
    made = picture(term)
    _in_order(made)
    spots, column = made.spots[:], made.first - 5
    for end, words in _ends(made.left, left):
        made.name(end, words, (column, end.at[1]), len(words) - 1)
    made.spots = [*made.spots[len(spots) :], *spots]
    tops = sorted(_ends(made.above, above), key=lambda end: end[0].at[0])
    past = made.first - LONGEST
    for end, words in tops:  # so that names do not touch
        begin = end.at[0] - (len(words) - 1) // 2
        made.make_room(end.at[0], max(0, past + 2 - begin))
        past = end.at[0] - (len(words) - 1) // 2 + len(words) - 1
    row = made.top - 3
    for end, words in tops:
        made.name(end, words, (end.at[0], row), (len(words) - 1) // 2)
    column = made.last + 5
    for end, words in _ends(made.right, right):
        made.name(end, words, (column, end.at[1]))
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
            keys[spot] = canvas.node(
                spot.words, spot.kind, spot.x, spot.y, width=spot.width, height=spot.height, tint=spot.tint
            ).key
    for strand in made.wires:
        assert strand.source is not None
        assert strand.target is not None
        source, target = keys[strand.source], keys[strand.target]
        canvas.wire(source, target, strand.points, arrow=strand.target.kind != "dot", back=strand.back)
    return canvas.finished()
