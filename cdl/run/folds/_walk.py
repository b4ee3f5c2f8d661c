"""Walking a forest: the chunks in order, what each one reads, and how it writes.

The table of chunks is data; the programs and sizes are what is compiled. No chunk writes where it has no rows: it
reads a run of rows, and writes back what is not its own. Rows and edges past its own repeat one that is its own, so
that no value is met that the forest does not have.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._shapes import rows_of, shaped
from ..forests._bucket import Size
from ..forests._forest import Forest
from ..forests._schedule import EDGES, ROW, ROWS, SIZE, VARIANT
from ._carrier import Storage
from ._program import Program


Arrays = list[Any]


@dataclass(frozen=True)
class Chunk:
    """A chunk's own rows and edges."""

    row: Any
    rows: Any  # the row of each place, repeated past the chunk's own
    valid: Any  # which places are its own
    slots: Any  # the edge of each place and slot
    edges: list[tuple[Any, Any, Any]]  # for each `Many`: the edge of each place, which are its own, each one's row


class Walk:
    """The programs of an algebra on their way over a forest."""

    def __init__(self, forest: Forest, programs: list[Program], storage: Storage, key: Any) -> None:
        self.forest, self.programs, self.storage, self.key = forest, programs, storage, key
        variants = len(forest.bucket.variants)
        self._program_of = jnp.asarray(_inverse(programs, variants, lambda p, i: p), jnp.int32)  # -1 for none
        self._place_of = jnp.asarray(_inverse(programs, variants, lambda p, i: i), jnp.int32)

    def place(self, chunk: Any) -> Any:
        """The place of a chunk's variant in the stacks of its program."""
        return self._place_of[chunk[VARIANT]]

    def chunk(self, p: int, size: Size, chunk: Any) -> Chunk:
        """The rows and edges of a chunk."""
        variant = self.programs[p].variant
        row, count = chunk[ROW], chunk[ROWS]
        places = jnp.arange(size.rows, dtype=jnp.int32)
        inside = jnp.minimum(places, count - 1)
        k = variant.slots
        slots = chunk[EDGES] + inside[:, None] * k + jnp.arange(k, dtype=jnp.int32)[None] if k else None
        edges = []
        for g in range(k > 0, len(variant.groups)):
            first, many = chunk[EDGES + 2 * g], chunk[EDGES + 2 * g + 1]
            line = jnp.arange(size.edges, dtype=jnp.int32)
            edge = first + jnp.minimum(line, many - 1)
            segment = jnp.where(line < many, take(self.forest.owner, edge) - row, size.rows)
            edges.append((edge, line < many, segment))
        return Chunk(row, row + inside, places < count, slots, edges)

    def inputs(self, p: int, at: Chunk, chunk: Any, weights: Arrays, payload: Arrays, states: Arrays) -> Any:
        """A program's inputs at a chunk: weights, payload, slots, keys, edges, and none of the node's own."""
        program = self.programs[p]
        place = self.place(chunk)
        ws = [take(w, place) if stacked else w for w, stacked in zip(weights, program.stacked, strict=True)]
        row_payload = [take(payload[c], at.rows) for c in program.wiring.payload]
        slots: list[Arrays] = []
        if at.slots is not None:
            child = take(self.forest.child, at.slots)
            gathered = {c: take(states[c], child) for c in dict.fromkeys(itertools.chain(*program.wiring.slots))}
            slots = [[gathered[c][:, j] for c in columns] for j, columns in enumerate(program.wiring.slots)]
        many = []
        for (edge, _, segment), columns in zip(at.edges, program.wiring.manys, strict=True):
            child = take(self.forest.child, edge)
            many.append((segment, [take(states[c], child) for c in columns]))
        keys = []
        if self.key is not None:
            fold_in: Callable[..., Any] = jax.vmap(lambda t, i: jax.random.fold_in(jax.random.fold_in(self.key, t), i))
            keys = [fold_in(take(self.forest.tree, at.rows), take(self.forest.order, at.rows))]
        return ws, row_payload, slots, keys, many, []

    def example(self, p: int, size: Size) -> Any:
        """The shapes of a program's inputs at a size."""
        program, kinds = self.programs[p], self.forest.bucket.storage
        pairs = zip(program.weights, program.stacked, strict=True)
        weights = [shaped(w.shape[1:] if stacked else w.shape, w.dtype) for w, stacked in pairs]
        payload = [shaped((size.rows, *kinds[c][1]), kinds[c][2]) for c in program.wiring.payload]
        keys = [] if self.key is None else rows_of(size.rows, [jax.eval_shape(jax.random.fold_in, self.key, 0)])
        leaves = self.storage.leaves
        slots = [rows_of(size.rows, [leaves[c] for c in columns]) for columns in program.wiring.slots]
        lengths = [size.edges_of(g) for g in range(program.variant.manys)]
        reaching = zip(lengths, program.wiring.manys, strict=True)
        edges = [(shaped((n,), jnp.int32), rows_of(n, [leaves[c] for c in columns])) for n, columns in reaching]
        return weights, payload, slots, keys, edges, []

    def summed(self, p: int, chunk: Any, at: Chunk, sums: Any, to_weights: Any, to_payload: Any, wanted: Any) -> Any:
        """The sums of a program's weights' and payload's cotangents, and those of a chunk, where `wanted`."""
        sum_weights, sum_payload = [list(x) for x in sums[0]], list(sums[1])
        place = self.place(chunk)
        for i, stacked in enumerate(self.programs[p].stacked):
            if wanted[0][p][i]:
                total = sum_weights[p][i]
                sum_weights[p][i] = total.at[place].add(to_weights[i]) if stacked else total + to_weights[i]
        for c, x in zip(self.programs[p].wiring.payload, to_payload, strict=True):
            if wanted[1][c]:
                sum_payload[c] = write(sum_payload[c], at.row, at.valid, x)
        return sum_weights, sum_payload

    def loop(
        self, table: Any, sizes: tuple[Size, ...], body: Any, carry: Any, *, down: bool = False, leaves: bool = True
    ) -> Any:
        """Runs every chunk that has a program, in order, or in reverse order `down` the trees; with the leaves or
        without, in which case it stops above them, as they are the first.

        Inside the loop over the table is one loop for each program and size, which runs as long as the chunks are
        its own; the table is one long run of them.
        """
        numbers = [p for p, program in enumerate(self.programs) if leaves or not program.variant.leaf]
        kinds = [(p, s) for p in numbers for s in range(len(sizes))]
        code_of = {kind: code for code, kind in enumerate(kinds)}
        skip = len(kinds)
        codes = [[code_of.get((p, s), -1) for s in range(len(sizes))] for p in range(len(self.programs))]
        codes.append([skip] * len(sizes))  # of a variant without a program
        variant = table[:, VARIANT]
        code = jnp.asarray(codes, jnp.int32)[self._program_of[variant], table[:, SIZE]]
        code = jnp.concatenate([jnp.full(1, -1, jnp.int32), jnp.where(variant < 0, -1, code)])  # stops at both ends
        step = jnp.int32(-1 if down else 1)

        def along(number: int, state: Any) -> Any:
            p, s = kinds[number]

            def run(state: Any) -> Any:
                t, carry = state
                return t + step, body(p, sizes[s], table[t - 1], carry)

            return lax.while_loop(lambda state: code[state[0]] == number, run, state)

        def past(state: Any) -> Any:
            t, carry = state
            return lax.while_loop(lambda t: code[t] == skip, lambda t: t + step, t), carry

        every = all(any(v in p.members for p in self.programs) for v in range(len(self.forest.bucket.variants)))

        def turn(state: Any) -> Any:
            for number in reversed(range(len(kinds))) if down else range(len(kinds)):
                state = along(number, state)
            return state if every else past(state)

        first = self.forest.facts[3] if down else jnp.int32(1)
        return lax.while_loop(lambda state: code[state[0]] >= 0, turn, (first, carry))[1]


def _inverse(programs: list[Program], variants: int, of: Callable[[int, int], int]) -> list[int]:
    table = [-1] * variants
    for p, program in enumerate(programs):
        for i, v in enumerate(program.members):
            table[v] = of(p, i)
    return table


def take(x: Any, index: Any) -> Any:
    """Rows of an array, at indices that the host has checked."""
    return x.at[index].get(mode="promise_in_bounds")


def spread(mask: Any, like: Any) -> Any:
    """A mask of rows over rows of any shape."""
    return mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim))


def write_slots(buffer: Any, at: Chunk, rows: Any) -> Any:
    """Writes the edges of each row's slots, which lie row after row."""
    own = jnp.repeat(at.valid, rows.shape[1])
    return write(buffer, at.slots[0, 0], own, rows.reshape(len(own), *rows.shape[2:]))


def write(buffer: Any, row: Any, own: Any, rows: Any) -> Any:
    """Writes rows of a run, those that are its own; the others are written back as they were."""
    start = (row, *[jnp.int32(0)] * (rows.ndim - 1))
    before = lax.dynamic_slice(buffer, start, rows.shape)
    return lax.dynamic_update_slice(buffer, jnp.where(spread(own, rows), rows, before), start)
