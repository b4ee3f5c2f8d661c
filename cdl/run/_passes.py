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

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._bucket import Size
from ._case import Carrier, Program
from ._forest import Forest
from ._residual import Kept, Remat, pull, residuals
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

    def __init__(self, forest: Forest, programs: list[Program], carrier: Carrier, key: Any, remat: Remat) -> None:
        self.forest, self.programs, self.carrier, self.key = forest, programs, carrier, key
        bucket = forest.bucket
        self.program_of = jnp.asarray(_inverse(programs, len(bucket.variants), lambda p, i: p), jnp.int32)
        self.place_of = jnp.asarray(_inverse(programs, len(bucket.variants), lambda p, i: i), jnp.int32)
        self.smooth = [jnp.issubdtype(x.dtype, jnp.inexact) for x in carrier.leaves]
        self.remat = remat
        self.kept: list[list[Kept]] = [[] for _ in programs]
        if remat != "all":
            examples = [functools.partial(self._example, p) for p in range(len(programs))]
            self.kept = [residuals(p, e, self.smooth, remat) for p, e in zip(programs, examples, strict=True)]

    def forward(self, weights: list[Arrays], payload: Arrays) -> Arrays:
        """The state at every row."""
        return self._forward(weights, payload, {})[0]

    def forward_and_keep(self, weights: list[Arrays], payload: Arrays) -> tuple[Arrays, dict[Any, Any]]:
        """The same, and the residuals that the reverse passes read again."""
        lengths = self.forest.bucket.edges, self.forest.bucket.rows
        widths: dict[Any, int] = {}
        for k in itertools.chain(*self.kept):
            widths[k.table] = max(widths.get(k.table, 0), k.column + k.columns)
        tables = {table: jnp.zeros((lengths[table[0]], width), table[1]) for table, width in widths.items()}
        return self._forward(weights, payload, tables)

    def _forward(self, weights: list[Arrays], payload: Arrays, tables: dict[Any, Any]) -> tuple[Arrays, dict[Any, Any]]:
        length = self.forest.bucket.rows
        states = [jnp.zeros((length, *x.shape), x.dtype) for x in self.carrier.leaves]

        def body(p: int, size: Size, chunk: Any, both: tuple[Arrays, dict[Any, Any]]) -> tuple[Arrays, dict[Any, Any]]:
            at = self._chunk(p, size, chunk)
            states, tables = both[0], dict(both[1])
            run, inputs = self.programs[p].at(size), self._inputs(p, at, chunk, weights[p], payload, states)
            if self.kept[p] and tables:
                out, back = pull(run, inputs, self.smooth, self.remat)
                leaves = jax.tree.leaves(back)
                for (table, many), some in _grouped(self.kept[p]).items():
                    first, own = (at.row, at.valid) if many is None else at.edges[many][:2]
                    columns = jnp.concatenate([k.as_columns(leaves[k.number]) for k in some], 1)
                    tables[table] = _write(tables[table], first if many is None else first[0], own, columns)
            else:
                out = run(*inputs)
            return [_write(s, at.row, at.valid, x) for s, x in zip(states, out, strict=True)], tables

        return self._loop(self.forest.chunk, self.forest.bucket.sizes, body, (states, tables))

    def cotangents(self, weights: list[Arrays], payload: Arrays, states: Arrays, tables: dict[Any, Any], given: Arrays) -> Arrays:
        """The cotangent that each edge brings to the row at its end; `given` are those from outside, by row."""
        edges = self.forest.bucket.edges
        brought = [jnp.zeros((edges, *x.shape), x.dtype) for x in self.only_smooth(self.carrier.leaves)]

        def body(p: int, size: Size, chunk: Any, brought: Arrays) -> Arrays:
            at = self._chunk(p, size, chunk)
            back = self._pull(p, size, at, self._inputs(p, at, chunk, weights[p], payload, states), tables)
            _, _, to_slots, _, to_many = back(self._own(at, given, brought))[0]
            if to_slots:
                stacked = [jnp.stack(x, 1) for x in zip(*map(self.only_smooth, to_slots), strict=True)]
                brought = [_write_slots(b, at, x) for b, x in zip(brought, stacked, strict=True)]
            for (edge, own, _), (_, to) in zip(at.edges, to_many, strict=True):
                brought = [_write(b, edge[0], own, x) for b, x in zip(brought, self.only_smooth(to), strict=True)]
            return brought

        return self._loop(self.forest.chunk, self.forest.bucket.sizes, body, brought, to_leaves=True)

    def parameters(
        self, weights: list[Arrays], payload: Arrays, states: Arrays, tables: dict[Any, Any], given: Arrays, brought: Arrays, wanted: Any
    ) -> Any:
        """The cotangents of the weights and of the payload that are `wanted`; `None` for the others."""
        wanted_weights, wanted_payload = wanted
        start = jax.tree.map(lambda x, yes: jnp.zeros(x.shape, x.dtype) if yes else None, (weights, payload), wanted)

        def body(p: int, size: Size, chunk: Any, sums: Any) -> Any:
            at = self._chunk(p, size, chunk)
            back = self._pull(p, size, at, self._inputs(p, at, chunk, weights[p], payload, states), tables)
            to_weights, to_payload, *_ = back(self._own(at, given, brought))[0]
            sum_weights, sum_payload = [list(x) for x in sums[0]], list(sums[1])
            place = self.place_of[chunk[VARIANT]]
            for i, stacked in enumerate(self.programs[p].stacked):
                if wanted_weights[p][i]:
                    total = sum_weights[p][i]
                    sum_weights[p][i] = total.at[place].add(to_weights[i]) if stacked else total + to_weights[i]
            for c, x in zip(self.programs[p].columns, to_payload, strict=True):
                if wanted_payload[c]:
                    sum_payload[c] = _write(sum_payload[c], at.row, at.valid, x)
            return sum_weights, sum_payload

        return self._loop(self.forest.block, self.forest.bucket.blocks, body, start)

    def _chunk(self, p: int, size: Size, chunk: Any) -> Chunk:
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
            segment = jnp.where(line < many, _take(self.forest.owner, edge) - row, size.rows)
            edges.append((edge, line < many, segment))
        return Chunk(row, row + inside, places < count, slots, edges)

    def _inputs(self, p: int, at: Chunk, chunk: Any, weights: Arrays, payload: Arrays, states: Arrays) -> Any:
        """A program's inputs at a chunk: weights, payload, slots, keys, edges."""
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
        for edge, _, segment in at.edges:
            child = _take(self.forest.child, edge)
            many.append((segment, [_take(s, child) for s in states]))
        keys = []
        if self.key is not None:
            fold_in = jax.vmap(lambda t, i: jax.random.fold_in(jax.random.fold_in(self.key, t), i))
            keys = [fold_in(_take(self.forest.tree, at.rows), _take(self.forest.order, at.rows))]
        return ws, row_payload, slots, keys, many

    def _own(self, at: Chunk, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a chunk's rows; zero past its own."""
        edge = _take(self.forest.above, at.rows)
        total = [_take(g, at.rows) + _take(b, edge) for g, b in zip(given, brought, strict=True)]
        return [jnp.where(_spread(at.valid, x), x, 0) for x in total]

    def _pull(self, p: int, size: Size, at: Chunk, inputs: Any, tables: dict[Any, Any]) -> Any:
        """The vjp at a chunk, with the residuals that were kept."""
        _, back = pull(self.programs[p].at(size), inputs, self.smooth, self.remat)
        leaves, structure = jax.tree.flatten(back)
        for (table, many), some in _grouped(self.kept[p]).items():
            rows = _take(tables[table], at.rows if many is None else at.edges[many][0])
            for k in some:
                leaves[k.number] = k.from_columns(rows)
        return jax.tree.unflatten(structure, leaves)

    def only_smooth(self, leaves: Sequence[Any]) -> list[Any]:
        """Those of a carrier's leaves that have a cotangent."""
        return [x for x, yes in zip(leaves, self.smooth, strict=True) if yes]

    def _example(self, p: int, size: Size) -> Any:
        """The shapes of a program's inputs at a size."""
        program, storage = self.programs[p], self.forest.bucket.storage
        of = lambda n, shape, dtype: jax.ShapeDtypeStruct((n, *shape), dtype)
        state = lambda n: [of(n, x.shape, x.dtype) for x in self.carrier.leaves]
        weights = [jax.ShapeDtypeStruct(w.shape[1:] if s else w.shape, w.dtype) for w, s in zip(program.weights, program.stacked, strict=True)]
        payload = [of(size.rows, *storage[c][1:]) for c in program.columns]
        keys = [] if self.key is None else [jax.eval_shape(lambda: jax.random.split(jax.random.key(0), size.rows))]
        edges = [(of(size.edges_of(g), (), jnp.int32), state(size.edges_of(g))) for g in range(program.variant.manys)]
        return weights, payload, [state(size.rows)] * program.variant.slots, keys, edges

    def _loop(self, table: Any, sizes: tuple[Size, ...], body: Any, carry: Any, *, to_leaves: bool = False) -> Any:
        """Runs every chunk in order, or in reverse order down to the leaves, which are the first.

        Inside the loop over the table is one loop for each program and size, which runs as long as the chunks are
        its own; the table is one long run of them.
        """
        numbers = [p for p, program in enumerate(self.programs) if not (to_leaves and program.variant.leaf)]
        kinds = [(p, s) for p in numbers for s in range(len(sizes))]
        code_of = {kind: code for code, kind in enumerate(kinds)}
        codes = [[code_of.get((p, s), -1) for s in range(len(sizes))] for p in range(len(self.programs))]
        variant = table[:, VARIANT]
        code = jnp.asarray(codes, jnp.int32)[self.program_of[variant], table[:, SIZE]]
        code = jnp.concatenate([jnp.full(1, -1, jnp.int32), jnp.where(variant < 0, -1, code)])  # stops at both ends
        step = jnp.int32(-1 if to_leaves else 1)

        def loop(number: int, state: Any) -> Any:
            p, s = kinds[number]

            def run(state: Any) -> Any:
                t, carry = state
                return t + step, body(p, sizes[s], table[t - 1], carry)

            return lax.while_loop(lambda state: code[state[0]] == number, run, state)

        def turn(state: Any) -> Any:
            for number in reversed(range(len(kinds))) if to_leaves else range(len(kinds)):
                state = loop(number, state)
            return state

        first = jnp.argmax(variant < 0).astype(jnp.int32) if to_leaves else jnp.int32(1)
        return lax.while_loop(lambda state: code[state[0]] >= 0, turn, (first, carry))[1]


def _inverse(programs: list[Program], variants: int, of: Callable[[int, int], int]) -> list[int]:
    table = [0] * variants
    for p, program in enumerate(programs):
        for i, v in enumerate(program.members):
            table[v] = of(p, i)
    return table


def _grouped(kept: list[Kept]) -> dict[Any, list[Kept]]:
    """The residuals that are written together: of one table and, for edges, of one `Many`."""
    groups: dict[Any, list[Kept]] = {}
    for k in kept:
        groups.setdefault((k.table, k.many), []).append(k)
    return groups


def _take(x: Any, index: Any) -> Any:
    return x.at[index].get(mode="promise_in_bounds")


def _spread(mask: Any, like: Any) -> Any:
    return mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim))


def _write_slots(buffer: Any, at: Chunk, rows: Any) -> Any:
    """Writes the edges of each row's slots, which lie row after row."""
    own = jnp.repeat(at.valid, rows.shape[1])
    return _write(buffer, at.slots[0, 0], own, rows.reshape(-1, *rows.shape[2:]))


def _write(buffer: Any, row: Any, own: Any, rows: Any) -> Any:
    """Writes rows of a run, those that are its own; the others are written back as they were."""
    start = (row, *[jnp.int32(0)] * (rows.ndim - 1))
    before = lax.dynamic_slice(buffer, start, rows.shape)
    return lax.dynamic_update_slice(buffer, jnp.where(_spread(own, rows), rows, before), start)
