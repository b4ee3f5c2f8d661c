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
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp

from ..forests._bucket import Size
from ..forests._forest import Forest
from ._carrier import Storage
from ._program import Program
from ._residual import Kept, pull, Remat, residuals
from ._walk import Arrays, Chunk, spread, take, Walk, write, write_slots


class Passes:
    """The passes of one algebra's programs over one forest."""

    def __init__(self, forest: Forest, programs: list[Program], storage: Storage, key: Any, remat: Remat) -> None:
        self.walk = Walk(forest, programs, storage, key)
        self.forest, self.programs, self.storage = forest, programs, storage
        self.smooth = [[storage.smooth[c] for c in p.wiring.out] for p in programs]
        self.remat: Remat = remat

    @functools.cached_property
    def kept(self) -> list[list[Kept]]:
        """The residuals of each program that the reverse passes read again. A pass forwards asks for none, so that a
        case need have no derivative."""
        if self.remat == "all":
            return [[] for _ in self.programs]
        examples = [functools.partial(self.walk.example, p) for p in range(len(self.programs))]
        every = zip(self.programs, examples, self.smooth, strict=True)
        return [residuals(p, e, smooth, self.remat) for p, e, smooth in every]

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
        states = [jnp.zeros((length, *x.shape), x.dtype) for x in self.storage.leaves]

        def body(p: int, size: Size, chunk: Any, both: tuple[Arrays, dict[Any, Any]]) -> tuple[Arrays, dict[Any, Any]]:
            at = self.walk.chunk(p, size, chunk)
            states, tables = both[0], dict(both[1])
            run, inputs = self.programs[p].at[size], self.walk.inputs(p, at, chunk, weights[p], payload, states)
            if tables and self.kept[p]:
                out, back = pull(run, inputs, self.smooth[p], self.remat)
                leaves = jax.tree.leaves(back)
                for (table, many), some in _grouped(self.kept[p]).items():
                    first, own = (at.row, at.valid) if many is None else at.edges[many][:2]
                    columns = jnp.concatenate([k.as_columns(leaves[k.number]) for k in some], 1)
                    tables[table] = write(tables[table], first if many is None else first[0], own, columns)
            else:
                out = run(*inputs)
            states = list(states)
            for c, x in zip(self.programs[p].wiring.out, out, strict=True):
                states[c] = write(states[c], at.row, at.valid, x)
            return states, tables

        return self.walk.loop(self.forest.chunk, self.forest.bucket.sizes, body, (states, tables))

    def cotangents(
        self, weights: list[Arrays], payload: Arrays, states: Arrays, tables: dict[Any, Any], given: Arrays
    ) -> Arrays:
        """The cotangent that each edge brings to the row at its end; `given` are those from outside, by row. Both have
        an array for each column of the states, and `None` for those that have no cotangent."""
        edges = self.forest.bucket.edges
        pairs = zip(self.storage.leaves, self.storage.smooth, strict=True)
        brought = [jnp.zeros((edges, *x.shape), x.dtype) if smooth else None for x, smooth in pairs]

        def body(p: int, size: Size, chunk: Any, brought: Arrays) -> Arrays:
            program, brought = self.programs[p], list(brought)
            at = self.walk.chunk(p, size, chunk)
            back = self._pull(p, size, at, self.walk.inputs(p, at, chunk, weights[p], payload, states), tables)
            _, _, to_slots, _, to_many, _ = back(self._own(p, at, given, brought))[0]
            for c in self._smooth(itertools.chain(*program.wiring.slots)):
                nothing = jnp.zeros((size.rows, *self.storage.leaves[c].shape), self.storage.leaves[c].dtype)
                every = zip(program.wiring.slots, to_slots, strict=True)
                rows = jnp.stack([to[columns.index(c)] if c in columns else nothing for columns, to in every], 1)
                brought[c] = write_slots(brought[c], at, rows)
            for (edge, own, _), columns, (_, to) in zip(at.edges, program.wiring.manys, to_many, strict=True):
                for c in self._smooth(columns):
                    brought[c] = write(brought[c], edge[0], own, to[columns.index(c)])
            return brought

        return self.walk.loop(self.forest.chunk, self.forest.bucket.sizes, body, brought, down=True, leaves=False)

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
        start = jax.tree.map(lambda x, yes: jnp.zeros(x.shape, x.dtype) if yes else None, (weights, payload), wanted)

        def body(p: int, size: Size, chunk: Any, sums: Any) -> Any:
            at = self.walk.chunk(p, size, chunk)
            back = self._pull(p, size, at, self.walk.inputs(p, at, chunk, weights[p], payload, states), tables)
            to_weights, to_payload, *_ = back(self._own(p, at, given, brought))[0]
            return self.walk.summed(p, chunk, at, sums, to_weights, to_payload, wanted)

        return self.walk.loop(self.forest.block, self.forest.bucket.blocks, body, start)

    def _own(self, p: int, at: Chunk, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a chunk's rows; zero past its own."""
        edge = take(self.forest.above, at.rows)
        total = [take(given[c], at.rows) + take(brought[c], edge) for c in self._smooth(self.programs[p].wiring.out)]
        return [jnp.where(spread(at.valid, x), x, 0) for x in total]

    def _pull(self, p: int, size: Size, at: Chunk, inputs: Any, tables: dict[Any, Any]) -> Any:
        """The vjp at a chunk, with the residuals that were kept."""
        _, back = pull(self.programs[p].at[size], inputs, self.smooth[p], self.remat)
        leaves, structure = jax.tree.flatten(back)
        for (table, many), some in _grouped(self.kept[p]).items():
            rows = take(tables[table], at.rows if many is None else at.edges[many][0])
            for k in some:
                leaves[k.number] = k.from_columns(rows)
        return jax.tree.unflatten(structure, leaves)

    def _smooth(self, columns: Iterable[int]) -> list[int]:
        """Those of some columns that have a cotangent, each once."""
        return [c for c in dict.fromkeys(columns) if self.storage.smooth[c]]


def _grouped(kept: list[Kept]) -> dict[Any, list[Kept]]:
    """The residuals that are written together: of one table and, for edges, of one `Many`."""
    groups: dict[Any, list[Kept]] = {}
    for k in kept:
        groups.setdefault((k.table, k.many), []).append(k)
    return groups
