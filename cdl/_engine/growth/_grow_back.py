"""The reverse pass of a growth: the queue backwards, each row after those of its children.

| what              | order                     | which rows                                                           |
| ----------------- | ------------------------- | -------------------------------------------------------------------- |
| ends              | any; many rows at a time  | those of candidates without places                                   |
| chunks            | the last chunk first      | all others                                                           |

A row reads its seed and the cotangents below it, and finds those of its seed and of the coalgebra's arrays. The first
is written over the seed, which no row reads after this one: so there is one table for both. A seed that goes through a
curve in the end takes the cotangent of what is under the curve (`_curves`).

The choice of a candidate has no gradient: the reverse pass takes it as it was. Its payload, and the logarithm of
its chance, are. What is kept of the way there is told in `jaxprs._passes`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._rows import after_all, chosen, masked
from ..arrays.shapes import Arrays, is_smooth
from ._agenda import Agenda, Block
from ._alike import Alike
from ._cases import Cases, inputs_of, rows_at
from ._plan import every, Plan
from ._rows import Rows
from ._tables import part


class Cotangents(NamedTuple):
    """The cotangents of the payload of rows and of `log_prob`, `None` for what has none."""

    payload: Arrays
    log_prob: jax.Array | None


class Found(NamedTuple):
    """The seeds, and the cotangents of those that rows have been gone through; and the cotangents of the weights.
    `None` for what has none."""

    seeds: Arrays
    sums: Arrays


class Backwards:
    """The rows of a growth, gone through backwards."""

    def __init__(self, cases: Cases, plan: Plan, weights: Arrays, rows: Rows, given: Cotangents) -> None:
        self.cases, self.plan, self.weights, self.rows, self.given = cases, plan, weights, rows, given

    def all(self, wanted: list[bool]) -> tuple[Arrays, Arrays]:
        """The cotangents of the roots' seeds, and of those weights that are wanted."""
        sums = [jnp.zeros(w.shape, w.dtype) if yes else None for w, yes in zip(self.weights, wanted, strict=True)]
        found = Found([x if is_smooth(x) else None for x in self.rows.seeds], sums)
        if self.plan.trees:
            choice = self.rows.chosen()
            without = self.cases.growth.arities[jnp.maximum(choice, 0)] == 0
            agenda = every(jnp.where(without, choice, -1), len(self.cases))
            given = self._at_ends(agenda) if self.plan.spread else None
            for k in self.cases.ends:
                found = self._alike(k, agenda, found, given)
            found = self._chunks(found)
        roots = self.plan.roots
        return [x if x is None else x[:roots] for x in found.seeds], found.sums

    def _chunks(self, found: Found) -> Found:
        """The queue backwards."""
        starts = self.rows.starts

        def step(state: tuple[jax.Array, Found]) -> tuple[jax.Array, Found]:
            chunk, found = state
            agenda = self.plan.chunk(self.rows.choice, len(self.cases), starts[chunk], starts[chunk + 1])
            for k in self.cases.inner:
                found = self._alike(k, agenda, found, None)
            return chunk - 1, found

        return lax.while_loop(lambda s: s[0] >= 0, step, (self.rows.chunks - 1, found))[1]

    def _at_ends(self, agenda: Agenda) -> dict[int, jax.Array]:
        """The cotangents of what candidates without places make, by column, in the order of the agenda: at once, so
        that they need not be there for all nodes beside."""
        rows = agenda.rows(self.plan.ends(self.cases.growth.places))
        columns = {column for k in self.cases.ends for column in self.cases.columns(k)}
        given = {column: self.given.payload[column] for column in sorted(columns)}
        return {column: g[self.rows.address(self.plan, rows)] for column, g in given.items() if g is not None}

    def _alike(self, k: int, agenda: Agenda, found: Found, at_ends: dict[int, jax.Array] | None) -> Found:
        """The rows of some candidates alike. `at_ends`: as above, where these have no places."""
        alike, case, rows = self.cases.alike[k], self.cases.cases[k], self.rows

        def step(at: Block, found: Found) -> Found:
            seeds = rows_at([y if x is None else x for x, y in zip(found.seeds, rows.seeds, strict=True)], at.rows)
            shared = rows_at(rows.shared, at.rows)
            down, handed = [None] * len(seeds), [None] * len(shared)
            if not case.inert:
                inputs, given = inputs_of(alike.piece, seeds, shared), self._given(k, at, found.seeds, at_ends)
                weights = alike.weights(self.weights, at.member)
                kept = self.cases.slots.rows(k, rows.kept[1], at)
                pulled = case.backward(weights, inputs, self._known(k, at), kept, given)
                found, down, handed = self._added(alike, at.member, found, pulled, down, handed)
            found, down = self._choice(at, found, seeds, down, handed)
            return self._written(at, found, seeds, down)

        return Found(*agenda.each(alike.members, step, found))

    def _choice(self, at: Block, found: Found, seeds: Arrays, down: Arrays, handed: Arrays) -> tuple[Found, Arrays]:
        """The choices of some rows. `handed`: the cotangents of what they share with their candidates."""
        alike, case, rows = self.cases.choice, self.cases.choosing, self.rows
        if case.inert or (self.given.log_prob is None and not any(map(is_smooth, rows.shared))):
            return found, down
        chances = jnp.zeros((at.count, len(self.cases)), rows.log_prob.dtype)
        if self.given.log_prob is not None:
            here = rows.choice[at.rows][:, None] == jnp.arange(len(self.cases), dtype=jnp.int32)[None]
            chance = self.given.log_prob[rows.address(self.plan, at.rows)]
            chances = jnp.where(at.mine[:, None] & here, chance[:, None], 0)
        smooth = [(x, g) for x, g in zip(rows.shared, handed, strict=True) if is_smooth(x)]
        given = [chances, *(jnp.zeros((at.count, *x.shape[1:]), x.dtype) if g is None else g for x, g in smooth)]
        inputs, kept = inputs_of(alike.piece, seeds, []), rows_at(rows.kept[0], at.rows)
        known = rows_at([rows.shared[i - 2] for i in case.known], at.rows)
        pulled = case.backward(alike.weights(self.weights, 0), inputs, known, kept, given)
        return self._added(alike, 0, found, pulled, down, [])[:2]

    def _given(self, k: int, at: Block, below: Arrays, at_ends: dict[int, jax.Array] | None) -> Arrays:
        """The cotangents of what a candidate's rows made: their payload, and their children's seeds."""
        rows, case, given = self.rows, self.cases.cases[k], []
        for column in self.cases.columns(k):
            if is_smooth(x := rows.payload[column]):
                g = self.given.payload[column]
                zeros = jnp.zeros((at.count, *self.cases.growth.columns[column].shape), x.dtype)
                if g is not None and at_ends is not None:
                    g = part(at_ends[column], at.place, at.count)
                elif g is not None:
                    g = g[rows.address(self.plan, at.rows, ends=column in self.cases.at_ends)]
                given.append(zeros if g is None else masked(at.mine, g))
        first, kids = rows.first[at.rows], rows.kids[at.rows]
        for place in self.cases.places(k):
            has = at.mine & (place < kids)
            given += [masked(has, s[jnp.where(has, first + place, 0)]) for s in below if s is not None]
        dtypes = [v.aval.dtype for v, yes in zip(case.part.jaxpr.outvars, case.smooth, strict=True) if yes]
        return [g.astype(dtype) for g, dtype in zip(given, dtypes, strict=True)]

    def _known(self, k: int, at: Block) -> Arrays:
        """The payload of a candidate's rows that its derivative needs, in the candidate's own types."""
        rows, columns, found = self.rows, self.cases.columns(k), []
        outs = self.cases.cases[k].part.outputs
        for i in self.cases.cases[k].known:
            address = rows.address(self.plan, at.rows, ends=columns[i] in self.cases.at_ends)
            found.append(rows.payload[columns[i]][address].astype(outs[i].dtype))
        return found

    def _added(
        self,
        alike: Alike,
        member: jax.Array | int,
        found: Found,
        pulled: tuple[Arrays, Arrays],
        down: Arrays,
        handed: Arrays,
    ) -> tuple[Found, Arrays, Arrays]:
        """The cotangents of what candidates alike read, added to those of the weights, of the rows' seeds, and of what
        they share."""
        down, handed = list(down), list(handed)
        rest = iter(pulled[1])
        for some, like, at in (
            (down, self.rows.seeds, alike.piece.leaves),
            (handed, self.rows.shared, alike.piece.shared),
        ):
            for i in (i for i in at if is_smooth(like[i])):
                x = next(rest)
                some[i] = x if some[i] is None else some[i] + x
        return found._replace(sums=alike.added(found.sums, member, pulled[0])), down, handed

    def _written(self, at: Block, found: Found, seeds: Arrays, down: Arrays) -> Found:
        """The rows' cotangents over their seeds, when all that reads these is done."""
        news: Arrays = []
        each = zip(self.cases.curves, seeds, found.seeds, down, strict=True)
        for curve, seed, table, x in each:
            x = jnp.zeros_like(seed) if x is None and table is not None else x
            if x is not None and curve is not None:
                x = chosen(at.rows < self.plan.roots, x, x * curve.slope(seed))
            news.append(x)
        rows = at.rows + after_all([x for x in [*news, *found.sums] if x is not None])
        tables = [t if t is None else at.put(t, x, (rows,)) for t, x in zip(found.seeds, news, strict=True)]
        return found._replace(seeds=tables)
