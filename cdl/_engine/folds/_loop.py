"""The loop over the chunks of a forest, in the order of its levels or in reverse.

The tables of chunks are data; the programs and sizes are what is compiled. Inside the loop over the chunks is one loop
for each program and size, which runs as long as the chunks are its own. A chunk's row of the table is carried from one
turn to the next. So it is read once, and not in each of the kernels that need one of its numbers. These kernels are
more often the same in several programs, and then XLA compiles them once.
"""

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from .._rows import take
from ..forests._bucket import Size
from ..forests._forest import Forest
from ..forests._schedule import ROWS, SIZE, TIME, VARIANT


END, BEGIN = -1, -2  # kinds of chunk: after the last one, and before the first

C = TypeVar("C")

At = tuple[jax.Array, jax.Array, jax.Array]  # the place of the chunk after the next; the next's kind, and its numbers
Body = Callable[[int, Size, jax.Array, C], C]  # of a program, a size, a chunk, and what the loop carries


def over_chunks(
    forest: Forest, of_level: Sequence[int], of_piece: Sequence[int], body: Body[C], carry: C, down: bool
) -> C:
    """Runs every chunk that has a program, in order, or in reverse order `down` the trees.

    `of_level` and `of_piece` are the programs of the variants, by chunks of a level and by those of one variant; -1 for
    a variant that has none.
    """
    table, code, count, kinds = _order(forest, of_level, of_piece)
    if not kinds:
        return carry
    table, code = jnp.pad(table, ((1, 1), (0, 0))), jnp.pad(code, 1, constant_values=END)  # stops at both ends
    step = jnp.int32(-1 if down else 1)

    def along(number: int, run: Callable[[jax.Array, C], C], state: tuple[At, C]) -> tuple[At, C]:
        def chunk(state: tuple[At, C]) -> tuple[At, C]:
            (t, _, row), carry = state
            return (t + step, take(code, t), take(table, t)), run(row, carry)

        return lax.while_loop(lambda state: state[0][1] == number, chunk, state)

    def turn(state: tuple[At, C]) -> tuple[At, C]:
        state = along(BEGIN, lambda row, carry: carry, state)
        for number in reversed(range(len(kinds))) if down else range(len(kinds)):
            state = along(number, functools.partial(body, *kinds[number]), state)
        return state

    first = count if down else jnp.int32(1), jnp.full((), BEGIN, code.dtype), jnp.zeros_like(table[0])
    return lax.while_loop(lambda state: state[0][1] != END, turn, (first, carry))[1]


def _order(
    forest: Forest, of_level: Sequence[int], of_piece: Sequence[int]
) -> tuple[jax.Array, jax.Array, jax.Array, list[tuple[int, Size]]]:
    """The chunks in order, the kind of each, how many there are, and the kinds: programs and sizes."""
    bucket = forest.bucket
    kinds: list[tuple[int, Size]] = []
    tables, codes, every = [], [], True
    for table, of, sizes_of in (
        (forest.chunk, of_level, bucket.sizes_of), (forest.piece, of_piece, bucket.pieces_of)
    ):  # fmt: skip
        first = {}
        for p in dict.fromkeys(p for p in of if p >= 0):
            first[p] = len(kinds)
            kinds += [(p, size) for size in sizes_of(*(v for v, q in enumerate(of) if p == q))]
        if first:
            base = jnp.array([first.get(p, -1) for p in of], jnp.int32)[table[:, VARIANT]]
            tables.append(table)
            codes.append(jnp.where((base < 0) | (table[:, ROWS] == 0), -1, base + table[:, SIZE]))
            every = every and all(p >= 0 for p in of)
    if not tables:
        return forest.chunk, jnp.full(len(forest.chunk), -1), jnp.int32(0), []
    if every and len(tables) == 1:
        return tables[0], codes[0], (codes[0] >= 0).sum(dtype=jnp.int32), kinds
    table, code = jnp.concatenate(tables), jnp.concatenate(codes)
    at = jnp.where(code >= 0, table[:, TIME], bucket.nodes)
    rank = jnp.cumsum(jnp.zeros(bucket.nodes, jnp.int32).at[at].set(1, mode="drop"), dtype=jnp.int32)
    place = jnp.where(code >= 0, rank.at[at].get(mode="clip") - 1, len(code))
    count = rank[-1]
    ordered = jnp.zeros_like(table).at[place].set(table, mode="drop")
    return ordered, jnp.full_like(code, -1).at[place].set(code, mode="drop"), count, kinds
