"""Reading grown rows upwards, without a tree: a chunk after those of its children, so the last one first.

A row computes the case of its own candidate; those of candidates without places are computed beforehand, all together.
Trees that are cut are left out: what they would read is not there.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from .._shapes import one_of, shaped
from ..lists._scan_parts import Part, trace
from ._agenda import Agenda, Block
from ._case import Case, slots
from ._cases import weights_of
from ._pieces import Arrays, Piece, piece_of
from ._plan import every, Plan
from ._readings import Readings
from ._rows import Rows
from ._tables import table, together
from ._turned import turned


class Queue(eqx.Module):
    """What is read of the rows: the choice, -1 where none is read; the first child; and the chunks."""

    choice: Array
    first: Array
    starts: Array
    chunks: Array


def queue_of(rows: Rows) -> Queue:
    """The rows of trees that are whole."""
    whole = rows.real & (rows.waiting[rows.tree] == 0)
    return Queue(jnp.where(whole, rows.choice, -1), rows.first, rows.starts, rows.chunks)


class Reader:
    """An algebra's cases on their way over rows. `held`: the arrays that the trace of each case holds."""

    def __init__(self, found: Readings, weights: list[Arrays], payload: Arrays, plan: Plan) -> None:
        self.candidates, self.leaves, self.plan = found.candidates, found.leaves, plan
        self.pieces: list[Piece] = []
        self.held: list[Arrays] = []
        for case, own, candidate in zip(found.cases, weights, found.candidates, strict=True):
            columns = [shaped(payload[i].shape[1:], payload[i].dtype) for i in candidate.columns]
            traced, held = trace(case, *one_of(own), *columns, *self.leaves * candidate.arity)
            count = len(held) + len(own)
            part = turned(Part(traced.jaxpr, count))
            self.pieces.append(piece_of(part, part.jaxpr.invars[:count], part.jaxpr.invars[count:]))
            self.held.append(list(map(jnp.asarray, held)))
        self.cases = [Case(piece.part) for piece in self.pieces]
        self.slots, self.slots_of = slots([[k for k in case.kept if k.out < 0] for case in self.cases])
        self.early = [c for c, candidate in enumerate(found.candidates) if candidate.arity]
        self.late = [c for c, candidate in enumerate(found.candidates) if not candidate.arity]

    def chunk(self, queue: Queue, k: Any) -> Agenda:
        """The rows of one chunk."""
        return self.plan.chunk(queue.choice, len(self.cases), queue.starts[k], queue.starts[k + 1])

    def every(self, queue: Queue) -> Agenda:
        """All rows."""
        return every(queue.choice, len(self.cases))

    def read(self, weights: list[Arrays], payload: Arrays, queue: Queue, *, keep: bool) -> tuple[Arrays, Arrays]:
        """The value at every row, and what is kept of each that is no value."""
        size = queue.choice.shape[0]
        found = [table(size, x) for x in self.leaves], [table(size, x) for x in self.slots] if keep else []
        agenda = self.every(queue)
        for c in self.late:
            found = self._read(c, weights, payload, queue, agenda, found, keep)

        def step(state: Any) -> Any:
            k, found = state
            agenda = self.chunk(queue, k)
            for c in self.early:
                found = self._read(c, weights, payload, queue, agenda, found, keep)
            return k - 1, found

        values, kept = lax.while_loop(lambda s: s[0] >= 0, step, (queue.chunks - 1, found))[1]
        return values, kept

    def inputs(self, c: int, payload: Arrays, values: Arrays, queue: Queue, at: Block) -> Arrays:
        """What a case reads: its payload, and the values of its children."""
        columns, first, found = self.candidates[c].columns, queue.first[at.rows], []
        for i in self.pieces[c].leaves:
            place, leaf = divmod(i - len(columns), len(values))
            found.append(payload[columns[i]][at.rows] if i < len(columns) else values[leaf][first + place])
        return found

    def roots(self, values: Arrays) -> Arrays:
        """The values of all trees; zeros for one that has no root."""
        trees, roots = self.plan.trees, self.plan.roots
        return [jnp.zeros((trees, *v.shape[1:]), v.dtype).at[:roots].set(v[:roots]) for v in values]

    def _read(
        self, c: int, weights: list[Arrays], payload: Arrays, queue: Queue, agenda: Agenda, found: Any, keep: bool
    ) -> Any:
        """The values of one candidate's rows."""
        case, own = self.cases[c], weights_of(self.pieces[c], weights[c])

        def step(at: Block, state: Any) -> Any:
            values, kept = map(list, state)
            inputs = self.inputs(c, payload, values, queue, at)
            outs, news = together((case.forward if keep else case.plainly)(own, inputs, at.count))
            values = [at.put(v, x) for v, x in zip(values, outs, strict=True)]
            stored = [x for x, k in zip(news, case.kept, strict=keep) if k.out < 0]
            for slot, x in zip(self.slots_of[c], stored, strict=keep):
                kept[slot] = at.put(kept[slot], x)
            return values, kept

        return agenda.each(c, step, found)
