"""Reading, with a reverse rule of its own: the queue forwards again, each row before those of its children.

| what    | order                     | what it finds                                                                |
| ------- | ------------------------- | ---------------------------------------------------------------------------- |
| values  | the first chunk first     | the cotangents of the values below each row, of its payload, and of weights  |
| ends    | any; many rows at a time  | the same of rows without places                                              |
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..shapes import Arrays, is_smooth
from ._agenda import Agenda, Block
from ._case import only
from ._cases import rows_at, weights_of
from ._plan import Plan
from ._read import Queue, queue_of, Reader
from ._readings import Readings
from ._rows import Rows
from ._tables import part, table, where


def values_of(found: Readings, weights: list[Arrays], rows: Rows, plan: Plan) -> Arrays:
    """The values of all trees, differentiable in the weights and the rows' payload; of no account for one that is
    cut."""
    reader = Reader(found, weights, rows.payload, plan)
    return _rule((weights, rows.payload), queue_of(rows), reader=reader)


@eqx.filter_custom_vjp
def _rule(inputs: tuple[list[Arrays], Arrays], queue: Queue, *, reader: Reader) -> Arrays:
    return reader.roots(reader.read(inputs[0], inputs[1], queue, keep=False)[0])


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(
    perturbed: Any, inputs: tuple[list[Arrays], Arrays], queue: Queue, *, reader: Reader
) -> tuple[Arrays, tuple[Arrays, Arrays]]:
    del perturbed
    found = reader.read(inputs[0], inputs[1], queue, keep=True)
    return reader.roots(found[0]), found


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    found: tuple[Arrays, Arrays],
    given: Arrays,
    perturbed: Any,
    inputs: tuple[list[Arrays], Arrays],
    queue: Queue,
    *,
    reader: Reader,
) -> tuple[list[Arrays], Arrays]:
    return Downwards(reader, queue, *inputs, *found).all(given, perturbed[0])


class Found(NamedTuple):
    """The cotangents of the values that are smooth, of the payload, and of each case's weights; `None` for what has
    none."""

    values: Arrays
    payload: Arrays
    sums: list[Arrays]


class Downwards:
    """The rows of a reading, gone through downwards."""

    def __init__(
        self, reader: Reader, queue: Queue, weights: list[Arrays], payload: Arrays, values: Arrays, kept: Arrays
    ) -> None:
        self.reader, self.queue, self.weights, self.payload = reader, queue, weights, payload
        self.values, self.kept = values, kept

    def all(self, given: Arrays, wanted: Sequence[Sequence[bool]]) -> tuple[list[Arrays], Arrays]:
        """The cotangents of the weights that are wanted, and of the payload; `given`: those of the trees' values."""
        found = self._begun(given, wanted)
        reader, agenda = self.reader, self.reader.every(self.queue)

        def step(state: tuple[jax.Array, Arrays, Found]) -> tuple[jax.Array, Arrays, Found]:
            k, own, found = state
            agenda = reader.chunk(self.queue, k)
            for c in reader.early:
                found = self._case(c, agenda, found, own)
            return k + 1, rows(found, self.queue.starts[k + 1]), found

        rows: Any = lambda found, head: [part(x, head, reader.plan.lanes) for x in found.values]
        start = jnp.int32(0), rows(found, 0), found
        found = Found(*lax.while_loop(lambda s: s[0] < self.queue.chunks, step, start)[2])
        for c in reader.late:
            found = self._case(c, agenda, found, found.values)
        return found.sums, found.payload

    def _begun(self, given: Arrays, wanted: Sequence[Sequence[bool]]) -> Found:
        size, roots = self.queue.choice.shape[0], self.reader.plan.roots
        values = []
        for g, v in zip(given, self.values, strict=True):
            if is_smooth(v):
                values.append(table((size,), v[0]) if g is None else table((size,), v[0]).at[:roots].set(g[:roots]))
        sums = [
            [jnp.zeros(w.shape, w.dtype) if yes and is_smooth(w) else None for w, yes in zip(ws, each, strict=True)]
            for ws, each in zip(self.weights, wanted, strict=True)
        ]
        return Found(values, [jnp.zeros(x.shape, x.dtype) if is_smooth(x) else None for x in self.payload], sums)

    def _case(self, c: int, agenda: Agenda, found: Found, own: Arrays) -> Found:
        """The rows of one candidate. `own`: the cotangents of their values, those of a chunk or of all."""
        case, piece = self.reader.cases[c], self.reader.pieces[c]
        if case.inert:
            return found

        def step(at: Block, found: Found) -> Found:
            inputs = self.reader.inputs(c, self.payload, self.values, self.queue, at)
            slots = iter(self.reader.slots.of[c])
            kept = [(self.kept[next(slots)] if k.out < 0 else self.values[k.out])[at.rows] for k in case.kept]
            given = [where(at.mine, x) for x in rows_at(own, at.local)]
            to_weights, to_rows = case.backward(weights_of(piece, self.weights[c]), inputs, at.count, kept, given)
            return self._handed(c, self._added(c, found, to_weights), at, to_rows)

        return Found(*agenda.each(c, step, found))

    def _handed(self, c: int, found: Found, at: Block, news: Arrays) -> Found:
        """The cotangents of a case's payload and of its children's values, where they belong."""
        columns, first, rest = self.reader.candidates[c].columns, self.queue.first[at.rows], iter(news)
        values, payload = list(found.values), list(found.payload)
        for i in self.reader.pieces[c].leaves:
            place, leaf = divmod(i - len(columns), len(self.values))
            if i < len(columns):
                if is_smooth(self.payload[columns[i]]):
                    where_to = self.reader.address(columns[i], self.queue, at)
                    payload[columns[i]] = at.put(payload[columns[i]], next(rest), (where_to,))
            elif is_smooth(self.values[leaf]):
                below = len(only(self.values[:leaf]))
                values[below] = at.put(values[below], next(rest), (first + place,))
        return found._replace(values=values, payload=payload)

    def _added(self, c: int, found: Found, news: Arrays) -> Found:
        """The sums with the cotangents of one case's weights."""
        own = list(found.sums[c])
        for i, x in zip([i for i in self.reader.pieces[c].weights if is_smooth(self.weights[c][i])], news, strict=True):
            own[i] = own[i] if own[i] is None else own[i] + x
        return found._replace(sums=[*found.sums[:c], own, *found.sums[c + 1 :]])
