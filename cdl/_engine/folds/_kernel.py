"""Programs at the chunks of a forest: forwards, in reverse, and at the end the cotangents of their weights.

| the rows of a chunk               | the weights' cotangents                                           |
| --------------------------------- | ----------------------------------------------------------------- |
| are computed together (`_sites`)  | made at the end (`_sums`), from those of the sites, which are kept |
| are of one constructor            | added up on the way                                               |

A pass says in which order the chunks come, and what their rows read and write.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..arrays._rows import after_all, put, room, take, write
from ..arrays.shapes import Arrays
from ..jaxprs._reach import either
from ._chunk import Chunk
from ._node import Inputs
from ._plan import Again, Plan, Table
from ._prepare import ActiveWeights
from ._present import only_present
from ._residual import only, pull
from ._sites import Indexed
from ._sums import Sums
from ._tile_sums import sums_of
from ._walk import Walk


Tables = dict[Table, Any]
Read = Callable[[int, Again, Any], Any]  # of a program: what is read again, of which rows or edges


class Weights(NamedTuple):
    """The weights of each program. Of those whose rows are computed together, what the sites take, as it is prepared
    once and as it is taken at rows."""

    plain: list[Arrays]
    prepared: dict[int, Arrays]
    at_rows: dict[int, Arrays]


class Cotangents(NamedTuple):
    """What a reverse pass finds: tables with the sites' cotangents, the sums of the weights', and the payload's. `None`
    for what is not wanted."""

    tables: Tables
    sums: list[Arrays]
    payload: Arrays


class Given(NamedTuple):
    """The cotangents of what a chunk's rows read: of each slot, of each `Many`, and of what is a node's own."""

    slots: list[Arrays]
    manys: list[Arrays]
    own: Arrays


class Kernel:
    """The programs of a walk at one chunk. `indexed` are those whose rows are computed together, `smooth` says of each
    program which outputs have a derivative, and `keep` whether products are kept for the reverse pass, or computed
    again. `own` are the types of what nodes read besides their children. `held` says whether the outputs are at hand in
    reverse; then `held[p]` are those that the program uses itself, by number."""

    def __init__(
        self, walk: Walk, indexed: dict[int, Indexed], smooth: Sequence[Sequence[bool]], own: Arrays, keep: bool,
        held: bool = False,
    ) -> None:  # fmt: skip
        self.walk, self.indexed, self.smooth, self.own, self.keep = walk, indexed, smooth, own, keep
        self.held = {p: x.used if held else [] for p, x in indexed.items()}

    @functools.cached_property
    def plans(self) -> dict[int, Plan]:
        """What is kept of each program whose rows are computed together. A pass forwards asks for none, so that a case
        need have no derivative."""
        found = {}
        for p, x in self.indexed.items():
            weights, inputs = self.walk.one(p, self.own)
            found[p] = x.plan(weights, inputs, self.walk.largest(p), self.keep, self.held[p])
        return found

    def weights(self, weights: list[Arrays]) -> Weights:
        """The programs' weights, and what is computed from them once."""
        prepared = {p: self._prepare(p)(weights[p]) for p in self.indexed}
        return Weights(weights, prepared, {p: self.indexed[p].at_rows(ws) for p, ws in prepared.items()})

    def room(self) -> Tables:
        """The tables of what is kept."""
        return self._tables(t for plan in self.plans.values() for t, *_ in plan.kept)

    def forward(
        self, p: int, at: Chunk, weights: Weights, inputs: Inputs, tables: Tables, *, down: bool = False
    ) -> tuple[Arrays, Tables]:
        """The outputs of a program at a chunk, and the tables with what is kept of it. With `down`, the
        rows after this chunk have their values already, so that only the valid rows are written."""
        if p not in self.indexed:
            return self.walk.programs[p].at[at.size](*self.walk.alone(p, at, weights.plain[p], inputs)), tables
        out, values, inner = self.indexed[p].rows(weights.at_rows[p], self.walk.over(p, at), inputs)
        return out, self._with_kept(p, at, values, inner, tables, down) if tables else tables

    def start(
        self, weights: Weights, payload: Arrays, tables: Tables, wanted: Any, but: Sequence[int] = ()
    ) -> Cotangents:
        """Nothing found yet. `but`: the programs that are not met on the way."""
        zeros: Callable[[Any, bool], Any] = lambda x, yes: jnp.zeros(x.shape, x.dtype) if yes else None
        sums = [
            [zeros(w, yes and p not in self.indexed and p not in but) for w, yes in zip(ws, some, strict=True)]
            for p, (ws, some) in enumerate(zip(weights.plain, wanted[0], strict=True))
        ]
        writes = (t for plan in self.plans.values() for t, *_ in plan.writes)
        tables = self._tables(t for t in writes if t not in tables) | tables
        return Cotangents(tables, sums, list(map(zeros, payload, wanted[1])))

    def reverse(
        self, p: int, at: Chunk, weights: Weights, inputs: Inputs, given: Arrays, kept: Arrays, found: Cotangents,
        held: Arrays, bits: jax.Array | None = None,
    ) -> tuple[Given, Cotangents]:  # fmt: skip
        """The cotangents of what a chunk's rows read, and all that is found.

        `given` are the cotangents of the smooth outputs. They are zeros at edges past the chunk's own, and for a
        program by constructor also at rows past its own. `kept` are the chunk's `products`, and `held` the outputs that
        the program uses itself. `bits` says which columns of each row are read, if not all are.
        """
        tables, sums = dict(found.tables), list(found.sums)
        if p in self.indexed:
            after = after_all(kept) if at.size.rows > 1 else 0  # a single row was read in the turn before
            over = self.walk.over(p, at)
            at_hand = dict(zip(self.held[p], held, strict=True))
            products = kept if self.keep else None
            out = self.indexed[p].reverse(weights.at_rows[p], over, inputs, products, given, at_hand, bits)
            of_payload, slots, _, manys, own = out.inputs
            outputs = jax.tree.leaves(out)
            for table, number, many in self.plans[p].writes:
                lines, valid = self._lines(at, table, many)
                tables[table] = write(tables[table], lines[0] + after, valid, outputs[number])
        else:
            alone = self.walk.alone(p, at, weights.plain[p], inputs)
            run = functools.partial(self.walk.programs[p].at[at.size], bits=bits)
            back = pull(run, alone, self.smooth[p])
            of_weights, of_payload, slots, _, pairs, own = back(given)[0]
            manys = [to for _, to in pairs]
            sums[p] = self.walk.added(p, at, sums[p], of_weights)
        if bits is not None:
            of_payload, slots, manys = self.walk.active(p, at, bits, of_payload, slots, manys)
        payload = self.walk.payload(p, at, found.payload, of_payload)
        return Given(slots, manys, own), Cotangents(tables, sums, payload)

    def products(self, p: int, at: Chunk, found: Cotangents) -> Arrays:
        """The products of a chunk that were kept, by site; `None` at those that are computed again. The tables lose
        them to the cotangents."""
        if p not in self.indexed or not self.keep:
            return []
        pairs = zip(self.plans[p].products, self.indexed[p].sites, strict=True)
        return [None if t is None else take(found.tables[t], self._lines(at, t, site.many)[0]) for t, site in pairs]

    def gradients(
        self, weights: Weights, found: Cotangents, read: Read, wanted: Sequence[Sequence[bool]],
        bits: jax.Array | None = None,
    ) -> list[Arrays]:  # fmt: skip
        """The cotangents of the weights that are `wanted`, once all chunks are done. `bits` says which columns of each
        row of the forest are read, if not all are."""
        sums, some = list(found.sums), [p for p in self.indexed if any(wanted[p])]
        sites = [
            Sums(
                self.walk, self.indexed[p], self.plans[p], weights.prepared[p], found.tables,
                functools.partial(read, p), bits,
            )
            for p in some
        ]  # fmt: skip
        for p, given in zip(some, sums_of(sites), strict=True):
            smooth = functools.partial(_smooth_sites, self.indexed[p], self._prepare(p, bits))
            (sums[p],) = jax.vjp(smooth, weights.plain[p])[1](given)
        return list(map(only, sums, wanted))

    def _prepare(self, p: int, bits: jax.Array | None = None) -> Callable[[Arrays], Arrays]:
        """What the sites of a program take, from its weights."""
        indexed, program = self.indexed[p], self.indexed[p].program
        if indexed.linear:
            return indexed.prepare
        there = self.walk.there(program)
        if bits is None:
            return only_present(program, there, indexed.prepare)
        each = either(self.walk.bits_of(program, bits), program.in_stacks, program.kinds)
        every = jax.lax.reduce(each, jnp.int32(0), jax.lax.bitwise_or, (0,))
        active = ActiveWeights(program.reach, each, every)
        return only_present(program, there, functools.partial(indexed.prepare, active=active))

    def _tables(self, tables: Iterable[Table]) -> Tables:
        return {t: room((self.walk.length_of(t), *t.shape), t.dtype, t.number) for t in dict.fromkeys(tables)}

    def _with_kept(self, p: int, at: Chunk, values: Arrays, inner: list[Arrays], tables: Tables, down: bool) -> Tables:
        """The tables with what is kept of a chunk: of the sites' values, and of what they are computed from."""
        tables = dict(tables)
        for table, i, x in self.plans[p].kept:
            found = values[i] if x is None else inner[i][x]
            lines, valid = self._lines(at, table, self.indexed[p].sites[i].many)
            new = write(tables[table], lines[0], valid, found) if down else put(tables[table], lines[0], found)
            tables[table] = new
        return tables

    def _lines(self, at: Chunk, table: Table, many: int | None) -> tuple[Any, Any]:
        """Where a table has a chunk's rows, or the edges of one of its `Many`s, and which are its own."""
        lines, valid = (at.rows, at.valid) if many is None else at.edges[many][:2]
        first = self.walk.first_of(table)
        return lines - first if first else lines, valid


def _smooth_sites(program: Indexed, prepare: Callable[[Arrays], Arrays], weights: Arrays) -> Arrays:
    """What the sites take that have a derivative."""
    return [x for x, site in zip(prepare(weights), program.sites, strict=True) if site.smooth]
