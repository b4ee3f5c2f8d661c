"""Jaxprs taken apart: what of a function can be computed from some of its inputs alone.

A `Part` is a function of arrays as a jaxpr. Its inputs come in groups: first those that are `shared` by all rows
(weights), then those of a row. `split` cuts it in two, where the later inputs come in:

    part(shared, early, late) = second(shared, first(shared, early), late)

so that the first can be computed for all rows before the second is computed for any. Nothing is asked of whoever wrote
the function.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal

from ..arrays.shapes import shaped
from ._jaxprs import bind, CALLS, evaluated, renamed, variables, without_constants


VIEWS = ("split", "slice", "reshape", "squeeze", "expand_dims", "transpose")
WRITTEN_OUT = CALLS.keys() - {"checkpoint", "remat2"}


@dataclass(frozen=True)
class Part:
    """A function from arrays to a list of arrays, of which the first `shared` inputs are the same for every row."""

    jaxpr: Any
    shared: int

    def __call__(self, *inputs: Any) -> list[Any]:
        return list(jaxpr_as_fun(ClosedJaxpr(self.jaxpr, ()))(*inputs))

    def rows(self, shared: Sequence[Any], *rows: Any, count: int | None = None) -> list[Any]:
        """The part at every row: arrays with a leading axis, after those that are shared. `count`: how many rows there
        are, where no array may say."""
        if not self.jaxpr.outvars:
            return []
        axes = [None] * self.shared + [0] * len(rows)
        return list(jax.vmap(self, in_axes=tuple(axes), axis_size=len(rows[0]) if rows else count)(*shared, *rows))

    @property
    def inputs(self) -> list[Any]:
        """The shapes of the inputs."""
        return [shaped(v.aval.shape, v.aval.dtype) for v in self.jaxpr.invars]

    @property
    def outputs(self) -> list[Any]:
        """The shapes of the outputs."""
        return [v.aval for v in self.jaxpr.outvars]


def trace(f: Callable[..., Any], *shapes: Any) -> tuple[Part, list[Any]]:
    """A function of flat inputs as a part without inner calls, and the arrays that it closes over, which are its first
    inputs."""
    closed = renamed(jax.make_jaxpr(f)(*shapes))
    consts = list(closed.consts)
    inputs = [shaped(v.aval.shape, v.aval.dtype) for v in (*closed.jaxpr.constvars, *closed.jaxpr.invars)]
    flat = jax.make_jaxpr(lambda *xs: _flat(without_constants(closed.jaxpr), xs))(*inputs)
    consts = [*flat.consts, *consts]
    jaxpr = flat.jaxpr.replace(constvars=(), invars=[*flat.jaxpr.constvars, *flat.jaxpr.invars])
    return Part(_needed(jaxpr), len(consts)), consts


def split(part: Part, early: int, *, views: bool = False) -> tuple[Part, Part]:
    """The part in two: what depends on the shared and the `early` inputs alone, and the rest.

    What depends on shared inputs alone is in both where both need it. An array goes from one to the other before it is
    transposed or cut in pieces, or with `views` after that.
    """
    shared, rows = part.jaxpr.invars[: part.shared], part.jaxpr.invars[part.shared :]
    constant, late = set(shared), set(rows[early:])
    used = [v for v in part.jaxpr.outvars if not isinstance(v, Literal)]
    for eqn in part.jaxpr.eqns:
        of = variables(eqn.invars)
        if any(v in late for v in of):
            late.update(eqn.outvars)
            used += of
        elif all(v in constant for v in of):
            constant.update(eqn.outvars)
    between = [v for v in dict.fromkeys(used) if v not in late and v not in constant]
    between = between if views else _before_views(part.jaxpr, between)
    return cut(part, [*shared, *rows[:early]], between), cut(
        part, [*shared, *between, *rows[early:]], part.jaxpr.outvars
    )


def cut(part: Part, given: Sequence[Any], wanted: Sequence[Any]) -> Part:
    """The part from some of its variables to others."""
    return Part(_needed(part.jaxpr.replace(invars=list(given), outvars=list(wanted))), part.shared)


def _before_views(jaxpr: Jaxpr, between: list[Any]) -> list[Any]:
    """Instead of the pieces of an array, the array, where it is no larger than they are together."""
    views = {v: e for e in jaxpr.eqns if e.primitive.name in VIEWS and len(variables(e.invars)) == 1 for v in e.outvars}
    while True:
        pieces: dict[Any, list[Any]] = {}
        for v in between:
            if v in views:
                pieces.setdefault(variables(views[v].invars)[0], []).append(v)
        whole = [v for v, some in pieces.items() if v.aval.size <= sum(p.aval.size for p in some)]
        if not whole:
            return between
        taken = {p for v in whole for p in pieces[v]}
        between = list(dict.fromkeys([*(v for v in between if v not in taken), *whole]))


def equation(part: Part, eqn: JaxprEqn) -> Callable[..., list[Any]]:
    """One equation as a function of its `variables`."""
    alone = part.jaxpr.replace(eqns=[eqn], invars=variables(eqn.invars), outvars=list(eqn.outvars), constvars=())
    return Part(alone, 0)


def made_of_weights(part: Part) -> tuple[Part, Part]:
    """What is made of the shared inputs alone, and the rest, to which that is shared."""
    derive, rest = split(Part(part.jaxpr, 0), part.shared, views=True)
    return derive, Part(rest.jaxpr, len(derive.jaxpr.outvars))


def _needed(jaxpr: Jaxpr) -> Jaxpr:
    """The jaxpr with those equations alone that its outputs need and that its inputs do not give."""
    given = set(jaxpr.invars)
    needed = {v for v in jaxpr.outvars if not isinstance(v, Literal)} - given
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if needed & set(eqn.outvars):
            kept.append(eqn)
            needed -= set(eqn.outvars)
            needed |= set(variables(eqn.invars)) - given
    return jaxpr.replace(eqns=kept[::-1])


def _flat(jaxpr: Jaxpr, given: Sequence[Any]) -> list[Any]:
    """A jaxpr's outputs, with the calls in it written out."""

    def step(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
        if eqn.primitive.name not in WRITTEN_OUT:
            return bind(eqn, values)
        inner = eqn.params[CALLS[eqn.primitive.name]]
        return _flat(without_constants(inner.jaxpr), [*inner.consts, *values])

    return evaluated(jaxpr, given, step)[0]
