"""The term of an optic: how it was put together, with wires on three sides.

| the mathematics                            | here             | its wires                                       |
| ------------------------------------------ | ---------------- | ----------------------------------------------- |
| an optic that is taken as given            | `Box`            | from above, from the left, and to the right     |
| the identity, the symmetry                 | `Same`, `Cross`  | `X → X`, `X × Y → Y × X`                        |
| `f >> g`, `f @ g`                          | `Then`, `Beside` | those above are paired, in reading order        |
| a reparametrisation                        | `Along`          | the cell stands above, and ends in those of `f` |
| an optic with a name                       | `Named`          | those of the optic                              |
| `P × X`, with another of the two above     | `Bent`           | the same, led to the other side                 |
| `x ↦ (x, x)`, with both changes given back | `Twice`          | one there, and two back                         |

A wire is two, there and back. Where an optic out of a pair has parameters to take, the first of the pair is above.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import equinox as eqx

from .._optics import lens as _lens, optic as o, para_optic as _para_optic, parametric as p
from .._optics.reversal import Reverse
from ..learning._learners import _data_apart, _twice
from .strings import space
from .terms import join, name, pair, Space


@dataclass
class Wires:
    """What is on the left, on the right, and above."""

    source: Space
    target: Space
    above: Space


@dataclass
class Box(Wires):
    name: str


@dataclass
class Same(Wires):
    pass


@dataclass
class Cross(Wires):
    first: Space


@dataclass
class Then(Wires):
    first: "Piece"
    second: "Piece"


@dataclass
class Beside(Wires):
    first: "Piece"
    second: "Piece"


@dataclass
class Along(Wires):
    inner: "Piece"
    cell: "Piece"


@dataclass
class Named(Wires):
    inner: "Piece"
    name: str


@dataclass
class Bent(Wires):
    """The first wires on the left rise, and the last of those above fall to the left, `before` the others or behind."""

    inner: "Piece"
    rise: Space
    fall: Space
    before: bool = True


@dataclass
class Twice(Wires):
    inner: "Piece"


Piece: TypeAlias = Union[Box, Same, Cross, Then, Beside, Along, Named, Bent, Twice]


def plain(optic: Any) -> Piece:
    """The term of an optic or a lens, with nothing above."""
    match optic:
        case o._Then(f, g) | _lens._Then(f, g):
            return then(plain(f), plain(g))
        case o._Beside(f, g) | _lens._Beside(f, g):
            return _beside(plain(f), plain(g))
        case o.Named(f, called):
            return _named(plain(f), called)
        case o._Iso(o._same):
            return _same()
        case o._Iso(o._swapped):
            x, y = Space(), Space()
            return Cross(pair(x, y), pair(y, x), none(), x)
        case _lens._FromLens(lens):
            return plain(lens)
        case _lens.Lens(get, put):
            made = _whole(get, put)
            return _box(name(get, "lens")) if made is None else plain(made)
        case p.Layer() | p.Sequence() | p.Beside() | p.Along() | p.Batched():
            inner = parametrised(optic)
            return Bent(pair(inner.above, inner.source), inner.target, none(), inner, none(), inner.above)
        case Reverse(fn) | o._Of(fn) | o._Iso(fn):
            return _box(name(fn))
        case _:
            return _box(name(optic))


def _whole(get: Any, put: Any) -> Any:
    """What the two maps of a lens are both of, where they are the two of one optic or of one composite."""
    made, other = getattr(get, "__self__", None), getattr(put, "__self__", None)
    if not isinstance(made, o.Optic | _lens._Then | _lens._Beside) or type(made) is not type(other):
        return None
    if (get.__name__, put.__name__) != ("get", "put"):
        return None
    return made if made is other or bool(eqx.tree_equal(made, other)) else None


def parametrised(optic: Any) -> Piece:
    """The term of an optic out of a pair, with the first of the two above."""
    match optic:
        case p.Layer(_, called, size, inputs):
            return Box(Space(back=inputs), Space(), Space(words=space(size)) if size else none(), called)
        case p.Sequence(f, g):
            return then(parametrised(f), parametrised(g))
        case p.Beside(f, g):
            return _beside(parametrised(f), parametrised(g))
        case p.Along(cell, f):
            inner, over = parametrised(f), plain(cell)
            join(over.target, inner.above)
            return Along(inner.source, inner.target, over.source, inner, over)
        case p.Batched(f):
            return parametrised(f)
        case o.Named(f, called):
            return _named(parametrised(f), called)
        case o._Iso(_para_optic._given):
            return _same()
        case o._Then(o._Iso(o._swapped), f):
            inner = parametrised(f)
            return Bent(inner.above, inner.target, inner.source, inner, inner.source, inner.above)
        case o._Then(o._Iso(there), f) if there is _data_apart:
            inner, state, data = parametrised(f), Space(), Space()
            join(inner.above, pair(state, data))
            return Bent(pair(inner.source, data), inner.target, state, inner, none(), data, before=False)
        case o._Then(o._Iso(there), f) if there is _twice:
            inner, x = parametrised(f), Space()
            join(inner.source, pair(x, x))
            return Twice(x, inner.target, inner.above, inner)
        case o._Then(f, g):
            return then(parametrised(f), plain(g))
        case _:
            inner, up, x = plain(optic), Space(), Space()
            join(inner.source, pair(up, x))
            if isinstance(inner, Box):
                return Box(x, inner.target, up, inner.name)
            return Bent(x, inner.target, up, inner, up, none())


def takes_parameters(optic: Any) -> bool:
    """Whether an optic is made to take parameters, the first of a pair."""
    match optic:
        case o._Then(o._Iso(there), f) if there in (o._swapped, _data_apart, _twice):
            return takes_parameters(f)
        case o.Named(f) | o._Then(f):
            return takes_parameters(f)
        case _:
            return isinstance(optic, p.Layer | p.Sequence | p.Beside | p.Along | p.Batched)


def none() -> Space:
    """No wire."""
    return Space(())


def _box(words: str) -> Piece:
    return Box(Space(), Space(), none(), words)


def _same() -> Piece:
    wire = Space()
    return Same(wire, wire, none())


def _named(inner: Piece, words: str) -> Piece:
    if isinstance(inner, Box):
        return Box(inner.source, inner.target, inner.above, words)
    return Named(inner.source, inner.target, inner.above, inner, words)


def then(f: Piece, g: Piece) -> Piece:
    """One after the other."""
    join(f.target, g.source)
    return Then(f.source, g.target, pair(f.above, g.above), f, g)


def _beside(f: Piece, g: Piece) -> Piece:
    return Beside(pair(f.source, g.source), pair(f.target, g.target), pair(f.above, g.above), f, g)
