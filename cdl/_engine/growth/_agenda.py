"""Which rows are computed together: those that chose one candidate, block by block.

A block is as wide as a program's arrays. Rows that are missing in one read what its first row does, and write nowhere:
so a candidate is computed only at the rows that chose it. Candidates that are one program (`_alike`) are gone through
in one loop, each in blocks of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ..arrays._strides import strides
from ._tables import part


C = TypeVar("C")  # what a loop carries

FEW = 8  # up to this number candidates are counted, and more are sorted
BULK = 512  # how many rows a block has where the order is of no matter


@dataclass(frozen=True)
class Block:
    """The numbers of some rows, within their chunk and among all, and which of them are meant; where the first of them
    is in the agenda; and which of the candidates that are gone through chose them."""

    local: jax.Array
    rows: jax.Array
    mine: jax.Array
    place: jax.Array | int = 0
    member: jax.Array | int = 0

    @property
    def count(self) -> int:
        """How many there are, meant or not."""
        return int(self.rows.shape[0])

    def put(
        self, table: jax.Array, new: jax.Array, at: tuple[jax.Array, ...], where: jax.Array | bool = True
    ) -> jax.Array:
        """A table with these rows written `at` some places; where they are meant, and `where`."""
        first, *rest = at
        here = jnp.where(self.mine & where, first, table.shape[0])
        return table.at[here, *rest].set(new.astype(table.dtype), mode="drop")


def block(mine: jax.Array, head: jax.Array) -> Block:
    """The rows of a chunk in order, from `head` on, which is one of those that are meant."""
    local = jnp.where(mine, jnp.arange(mine.shape[0], dtype=jnp.int32), 0)
    return Block(local, local + head, mine)


class Agenda:
    """Rows by the candidate that they chose; those with -1 are left out. `offset`: the number of the first row."""

    def __init__(self, choice: jax.Array, candidates: int, width: int, offset: jax.Array | int = 0) -> None:
        length = choice.shape[0]
        self.width, self.offset = min(width, length), offset
        if candidates > FEW:
            last = jnp.where(choice < 0, candidates, choice)
            order = jnp.argsort(last, stable=True).astype(jnp.int32)
            self.totals = jnp.zeros(candidates, jnp.int32).at[last].add(1, mode="drop")
            self.ends = jnp.cumsum(self.totals, dtype=jnp.int32)
        else:
            same = choice[:, None] == jnp.arange(candidates, dtype=jnp.int32)[None]
            counted = jnp.cumsum(same, axis=0, dtype=jnp.int32)
            self.totals = counted[-1]
            self.ends = jnp.cumsum(self.totals, dtype=jnp.int32)
            own = jnp.maximum(choice, 0)
            place = (self.ends - self.totals)[own] + jnp.take_along_axis(counted, own[:, None], axis=1)[:, 0] - 1
            place = jnp.where(choice < 0, length, place)
            order = jnp.zeros(length, jnp.int32).at[place].set(jnp.arange(length, dtype=jnp.int32), mode="drop")
        self.passed = jnp.int32(0)  # how many turns there have been
        self.order = jnp.concatenate([order, jnp.zeros(self.width, jnp.int32)])

    def each(self, members: Sequence[int], step: Callable[[Block, C], C], start: C) -> C:
        """What comes of the blocks of some candidates, one after the other."""
        which = np.array(members)
        totals, firsts = self.totals[which], (self.ends - self.totals)[which]
        blocks = jnp.cumsum((totals + (self.width - 1)) // self.width, dtype=jnp.int32)  # up to each one's last
        iota = jnp.arange(self.width, dtype=jnp.int32)

        def body(number: jax.Array, found: C) -> C:
            member = jnp.sum(number >= blocks, dtype=jnp.int32)
            turn = number - jnp.where(member == 0, 0, blocks[member - 1])
            first = firsts[member] + turn * self.width
            at, mine = part(self.order, first, self.width), iota < totals[member] - turn * self.width
            local = jnp.where(mine, at, at[0])
            return step(Block(local, local + self.offset, mine, first, member), found)

        turns, found = strides(body, 0, blocks[-1], 1, start)
        self.passed += turns
        return found

    def rows(self, count: int) -> jax.Array:
        """The first rows, as many as are asked for and a block more, candidate by candidate."""
        return self.order[: count + self.width] + self.offset

    def after(self, head: jax.Array) -> jax.Array:
        """The same number, known when all that was gone through is done: no loop still reads what is written there."""
        return head + jnp.minimum(self.passed, 0)
