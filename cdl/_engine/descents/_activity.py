"""Which rows of a forest have a gradient at which columns of what they inherit: as `folds._activity`, from below.

A seed that a child does not read is not differentiated by the definition. The pass up has met a row's children before
the row. So where it may matter (`needed`), it carries bits: for each row, which columns it reads of what it inherits.
These say which outputs are read of the row above. A row's outputs along the edges of a `Many` are read if those along
one of the edges are.
"""

from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp

from ..arrays._rows import take, write
from ..folds._activity import by_sort
from ..folds._chunk import Chunk
from ..folds._program import Program
from ..folds._walk import Walk
from ..jaxprs._reach import active, bits_of, either, MOST, union


Bits = tuple[jax.Array, jax.Array]  # for each row, what it reads of what it inherits, and its outputs that are read


class Activity:
    """The bits of the rows, on a pass up. `columns` are those that are handed to each sort, of which some are `smooth`.
    Of these, `handed` have a cotangent from outside, for each sort, and `own` of what rows give of their own."""

    def __init__(
        self,
        walk: Walk,
        columns: Sequence[Sequence[int]],
        smooth: Sequence[bool],
        handed: Sequence[Sequence[int]],
        own: Sequence[int],
    ) -> None:
        self.walk, self.columns, self.smooth = walk, columns, smooth
        self.base, self.own = list(map(bits_of, handed)), set(own)
        self.needed = self._needed()

    def _needed(self) -> bool:
        """Whether a row may inherit a value that nothing reads. Trees are finite: it is read at every row if each
        program reads it, provided that the children of its rows read theirs."""
        bucket, met = self.walk.forest.bucket, {i for program in self.walk.programs for i in program.members}
        bare = {v.sort for i, v in enumerate(bucket.variants) if i not in met}
        unread = [(sort, c) for sort in bare for c in self.columns[sort]]
        unread += [(v.sort, c) for program, v in self.walk.cases for c in self._unread(program)]
        return any(self.smooth[c] and not self.base[sort] & bits_of([c]) for sort, c in unread)

    def _unread(self, program: Program) -> Iterator[int]:
        """What the rows of a program may not read of what they inherit, though their children read theirs."""
        certain = self._certain(program, children=True)
        yield from (c for c, x in zip(program.wiring.own, program.reached.own, strict=True) if not certain & x)

    def start(self) -> Bits | None:
        """No row is met yet."""
        none = jnp.zeros(len(self.walk.forest.variant), jnp.int32)
        return (none, none) if self.needed else None

    def outputs(self, p: int, at: Chunk, bits: Bits | None) -> jax.Array | None:
        """The outputs that are read of the rows of a chunk."""
        if bits is None:
            return None
        program, child = self.walk.programs[p], self.walk.forest.child
        below = []
        for j in range(program.variant.slots):
            assert at.slots is not None
            below.append(self._of_rows(bits[0], take(child, at.slots[:, j])))
        for edge in at.edges:
            along = jnp.where(edge.valid, self._of_rows(bits[0], take(child, edge.lines)), 0)
            below.append(either(along, edge.place, len(at.rows)))
        found = jnp.full(len(at.rows), self._certain(program), jnp.int32)
        for i, (group, c) in enumerate(self._outputs(program)):
            if group is not None:
                found = found | ((below[group] >> min(c, MOST)) & 1) << min(i, MOST)
        return found

    def _of_rows(self, inherited: jax.Array, rows: jax.Array) -> jax.Array:
        """What is read of what rows inherit, by themselves or from outside."""
        return by_sort(self.walk.forest, self.base, rows) | take(inherited, rows)

    def with_chunk(self, p: int, at: Chunk, bits: Bits | None, outputs: jax.Array | None) -> Bits | None:
        """The bits with those of a chunk."""
        if bits is None or outputs is None:
            return None
        inherited = jnp.zeros_like(outputs)
        for reached, own in self.walk.programs[p].above.items():
            inherited = inherited | jnp.where(active(outputs, reached), own, 0)
        return write(bits[0], at.row, at.valid, inherited), write(bits[1], at.row, at.valid, outputs)

    def _outputs(self, program: Program) -> Iterator[tuple[int | None, int]]:
        """For each output its column, and of which slot or `Many` it is; `None` for what is the node's own."""
        handed = program.wiring.to_children
        yield from ((j, c) for j, columns in enumerate(handed.slots) for c in columns)
        yield from ((None, c) for c in program.wiring.out)
        yield from ((len(handed.slots) + m, c) for m, columns in enumerate(handed.manys) for c in columns)

    def _certain(self, program: Program, children: bool = False) -> int:
        """The outputs of its own that are read at every row; with `children`, those that go to them too."""
        every = enumerate(self._outputs(program))
        return union(bits_of([i]) for i, (group, c) in every if (c in self.own if group is None else children))
