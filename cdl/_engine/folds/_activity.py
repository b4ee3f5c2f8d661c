"""Which rows of a forest have a gradient at which columns of their value.

By the definition, what nothing reads is not differentiated, such as a child that its parent only counts. The pass down
differentiates all rows of a chunk at once, and what is not read gets a cotangent of zero. Zero times an infinite slope,
as that of a root at 0, is NaN. So where it may matter (`needed`), rows carry bits, one for each column of their value
that is read. A child's are found from those of the row above it: see `jaxprs._reach`.
"""

from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp

from ..arrays._rows import put, take, write
from ..forests._forest import Forest
from ..jaxprs._reach import active, bits_of, either, union
from ._chunk import Chunk
from ._program import Program
from ._walk import Walk


class Activity:
    """The bits of the edges and rows of a forest, on a pass down. `outside`: for each sort, the columns that have a
    cotangent from outside: at the roots, or at every node."""

    def __init__(self, walk: Walk, outside: Sequence[Sequence[int]], at_roots: bool) -> None:
        self.walk, self.forest = walk, walk.forest
        self.roots = list(map(bits_of, outside))
        self.base = [0] * len(outside) if at_roots else self.roots
        self.needed = self._needed()

    def _needed(self) -> bool:
        """Whether a row may have a value that is computed, and read by none."""
        met = dict.fromkeys((s, self.roots[s]) for s, rows in enumerate(self.forest.stored_roots) if rows.shape[-1])
        todo = list(met)
        while todo:
            sort, bits = todo.pop()
            for program, v in (x for x in self.walk.cases if x[1].sort == sort):
                if any(not bits & reached for reached in program.reach.values()):
                    return True
                children = (*v.slot_sorts, *v.many_sorts)
                pairs = zip(children, program.below, strict=True)
                below = [(s, self.base[s] | union(x for r, x in columns.items() if bits & r)) for s, columns in pairs]
                todo += [x for x in dict.fromkeys(below) if x not in met]
                met |= dict.fromkeys(below)
        return False

    def start(self) -> jax.Array | None:
        """The bits of the edges that end at roots."""
        if not self.needed:
            return None
        edges = self.forest.bucket.edges
        roots = by_sort(self.forest, self.roots, self.forest.child[edges:-1])
        return put(jnp.zeros(len(self.forest.child), jnp.int32), edges, roots)

    def below(self, p: int, at: Chunk, bits: jax.Array | None, own: jax.Array | None) -> jax.Array | None:
        """The edges' bits, with those below a chunk, whose rows have these of their `own`."""
        if bits is None or own is None:
            return None
        program = self.walk.programs[p]
        slots, manys = program.below[: program.variant.slots], program.below[program.variant.slots :]
        if at.slots is not None:
            pairs = enumerate(slots)
            found = jnp.stack([self._below(own, columns, at.slots[:, j]) for j, columns in pairs], 1).reshape(-1)
            bits = write(bits, at.slots[0, 0], jnp.repeat(at.valid, len(slots)), found)
        for edge, columns in zip(at.edges, manys, strict=True):
            found = self._below(take(own, edge.place), columns, edge.lines)
            bits = write(bits, edge.lines[0], edge.valid, found)
        return bits

    def _below(self, bits: jax.Array, columns: Mapping[int, int], edges: jax.Array) -> jax.Array:
        found = by_sort(self.forest, self.base, take(self.forest.child, edges))
        for reached, own in columns.items():
            found = found | jnp.where(active(bits, reached), own, 0)
        return found

    def of_rows(self, bits: jax.Array | None) -> jax.Array | None:
        """The bits of the rows."""
        return None if bits is None else take(bits, self.forest.above)

    def of_constants(self, program: Program, bits: jax.Array | None) -> jax.Array | None:
        """The bits of the values of a program that reads nothing, for each of its constructors: those that one of the
        edges to it has."""
        if bits is None:
            return None
        count = len(self.forest.bucket.variants)
        return take(either(bits, jnp.minimum(self.walk.child, count), count + 1), jnp.array(program.members))


def by_sort(forest: Forest, bits: Sequence[int], rows: jax.Array) -> jax.Array:
    """The bits of the sort of each of some rows."""
    if len(set(bits)) == 1:
        return jnp.full(len(rows), bits[0], jnp.int32)
    return take(jnp.array(bits, jnp.int32), take(forest.sort, rows))
