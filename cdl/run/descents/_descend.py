"""The passes of a step over a forest: down with what is handed on, and up with its cotangents.

| the pass      | what it does, chunk by chunk                                                    | order            |
| ------------- | ------------------------------------------------------------------------------- | ---------------- |
| `forward`     | reads what its rows inherit, runs the program, writes their edges               | reversed         |
| `backward`    | from the cotangents of the edges below a row to that of what it inherits        | the schedule's   |

What is handed down is kept by edge; a root's is given. The reverse pass computes the step again, and adds up the
weights' cotangents on its way.
"""

from typing import Any

import jax
import jax.numpy as jnp

from .._rows import spread, take, write
from ..folds._carrier import Storage
from ..folds._program import Program
from ..folds._residual import pull
from ..folds._walk import Arrays, Chunk, Walk, write_slots
from ..forests._bucket import Size
from ..forests._forest import Forest
from ._step import Steps


Buffers = list[Any]  # one for each column; `None` for those that have no cotangent


class Descent:
    """The passes of one step's programs over one forest."""

    def __init__(self, forest: Forest, programs: list[Program], steps: Steps) -> None:
        self.walk = Walk(forest, programs, steps.below, None)
        self.forest, self.programs, self.steps = forest, programs, steps
        self.handed, self.below, self.out = steps.handed, steps.below, steps.out
        self.smooth = [[s for _, _, s in self._outputs(p)] for p in range(len(programs))]

    def forward(self, weights: list[Arrays], payload: Arrays, values: Arrays, tops: Arrays) -> tuple[Buffers, Buffers]:
        """What is handed along each edge, and what each row gives of its own; `tops` is what roots get, by row."""

        def body(p: int, size: Size, chunk: Any, both: tuple[Buffers, Buffers]) -> tuple[Buffers, Buffers]:
            at, (handed, outs) = self.walk.chunk(p, size, chunk), map(list, both)
            inputs = self._inputs(p, at, chunk, weights[p], payload, values, tops, handed)
            found = iter(self.programs[p].at[size](*inputs))
            slots = [{c: next(found) for c in columns} for columns in self._slots(p)]
            for c in dict.fromkeys(c for rows in slots for c in rows):
                nothing = jnp.zeros((size.rows, *handed[c].shape[1:]), handed[c].dtype)
                handed[c] = write_slots(handed[c], at, jnp.stack([rows.get(c, nothing) for rows in slots], 1))
            for c in self.programs[p].wiring.out:
                outs[c] = write(outs[c], at.row, at.valid, next(found))
            for (edge, own, _), columns in zip(at.edges, self._manys(p), strict=True):
                for c in columns:
                    handed[c] = write(handed[c], edge[0], own, next(found))
            return handed, outs

        start = _zeros(self.handed, len(self.forest.child)), _zeros(self.out, self.forest.bucket.rows)
        found: tuple[Buffers, Buffers] = self.walk.loop(body, start, down=True)
        return found

    def backward(self, inputs: Any, handed: Buffers, given: tuple[Buffers, Buffers], wanted: Any) -> Any:
        """The cotangent of what each row inherits, that of the value at each edge's end, and those of the weights and
        of the payload that are `wanted`; `None` for the others.

        `given` are those from outside: of what is handed along edges, and of what rows give of their own.
        """
        bucket = self.forest.bucket

        def body(p: int, size: Size, chunk: Any, carry: Any) -> Any:
            at, wiring = self.walk.chunk(p, size, chunk), self.programs[p].wiring
            inherited, below, sums, to_payload = list(carry[0]), list(carry[1]), list(carry[2]), carry[3]
            back = self._pull(p, size, at, chunk, inputs, handed)
            of_weights, of_payload, to_slots, _, to_many, own = back(self._given(p, at, given, inherited))[0]
            for c, x in zip(wiring.own, own, strict=True):
                if self.handed.smooth[c]:
                    inherited[c] = write(inherited[c], at.row, at.valid, x)
            pairs = [dict(zip(columns, to, strict=True)) for columns, to in zip(wiring.slots, to_slots, strict=True)]
            for c in dict.fromkeys(c for rows in pairs for c in rows if self.below.smooth[c]):
                nothing = jnp.zeros((size.rows, *below[c].shape[1:]), below[c].dtype)
                below[c] = write_slots(below[c], at, jnp.stack([rows.get(c, nothing) for rows in pairs], 1))
            for (edge, valid, _), columns, (_, to) in zip(at.edges, wiring.manys, to_many, strict=True):
                for c, x in zip(columns, to, strict=True):
                    if self.below.smooth[c]:
                        below[c] = write(below[c], edge[0], valid, x)
            sums[p] = self.walk.added(p, chunk, sums[p], of_weights, wanted[0][p])
            return inherited, below, sums, self.walk.payload(p, at, to_payload, of_payload, wanted[1])

        sums = jax.tree.map(lambda x, yes: jnp.zeros(x.shape, x.dtype) if yes else None, inputs[:2], wanted)
        start = _zeros(self.handed, bucket.rows), _zeros(self.below, len(self.forest.child)), *sums
        return self.walk.loop(body, start)

    def own(self, columns: Any, at: Chunk, tops: Arrays, handed: Buffers) -> Arrays:
        """What rows inherit: from the edge above, or at a root what it is given."""
        edge = take(self.forest.above, at.rows)
        root = self.forest.is_root(edge)
        pairs = [(take(tops[c], at.rows), take(handed[c], edge)) for c in columns]
        return [jnp.where(spread(root, top), top, above) for top, above in pairs]

    def _inputs(
        self, p: int, at: Chunk, chunk: Any, weights: Any, payload: Any, values: Any, tops: Any, handed: Any
    ) -> Any:
        *inputs, _ = self.walk.alone(p, at, chunk, weights, self.walk.inputs(p, at, payload, values))
        return (*inputs, self.own(self.programs[p].wiring.own, at, tops, handed))

    def _pull(self, p: int, size: Size, at: Chunk, chunk: Any, inputs: Any, handed: Buffers) -> Any:
        weights, payload, values, tops = inputs
        inputs = self._inputs(p, at, chunk, weights[p], payload, values, tops, handed)
        return pull(self.programs[p].at[size], inputs, self.smooth[p])

    def _given(self, p: int, at: Chunk, given: tuple[Buffers, Buffers], inherited: Buffers) -> Arrays:
        """The cotangents of a program's outputs at a chunk: of the edges below it, and of what is its own."""
        found = []
        for kind, c, smooth in self._outputs(p):
            if not smooth:
                continue
            if kind == "own":
                x, own = take(given[1][c], at.rows), at.valid
            else:
                edge, own = (at.slots[:, kind], at.valid) if isinstance(kind, int) else at.edges[kind[0]][:2]
                x = take(given[0][c], edge) + take(inherited[c], take(self.forest.child, edge))
            found.append(jnp.where(spread(own, x), x, 0))
        return found

    def _outputs(self, p: int) -> list[tuple[Any, int, bool]]:
        """A program's outputs: the slot, `"own"`, or the `Many` in a tuple; the column; whether it is smooth."""
        slots = [(j, c, self.handed.smooth[c]) for j, columns in enumerate(self._slots(p)) for c in columns]
        own = [("own", c, self.out.smooth[c]) for c in self.programs[p].wiring.out]
        manys = [((g,), c, self.handed.smooth[c]) for g, columns in enumerate(self._manys(p)) for c in columns]
        return [*slots, *own, *manys]

    def _slots(self, p: int) -> list[Any]:
        return [self.handed.columns(s) for s in self.programs[p].variant.slot_sorts]

    def _manys(self, p: int) -> list[Any]:
        return [self.handed.columns(s) for s in self.programs[p].variant.many_sorts]


def _zeros(storage: Storage, length: int) -> Buffers:
    """A buffer for each column."""
    return [jnp.zeros((length, *x.shape), x.dtype) for x in storage.leaves]
