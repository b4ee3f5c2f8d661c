"""A coalgebra in pieces, so that each node computes of it what was chosen there, and nothing twice.

| a piece         | what it gives of a node                                                                  |
| --------------- | ---------------------------------------------------------------------------------------- |
| `choosing`      | the candidate that is chosen, and the logarithm of every candidate's chance              |
| `candidates[c]` | the payload of one candidate, and its seeds                                              |

What a candidate shares with the scores, as a hidden state that both are read from, is `shared`: where it is dear it is
computed once, by the first piece, and handed to the second. Where all seeds go through one curve, the candidates give
what is under it (`_curves`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from ..arrays.shapes import Arrays
from ..jaxprs._jaxprs import variables
from ..jaxprs._keep import is_dear
from ..jaxprs._parts import cut, Part, trace
from ..jaxprs._turned import turned
from ._candidates import Growth
from ._curves import Curve, curve_of


@dataclass(frozen=True)
class Piece:
    """A function of a node, and which of the weights, of the seed's leaves and of what is shared it reads. `held` are
    constants in it, its first inputs, which are not differentiated."""

    part: Part
    held: Arrays
    weights: tuple[int, ...]
    leaves: tuple[int, ...]
    shared: tuple[int, ...] = ()


@dataclass(frozen=True)
class Pieces:
    """A growth in pieces. `shared`: the shapes of what the first piece hands to the others. `curves`: the one that each
    leaf of a seed goes through after its candidate, or none."""

    growth: Growth
    choosing: Piece
    candidates: tuple[Piece, ...]
    shared: tuple[Any, ...]
    curves: tuple[Curve | None, ...]


def in_pieces(growth: Growth, weights: Arrays, seeds: Arrays) -> Pieces:
    """The pieces of a growth. `seeds`: the leaves of the seeds of all trees."""

    def node(*arrays: Any) -> list[Any]:
        given = growth.call(list(arrays[: len(weights)]), list(arrays[len(weights) :]), [])
        each = zip(given.payloads, given.seeds, strict=True)
        outs = [[*payload, *(x for place in places for x in place)] for payload, places in each]
        return [growth.choose(given, given.key), growth.chances(given), *(x for out in outs for x in out)]

    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in weights]
    rows = [jax.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in seeds]
    part, held = trace(node, *shapes, *rows)
    count = len(held) + len(weights)
    whole = turned(Part(part.jaxpr, count))
    choice, chances, *rest = whole.jaxpr.outvars
    outs, curves = _by_candidate(growth, whole, rest, len(seeds))
    dear = _dear(cut(whole, whole.jaxpr.invars, [choice, chances]), count)
    each = [cut(whole, [*whole.jaxpr.invars, *dear], out) for out in outs]
    shared = [v for v in dear if any(v in _read(part) for part in each)]
    first = piece_of(cut(whole, whole.jaxpr.invars, [choice, chances, *shared]), held, whole.jaxpr.invars)
    pieces = [piece_of(part, held, whole.jaxpr.invars, shared) for part in each]
    forms = tuple(jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in shared)
    return Pieces(growth, first, tuple(pieces), forms, tuple(curves))


def _by_candidate(
    growth: Growth, part: Part, outs: list[Any], width: int
) -> tuple[list[list[Any]], list[Curve | None]]:
    """The outputs of each candidate: its payload's leaves, and those of its seeds, `width` at each place, each as it is
    before its curve; and the curves."""
    rest = iter(outs)
    found = [[next(rest) for _ in range(len(c.columns) + width * c.arity)] for c in growth.candidates]
    curves = []
    for leaf in range(width):
        each = list(zip(growth.candidates, found, strict=True))
        at = [(out, len(c.columns) + width * place + leaf) for c, out in each for place in range(c.arity)]
        curve, under = curve_of(part, [out[i] for out, i in at])
        for (out, i), v in zip(at, under, strict=True):
            out[i] = v
        curves.append(curve)
    return found, curves


def _dear(choosing: Part, weights: int) -> list[Any]:
    """What of the choice is made from a node by dear equations, or from such."""
    rows, dear = set(choosing.jaxpr.invars[weights:]), dict[Any, None]()
    for eqn in choosing.jaxpr.eqns:
        of = variables(eqn.invars)
        if any(v in rows for v in of):
            rows.update(eqn.outvars)
            if is_dear(eqn) or any(v in dear for v in of):
                dear.update(dict.fromkeys(eqn.outvars))
    return list(dear)


def _read(part: Part) -> set[Any]:
    """The variables that a part's equations read, or that it gives as they are."""
    outs = [v for v in part.jaxpr.outvars if not isinstance(v, Literal)]
    return {v for eqn in part.jaxpr.eqns for v in variables(eqn.invars)} | set(outs)


def piece_of(part: Part, held: Sequence[Any], inputs: Sequence[Any], shared: Sequence[Any] = ()) -> Piece:
    """The part as a function of what it reads. `inputs`: its variables for what it holds, weights and leaves."""
    read, count = _read(part), len(held)
    groups = inputs[:count], inputs[count : part.shared], inputs[part.shared :], shared
    own = [tuple(i for i, v in enumerate(some) if v in read) for some in groups]
    used = [some[i] for some, at in zip(groups, own, strict=True) for i in at]
    alone = Part(part.jaxpr.replace(invars=used), len(own[0]) + len(own[1]))
    return Piece(alone, [jnp.asarray(held[i]) for i in own[0]], *own[1:])
