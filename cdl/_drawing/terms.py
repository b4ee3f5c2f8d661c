"""The term of a parametric map: how it was put together, and how many wires go between its parts.

| the mathematics             | here            | its wires                                             |
| --------------------------- | --------------- | ----------------------------------------------------- |
| a map that is taken as given| `Leaf`          | as many as what it is composed with needs             |
| the identity, the symmetry  | `Same`, `Cross` | `X → X`, `X × Y → Y × X`                               |
| `f >> g`, `f @ g`           | `Then`, `Beside`| those between `f` and `g` are equal; pairs            |
| `fanout(f, g)`              | `Fan`           | `X → Y × Z`                                           |
| a reparametrisation         | `Along`         | those of the map, and the cell above it               |
| a map with a name           | `Named`         | those of the map                                      |

A map says nothing of its types, so they are inferred: two ends that are joined have one type, and what is never found
to be a product is one wire.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union

import jax

from .._optics.reversal import numbers
from .._para import para as p
from .._para.family import _BySort
from .._para.squares import _Fold
from .._para.unrolled import _Lifted, _Unrolled
from .._schemes.algebras import name_of


@dataclass(eq=False)
class Space:
    """A type: a wire, until it is found to be a product, or to be another. The product of none is no wire.

    In an optic a wire goes there, and `back` unless it is known that nothing does; its `words` say what it is.
    """

    parts: "tuple[Space, ...] | None" = None
    same: "Space | None" = None
    back: bool = True
    words: str = ""

    def found(self) -> "Space":
        return self if self.same is None else self.same.found()

    def each(self) -> "list[Space]":
        """Its wires."""
        here = self.found()
        return [here] if here.parts is None else [wire for part in here.parts for wire in part.each()]

    def wires(self) -> int:
        return len(self.each())


@dataclass
class Leaf:
    name: str
    params: int  # how many numbers
    source: Space = field(default_factory=Space)
    target: Space = field(default_factory=Space)


@dataclass
class Same:
    source: Space
    target: Space


@dataclass
class Cross:
    first: Space
    source: Space
    target: Space


@dataclass
class Then:
    first: "Term"
    second: "Term"
    source: Space
    target: Space


@dataclass
class Beside:
    first: "Term"
    second: "Term"
    source: Space
    target: Space


@dataclass
class Fan:
    first: "Term"
    second: "Term"
    source: Space
    target: Space


@dataclass
class Along:
    inner: "Term"
    cell: str
    params: int
    source: Space
    target: Space


@dataclass
class Named:
    inner: "Term"
    name: str
    source: Space
    target: Space


Term: TypeAlias = Union[Leaf, Same, Cross, Then, Beside, Fan, Along, Named]


def term_of(para: p.Para[Any, Any, Any]) -> Term:
    """The term of a parametric map."""
    return _read(para.fn, para.params)


def name(fn: Any, nameless: str = "f") -> str:
    """What a box is called: the name of a function, or of a module's class."""
    match fn:
        case p._Joined(rest):
            return name(rest)
        case p._Named(_, called):
            return called
        case _Fold(inner):
            return f"fold {name(inner)}"
        case _Lifted(inner):
            return f"F ({name(inner)})" if isinstance(inner, _Fold) else f"F {name(inner)}"
        case _Unrolled(inner):
            return f"unrolled {name(inner)}"
        case _BySort(fns):
            return f"({', '.join(map(name, fns))})"
        case _:
            called = name_of(fn)
            return nameless if called == "<lambda>" else called


def leaves(term: Term) -> list[Leaf]:
    """Every map that is taken as given, in the order of their parameters."""
    match term:
        case Leaf():
            return [term]
        case Then(f, g) | Beside(f, g) | Fan(f, g):
            return leaves(f) + leaves(g)
        case Along(inner) | Named(inner):
            return leaves(inner)
        case _:
            return []


def _read(fn: Callable[..., Any], params: Any) -> Term:
    match fn:
        case p._Then(f, g):
            first, second = _read(f, params[0]), _read(g, params[1])
            join(first.target, second.source)
            return Then(first, second, first.source, second.target)
        case p._Beside(f, g):
            first, second = _read(f, params[0]), _read(g, params[1])
            return Beside(first, second, pair(first.source, second.source), pair(first.target, second.target))
        case p._Fanned(f, g):
            first, second = _read(f, params[0]), _read(g, params[1])
            join(first.source, second.source)
            return Fan(first, second, first.source, pair(first.target, second.target))
        case p._Along(f, cell):
            inner = _read(f, jax.eval_shape(cell, params))
            return Along(inner, name(cell, "r"), numbers(params), inner.source, inner.target)
        case p._Named(f, called):
            inner = _read(f, params)
            if isinstance(inner, Leaf):
                return Leaf(called, inner.params, inner.source, inner.target)
            return Named(inner, called, inner.source, inner.target)
        case p._given:
            wire = Space()
            return Same(wire, wire)
        case p._swapped:
            x, y = Space(), Space()
            return Cross(x, pair(x, y), pair(y, x))
        case _:
            return Leaf(name(fn), numbers(params))


def pair(x: Space, y: Space) -> Space:
    """Their product."""
    return Space((x, y))


def join(x: Space, y: Space) -> None:
    """Makes two types one."""
    a, b = x.found(), y.found()
    if a is b:
        return
    if a.parts is None:
        a.same = b
        for wire in b.each():
            wire.back = wire.back and a.back
        b.words = b.words or a.words
    elif b.parts is None:
        b.same = a
    else:
        for left, right in zip(a.parts, b.parts, strict=True):
            join(left, right)
