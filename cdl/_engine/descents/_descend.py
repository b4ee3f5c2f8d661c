"""The passes of a step over a forest: down with what is handed on, and up with its cotangents.

| the pass      | what it does, chunk by chunk                                                    | order            |
| ------------- | ------------------------------------------------------------------------------- | ---------------- |
| `forward`     | reads what its rows inherit, runs the program, writes their edges               | reversed         |
| `backward`    | from the cotangents of the edges below a row to that of what it inherits        | the schedule's   |

What is handed down is kept by edge; the edges of the roots have what is given. Weights' cotangents are made as those of
a fold are (`folds._kernel`).
"""

import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..arrays._rows import masked, put, room, take, write
from ..arrays.shapes import Arrays
from ..folds._chunk import Chunk, write_edges
from ..folds._kernel import Kernel, Tables
from ..folds._plan import Again
from ..folds._program import Program
from ..folds._sites import all_indexed
from ..folds._slabs import Slabs
from ..folds._storage import Storage
from ..folds._walk import Walk
from ..forests._forest import Forest


Buffers = list[Any]  # one for each column; `None` for those that have no cotangent
Downwards = tuple[Buffers, Buffers, Tables]


class Descent:
    """The passes of one step's programs over one forest. `handed`, `below` and `out`: as of `Steps`."""

    def __init__(self, programs: list[Program], handed: Storage, below: Storage, out: Storage, forest: Forest) -> None:
        self.forest, self.programs = forest, programs
        self.handed, self.below, self.out = handed, below, out
        indexed = all_indexed(programs, 0)
        self.walk = Walk(forest, programs, below, None, list(indexed))
        self.along = Slabs(self.handed.leaves, joined=False)
        smooth = [self._smooth(p) for p in range(len(programs))]
        self.kernel = Kernel(self.walk, indexed, smooth, self.handed.leaves, keep=True)

    def forward(self, weights: list[Arrays], payload: Arrays, values: Arrays, tops: Arrays) -> tuple[Buffers, Buffers]:
        """What is handed along each edge, and what each row gives of its own; `tops` is what roots get, by tree."""
        return self._forward(weights, payload, values, tops, {})[:2]

    def forward_and_keep(self, weights: list[Arrays], payload: Arrays, values: Arrays, tops: Arrays) -> Downwards:
        """The same, and what is kept for the way up."""
        return self._forward(weights, payload, values, tops, self.kernel.room())

    def _forward(
        self, weights: list[Arrays], payload: Arrays, values: Arrays, tops: Arrays, tables: Tables
    ) -> Downwards:
        bucket, ready = self.forest.bucket, self.kernel.weights(weights)

        def read(p: int, at: Chunk, carry: Downwards) -> Arrays:
            return self._own(p, at, carry[0])

        def body(p: int, at: Chunk, carry: Downwards, own: Arrays) -> Downwards:
            handed, outs = map(list, carry[:2])
            inputs = self.walk.inputs(p, at, payload, values, own)
            found, tables = self.kernel.forward(p, at, ready, inputs, carry[2], down=True)
            every = iter(found)
            slots, out, manys = ([[next(every) for _ in columns] for columns in some] for some in self._outputs(p))
            to = self.programs[p].wiring.to_children
            write_edges(handed, self.along, at, to.slots, slots, to.manys, manys)
            for c, x in zip(self.programs[p].wiring.out, out[0], strict=True):
                outs[c] = write(outs[c], at.row, at.valid, x)
            return handed, outs, tables

        empty = [room((len(self.forest.child), *x.shape), x.dtype, -i) for i, x in enumerate(self.handed.leaves)]
        handed = [put(x, bucket.edges, top) for x, top in zip(empty, tops, strict=True)]
        outs = [jnp.zeros((self.walk.length, *x.shape), x.dtype) for x in self.out.leaves]
        found: Downwards = self.walk.loop(read, body, (handed, outs, tables), down=True)
        return found

    def backward(
        self, inputs: Any, handed: Buffers, tables: Tables, given: tuple[Buffers, Buffers], wanted: Any
    ) -> Any:
        """The cotangents of the weights, the payload, the values at each edge's end and what roots get, where they are
        `wanted`; `None` for the others.

        `given` are those of what is handed along edges, and of what rows give of their own; `None` for what has none.
        """
        weights, payload, values, _ = inputs
        ready = self.kernel.weights(weights)

        def read(p: int, at: Chunk, carry: Any) -> tuple[Arrays, Arrays]:
            return self._given(p, at, given, carry[0]), self.kernel.products(p, at, carry[2])

        def body(p: int, at: Chunk, carry: Any, had: tuple[Arrays, Arrays]) -> Any:
            inherited, below = map(list, carry[:2])
            inputs, (brought, kept) = self.walk.inputs(p, at, payload, values, self._own(p, at, handed)), had
            to, found = self.kernel.reverse(p, at, ready, inputs, brought, kept, carry[2], [])
            wiring = self.programs[p].wiring
            for c, x in zip(wiring.own, to.own, strict=True):
                if inherited[c] is not None:
                    inherited[c] = write(inherited[c], at.row, at.valid, x)
            write_edges(below, self.walk.slabs, at, wiring.slots, to.slots, wiring.manys, to.manys)
            return inherited, below, found

        def zeros(length: int, leaves: Arrays, some: Any) -> Buffers:
            every = zip(leaves, some, strict=True)
            return [jnp.zeros((length, *x.shape), x.dtype) if yes else None for x, yes in every]

        inherited = zeros(self.walk.length, self.handed.leaves, self.handed.smooth)
        below = zeros(len(self.forest.child), self.below.leaves, wanted[2])
        start = self.kernel.start(ready, payload, tables, wanted)
        inherited, below, found = self.walk.loop(read, body, (inherited, below, start))

        def again(p: int, at: Again, index: jax.Array) -> jax.Array:
            if at.what == "own":
                return take(handed[self.programs[p].wiring.own[at.leaf]], take(self.forest.above, index))
            return self.walk.again(p, at, index, payload, values)

        sums = self.kernel.gradients(ready, found, again, wanted[0])
        edges = slice(self.forest.bucket.edges, -1)
        roots = self.forest.child[edges]
        tops = [
            (take(x, roots) if g is None else take(x, roots) + g[edges]) if yes else None
            for x, g, yes in zip(inherited, given[0], wanted[3], strict=True)
        ]
        return sums, found.payload, below, tops

    def _own(self, p: int, at: Chunk, handed: Buffers) -> Arrays:
        """What rows inherit, from the edge above."""
        return [take(handed[c], at.above) for c in self.programs[p].wiring.own]

    def _given(self, p: int, at: Chunk, given: tuple[Buffers, Buffers], inherited: Buffers) -> Arrays:
        """The cotangents of a program's outputs at a chunk: of the edges below it, and of what is its own; zeros past
        the chunk's."""
        found = []

        def along(columns: Sequence[int], edge: jax.Array, valid: jax.Array) -> None:
            for c in columns:
                if self.handed.smooth[c]:
                    x = take(inherited[c], take(self.forest.child, edge))
                    x = x if given[0][c] is None else x + take(given[0][c], edge)
                    found.append(masked(valid, x))

        for j, columns in enumerate(self.programs[p].wiring.to_children.slots):
            assert at.slots is not None
            along(columns, at.slots[:, j], at.valid)
        for c in self.programs[p].wiring.out:
            if self.out.smooth[c]:
                leaf = self.out.leaves[c]
                x = (
                    jnp.zeros((len(at.rows), *leaf.shape), leaf.dtype)
                    if given[1][c] is None
                    else take(given[1][c], at.rows)
                )
                found.append(masked(at.valid, x))
        for edge, columns in zip(at.edges, self.programs[p].wiring.to_children.manys, strict=True):
            along(columns, edge.lines, edge.valid)
        return found

    def _outputs(self, p: int) -> tuple[Any, Any, Any]:
        """The columns of a program's outputs: those of each slot, what is the node's own, and those of each `Many`."""
        to = self.programs[p].wiring.to_children
        return to.slots, [self.programs[p].wiring.out], to.manys

    def _smooth(self, p: int) -> list[bool]:
        """Which outputs of a program have a derivative."""
        slots, out, manys = self._outputs(p)
        pairs = (slots, self.handed), (out, self.out), (manys, self.handed)
        return [storage.smooth[c] for some, storage in pairs for c in itertools.chain(*some)]
