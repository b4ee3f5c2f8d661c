"""Candidates that are one program with other weights, computed by one body of code.

| the thing | what it is                                                                                      |
| --------- | ----------------------------------------------------------------------------------------------- |
| a kind    | candidates with equal jaxprs, which read and write the same tables                              |
| a member  | one of them, by its number in the kind                                                          |
| a weight  | an array that all members read, or a stack of arrays with a row for each                        |

So layers with a cell for each of eighty constructors compile as a few. A block has rows of one member.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp

from ..arrays._rows import take
from ..arrays.shapes import Arrays, is_smooth
from ..jaxprs._fingerprint import fingerprint
from ..jaxprs._stacks import array_of, stacks
from ._case import Case
from ._pieces import Piece


@dataclass(frozen=True)
class Kind:
    """The candidates with these numbers, which are one piece. `rows`: the row of each in those weights that are
    `stacked`."""

    members: tuple[int, ...]
    piece: Piece
    stacked: tuple[bool, ...]
    rows: tuple[int, ...]

    @property
    def first(self) -> int:
        """One of the candidates, where all are alike."""
        return self.members[0]

    def case(self) -> Case:
        """The piece at many rows."""
        return Case(self.piece.part, self.piece.held)

    def weights(self, weights: Arrays, member: jax.Array | int) -> Arrays:
        """Those that one member reads."""
        row = self._row(member)
        return [take(weights[i], row) if stacked else weights[i] for i, stacked in self._each()]

    def added(self, sums: Arrays, member: jax.Array | int, found: Arrays) -> Arrays:
        """The sums of the weights' cotangents, but for those that are `None`, with those of one member: of each that
        has a derivative."""
        total, row, rest = list(sums), self._row(member), iter(found)
        for (i, stacked), v in zip(self._each(), self.piece.part.jaxpr.invars[len(self.piece.held) :], strict=False):
            x = next(rest) if is_smooth(v.aval) else None
            if x is not None and total[i] is not None:
                total[i] = total[i].at[row].add(x) if stacked else total[i] + x
        return total

    def _each(self) -> Iterator[tuple[int, bool]]:
        return zip(self.piece.weights, self.stacked, strict=True)

    def _row(self, member: jax.Array | int) -> jax.Array | int:
        return take(jnp.array(self.rows), member) if any(self.stacked) else 0


def alone(pieces: Sequence[Piece]) -> list[Kind]:
    """Each piece as a kind."""
    return [Kind((c,), piece, (False,) * len(piece.weights), (0,)) for c, piece in enumerate(pieces)]


def kinds(pieces: Sequence[Piece], tables: Sequence[Hashable], weights: Arrays) -> tuple[list[Kind], Arrays]:
    """The kinds of some pieces, in the order of their first members, and the weights that they read.

    `tables`: what each piece reads and writes besides.
    """
    groups: dict[Hashable, list[int]] = {}
    for c, (piece, own) in enumerate(zip(pieces, tables, strict=True)):
        form = fingerprint(piece.part.jaxpr), piece.part.shared, piece.leaves, piece.shared
        groups.setdefault((own, form), []).append(c)
    arrays: Arrays = []
    places: dict[int, int] = {}  # by the `id` of an array, which the list keeps
    single: dict[int, Any] = {}

    def place(x: Any) -> int:
        """Where an array is: a stack that several kinds read is there once."""
        if id(x) not in places:
            places[id(x)] = len(arrays)
            arrays.append(x)
        return places[id(x)]

    def one(i: int) -> int:
        """Where a weight is that is not stacked."""
        if i not in single:
            single[i] = array_of(weights[i])
        return place(single[i])

    def kind(members: list[int]) -> Kind:
        some = [pieces[c] for c in members]
        first, *others = some
        if not others:
            return replace(alone([replace(first, weights=tuple(map(one, first.weights)))])[0], members=tuple(members))
        # the constants that members hold are weights here
        each = [(*(None for _ in piece.held), *piece.weights) for piece in some]
        found, rows, _ = stacks([[*piece.held, *(weights[i] for i in piece.weights)] for piece in some])
        at = [
            one(numbers[0]) if numbers[0] is not None and len(set(numbers)) == 1 else place(x)
            for numbers, x in zip(zip(*each, strict=True), found, strict=True)
        ]
        stacked = [x.ndim > v.aval.ndim for x, v in zip(found, first.part.jaxpr.invars, strict=False)]
        return Kind(tuple(members), replace(first, held=[], weights=tuple(at)), tuple(stacked), tuple(rows))

    return list(map(kind, groups.values())), arrays
