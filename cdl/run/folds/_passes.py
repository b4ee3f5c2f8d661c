"""The passes over a forest: up with the values, and down with their cotangents.

| the pass      | what it does, chunk by chunk                                                    | order            |
| ------------- | ------------------------------------------------------------------------------- | ---------------- |
| `forward`     | reads the children's states, runs the program, writes the rows' states          | the schedule's   |
| `backward`    | from the rows' cotangents to their edges', which lie side by side               | reversed         |

Each node is at the end of one edge, so that cotangents are stored by edge and need no scatter. Programs whose rows are
computed together keep the cotangents of their sites, from which the weights' are made at the end (`_sums`); others add
theirs up on the way. Constants, at nodes with neither children nor payload, are computed once for each variant.
"""

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from .._rows import put, spread, take, write
from ..forests._bucket import Size
from ..forests._forest import Forest
from ._carrier import Storage
from ._plan import Plan, Table
from ._present import FINITE, has_finite_slopes, only_present
from ._program import opened, Program
from ._residual import is_smooth, pull
from ._sites import Indexed, indexed
from ._sums import Sums
from ._walk import Arrays, Chunk, Walk, write_slots


Tables = dict[Table, Any]


class Passes:
    """The passes of one algebra's programs over one forest. `keep` says whether matrix products are kept for the way
    down, or computed again."""

    def __init__(self, forest: Forest, programs: list[Program], storage: Storage, key: Any, keep: bool) -> None:
        self.forest, self.programs, self.storage, self.keep = forest, programs, storage, keep
        keyed = key is not None
        self.constant = [p for p, x in enumerate(programs) if x.variant.leaf and not x.wiring.payload and not keyed]
        every = {p: indexed(x, int(keyed)) for p, x in enumerate(programs) if p not in self.constant}
        self.indexed = {p: x for p, x in every.items() if x is not None}
        self.walk = Walk(forest, programs, storage, key, list(self.indexed), self.constant)

    @functools.cached_property
    def plans(self) -> dict[int, Plan]:
        """What is kept of each program whose rows are computed together. A pass forwards asks for none, so that a case
        need have no derivative."""
        return {p: self._plan(p, x) for p, x in self.indexed.items()}

    def _plan(self, p: int, program: Indexed) -> Plan:
        weights, inputs = self.walk.one(p)
        return program.plan(weights, inputs, self.keep)

    def forward(self, weights: list[Arrays], payload: Arrays) -> Arrays:
        """The value at every row."""
        return self._forward(weights, payload, {})[0]

    def forward_and_keep(self, weights: list[Arrays], payload: Arrays) -> tuple[Arrays, Tables]:
        """The same, and the products."""
        return self._forward(weights, payload, self._tables(t for plan in self.plans.values() for t in plan.kept))

    def _prepare(self, p: int) -> Callable[[Arrays], Arrays]:
        """What the sites of a program take, from its weights."""
        program = self.indexed[p]
        return program.prepare if program.met <= FINITE else only_present(self.forest, program.program, program.prepare)

    def _constants(self, p: int) -> Callable[[Arrays], Arrays]:
        """The values of a program that reads nothing, for each of its constructors."""
        program = self.programs[p]
        found = _constants(program)
        return found if has_finite_slopes(program.case.jaxpr) else only_present(self.forest, program, found)

    def _tables(self, tables: Iterable[Table]) -> Tables:
        return {t: room((self.walk.length_of(t), *t.shape), t.dtype, t.number) for t in dict.fromkeys(tables)}

    def _forward(self, weights: list[Arrays], payload: Arrays, tables: Tables) -> tuple[Arrays, Tables]:
        states = [room((self.walk.length, *x.shape), x.dtype, -i) for i, x in enumerate(self.storage.leaves)]
        for p in self.constant:
            program = self.programs[p]
            for c, x in zip(program.wiring.out, self._constants(p)(weights[p]), strict=True):
                states[c] = states[c].at[jnp.array(program.members)].set(x)
        prepared = {p: self._prepare(p)(weights[p]) for p in self.indexed}

        def body(p: int, size: Size, chunk: Any, both: tuple[Arrays, Tables]) -> tuple[Arrays, Tables]:
            at, program = self.walk.chunk(p, size, chunk), self.programs[p]
            states, tables = list(both[0]), dict(both[1])
            inputs = self.walk.inputs(p, at, payload, states)
            if p not in self.indexed:
                out = program.at[size](*self.walk.alone(p, at, chunk, weights[p], inputs))
                for c, x in zip(program.wiring.out, out, strict=True):
                    states[c] = write(states[c], at.row, at.valid, x)
                return states, tables
            out, phase = self.indexed[p].rows(prepared[p], self.walk.over(p, at, chunk), inputs)
            for c, x in zip(program.wiring.out, out, strict=True):
                states[c] = put(states[c], at.row, x)
            if tables:
                for table, (i, x) in self.plans[p].kept.items():
                    found = phase.values[i] if x is None else phase.inputs[i][x]
                    lines, _ = self._lines(at, table, phase.sites[i].many)
                    tables[table] = put(tables[table], lines[0], found)
            return states, tables

        found: tuple[Arrays, Tables] = self.walk.loop(body, (states, tables))
        return found

    def backward(
        self, weights: list[Arrays], payload: Arrays, states: Arrays, tables: Tables, given: Arrays, at_roots: bool,
        wanted: Any,
    ) -> tuple[list[Arrays], Arrays]:  # fmt: skip
        """The cotangents of the weights and of the payload that are `wanted`, `None` for the others.

        `given` are the cotangents of the values by row or, `at_roots`, by tree; `None` for those that have none.
        """
        brought: Arrays = []
        for x, g in zip(self.storage.leaves, given, strict=True):
            buffer = None if g is None else jnp.zeros((len(self.forest.child), *x.shape), x.dtype)
            brought.append(put(buffer, self.forest.bucket.edges, g) if at_roots and buffer is not None else buffer)
        by_row = [None] * len(given) if at_roots else given
        start: Callable[[Any, bool], Any] = lambda x, yes: jnp.zeros(x.shape, x.dtype) if yes else None
        alone = [
            [p not in self.indexed and p not in self.constant and yes for yes in some]
            for p, some in enumerate(wanted[0])
        ]
        sums = [list(map(start, ws, some)) for ws, some in zip(weights, alone, strict=True)]
        prepared = {p: self._prepare(p)(weights[p]) for p in self.indexed}
        writes = itertools.chain(*(plan.writes for plan in self.plans.values()))
        tables = self._tables(t for t, *_ in writes if t not in tables) | tables

        def body(p: int, size: Size, chunk: Any, carry: Any) -> Any:
            at, program = self.walk.chunk(p, size, chunk), self.programs[p]
            brought, tables, sums, to_payload = list(carry[0]), dict(carry[1]), list(carry[2]), carry[3]
            inputs, own = self.walk.inputs(p, at, payload, states), self._own(program, at, by_row, brought)
            if p in self.indexed:
                kept = self._kept(p, at, tables) if self.keep else None
                found = self.indexed[p].reverse(prepared[p], self.walk.over(p, at, chunk), inputs, kept, own)
                of_payload, of_slots, _, of_manys, _ = found[0]
                outputs = jax.tree.leaves(found)
                for table, number, many in self.plans[p].writes:
                    lines, valid = self._lines(at, table, many)
                    tables[table] = write(tables[table], lines[0], valid, outputs[number])
            else:
                smooth = [self.storage.smooth[c] for c in program.wiring.out]
                back = pull(program.at[size], self.walk.alone(p, at, chunk, weights[p], inputs), smooth)
                own = [jnp.where(spread(at.valid, x), x, 0) for x in own]
                of_weights, of_payload, of_slots, _, pairs, _ = back(own)[0]
                of_manys = [to for _, to in pairs]
                sums[p] = self.walk.added(p, chunk, sums[p], of_weights, alone[p])
            self._bring(program, at, size, brought, of_slots, of_manys)
            return brought, tables, sums, self.walk.payload(p, at, to_payload, of_payload, wanted[1])

        carry = brought, tables, sums, list(map(start, payload, wanted[1]))
        brought, tables, sums, to_payload = self.walk.loop(body, carry, down=True)
        for p, x in self.indexed.items():
            if any(wanted[0][p]):
                sites = Sums(self.walk, x, self.plans[p])
                found = sites.of(prepared[p], tables, payload, states)
                smooth = functools.partial(_smooth_sites, x, self._prepare(p))
                (sums[p],) = jax.vjp(smooth, weights[p])[1](found)
        for p in self.constant:
            if any(wanted[0][p]):
                (sums[p],) = _vjp(self._constants(p), weights[p])(self._of_constants(p, by_row, brought))
        return [
            [x if yes else None for x, yes in zip(xs, some, strict=True)]
            for xs, some in zip(sums, wanted[0], strict=True)
        ], to_payload

    def _kept(self, p: int, at: Chunk, tables: Tables) -> Arrays:
        """The products of a chunk, by site."""
        pairs = zip(self.plans[p].products, self.indexed[p].sites, strict=True)
        return [None if t is None else _apart(tables[t], self._lines(at, t, site.many)[0]) for t, site in pairs]

    def _lines(self, at: Chunk, table: Table, many: int | None) -> tuple[Any, Any]:
        """Where a table has a chunk's rows, or the edges of one of its `Many`s, and which are its own."""
        lines, valid = (at.rows, at.valid) if many is None else at.edges[many][:2]
        return lines - self.walk.first_of(table), valid

    def _own(self, program: Program, at: Chunk, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a chunk's rows."""
        edge = take(self.forest.above, at.rows)
        columns = [c for c in program.wiring.out if self.storage.smooth[c]]
        own = [_apart(brought[c], edge) for c in columns]
        return [x if given[c] is None else x + take(given[c], at.rows) for c, x in zip(columns, own, strict=True)]

    def _bring(self, program: Program, at: Chunk, size: Size, brought: Arrays, slots: Any, manys: Any) -> None:
        """Writes the cotangents that a chunk's edges bring to the rows at their ends."""
        wiring = program.wiring
        for c in self._smooth(itertools.chain(*wiring.slots)):
            nothing = jnp.zeros((size.rows, *self.storage.leaves[c].shape), self.storage.leaves[c].dtype)
            every = zip(wiring.slots, slots, strict=True)
            rows = jnp.stack([to[columns.index(c)] if c in columns else nothing for columns, to in every], 1)
            brought[c] = write_slots(brought[c], at, rows)
        for (edge, own, _), columns, to in zip(at.edges, wiring.manys, manys, strict=True):
            for c in self._smooth(columns):
                brought[c] = write(brought[c], edge[0], own, to[columns.index(c)])

    def _of_constants(self, p: int, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a program's constants: the sums of what all edges bring to them."""
        program, variants = self.programs[p], len(self.forest.bucket.variants)
        found = []
        for c in self._smooth(program.wiring.out):
            total = jax.ops.segment_sum(brought[c], jnp.minimum(self.walk.child, variants), variants + 1)
            total = total if given[c] is None else total + given[c][: variants + 1]
            found.append(total[jnp.array(program.members)])
        return found

    def _smooth(self, columns: Iterable[int]) -> list[int]:
        """Those of some columns that have a cotangent, each once."""
        return [c for c in dict.fromkeys(columns) if self.storage.smooth[c]]


def room(shape: tuple[int, ...], dtype: Any, number: int) -> Any:
    """A table that is written before it is read. Each is of another number: of equal ones XLA makes one, and copies."""
    return jnp.full(shape, number, dtype)


def _apart(table: Any, lines: Any) -> Any:
    """Rows of a table that is written later in the same turn. They are gathered, two of them where there is one: XLA
    would read a single row again where it is used, and copy the table to have it from before it was written."""
    return take(table, lines) if len(lines) > 1 else take(table, jnp.repeat(lines, 2))[:1]


def _constants(program: Program) -> Callable[[Arrays], Arrays]:
    """The values of a program that reads nothing, for each of its constructors."""
    run, axes = opened(program.case), [0 if stacked else None for stacked in program.stacked]
    places, row = jnp.array(program.places, jnp.int32), jnp.int32(0)

    def every(weights: Arrays) -> Arrays:
        size = next((len(w) for w, stacked in zip(weights, program.stacked, strict=True) if stacked), 1)
        found = jax.vmap(run, in_axes=(*axes, None), axis_size=size)(*weights, row)
        return [take(x, places if size > 1 else jnp.zeros_like(places)) for x in found]

    return every


def _smooth_sites(program: Indexed, prepare: Callable[[Arrays], Arrays], weights: Arrays) -> Arrays:
    """What the sites take that have a derivative."""
    return [x for x, site in zip(prepare(weights), program.sites, strict=True) if site.smooth]


def _vjp(run: Callable[[Arrays], Arrays], weights: Arrays) -> Any:
    """The vjp of a function, of its values that have a derivative."""
    return jax.vjp(lambda weights: [x for x in run(weights) if is_smooth(x)], weights)[1]
