"""Candidates that are one program with other weights, computed by one body of code.

| the thing        | what it is                                                                           |
| ---------------- | ------------------------------------------------------------------------------------ |
| candidates alike | those with equal jaxprs, which read and write the same tables                        |
| a member         | one of them, by its number among them                                                |
| a weight         | an array that all members read, or a stack of arrays with a row for each             |

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
class Alike:
    """The candidates with these numbers, which are one piece. `rows`: the row of each in those weights that are
    `stacked`."""

    members: tuple[int, ...]
    piece: Piece
    stacked: tuple[bool, ...]
    rows: tuple[int, ...]

    @property
    def first(self) -> int:
        """One of the candidates, where any will do."""
        return self.members[0]

    def case(self, free: Sequence[int] = ()) -> Case:
        """The piece at many rows. `free`: the outputs that are at hand in reverse."""
        return Case(self.piece.part, self.piece.held, free)

    def weights(self, weights: Arrays, member: jax.Array | int) -> Arrays:
        """Those that one member reads."""
        row = self._row(member)
        return [take(weights[i], row) if stacked else weights[i] for i, stacked in self._each()]

    def added(self, sums: Arrays, member: jax.Array | int, found: Arrays) -> Arrays:
        """The sums of the weights' cotangents, with those that one member found added. `found` has them of the weights
        that have a derivative; a sum that is `None` is not wanted."""
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


def alone(pieces: Sequence[Piece]) -> list[Alike]:
    """Each piece by itself."""
    return [Alike((c,), piece, (False,) * len(piece.weights), (0,)) for c, piece in enumerate(pieces)]


def all_alike(pieces: Sequence[Piece], tables: Sequence[Hashable], weights: Arrays) -> tuple[list[Alike], Arrays]:
    """Pieces that are alike, together, in the order of their first members; and the weights that they read.

    `tables`: what each piece reads and writes besides.
    """
    groups: dict[Hashable, list[int]] = {}
    for c, (piece, own) in enumerate(zip(pieces, tables, strict=True)):
        form = fingerprint(piece.part.jaxpr), piece.part.shared, piece.leaves, piece.shared
        groups.setdefault((own, form), []).append(c)
    found = Weights(weights)
    return [found.alike(members, [pieces[c] for c in members]) for members in groups.values()], found.arrays


class Weights:
    """The `arrays` that groups of pieces read, each once, from the weights that are `given` to the pieces."""

    def __init__(self, given: Arrays) -> None:
        self.given = given
        self.arrays: Arrays = []
        self._places: dict[int, int] = {}  # by the `id` of an array, which the list keeps
        self._single: dict[int, Any] = {}

    def alike(self, members: Sequence[int], pieces: Sequence[Piece]) -> Alike:
        """The group of some pieces. The constants that each holds are weights here, where there are several."""
        first, *others = pieces
        if not others:
            (one,) = alone([replace(first, weights=tuple(map(self._one, first.weights)))])
            return replace(one, members=tuple(members))
        each: list[tuple[int | None, ...]] = [(*(None for _ in piece.held), *piece.weights) for piece in pieces]
        found, stacked, rows, _ = stacks([[*piece.held, *(self.given[i] for i in piece.weights)] for piece in pieces])
        at = [
            self._one(numbers[0]) if numbers[0] is not None and len(set(numbers)) == 1 else self._place(x)
            for numbers, x in zip(zip(*each, strict=True), found, strict=True)
        ]
        return Alike(tuple(members), replace(first, held=[], weights=tuple(at)), tuple(stacked), tuple(rows))

    def _one(self, i: int) -> int:
        """Where a weight is that is not stacked."""
        if i not in self._single:
            self._single[i] = array_of(self.given[i])
        return self._place(self._single[i])

    def _place(self, x: Any) -> int:
        """Where an array is: a stack that several groups read is there once."""
        if id(x) not in self._places:
            self._places[id(x)] = len(self.arrays)
            self.arrays.append(x)
        return self._places[id(x)]
