"""The pieces of a growth over rows: what each reads, and where it keeps what its derivative needs."""

import functools
from collections.abc import Sequence
from typing import Any

import jax

from ..arrays.shapes import Arrays
from ._alike import Alike, all_alike, alone
from ._candidates import at_ends
from ._case import Slots
from ._pieces import Piece, Pieces


class Cases:
    """A case for each group of candidates alike, and one for the choice.

    A candidate's payload is at hand in reverse, and so is what the choice hands on. What else is kept of candidates is
    in separate tables, `slots`.
    """

    def __init__(self, pieces: Pieces, groups: Sequence[Alike]) -> None:
        self.growth, self.shared, self.curves = pieces.growth, pieces.shared, pieces.curves
        *self.alike, self.choice = groups
        self.cases = [x.case(range(len(self.columns(k)))) for k, x in enumerate(self.alike)]
        self.choosing = self.choice.case(range(2, 2 + len(self.shared)))
        self.inner = [k for k in range(len(self.alike)) if self.places(k)]
        self.ends = [k for k in range(len(self.alike)) if not self.places(k)]
        self.at_ends = at_ends(self.growth.candidates)
        self.late = [k for k in self.ends if self.cases[k].smooth]  # the other ends make nothing

    def __len__(self) -> int:
        """How many candidates there are."""
        return len(self.growth.candidates)

    @functools.cached_property
    def slots(self) -> Slots:
        """Where candidates keep what is not their payload."""
        return Slots([case.kept for case in self.cases])

    def columns(self, k: int) -> tuple[int, ...]:
        """Where the payload of some candidates alike is."""
        return self.growth.candidates[self.alike[k].first].columns

    def places(self, k: int) -> range:
        """The places of some candidates alike."""
        return range(self.growth.candidates[self.alike[k].first].arity)


def all_together(pieces: Pieces, weights: Arrays) -> tuple[Cases, Arrays]:
    """The cases of a growth, those that are one program together, and the weights that they read."""
    tables: list[Any] = [(c.columns, c.arity) for c in pieces.growth.candidates]
    found, weights = all_alike([*pieces.candidates, pieces.choosing], [*tables, "choice"], weights)
    return Cases(pieces, found), weights


def one_by_one(pieces: Pieces) -> Cases:
    """The cases of a growth, each candidate by itself."""
    return Cases(pieces, alone([*pieces.candidates, pieces.choosing]))


def inputs_of(piece: Piece, seeds: Arrays, shared: Arrays) -> Arrays:
    """Those of the tables that a piece reads."""
    return [seeds[i] for i in piece.leaves] + [shared[i] for i in piece.shared]


def rows_at(tables: Arrays, rows: jax.Array) -> Arrays:
    """Some rows of each table."""
    return [x[rows] for x in tables]
