"""Reading grown rows upwards, without a tree: a chunk after those of its children, so the last one first.

A row computes the case of its own candidate; those of candidates without places are computed beforehand, all together.
Trees that are cut are left out: what they would read is not there.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from ..arrays._rows import chosen, put
from ..arrays.shapes import Arrays, one_of, shaped
from ..jaxprs._parts import cut, Part, trace
from ..jaxprs._turned import turned
from ._agenda import Agenda, Block
from ._alike import Alike, all_alike
from ._candidates import at_ends, Candidate
from ._case import Slots
from ._curves import Curve, curve_of
from ._pieces import Piece, piece_of
from ._plan import every, Plan
from ._readings import Readings
from ._rows import Rows
from ._tables import part, table


Curves = tuple[Curve | None, ...]  # of each leaf of a value


class Queue(eqx.Module):
    """What is read of the rows: the choice, -1 where none is read; the number among ends; the first child; and the
    chunks."""

    choice: Array
    end: Array
    first: Array
    starts: Array
    chunks: Array


def queue_of(rows: Rows) -> Queue:
    """The rows of trees that are whole."""
    whole = rows.real & (rows.waiting[rows.tree] == 0)
    return Queue(jnp.where(whole, rows.choice, -1), rows.end, rows.first, rows.starts, rows.chunks)


def reader(found: Readings, weights: list[Arrays], payload: Sequence[Any], plan: Plan) -> tuple["Reader", Arrays]:
    """The cases that are read, those that are one program together, and the weights that they read. `payload`: the
    shapes of its columns."""
    pieces: list[Piece] = []
    tables: list[tuple[Any, int, Curves]] = []
    read: Arrays = []
    for case, own, candidate in zip(found.cases, weights, found.candidates, strict=True):
        columns = [shaped(payload[i].shape, payload[i].dtype) for i in candidate.columns]
        traced, consts = trace(case, *one_of(own), *columns, *found.leaves * candidate.arity)
        whole = turned(Part(traced.jaxpr, len(consts) + len(own)))
        each = [curve_of(whole, [v]) for v in whole.jaxpr.outvars]
        under = cut(whole, whole.jaxpr.invars, [v for _, (v,) in each])
        piece = piece_of(under, consts, under.jaxpr.invars)
        pieces.append(replace(piece, weights=tuple(len(read) + i for i in piece.weights)))
        read += own
        tables.append((candidate.columns, candidate.arity, tuple(curve for curve, _ in each)))
    groups, arrays = all_alike(pieces, tables, read)
    return Reader(found, groups, [curves for *_, curves in tables], plan), arrays


class Reader:
    """An algebra's cases on their way over rows."""

    def __init__(self, found: Readings, groups: Sequence[Alike], curves: Sequence[Curves], plan: Plan) -> None:
        self.candidates, self.leaves, self.plan = found.candidates, found.leaves, plan
        self.at_ends = at_ends(found.candidates)
        self.alike, self.curves = groups, [curves[alike.first] for alike in groups]
        self.cases = [alike.case() for alike in groups]
        self.early = [k for k in range(len(groups)) if self.of(k).arity]
        self.late = [k for k in range(len(groups)) if not self.of(k).arity]

    @functools.cached_property
    def columns(self) -> set[int]:
        """The columns of payload that a case reads."""
        each = [(self.of(k).columns, alike.piece.leaves) for k, alike in enumerate(self.alike)]
        return {columns[i] for columns, leaves in each for i in leaves if i < len(columns)}

    def of(self, k: int) -> Candidate:
        """One of some candidates alike."""
        return self.candidates[self.alike[k].first]

    @functools.cached_property
    def slots(self) -> Slots:
        """Where cases keep their residuals."""
        return Slots([case.kept for case in self.cases])

    def chunk(self, queue: Queue, number: jax.Array) -> Agenda:
        """The rows of one chunk."""
        return self.plan.chunk(queue.choice, len(self.candidates), queue.starts[number], queue.starts[number + 1])

    def every(self, queue: Queue) -> Agenda:
        """All rows."""
        return every(queue.choice, len(self.candidates))

    def read(self, weights: Arrays, payload: Arrays, queue: Queue, *, keep: bool) -> tuple[Arrays, Arrays]:
        """The value at every row, and the residuals that are kept of each."""
        size = queue.choice.shape[0]
        found = [table((size,), x) for x in self.leaves], [table((size,), x) for x in self.slots.forms] if keep else []
        agenda = self.every(queue)
        for k in self.late:
            found = self._read(k, weights, payload, queue, agenda, found, [], keep)

        def step(state: Any) -> Any:
            chunk, (values, kept) = state
            head, agenda = queue.starts[chunk], self.chunk(queue, chunk)
            own = [part(v, head, self.plan.lanes) for v in values], kept
            for k in self.early:
                own = self._read(k, weights, payload, queue, agenda, own, values, keep)
            return chunk - 1, ([put(v, agenda.after(head), x) for v, x in zip(values, own[0], strict=True)], own[1])

        values, kept = lax.while_loop(lambda s: s[0] >= 0, step, (queue.chunks - 1, found))[1]
        return values, kept

    def inputs(self, k: int, payload: Arrays, values: Arrays, queue: Queue, at: Block) -> Arrays:
        """What a case reads: its payload, and the values of its children."""
        columns, first, found = self.of(k).columns, queue.first[at.rows], []
        for i in self.alike[k].piece.leaves:
            place, leaf = divmod(i - len(columns), len(self.leaves))
            if i < len(columns):
                found.append(payload[columns[i]][self.address(columns[i], queue, at)])
            else:
                found.append(values[leaf][first + place])
        return found

    def address(self, column: int, queue: Queue, at: Block) -> jax.Array:
        """Where a column of the rows' payload is."""
        return queue.end[at.rows] if column in self.at_ends else at.rows

    def under(self, leaf: int, choice: jax.Array, value: jax.Array, given: jax.Array) -> jax.Array:
        """The cotangents of what is under the curve that a leaf of the values of some rows goes through in the end."""
        found = given
        for curve in dict.fromkeys(curves[leaf] for curves in self.curves):
            if curve is not None:
                each = zip(self.alike, self.curves, strict=True)
                members = [c for alike, curves in each if curves[leaf] == curve for c in alike.members]
                if len(members) == len(self.candidates):
                    return given * curve.slope(value)
                found = chosen(jnp.isin(choice, jnp.array(members, jnp.int32)), given * curve.slope(value), found)
        return found

    def roots(self, values: Arrays) -> Arrays:
        """The values of all trees; zeros for one that has no root."""
        trees, roots = self.plan.trees, self.plan.roots
        return [jnp.zeros((trees, *v.shape[1:]), v.dtype).at[:roots].set(v[:roots]) for v in values]

    def _read(
        self,
        k: int,
        weights: Arrays,
        payload: Arrays,
        queue: Queue,
        agenda: Agenda,
        found: Any,
        below: Arrays,
        keep: bool,
    ) -> Any:
        """The values of the rows of some candidates alike, those of a chunk or of all. `below`: where the values of
        children are."""
        alike, case = self.alike[k], self.cases[k]

        def step(at: Block, state: Any) -> Any:
            values, kept = map(list, state)
            inputs, own = self.inputs(k, payload, below, queue, at), alike.weights(weights, at.member)
            outs, news = (case.forward if keep else case.plainly)(own, inputs, at.count)
            outs = [x if curve is None else curve(x) for curve, x in zip(self.curves[k], outs, strict=True)]
            values = [at.put(v, x, (at.local,)) for v, x in zip(values, outs, strict=True)]
            if keep:
                kept = self.slots.put(k, kept, at, news)
            return values, kept

        return agenda.each(alike.members, step, found)
