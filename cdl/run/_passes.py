"""The passes over a forest: up with the values, down with their cotangents, and once over the parameters.

| the pass      | what it does, chunk by chunk                                                    | order            |
| ------------- | ------------------------------------------------------------------------------- | ---------------- |
| `forward`     | reads the children's states, runs the program, writes the rows' states          | the schedule's   |
| `cotangents`  | from the rows' cotangents to their edges', which lie side by side               | reversed         |
| `parameters`  | the weights' and the payload's cotangents, when every row's is known            | any: big blocks  |

No pass writes where it has no rows: a chunk reads its rows, and writes back what is not its own. Rows and edges past
a chunk's own repeat one that is its own, so that no value met is one that the forest does not have.

Each tree's node has one edge from above, so that cotangents are stored by edge and need no scatter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._bucket import Size
from ._case import Carrier, Program
from ._forest import Forest
from ._schedule import EDGES, ROW, ROWS, SIZE, VARIANT


Arrays = list[Any]


@dataclass(frozen=True)
class Chunk:
    """A chunk's own rows and edges."""

    row: Any
    rows: Any  # the row of each place, repeated past the chunk's own
    valid: Any  # which places are its own
    slots: Any  # the edge of each place and slot
    edges: list[tuple[Any, Any, Any]]  # for each `Many`: the edge of each place, which are its own, each one's row


