"""Programs on their way over a forest: what the rows of a chunk read of it, and of the weights."""

import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..arrays._platform import platform
from ..arrays._random_keys import keys_at
from ..arrays._rows import take, write
from ..arrays.shapes import Arrays, Shape, shaped
from ..forests._bucket import Size
from ..forests._forest import Forest
from ..forests._variant import Variant
from ..jaxprs._reach import either, only_active
from ._at_rows import Over
from ._batched import tiles_in
from ._chunk import Chunk, chunk_at
from ._group import Group
from ._loop import Body, C, over_chunks, Read
from ._node import Inputs
from ._plan import Again, Table
from ._program import PROBE, Program
from ._slabs import Slabs
from ._storage import Storage


class Walk:
    """The programs of an algebra on their way over a forest.

    `levels` are the programs that are computed for rows of several variants; `constant` those that are not met on the
    way, whose values are at the variants' own rows. `storage` is that of what is read at the children, which lies in
    `slabs`, or column by column.
    """

    def __init__(
        self, forest: Forest, programs: list[Program], storage: Storage, key: jax.Array | None,
        levels: Sequence[int] = (), constant: Sequence[int] = (), slabs: Slabs | None = None,
    ) -> None:  # fmt: skip
        self.forest, self.programs, self.storage, self.key = forest, programs, storage, key
        self.slabs = Slabs(storage.leaves, joined=False) if slabs is None else slabs
        bucket, count = forest.bucket, len(forest.bucket.variants)
        of = {v: p for p, program in enumerate(programs) for v in program.members}
        places = {v: place for program in programs for v, place in zip(program.members, program.places, strict=True)}
        self.place_of = jnp.array([*(places.get(v, 0) for v in range(count)), 0], jnp.int32)
        numbers = {
            v: n for program in programs for n, v in enumerate(sorted(program.members, key=bucket.rank.__getitem__))
        }
        self.number_of = jnp.array([*(numbers.get(v, 0) for v in range(count)), 0], jnp.int32)
        self._constant = [of.get(v) in constant for v in range(count)]
        alike = {c: {of.get(v) for v in range(count) if bucket.classes[v] == c} for c in bucket.classes}
        whole = [len(alike[bucket.classes[v]]) == 1 and of.get(v) in levels for v in range(count)]
        met = [of[v] if v in of and not self._constant[v] else -1 for v in range(count)]
        self._of_level = [p if w else -1 for p, w in zip(met, whole, strict=True)]
        self._of_piece = [-1 if w else p for p, w in zip(met, whole, strict=True)]
        self.child = self.rows_of(forest.child)  # the row at the end of each edge, where its value is
        bare = [region == 2 for region in bucket.regions]
        self.length = bucket.starts[2] if self._constant == bare else bucket.rows  # of tables of rows
        kind, batched = self.place_of[forest.variant], platform().batched
        ends = (forest.tile[:, 0], forest.edges_tile[:, 0]) if batched else (forest.until, forest.edges_until)
        # what is read together: see `chunk_at`
        self._rows = jnp.stack([kind, ends[0], forest.above], 1)
        self._edges = jnp.stack([take(kind, forest.owner), ends[1], self.child[: bucket.edges], forest.owner], 1)

    @property
    def cases(self) -> list[tuple[Program, Variant]]:
        """Each program with each of its variants."""
        return [(program, v) for program in self.programs for v in program.variants]

    def rows_of(self, rows: jax.Array) -> jax.Array:
        """The rows at which nodes have their values: those of constants have the variant's."""
        if not any(self._constant):
            return rows
        variant = take(self.forest.variant, rows)
        return jnp.where(jnp.array([*self._constant, False])[variant], variant, rows)

    def first_of(self, table: Table) -> int:
        """The row that a table begins with."""
        return self.forest.bucket.starts[1] if table.of == "leaves" else 0

    def length_of(self, table: Table) -> int:
        """The length of a table."""
        bucket = self.forest.bucket
        return {"rows": bucket.starts[1], "leaves": self.length - bucket.starts[1], "edges": bucket.edges}[table.of]

    def largest(self, p: int) -> Size:
        """The largest size of the chunks of a program; of a few rows, where these have one."""
        bucket, members = self.forest.bucket, self.programs[p].members
        sizes = bucket.sizes_of(*members) if p in self._of_level else bucket.pieces_of(*members)
        size = max(sizes, key=lambda s: s.rows)
        return size if size.rows > 1 else PROBE

    def _chunk(self, p: int, size: Size, line: jax.Array) -> Chunk:
        return chunk_at(self.programs[p].variant, size, line, self._rows, self._edges)

    def over(self, p: int, at: Chunk) -> Over:
        """What the rows of a chunk are computed over: which constructor each row and edge has."""
        forest, most = self.forest, len(self.programs[p].members)
        group = _group(at.rows, at.kind, at.end, at.count, forest.tile, most)
        edges = [_group(x.lines, x.kind, x.end, x.total, forest.edges_tile, most) for x in at.edges]
        return Over(group, edges, [x.place for x in at.edges], [x.segment for x in at.edges])

    def inputs(self, p: int, at: Chunk, payload: Arrays, states: Arrays, own: Sequence[Any] = ()) -> Inputs:
        """A program's inputs at a chunk."""
        wiring = self.programs[p].wiring
        row_payload = [take(payload[c], at.rows) for c in wiring.payload]
        slots: list[Arrays] = []
        if at.slots is not None:
            child = take(self.child, at.slots)
            lines = child.reshape(-1)
            gathered = {c: self.slabs.read(states, c, lines) for c in dict.fromkeys(itertools.chain(*wiring.slots))}
            gathered = {c: x.reshape(*child.shape, *x.shape[1:]) for c, x in gathered.items()}
            slots = [[gathered[c][:, j] for c in columns] for j, columns in enumerate(wiring.slots)]
        many = []
        for edge, columns in zip(at.edges, wiring.manys, strict=True):
            many.append([self.slabs.read(states, c, edge.child) for c in columns])
        keys = []
        if self.key is not None:
            keys = [keys_at(self.key, take(self.forest.tree, at.rows), take(self.forest.order, at.rows))]
        return Inputs(row_payload, slots, keys, many, list(own))

    def alone(self, p: int, at: Chunk, weights: Arrays, inputs: Inputs) -> Any:
        """The inputs of a program that is computed for one constructor: with its weights, and the edges' rows."""
        place, program = at.kind[0], self.programs[p]
        ws = [take(w, place) if stacked else w for w, stacked in zip(weights, program.stacked, strict=True)]
        payload, slots, keys, many, own = inputs
        edges = [(edge.segment, x) for edge, x in zip(at.edges, many, strict=True)]
        return ws, payload, slots, keys, edges, own

    def one(self, p: int, own: Arrays) -> tuple[list[Shape], Inputs]:
        """The shapes of a program's weights, and those of its inputs at one row and edge; `own` are the columns of what
        nodes read of their own."""
        program, kinds = self.programs[p], self.forest.bucket.storage
        payload = [shaped(kinds[c][1], kinds[c][2]) for c in program.wiring.payload]
        keys = [] if self.key is None else [jax.eval_shape(jax.random.fold_in, self.key, 0)]
        slots, manys = (
            [[self.storage.leaves[c] for c in cs] for cs in x] for x in (program.wiring.slots, program.wiring.manys)
        )
        return program.weights, Inputs(payload, slots, keys, manys, [own[c] for c in program.wiring.own])

    def again(self, p: int, at: Again, index: jax.Array, payload: Arrays, states: Arrays) -> jax.Array:
        """What the rows or edges of these numbers read."""
        wiring = self.programs[p].wiring
        if at.what == "payload":
            return take(payload[wiring.payload[at.leaf]], index)
        if at.what == "edges":
            return self.slabs.read(states, wiring.manys[at.place][at.leaf], take(self.child, index))
        edge = take(self.forest.slot, index) + at.place
        return self.slabs.read(states, wiring.slots[at.place][at.leaf], take(self.child, edge))

    def source(self, program: Program, at: Again) -> Again:
        """What `again` reads, by its column: the same for all programs that read the same of their rows or edges."""
        wiring = program.wiring
        columns = {"payload": wiring.payload, "own": wiring.own}.get(at.what)
        if columns is None:
            columns = (wiring.slots if at.what == "slots" else wiring.manys)[at.place]
        return Again(at.what, at.place if at.what == "slots" else 0, columns[at.leaf])

    def added(self, p: int, at: Chunk, sums: Arrays, found: Arrays) -> Arrays:
        """The sums of a program's weights' cotangents, but for those that are `None`, and those of a chunk."""
        place, total = at.kind[0], list(sums)
        for i, stacked in enumerate(self.programs[p].stacked):
            if total[i] is not None:
                total[i] = total[i].at[place].add(found[i]) if stacked else total[i] + found[i]
        return total

    def active(self, p: int, at: Chunk, bits: jax.Array, payload: Arrays, slots: Any, manys: Any) -> Any:
        """The cotangents of a program's payload, slots and `Many`s, without those of what is not active. `bits` are the
        columns of each row that are read."""
        reached = self.programs[p].reached

        def only(bits: jax.Array, found: Arrays, columns: list[int]) -> Arrays:
            return [only_active(x, bits, some) for x, some in zip(found, columns, strict=True)]

        below = [take(bits, edge.place) for edge in at.edges]
        return (
            only(bits, payload, reached.payload),
            [only(bits, *each) for each in zip(slots, reached.slots, strict=True)],
            [only(*each) for each in zip(below, manys, reached.manys, strict=True)],
        )

    def there(self, program: Program) -> jax.Array:
        """Which constructors of a program the forest has."""
        ranks = jnp.array([self.forest.bucket.rank[v] for v in program.members], jnp.int32)
        return self.forest.begin[ranks + 1] > self.forest.begin[ranks]

    def bits_of(self, program: Program, bits: jax.Array) -> jax.Array:
        """The columns that are read at any row of each constructor of a program."""
        count = len(self.forest.bucket.variants)
        return take(either(bits, self.forest.variant, count + 1), jnp.array(program.members))

    def payload(self, p: int, at: Chunk, sums: Arrays, found: Arrays) -> Arrays:
        """The payload's cotangents, but for those that are `None`, with those of a chunk."""
        total = list(sums)
        for c, x in zip(self.programs[p].wiring.payload, found, strict=True):
            if total[c] is not None:
                total[c] = write(total[c], at.row, at.valid, x)
        return total

    def loop(self, read: Read[Chunk, C], body: Body[Chunk, C], carry: C, *, down: bool = False) -> C:
        """Runs every chunk that has a program, in order, or in reverse order `down` the trees."""
        return over_chunks(self.forest, self._of_level, self._of_piece, self._chunk, read, body, carry, down)


def _group(lines: jax.Array, kind: jax.Array, end: jax.Array, count: jax.Array, tile: jax.Array, most: int) -> Group:
    """The rows, or edges, of these numbers, of a program of `most` constructors."""
    if platform().batched:
        return Group(kind, count, len(lines), tiles=tiles_in(tile[:, 1], lines[0], end, kind, count, most))
    return Group(kind, count, len(lines), jnp.minimum(end - lines[0], count))
