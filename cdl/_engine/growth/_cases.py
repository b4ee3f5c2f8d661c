"""The pieces of a growth over rows: what each reads, and where it keeps what its derivative needs."""

import functools

import jax

from ..shapes import Arrays
from ._candidates import at_ends
from ._case import Case, Kept, Slots
from ._pieces import Piece, Pieces


class Cases:
    """A case for each candidate, and one for the choice, which is the last of `pieces` and of `every`.

    What a candidate keeps is `seen` where it is a payload; the rest is in separate tables, `slots`.
    """

    def __init__(self, pieces: Pieces) -> None:
        self.growth, self.shared, self.curves = pieces.growth, pieces.shared, pieces.curves
        self.candidates = [Case(piece.part, piece.held) for piece in pieces.candidates]
        self.choosing = Case(pieces.choosing.part, pieces.choosing.held)
        self.pieces = [*pieces.candidates, pieces.choosing]
        self.inner = [c for c, candidate in enumerate(self.growth.candidates) if candidate.arity]
        self.ends = [c for c, candidate in enumerate(self.growth.candidates) if not candidate.arity]
        self.at_ends = at_ends(self.growth.candidates)
        self.late = [c for c in self.ends if self.candidates[c].smooth]  # the other ends make nothing

    def __len__(self) -> int:
        return len(self.candidates)

    @functools.cached_property
    def slots(self) -> Slots:
        """Where candidates keep what is seen nowhere else."""
        return Slots([[k for k in case.kept if not self.seen(c, k)] for c, case in enumerate(self.candidates)])

    def columns(self, c: int) -> tuple[int, ...]:
        """Where a candidate's payload is."""
        return self.growth.candidates[c].columns

    def places(self, c: int) -> range:
        """The places of a candidate."""
        return range(self.growth.candidates[c].arity)

    def seen(self, c: int, kept: Kept) -> bool:
        """Whether what is kept of a candidate is its payload."""
        return 0 <= kept.out < len(self.columns(c))


def weights_of(piece: Piece, weights: Arrays) -> Arrays:
    """Those of the weights that a piece reads."""
    return [weights[i] for i in piece.weights]


def inputs_of(piece: Piece, seeds: Arrays, shared: Arrays) -> Arrays:
    """Those of the tables that a piece reads."""
    return [seeds[i] for i in piece.leaves] + [shared[i] for i in piece.shared]


def rows_at(tables: Arrays, rows: jax.Array) -> Arrays:
    """Some rows of each table."""
    return [x[rows] for x in tables]
