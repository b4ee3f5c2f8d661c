"""Which parts of a row something reads, in a reverse pass: a number of bits for each row.

By the definition, what nothing reads is not differentiated: a part of a seed that its layer does not use, a payload
that the algebra does not, or the seed of a place that was cut. Here all rows of a block are differentiated at once, and
what is not read gets a cotangent of zero; zero times an infinite slope, as that of a root at 0, is NaN. So rows have
bits, and cases ask for them where they have a slope that might be infinite (`jaxprs._gates`).

| the bits of            | one for each                          | found from                                      |
| ---------------------- | ------------------------------------- | ----------------------------------------------- |
| a row that grows       | leaf of its seed                      | its payload, its chance, its children's bits    |
| a row that is read     | leaf of its value                     | the bits of the row above it                    |
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from ..arrays.shapes import Arrays
from ..jaxprs._reach import active, bits_of, MOST
from ._agenda import Block
from ._cases import Cases
from ._pieces import CHANCES
from ._rows import Rows


@dataclass(frozen=True)
class Cotangents:
    """The cotangents of the payload of rows and of `log_prob`, `None` for what has none. `read`: which parts of a row's
    payload are read, as bits; otherwise all that have a cotangent."""

    payload: Arrays
    log_prob: jax.Array | None
    read: jax.Array | None = None


class Activity:
    """The bits of a growth, where the cotangents of its payload and `log_prob` are `given`."""

    def __init__(self, cases: Cases, rows: Rows, given: Cotangents) -> None:
        self.cases, self.rows, self.given = cases, rows, given

    def begun(self) -> jax.Array | None:
        """A table for the bits of each row's seed; none where no case asks."""
        return jnp.zeros_like(self.rows.choice) if self.cases.gates else None

    def of_outputs(self, k: int, at: Block, table: jax.Array | None) -> jax.Array | None:
        """The bits of what candidates alike made: their payload, and their children's seeds."""
        if table is None:
            return None
        columns, leaves = self.cases.columns(k), len(self.rows.seeds)
        some = [i for i, column in enumerate(columns) if self.given.payload[column] is not None]
        found = jnp.full(at.count, bits_of(some), jnp.int32)
        found = found if self.given.read is None else found & self.given.read[at.rows]
        first, kids = self.rows.first[at.rows], self.rows.kids[at.rows]
        for place in self.cases.places(k):
            has = place < kids
            below = jnp.where(has, table[jnp.where(has, first + place, 0)], 0)
            found |= moved(below, leaves, len(columns) + place * leaves)
        return jnp.where(at.mine, found, 0)

    def of_choice(self, k: int, at: Block, outputs: jax.Array | None) -> jax.Array | None:
        """The bits of what the choice gave: the chances, and what it shares with candidates."""
        if outputs is None and not self.cases.choosing.gates:
            return None
        chances = bits_of([CHANCES])
        if outputs is None:
            found = jnp.full(at.count, ~chances, jnp.int32)
        else:
            piece = self.cases.alike[k].piece
            reached = self.cases.cases[k].reached[len(piece.leaves) :]
            found = at_inputs(outputs, reached, [CHANCES + 1 + s for s in piece.shared])
        return jnp.where(at.mine, found if self.given.log_prob is None else found | chances, 0)

    def of_seed(self, k: int, outputs: jax.Array | None, choice: jax.Array | None) -> jax.Array | None:
        """The bits of the seed that both are made of."""
        if outputs is None or choice is None:
            return None
        own, other = self.cases.alike[k].piece.leaves, self.cases.choice.piece.leaves
        found = at_inputs(outputs, self.cases.cases[k].reached[: len(own)], own)
        return found | at_inputs(choice, self.cases.choosing.reached, other)


def at_inputs(bits: jax.Array, reached: Sequence[int], columns: Sequence[int]) -> jax.Array:
    """The bits of what a case reads, from those of its outputs. `reached`: the outputs that each input reaches;
    `columns`: the bit that each input has."""
    found = jnp.zeros_like(bits)
    for own, column in zip(reached, columns, strict=True):
        found = found | jnp.where(active(bits, own), bits_of([column]), 0) if own else found
    return found


def moved(bits: jax.Array, count: int, first: int) -> jax.Array:
    """The bits of some columns, `count` of them, moved to those from `first` on."""
    if first + count <= MOST:
        return bits << first
    return at_inputs(bits, [bits_of([i]) for i in range(count)], range(first, first + count))
