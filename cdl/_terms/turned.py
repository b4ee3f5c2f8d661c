"""Terms of optics out of a pair `P × X`: with `P` above, or on the left.

Parametrised optics have `P` above. Among plain optics it is on the left, before `X`. And an optic of pairs that was
given as it is, with no parameters, may be read as a parametrised one.
"""

from .space import join, none, pair, Space
from .term import Box, Named, named, Term, Then, then, Turned, Wires, wires


def plain(term: Term) -> Term:
    """With nothing above: what was there comes from the left, first."""
    if term.above is None:
        return term
    if isinstance(term, Turned):
        return Turned(pair(term.above, term.source), term.target, None, term.inner, term.wires, 0)
    turned = _turned(_straight(), term)
    return Turned(turned.wires.source, term.target, None, term, turned.wires, 0)


def parametrised(term: Term) -> Term:
    """With the first of the pair above."""
    if term.above is not None:
        return term
    match term:
        case Box():
            up, x = Space(), Space()
            join(term.source, pair(up, x))
            return Box(x, term.target, up, term.name)
        case Named(inner=f):
            return named(parametrised(f), term.name)
        case Then(first=Wires(up=int()) as moved, second=g):
            return _turned(moved, parametrised(g))
        case Then(first=f, second=g):
            return then(parametrised(f), g)
        case Wires(up=int()):
            through = wires(lambda x: x, "x")
            join(through.source, term.target)
            return _turned(term, through)
        case _:
            return _turned(_straight(), term)


def after(f: Term, g: Term) -> Term:
    """One after the other. Where the first only moves the wires of a pair, and the second has parameters, it leads
    wires to them, and the first of the pair is above."""
    if isinstance(f, Wires) and f.up is not None and g.above is not None:
        return _turned(f, g)
    return then(f, plain(g))


def _straight() -> Wires:
    return wires(lambda pair: pair, ("p", "x"))


def _turned(moved: Wires, inner: Term) -> Turned:
    join(moved.target, inner.source if inner.above is None else pair(inner.above, inner.source))
    above, source = moved.source.parts or (none(), moved.source)
    assert moved.up is not None, "the source is a pair"
    return Turned(source, inner.target, above, inner, moved, moved.up)
