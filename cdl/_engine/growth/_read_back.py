"""The reverse pass of a reading: the queue forwards again, each row before those of its children.

| what    | order                     | what it finds                                                                |
| ------- | ------------------------- | ---------------------------------------------------------------------------- |
| values  | the first chunk first     | the cotangents of the values below each row, of its payload, and of weights  |
| ends    | any; many rows at a time  | the same of rows without places                                              |

The cotangent of a value is written over it: only the row above reads it, and finds its cotangent. A value that goes
through a curve at last takes that of what is under the curve (`_curves`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._rows import after_all, masked
from ..arrays.shapes import Arrays, is_smooth
from ._agenda import Agenda, Block
from ._cases import rows_at
from ._read import Queue, Reader
from ._tables import part


class Found(NamedTuple):
    """The values, and the cotangents of those that a row above has gone through; the cotangents of the payload, and of
    the weights; `None` for what has none."""

    values: Arrays
    payload: Arrays
    sums: Arrays


class Downwards:
    """The rows of a reading, gone through downwards."""

    def __init__(
        self,
        reader: Reader,
        queue: Queue,
        weights: Arrays,
        payload: Arrays,
        values: Arrays,
        kept: Arrays,
    ) -> None:
        self.reader, self.queue, self.weights, self.payload = reader, queue, weights, payload
        self.values, self.kept = values, kept

    def all(self, given: Arrays, wanted: Sequence[bool]) -> tuple[Arrays, Arrays]:
        """The cotangents of the weights that are wanted, and of the payload. `given`: those of the trees' values."""
        found = self._begun(given, wanted)
        reader, agenda = self.reader, self.reader.every(self.queue)

        def step(state: tuple[jax.Array, Arrays, Found]) -> tuple[jax.Array, Arrays, Found]:
            chunk, own, found = state
            agenda = reader.chunk(self.queue, chunk)
            for k in reader.early:
                found = self._alike(k, agenda, found, own)
            return chunk + 1, rows(found, self.queue.starts[chunk + 1]), found

        cut: Any = lambda x, head: x if x is None else part(x, head, reader.plan.lanes)
        rows: Any = lambda found, head: [cut(x, head) for x in found.values]
        start = jnp.int32(0), rows(found, 0), found
        found = Found(*lax.while_loop(lambda s: s[0] < self.queue.chunks, step, start)[2])
        for k in reader.late:
            found = self._alike(k, agenda, found, found.values)
        return found.sums, found.payload

    def _begun(self, given: Arrays, wanted: Sequence[bool]) -> Found:
        roots = self.reader.plan.roots
        values: Arrays = []
        for leaf, (g, v) in enumerate(zip(given, self.values, strict=True)):
            own = jnp.zeros_like(v[:roots])
            if is_smooth(v) and g is not None:
                own = self.reader.under(leaf, self.queue.choice[:roots], v[:roots], g[:roots].astype(v.dtype))
            values.append(v.at[:roots].set(own) if is_smooth(v) else None)
        sums = [jnp.zeros(w.shape, w.dtype) if yes else None for w, yes in zip(self.weights, wanted, strict=True)]
        zero = after_all(given)  # so that XLA does not make these of the payload's own zeros, kept until now
        payload = [
            jnp.full(x.shape, zero.astype(x.dtype)) if i in self.reader.columns and is_smooth(x) else None
            for i, x in enumerate(self.payload)
        ]
        return Found(values, payload, sums)

    def _alike(self, k: int, agenda: Agenda, found: Found, own: Arrays) -> Found:
        """The rows of some candidates alike. `own`: the cotangents of their values, those of a chunk or of all."""
        alike, case, reader = self.reader.alike[k], self.reader.cases[k], self.reader

        def step(at: Block, found: Found) -> Found:
            values = [v if x is None else x for x, v in zip(found.values, self.values, strict=True)]
            if case.inert:
                return self._handed(k, found, at, values, [])
            inputs = reader.inputs(k, self.payload, values, self.queue, at)
            kept = reader.slots.rows(k, self.kept, at)
            smooth = [x for x, yes in zip(own, case.smooth, strict=True) if yes]
            given = [masked(at.mine, x) for x in rows_at(smooth, at.local)]
            weights = alike.weights(self.weights, at.member)
            to_weights, to_rows = case.backward(weights, inputs, [], kept, given)
            found = found._replace(sums=alike.added(found.sums, at.member, to_weights))
            return self._handed(k, found, at, values, to_rows)

        return Found(*agenda.each(alike.members, step, found))

    def _handed(self, k: int, found: Found, at: Block, values: Arrays, news: Arrays) -> Found:
        """The cotangents of a case's payload and of its children's values, where they belong; zero for what it does not
        read."""
        reader, queue, rest = self.reader, self.queue, iter(news)
        columns, payload = reader.of(k).columns, list(found.payload)
        down: dict[int, Any] = {}
        for i in reader.alike[k].piece.leaves if news else ():
            like = self.payload[columns[i]] if i < len(columns) else values[(i - len(columns)) % len(values)]
            down |= {i: next(rest)} if is_smooth(like) else {}
        for i, column in enumerate(columns):
            if i in down:
                payload[column] = at.put(payload[column], down[i], (reader.address(column, queue, at),))
        below: list[tuple[int, jax.Array, jax.Array]] = []
        for place in range(reader.of(k).arity):
            child = queue.first[at.rows] + place
            for leaf, v in enumerate(values):
                if is_smooth(v):
                    x, value = down.get(len(columns) + place * len(values) + leaf), v[child]
                    x = jnp.zeros_like(value) if x is None else x.astype(value.dtype)
                    below.append((leaf, child, reader.under(leaf, queue.choice[child], value, x)))
        done = after_all([x for x in [*(x for *_, x in below), *found.sums] if x is not None])
        tables = list(found.values)
        for leaf, child, x in below:
            tables[leaf] = at.put(tables[leaf], x, (child + done,))
        return Found(tables, payload, found.sums)
