"""The passes over a forest: up with the values, down with their cotangents, and once over the parameters.

| the pass      | what it does, chunk by chunk                                                    | order            |
| ------------- | ------------------------------------------------------------------------------- | ---------------- |
| `forward`     | reads the children's states, runs the program, writes the rows' states          | the schedule's   |
| `cotangents`  | from the rows' cotangents to their edges', which lie side by side               | reversed         |
| `parameters`  | the weights' and the payload's cotangents, when every row's is known            | any: big blocks  |

Each tree's node has one edge from above, so that cotangents are stored by edge and need no scatter.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ._bucket import Size
from ._case import Carrier, Program
from ._forest import Forest
from ._residual import Kept, pull, Remat, residuals
from ._walk import Arrays, Chunk, spread, take, Walk, write, write_slots


class Passes:
    """The passes of one algebra's programs over one forest."""

    def __init__(self, forest: Forest, programs: list[Program], carrier: Carrier, key: Any, remat: Remat) -> None:
        self.walk = Walk(forest, programs, carrier, key)
        self.forest, self.programs, self.carrier = forest, programs, carrier
        self.smooth = [jnp.issubdtype(x.dtype, jnp.inexact) for x in carrier.leaves]
        self.remat: Remat = remat
        self.kept: list[list[Kept]] = [[] for _ in programs]
        if remat != "all":
            examples = [functools.partial(self.walk.example, p) for p in range(len(programs))]
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
            at = self.walk.chunk(p, size, chunk)
            states, tables = both[0], dict(both[1])
            run, inputs = self.programs[p].at[size], self.walk.inputs(p, at, chunk, weights[p], payload, states)
            if self.kept[p] and tables:
                out, back = pull(run, inputs, self.smooth, self.remat)
                leaves = jax.tree.leaves(back)
                for (table, many), some in _grouped(self.kept[p]).items():
                    first, own = (at.row, at.valid) if many is None else at.edges[many][:2]
                    columns = jnp.concatenate([k.as_columns(leaves[k.number]) for k in some], 1)
                    tables[table] = write(tables[table], first if many is None else first[0], own, columns)
            else:
                out = run(*inputs)
            return [write(s, at.row, at.valid, x) for s, x in zip(states, out, strict=True)], tables

        return self.walk.loop(self.forest.chunk, self.forest.bucket.sizes, body, (states, tables))

    def cotangents(
        self, weights: list[Arrays], payload: Arrays, states: Arrays, tables: dict[Any, Any], given: Arrays
    ) -> Arrays:
        """The cotangent that each edge brings to the row at its end; `given` are those from outside, by row."""
        edges = self.forest.bucket.edges
        brought = [jnp.zeros((edges, *x.shape), x.dtype) for x in self.only_smooth(self.carrier.leaves)]

        def body(p: int, size: Size, chunk: Any, brought: Arrays) -> Arrays:
            at = self.walk.chunk(p, size, chunk)
            back = self._pull(p, size, at, self.walk.inputs(p, at, chunk, weights[p], payload, states), tables)
            _, _, to_slots, _, to_many = back(self._own(at, given, brought))[0]
            if to_slots:
                stacked = [jnp.stack(x, 1) for x in zip(*map(self.only_smooth, to_slots), strict=True)]
                brought = [write_slots(b, at, x) for b, x in zip(brought, stacked, strict=True)]
            for (edge, own, _), (_, to) in zip(at.edges, to_many, strict=True):
                brought = [write(b, edge[0], own, x) for b, x in zip(brought, self.only_smooth(to), strict=True)]
            return brought

        return self.walk.loop(self.forest.chunk, self.forest.bucket.sizes, body, brought, to_leaves=True)

    def parameters(
        self,
        weights: list[Arrays],
        payload: Arrays,
        states: Arrays,
        tables: dict[Any, Any],
        given: Arrays,
        brought: Arrays,
        wanted: Any,
    ) -> Any:
        """The cotangents of the weights and of the payload that are `wanted`; `None` for the others."""
        wanted_weights, wanted_payload = wanted
        start = jax.tree.map(lambda x, yes: jnp.zeros(x.shape, x.dtype) if yes else None, (weights, payload), wanted)

        def body(p: int, size: Size, chunk: Any, sums: Any) -> Any:
            at = self.walk.chunk(p, size, chunk)
            back = self._pull(p, size, at, self.walk.inputs(p, at, chunk, weights[p], payload, states), tables)
            to_weights, to_payload, *_ = back(self._own(at, given, brought))[0]
            sum_weights, sum_payload = [list(x) for x in sums[0]], list(sums[1])
            place = self.walk.place(chunk)
            for i, stacked in enumerate(self.programs[p].stacked):
                if wanted_weights[p][i]:
                    total = sum_weights[p][i]
                    sum_weights[p][i] = total.at[place].add(to_weights[i]) if stacked else total + to_weights[i]
            for c, x in zip(self.programs[p].columns, to_payload, strict=True):
                if wanted_payload[c]:
                    sum_payload[c] = write(sum_payload[c], at.row, at.valid, x)
            return sum_weights, sum_payload

        return self.walk.loop(self.forest.block, self.forest.bucket.blocks, body, start)

    def _own(self, at: Chunk, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a chunk's rows; zero past its own."""
        edge = take(self.forest.above, at.rows)
        total = [take(g, at.rows) + take(b, edge) for g, b in zip(given, brought, strict=True)]
        return [jnp.where(spread(at.valid, x), x, 0) for x in total]

    def _pull(self, p: int, size: Size, at: Chunk, inputs: Any, tables: dict[Any, Any]) -> Any:
        """The vjp at a chunk, with the residuals that were kept."""
        _, back = pull(self.programs[p].at[size], inputs, self.smooth, self.remat)
        leaves, structure = jax.tree.flatten(back)
        for (table, many), some in _grouped(self.kept[p]).items():
            rows = take(tables[table], at.rows if many is None else at.edges[many][0])
            for k in some:
                leaves[k.number] = k.from_columns(rows)
        return jax.tree.unflatten(structure, leaves)

    def only_smooth(self, leaves: Sequence[Any]) -> list[Any]:
        """Those of a carrier's leaves that have a cotangent."""
        return [x for x, yes in zip(leaves, self.smooth, strict=True) if yes]


def _grouped(kept: list[Kept]) -> dict[Any, list[Kept]]:
    """The residuals that are written together: of one table and, for edges, of one `Many`."""
    groups: dict[Any, list[Kept]] = {}
    for k in kept:
        groups.setdefault((k.table, k.many), []).append(k)
    return groups
