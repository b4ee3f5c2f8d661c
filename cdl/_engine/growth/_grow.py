"""Growing many trees at once, breadth first: one queue of rows for all trees.

| the thing   | what it is                                                                                     |
| ----------- | ---------------------------------------------------------------------------------------------- |
| a row       | a node, in the order of birth: level by level, in each level tree by tree, and left to right   |
| a chunk     | the next rows of one level, as many as there are lanes: each makes its choice                  |
| a block     | rows of a chunk that chose one candidate, which is computed there and nowhere else             |

A node's children are neighbours in the queue. Of a tree the first nodes in this order are grown, as many as it may
have, and of all trees together the first; the places beyond are counted. A candidate without places is computed in
the end, for all its rows together.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._rows import put
from ..arrays.shapes import Arrays
from ._agenda import Agenda, Block, block
from ._cases import Cases, inputs_of, rows_at
from ._plan import every, Plan
from ._rows import begun, Rows
from ._tables import part


State = tuple[jax.Array, jax.Array, jax.Array, Arrays, Rows]  # head, stop and tail, what the chunk reads, and all
Tables = tuple[Arrays, Arrays, Arrays]  # the payload, the seeds, and what is kept


def grow(cases: Cases, plan: Plan, weights: Arrays, seeds: Arrays, *, keep: bool) -> Rows:
    """The rows of all trees. `keep`: what the reverse pass reads, too."""
    rows = begun(cases, plan, seeds, keep)
    if not plan.trees:
        return rows

    def chunk(state: State) -> State:
        head, stop, tail, own, rows = state
        rows, chance, shared = _chosen(cases, plan, weights, rows, own, head, keep)
        rows, born = _born(cases, plan, rows, head, stop, tail)
        at = block(plan.own(head, stop), head)
        rows = dataclasses.replace(rows, log_prob=at.put(rows.log_prob, chance, rows.address(plan, at.rows)))
        agenda = plan.chunk(rows.choice, len(cases), head, stop)
        for k in cases.inner:
            rows = _computed(cases, plan, k, weights, rows, [*own, *shared], agenda, keep)
        starts = rows.starts.at[rows.chunks].set(head)
        rows = dataclasses.replace(rows, starts=starts, chunks=rows.chunks + 1)
        head, tail = jnp.minimum(head + plan.lanes, stop), tail + born
        return head, jnp.where(head == stop, tail, stop), tail, [part(x, head, plan.lanes) for x in rows.seeds], rows

    roots, own = jnp.int32(plan.roots), [x[: plan.lanes] for x in rows.seeds]
    *_, tail, _, rows = lax.while_loop(lambda s: s[0] < s[2], chunk, (jnp.int32(0), roots, roots, own, rows))
    rows = dataclasses.replace(rows, starts=rows.starts.at[rows.chunks].set(tail))
    chosen = rows.chosen()
    without = (chosen >= 0) & (cases.growth.arities[jnp.maximum(chosen, 0)] == 0)
    rows = dataclasses.replace(rows, end=jnp.cumsum(without, dtype=jnp.int32) - 1)
    agenda = every(chosen, len(cases))
    for k in cases.late:
        rows = _computed(cases, plan, k, weights, rows, [*rows.seeds, *rows.shared], agenda, keep)
    return rows


def _chosen(
    cases: Cases, plan: Plan, weights: Arrays, rows: Rows, own: Arrays, head: jax.Array, keep: bool
) -> tuple[Rows, Any, Arrays]:
    """The choices of a chunk, the logarithms of their chances, and what they hand on."""
    lanes = plan.lanes
    inputs = inputs_of(cases.choice.piece, own, [])
    run = cases.choosing.forward if keep else cases.choosing.plainly
    (choice, chances, *shared), kept = run(cases.choice.weights(weights, 0), inputs, lanes)
    chance = jnp.take_along_axis(chances, jnp.maximum(choice, 0)[:, None], axis=1)[:, 0]
    put_all: Any = lambda tables, news: [put(t, head, x) for t, x in zip(tables, news, strict=True)]
    found = dataclasses.replace(
        rows,
        choice=put(rows.choice, head, choice),
        shared=put_all(rows.shared, shared),
        kept=(put_all(rows.kept[0], kept), rows.kept[1]),
    )
    return found, jnp.where(choice < 0, 0, chance), shared


def _born(cases: Cases, plan: Plan, rows: Rows, head: jax.Array, stop: jax.Array, tail: jax.Array) -> tuple[Rows, Any]:
    """The children of a chunk, without their seeds, as many as their trees may have; and how many there are."""
    tree, choice = part(rows.tree, head, plan.lanes), part(rows.choice, head, plan.lanes)
    arity = jnp.where(plan.own(head, stop) & (choice >= 0), cases.growth.arities[jnp.maximum(choice, 0)], 0)
    before = jnp.cumsum(arity, dtype=jnp.int32) - arity
    below = rows.count[tree] + before - lax.cummax(jnp.where(tree != jnp.roll(tree, 1), before, 0))
    fits = jnp.clip(plan.nodes - below, 0, arity)
    offset = jnp.cumsum(fits, dtype=jnp.int32) - fits
    kids = jnp.clip(plan.rows - tail - offset, 0, fits)
    first = tail + offset
    place = jnp.arange(max(cases.growth.places, 1), dtype=jnp.int32)[None]
    at = jnp.where(place < kids[:, None], first[:, None] + place, rows.tree.shape[0])
    put_kids: Any = lambda table, new: table.at[at].set(jnp.broadcast_to(new, at.shape), mode="drop")
    trees = put_kids(rows.tree, tree[:, None])
    tree = part(trees, head, plan.lanes)  # the same, from the new table: so the old one is not read any more
    found = dataclasses.replace(
        rows,
        tree=trees,
        number=put_kids(rows.number, below[:, None] + place),
        kids=put(rows.kids, head, kids),
        first=put(rows.first, head, first),
        below=put(rows.below, head, below),
        count=rows.count.at[tree].add(kids),
        waiting=rows.waiting.at[tree].add(arity - kids),
    )
    return found, jnp.sum(kids, dtype=jnp.int32)


def _computed(
    cases: Cases, plan: Plan, k: int, weights: Arrays, rows: Rows, own: Arrays, agenda: Agenda, keep: bool
) -> Rows:
    """The rows of some candidates alike: their payload, and the seeds of their children. `own`: what the rows read,
    those of a chunk or of all."""
    alike, case, columns = cases.alike[k], cases.cases[k], cases.columns(k)
    run = case.forward if keep else case.plainly

    def step(at: Block, state: Tables) -> Tables:
        payload, seeds, kept = map(list, state)
        inputs = rows_at(inputs_of(alike.piece, own[: len(seeds)], own[len(seeds) :]), at.local)
        outs, news = run(alike.weights(weights, at.member), inputs, at.count)
        for column, x in zip(columns, outs, strict=False):
            ends = column in cases.at_ends
            payload[column] = at.put(payload[column], x, rows.address(plan, at.rows, ends=ends))
        curves = cases.curves * len(cases.places(k))
        below = (x if curve is None else curve(x) for curve, x in zip(curves, outs[len(columns) :], strict=True))
        first, kids = rows.first[at.rows], rows.kids[at.rows]
        for place in cases.places(k):
            seeds = [at.put(s, next(below), (first + place,), place < kids) for s in seeds]
        if keep:
            kept = cases.slots.put(k, kept, at, news)
        return payload, seeds, kept

    payload, seeds, kept = agenda.each(alike.members, step, (rows.payload, rows.seeds, rows.kept[1]))
    return dataclasses.replace(rows, payload=payload, seeds=seeds, kept=(rows.kept[0], kept))
