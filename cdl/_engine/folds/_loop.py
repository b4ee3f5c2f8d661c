"""The loop over the chunks of a forest, in the order of its levels or in reverse.

The tables of chunks are data; the programs and sizes are what is compiled. Inside the loop over the chunks is one loop
for each program and size, which runs as long as the chunks are its own.

A turn may read rows of a table that it then writes over. XLA copies the whole table where it reads them late
(`test_hlo`). So a turn for a single row is given them by the turn before. One for many rows gathers them itself: its
size changes more often, and what is read for a turn of another size is lost.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..arrays._rows import after_all
from ..forests._bucket import Bucket, Size
from ..forests._forest import Forest
from ..forests._schedule import ROWS, SIZE, TIME, VARIANT


END = -1  # the kind of what comes after the last chunk

A = TypeVar("A")
C = TypeVar("C")

At = Callable[[int, Size, jax.Array], A]  # what is found of a program, a size and a row of the table of chunks
Read = Callable[[int, A, C], Any]  # of a program, what was found of a chunk, and what the loop carries
Body = Callable[[int, A, C, Any], C]  # of the same, and what was read


def nothing(*_: Any) -> None:
    """Reads nothing: for a body that writes over none of what it reads."""


def over_chunks(
    forest: Forest, of_level: Sequence[int], of_piece: Sequence[int], at: At[A], read: Read[A, C], body: Body[A, C],
    carry: C, down: bool,
) -> C:  # fmt: skip
    """Runs every chunk that has a program, in order, or in reverse order `down` the trees.

    `of_level` and `of_piece` are the programs of the variants, by chunks of a level and by those of one variant; -1 for
    a variant that has none. `read` reads the rows of a chunk that `body` writes over; both are told what is `at` it.
    """
    table, code, begin, count, kinds = _order(forest, of_level, of_piece)
    if not kinds:
        return carry
    end = jnp.full(1, END, code.dtype)
    code = jnp.concatenate([end, code, end])  # stops at both ends
    step = jnp.int32(-1 if down else 1)

    def along(number: int, state: tuple[jax.Array, C]) -> tuple[jax.Array, C]:
        (p, size), (t, carry) = kinds[number], state
        ahead = size.rows == 1

        def chunk(t: jax.Array) -> A:
            return at(p, size, lax.dynamic_index_in_dim(table, t - 1, keepdims=False, allow_negative_indices=False))

        def run(state: tuple[jax.Array, C, Any]) -> tuple[jax.Array, C, Any]:
            t, carry, before = state
            here = chunk(t)
            carry = body(p, here, carry, before if ahead else read(p, here, carry))
            if ahead:
                return t + step, carry, read(p, chunk(t + step), carry)
            # counted when all is done: a number that is still read would be copied in each turn
            return t + step + after_all(jax.tree.leaves(carry)), carry, None

        # the rows of a chunk of another kind may be any, and no turn is given them
        start = t, carry, read(p, chunk(t), carry) if ahead else None
        return lax.while_loop(lambda state: code[state[0]] == number, run, start)[:2]

    def turn(state: tuple[jax.Array, C]) -> tuple[jax.Array, C]:
        for number in reversed(range(len(kinds))) if down else range(len(kinds)):
            state = along(number, state)
        return state

    first = begin + count if down else begin + 1
    return lax.while_loop(lambda state: code[state[0]] != END, turn, (first, carry))[1]


def _order(
    forest: Forest, of_level: Sequence[int], of_piece: Sequence[int]
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, list[tuple[int, Size]]]:
    """The chunks in order, the kind of each, where those that have one begin, how many there are, and the kinds:
    programs and sizes."""
    bucket = forest.bucket
    kinds: dict[tuple[int, Size], int] = {}  # a level's chunks and pieces of one program and size are of one kind
    tables, codes = [], []
    for table, of, sizes_of in (
        (forest.chunk, of_level, bucket.sizes_of), (forest.piece, of_piece, bucket.pieces_of)
    ):  # fmt: skip
        sizes = {p: sizes_of(*(v for v, q in enumerate(of) if p == q)) for p in dict.fromkeys(of) if p >= 0}
        if sizes:
            number = np.full((len(of), max(map(len, sizes.values()))), -1, np.int32)  # of a variant and a size
            for v, p in enumerate(of):
                for i, size in enumerate(sizes.get(p, ())):
                    number[v, i] = kinds.setdefault((p, size), len(kinds))
            found = jnp.asarray(number)[table[:, VARIANT], table[:, SIZE]]
            tables.append(table)
            codes.append(jnp.where(table[:, ROWS] == 0, -1, found))
    if not tables:
        return forest.chunk, jnp.full(len(forest.chunk), -1), jnp.int32(0), jnp.int32(0), []
    if len(tables) == 1 and _first_alone(bucket, of_level if tables[0] is forest.chunk else of_piece):
        (code,) = codes
        begin = jnp.argmax(code >= 0).astype(jnp.int32)
        whole = tables[0] is forest.chunk
        count = forest.facts[3] - begin if whole else (code >= 0).sum(dtype=jnp.int32)
        return tables[0], code, begin, count, list(kinds)
    table, code = jnp.concatenate(tables), jnp.concatenate(codes)
    at = jnp.where(code >= 0, table[:, TIME], bucket.nodes)
    rank = jnp.cumsum(jnp.zeros(bucket.nodes, jnp.int32).at[at].set(1, mode="drop"), dtype=jnp.int32)
    place = jnp.where(code >= 0, rank.at[at].get(mode="clip") - 1, len(code))
    count = rank[-1]
    ordered = jnp.zeros_like(table).at[place].set(table, mode="drop")
    return ordered, jnp.full_like(code, -1).at[place].set(code, mode="drop"), jnp.int32(0), count, list(kinds)


def _first_alone(bucket: Bucket, of: Sequence[int]) -> bool:
    """Whether the chunks of variants that have no program come before all others: those of leaves come first, and
    among them those without payload."""
    without = [region for region, p in zip(bucket.regions, of, strict=True) if p < 0]
    met = [region for region, p in zip(bucket.regions, of, strict=True) if p >= 0]
    return not without or min(without) > max(met)
