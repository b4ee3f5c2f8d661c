"""The reverse pass of a growth: the queue backwards for the seeds, then all nodes at once for the weights.

| what              | order                     | what it finds                                                        |
| ----------------- | ------------------------- | -------------------------------------------------------------------- |
| ends              | any; many rows at a time  | what nodes without places hand to their seeds, and to the weights    |
| seeds (`_chunks`) | the last chunk first      | the cotangents of all other seeds, from their own and those below    |
| weights           | any; many rows at a time  | the cotangents of the coalgebra's arrays                             |

The choice of a candidate has no gradient: the reverse pass takes it as it was. Its payload, and the logarithm of
its chance, are. Every product of the way there was kept (`_case`).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .._strides import strides
from ..shapes import Arrays, is_smooth
from ._agenda import Agenda, Block, block, BULK
from ._case import only
from ._cases import Cases, inputs_of, rows_at, weights_of
from ._pieces import Piece
from ._plan import every, Plan
from ._rows import Rows
from ._tables import part, put, where, zeros_after


class Found(NamedTuple):
    """The cotangents of the seeds, of what is shared, and of the weights; `None` for what has none."""

    seeds: Arrays
    shared: Arrays
    sums: Arrays


class Backwards:
    """The rows of a growth, gone through backwards. `given`: the cotangents of their payload and `log_prob`."""

    def __init__(self, cases: Cases, plan: Plan, weights: Arrays, rows: Rows, given: Rows) -> None:
        self.cases, self.plan, self.weights, self.rows, self.given = cases, plan, weights, rows, given

    def all(self, wanted: list[bool]) -> tuple[Arrays, Arrays]:
        """The cotangents of the rows' seeds, and of those weights that are wanted."""
        later = zeros_after(jax.tree.leaves((self.given.log_prob, self.given.payload)))
        zeros: Any = lambda xs: [later(x) if is_smooth(x) else None for x in xs]
        sums = [jnp.zeros(w.shape, w.dtype) if yes else None for w, yes in zip(self.weights, wanted, strict=True)]
        found = Found(zeros(self.rows.seeds), zeros(self.rows.shared), sums)
        if not self.plan.trees:
            return found.seeds, found.sums
        agenda = every(self.rows.chosen(), len(self.cases))
        for c in self.cases.late:
            if any(self.given.payload[i] is not None for i in self.cases.columns(c)):
                found = self._candidate(c, agenda, found, [], True, True)
        found = self._chunks(found)
        for c in self.cases.early:
            found = self._candidate(c, agenda, found, found.seeds, False, True)
        found = self._choices(found)
        return found.seeds, found.sums

    def _chunks(self, found: Found) -> Found:
        """The queue backwards, for the seeds."""
        starts = self.rows.starts

        def step(state: tuple[jax.Array, Found]) -> tuple[jax.Array, Found]:
            k, found = state
            head, stop = starts[k], starts[k + 1]
            agenda = self.plan.chunk(self.rows.choice, len(self.cases), head, stop)
            cut: Any = lambda tables: [x if x is None else part(x, head, self.plan.lanes) for x in tables]
            own = Found(cut(found.seeds), cut(found.shared), found.sums)
            for c in self.cases.early:
                own = self._candidate(c, agenda, own, found.seeds, True, False)
            own = self._choice(block(self.plan.own(head, stop), head), own, True, False)
            each: Any = lambda tables, news: zip(tables, news, strict=True)
            at = agenda.after(head)
            back: Any = lambda *both: [x if x is None else put(x, y, at) for x, y in each(*both)]
            return k - 1, Found(back(found.seeds, own.seeds), back(found.shared, own.shared), found.sums)

        return lax.while_loop(lambda s: s[0] >= 0, step, (self.rows.chunks - 1, found))[1]

    def _choices(self, found: Found) -> Found:
        """All choices, for the weights."""
        tail, iota = self.rows.starts[self.rows.chunks], jnp.arange(min(BULK, self.plan.rows), dtype=jnp.int32)

        def step(done: jax.Array, found: Found) -> Found:
            at = block(iota < tail - done, done)
            own = Found(found.seeds, [x if x is None else x[at.rows] for x in found.shared], found.sums)
            return found._replace(sums=self._choice(at, own, False, True).sums)

        if not self._learns(self.cases.pieces[-1], found):
            return found
        return strides(step, 0, tail, len(iota), found)[1]

    def _candidate(self, c: int, agenda: Agenda, found: Found, below: Arrays, seeds: bool, weights: bool) -> Found:
        """The rows of one candidate. `found`: that of a chunk, or of all; `below`: where the seeds of children are."""
        piece, case, rows = self.cases.pieces[c], self.cases.candidates[c], self.rows
        weights = weights and self._learns(piece, found)
        if case.inert or not (seeds or weights):
            return found

        def step(at: Block, found: Found) -> Found:
            inputs = rows_at(inputs_of(piece, rows.seeds, rows.shared), at.rows)
            own, given = weights_of(piece, self.weights), self._given(c, at, below)
            pulled = case.backward(own, inputs, at.count, self._kept(c, at), given)
            found = self._added(piece, found, pulled[0]) if weights else found
            return self._handed(piece, found, at, pulled[1], False) if seeds else found

        return Found(*agenda.each(c, step, found))

    def _choice(self, at: Block, found: Found, seeds: bool, weights: bool) -> Found:
        """The choices of some rows."""
        piece, case, rows = self.cases.pieces[-1], self.cases.choosing, self.rows
        if case.inert or (self.given.log_prob is None and not only(rows.shared)):
            return found
        chances = jnp.zeros((at.count, len(self.cases)), rows.log_prob.dtype)
        if self.given.log_prob is not None:
            here = rows.choice[at.rows][:, None] == jnp.arange(len(self.cases), dtype=jnp.int32)[None]
            chance = self.given.log_prob[rows.address(self.plan, at.rows)]
            chances = jnp.where(at.mine[:, None] & here, chance[:, None], 0)
        given = [chances, *(where(at.mine, x[at.local]) for x in found.shared if x is not None)]
        inputs, kept = rows_at(inputs_of(piece, rows.seeds, []), at.rows), rows_at(rows.kept[0], at.rows)
        pulled = case.backward(weights_of(piece, self.weights), inputs, at.count, kept, given)
        found = self._added(piece, found, pulled[0]) if weights else found
        return self._handed(piece, found, at, pulled[1], True) if seeds else found

    def _given(self, c: int, at: Block, below: Arrays) -> Arrays:
        """The cotangents of what a candidate's rows made: their payload, and their children's seeds."""
        rows, case, given = self.rows, self.cases.candidates[c], []
        for column in self.cases.columns(c):
            if is_smooth(x := rows.payload[column]):
                g = self.given.payload[column]
                zeros = jnp.zeros((at.count, *x.shape[1:]), x.dtype)
                given.append(zeros if g is None else where(at.mine, g[rows.address(self.plan, at.rows)]))
        first, kids = rows.first[at.rows], rows.kids[at.rows]
        for place in self.cases.places(c):
            has = at.mine & (place < kids)
            given += [where(has, s[jnp.where(has, first + place, 0)]) for s in below if s is not None]
        dtypes = [v.aval.dtype for v, yes in zip(case.part.jaxpr.outvars, case.smooth, strict=True) if yes]
        return [g.astype(dtype) for g, dtype in zip(given, dtypes, strict=True)]

    def _kept(self, c: int, at: Block) -> Arrays:
        """What is kept of a candidate's rows: in tables of its own, or as their payload and their children's seeds."""
        rows, columns, found = self.rows, self.cases.columns(c), []
        slots = iter(self.cases.slots.of[c])
        for k in self.cases.candidates[c].kept:
            if not self.cases.seen(c, k):
                found.append(rows.kept[1][next(slots)][at.rows])
            elif k.out < len(columns):
                found.append(rows.payload[columns[k.out]][rows.address(self.plan, at.rows)])
            else:
                place, leaf = divmod(k.out - len(columns), len(rows.seeds))
                found.append(rows.seeds[leaf][jnp.where(place < rows.kids[at.rows], rows.first[at.rows] + place, 0)])
        return found

    def _handed(self, piece: Piece, found: Found, at: Block, news: Arrays, add: bool) -> Found:
        """The cotangents of what a piece reads of rows, where they belong; added to what is there, or in its place."""
        seeds, shared, rest = list(found.seeds), list(found.shared), iter(news)
        for table, i in [(seeds, i) for i in piece.leaves] + [(shared, i) for i in piece.shared]:
            if table[i] is not None:
                x = next(rest)
                table[i] = at.put(table[i], table[i][at.local] + x if add else x, at.local)
        return found._replace(seeds=seeds, shared=shared)

    def _added(self, piece: Piece, found: Found, news: Arrays) -> Found:
        """The sums with the cotangents of the weights that a piece reads."""
        sums = list(found.sums)
        for i, x in zip([i for i in piece.weights if is_smooth(self.weights[i])], news, strict=True):
            sums[i] = sums[i] if sums[i] is None else sums[i] + x
        return found._replace(sums=sums)

    def _learns(self, piece: Piece, found: Found) -> bool:
        """Whether a weight that a piece reads is wanted."""
        return any(found.sums[i] is not None for i in piece.weights)