class Passes:
    """The passes of one algebra's programs over one forest."""

    def __init__(self, forest: Forest, programs: list[Program], carrier: Carrier, key: Any) -> None:
        self.forest, self.programs, self.carrier, self.key = forest, programs, carrier, key
        bucket = forest.bucket
        self.program_of = jnp.asarray(_inverse(programs, len(bucket.variants), lambda p, i: p), jnp.int32)
        self.place_of = jnp.asarray(_inverse(programs, len(bucket.variants), lambda p, i: i), jnp.int32)
        self.smooth = [jnp.issubdtype(x.dtype, jnp.inexact) for x in carrier.leaves]

    def forward(self, weights: list[Arrays], payload: Arrays) -> Arrays:
        """The state at every row."""
        length = self.forest.bucket.rows
        states = [jnp.zeros((length, *x.shape), x.dtype) for x in self.carrier.leaves]

        def body(p: int, size: Size, chunk: Any, states: Arrays) -> Arrays:
            at = self._chunk(p, size, chunk)
            run, inputs = self._program(p, size, at, chunk, weights[p], payload, states)
            return [_write(s, at.row, at.valid, out) for s, out in zip(states, run(*inputs), strict=True)]

        return self._loop(self.forest.chunk, self.forest.bucket.sizes, body, states)

    def cotangents(self, weights: list[Arrays], payload: Arrays, states: Arrays, given: Arrays) -> Arrays:
        """The cotangent that each edge brings to the row at its end; `given` are those from outside, by row."""
        edges = self.forest.bucket.edges
        brought = [jnp.zeros((edges, *x.shape), x.dtype) for x in self._smooth(self.carrier.leaves)]

        def body(p: int, size: Size, chunk: Any, brought: Arrays) -> Arrays:
            if self.programs[p].variant.leaf:
                return brought
            at = self._chunk(p, size, chunk)
            run, (ws, row_payload, slots, keys, many) = self._program(p, size, at, chunk, weights[p], payload, states)

            def of_children(slots: Any, many: Any) -> Arrays:
                return self._smooth(run(ws, row_payload, self._refill(slots, slots_all), keys, self._remany(many, many_all)))

            slots_all, many_all = slots, many
            _, pull = jax.vjp(of_children, [self._smooth(x) for x in slots], [self._smooth(c) for _, c in many])
            to_slots, to_many = pull(self._own(at, given, brought))
            if to_slots:
                own = at.valid[:, None]
                stacked = [jnp.stack(x, 1) for x in zip(*to_slots, strict=True)]
                brought = [_write(b, at.slots[0, 0], own, x, flat=True) for b, x in zip(brought, stacked, strict=True)]
            for (edge, own_edges, _), to in zip(at.edges, to_many, strict=True):
                brought = [_write(b, edge[0], own_edges, x) for b, x in zip(brought, to, strict=True)]
            return brought

        return self._loop(self.forest.chunk, self.forest.bucket.sizes, body, brought, backwards=True)

    def parameters(
        self, weights: list[Arrays], payload: Arrays, states: Arrays, given: Arrays, brought: Arrays, wanted: Any
    ) -> Any:
        """The cotangents of the weights and of the payload that are `wanted`; `None` for the others."""
        wanted_weights, wanted_payload = wanted
        start = (
            [[_zeros(w) if yes else None for w, yes in zip(ws, ys, strict=True)] for ws, ys in zip(weights, wanted_weights, strict=True)],
            [_zeros(x) if yes else None for x, yes in zip(payload, wanted_payload, strict=True)],
        )

        def body(p: int, size: Size, chunk: Any, sums: Any) -> Any:
            columns = [c for c in self.programs[p].columns if wanted_payload[c]]
            which = [i for i, yes in enumerate(wanted_weights[p]) if yes]
            if not columns and not which:
                return sums
            at = self._chunk(p, size, chunk)
            run, (ws, row_payload, slots, keys, many) = self._program(p, size, at, chunk, weights[p], payload, states)
            mine = list(self.programs[p].columns)

            def of_parameters(some_ws: Arrays, some_payload: Arrays) -> Arrays:
                all_ws, all_payload = list(ws), list(row_payload)
                for i, w in zip(which, some_ws, strict=True):
                    all_ws[i] = w
                for c, x in zip(columns, some_payload, strict=True):
                    all_payload[mine.index(c)] = x
                return self._smooth(run(all_ws, all_payload, slots, keys, many))

            _, pull = jax.vjp(of_parameters, [ws[i] for i in which], [row_payload[mine.index(c)] for c in columns])
            to_ws, to_payload = pull(self._own(at, given, brought))
            sum_ws, sum_payload = [list(x) for x in sums[0]], list(sums[1])
            place = self.place_of[chunk[VARIANT]]
            for i, w in zip(which, to_ws, strict=True):
                sum_ws[p][i] = sum_ws[p][i].at[place].add(w) if self.programs[p].stacked[i] else sum_ws[p][i] + w
            for c, x in zip(columns, to_payload, strict=True):
                sum_payload[c] = _write(sum_payload[c], at.row, at.valid, x)
            return sum_ws, sum_payload

        return self._loop(self.forest.block, self.forest.bucket.blocks, body, start)

    def _chunk(self, p: int, size: Size, chunk: Any) -> Chunk:
        """The rows and edges of a chunk."""
        variant = self.programs[p].variant
        row, count = chunk[ROW], chunk[ROWS]
        places = jnp.arange(size.rows, dtype=jnp.int32)
        inside = jnp.minimum(places, count - 1)
        k = variant.slots
        slots = chunk[EDGES] + inside[:, None] * k + jnp.arange(k, dtype=jnp.int32) if k else None
        edges = []
        for g in range(k > 0, len(variant.groups)):
            first, many = chunk[EDGES + 2 * g], chunk[EDGES + 2 * g + 1]
            line = jnp.arange(size.edges, dtype=jnp.int32)
            edge = first + jnp.minimum(line, jnp.maximum(many - 1, 0))
            segment = jnp.where(line < many, _take(self.forest.owner, edge) - row, size.rows)
            edges.append((edge, line < many, segment))
        return Chunk(row, row + inside, places < count, slots, edges)

    def _program(
        self, p: int, size: Size, at: Chunk, chunk: Any, weights: Arrays, payload: Arrays, states: Arrays
    ) -> tuple[Callable[..., Arrays], Any]:
        """The program at this size, and its inputs at this chunk."""
        program = self.programs[p]
        place = self.place_of[chunk[VARIANT]]
        ws = [_take(w, place) if stacked else w for w, stacked in zip(weights, program.stacked, strict=True)]
        row_payload = [_take(payload[c], at.rows) for c in program.columns]
        slots: list[Arrays] = []
        if at.slots is not None:
            child = _take(self.forest.child, at.slots)
            gathered = [_take(s, child) for s in states]
            slots = [[x[:, j] for x in gathered] for j in range(program.variant.slots)]
        many = []
        safe = self.forest.chunk[0, ROW]
        for edge, own, segment in at.edges:
            child = jnp.where(own[0], _take(self.forest.child, edge), safe)
            many.append((segment, [_take(s, child) for s in states]))
        keys = []
        if self.key is not None:
            fold_in = jax.vmap(lambda t, i: jax.random.fold_in(jax.random.fold_in(self.key, t), i))
            keys = [fold_in(_take(self.forest.tree, at.rows), _take(self.forest.order, at.rows))]
        return program.at(size), (ws, row_payload, slots, keys, many)

    def _own(self, at: Chunk, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a chunk's rows; zero past its own."""
        edge = _take(self.forest.above, at.rows)
        total = [_take(g, at.rows) + _take(b, edge) for g, b in zip(given, brought, strict=True)]
        return [jnp.where(_spread(at.valid, x), x, 0) for x in total]

    def _smooth(self, leaves: Sequence[Any]) -> list[Any]:
        return [x for x, yes in zip(leaves, self.smooth, strict=True) if yes]

    def _fill(self, smooth: Arrays, leaves: Arrays) -> Arrays:
        rest = iter(smooth)
        return [next(rest) if yes else x for x, yes in zip(leaves, self.smooth, strict=True)]

    def _refill(self, smooth: list[Arrays], slots: list[Arrays]) -> list[Arrays]:
        return [self._fill(s, x) for s, x in zip(smooth, slots, strict=True)]

    def _remany(self, smooth: list[Arrays], many: Any) -> Any:
        return [(segment, self._fill(s, x)) for s, (segment, x) in zip(smooth, many, strict=True)]

    def _loop(
        self, table: Any, sizes: tuple[Size, ...], body: Any, carry: Any, *, backwards: bool = False
    ) -> Any:
        """Runs every chunk, in order. Inside the loop over the table is one loop for each program and size, which
        runs as long as the chunks are its own."""
        kinds = [(p, s) for p in range(len(self.programs)) for s in range(len(sizes))]
        variant = table[:, VARIANT]
        kind = jnp.where(variant < 0, -1, self.program_of[variant] * len(sizes) + table[:, SIZE])
        end = jnp.argmax(variant < 0).astype(jnp.int32)
        step = jnp.int32(-1 if backwards else 1)
        kind = jnp.concatenate([jnp.full(1, -1, kind.dtype), kind])  # a stop before the first, too
        table = jnp.concatenate([table[:1], table])

        def inner(p: int, s: int) -> Callable[[Any], Any]:
            code = p * len(sizes) + s

            def run(state: Any) -> Any:
                t, carry = state
                return t + step, body(p, sizes[s], table[t], carry)

            return lambda state: lax.while_loop(lambda state: kind[state[0]] == code, run, state)

        loops = [inner(p, s) for p, s in (reversed(kinds) if backwards else kinds)]

        def outer(state: Any) -> Any:
            for loop in loops:
                state = loop(state)
            return state

        first = end if backwards else jnp.int32(1)
        return lax.while_loop(lambda state: kind[state[0]] >= 0, outer, (first, carry))[1]


def _inverse(programs: list[Program], variants: int, of: Callable[[int, int], int]) -> list[int]:
    table = [0] * variants
    for p, program in enumerate(programs):
        for i, v in enumerate(program.members):
            table[v] = of(p, i)
    return table


def _take(x: Any, index: Any) -> Any:
    return x.at[index].get(mode="promise_in_bounds")


def _spread(mask: Any, like: Any) -> Any:
    return mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim))


def _zeros(x: Any) -> Any:
    return jnp.zeros(x.shape, x.dtype)


def _write(buffer: Any, row: Any, own: Any, rows: Any, *, flat: bool = False) -> Any:
    """Writes rows of a run, those that are its own; the others are written back as they were."""
    if flat:
        own = jnp.broadcast_to(own, rows.shape[:2]).reshape(-1)
        rows = rows.reshape(-1, *rows.shape[2:])
    before = lax.dynamic_slice_in_dim(buffer, row, rows.shape[0])
    return lax.dynamic_update_slice_in_dim(buffer, jnp.where(_spread(own, rows), rows, before), row, 0)
