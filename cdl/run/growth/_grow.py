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

import jax.numpy as jnp
from jax import lax

from ._agenda import Agenda, Block
from ._cases import Cases, inputs_of, rows_at, weights_of
from ._pieces import Arrays
from ._plan import every, Plan
from ._rows import begun, Rows
from ._tables import part, put, together


def grow(cases: Cases, plan: Plan, weights: Arrays, seeds: Arrays, *, keep: bool) -> Rows:
    """The rows of all trees. `keep`: what the reverse pass reads, too."""
    rows = begun(cases, plan, seeds, keep)
    if not plan.trees:
        return rows

    def chunk(state: Any) -> Any:
        head, stop, tail, rows = state
        rows = _chosen(cases, plan, weights, rows, head, stop, keep)
        rows, born = _born(cases, plan, rows, head, stop, tail)
        agenda = plan.chunk(rows.choice, len(cases), head, stop)
        for c in cases.early:
            rows = _computed(cases, plan, c, weights, rows, agenda, keep)
        starts = rows.starts.at[rows.chunks].set(head)
        rows = dataclasses.replace(rows, starts=starts, chunks=rows.chunks + 1)
        head, tail = jnp.minimum(head + plan.lanes, stop), tail + born
        return head, jnp.where(head == stop, tail, stop), tail, rows

    roots = jnp.int32(plan.roots)
    *_, tail, rows = lax.while_loop(lambda s: s[0] < s[2], chunk, (jnp.int32(0), roots, roots, rows))
    rows = dataclasses.replace(rows, starts=rows.starts.at[rows.chunks].set(tail))
    agenda = every(rows.chosen(), len(cases))
    for c in cases.late:
        rows = _computed(cases, plan, c, weights, rows, agenda, keep)
    return rows


def _chosen(cases: Cases, plan: Plan, weights: Arrays, rows: Rows, head: Any, stop: Any, keep: bool) -> Rows:
    """The choices of a chunk."""
    piece, lanes = cases.pieces[-1], plan.lanes
    inputs = [part(x, head, lanes) for x in inputs_of(piece, rows.seeds, rows.shared)]
    run = cases.choosing.forward if keep else cases.choosing.plainly
    (choice, chances, *shared), kept = run(weights_of(piece, weights), inputs, lanes)
    chance = jnp.take_along_axis(chances, jnp.maximum(choice, 0)[:, None], axis=1)[:, 0]
    at = Block(head + jnp.arange(lanes, dtype=jnp.int32), plan.own(head, stop))
    put_all: Any = lambda tables, news: [put(t, x, head) for t, x in zip(tables, news, strict=True)]
    return dataclasses.replace(
        rows,
        choice=put(rows.choice, choice, head),
        log_prob=at.put(rows.log_prob, jnp.where(choice < 0, 0, chance), rows.address(plan, at.rows)),
        shared=put_all(rows.shared, shared),
        kept=(put_all(rows.kept[0], kept), rows.kept[1]),
    )


def _born(cases: Cases, plan: Plan, rows: Rows, head: Any, stop: Any, tail: Any) -> tuple[Rows, Any]:
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
    found = dataclasses.replace(
        rows,
        tree=put_kids(rows.tree, tree[:, None]),
        number=put_kids(rows.number, below[:, None] + place),
        kids=put(rows.kids, kids, head),
        first=put(rows.first, first, head),
        below=put(rows.below, below, head),
        count=rows.count.at[tree].add(kids),
        waiting=rows.waiting.at[tree].add(arity - kids),
    )
    return found, jnp.sum(kids, dtype=jnp.int32)


def _computed(cases: Cases, plan: Plan, c: int, weights: Arrays, rows: Rows, agenda: Agenda, keep: bool) -> Rows:
    """The rows of one candidate: their payload, and the seeds of their children."""
    piece, case, columns = cases.pieces[c], cases.candidates[c], cases.columns(c)
    own, run = weights_of(piece, weights), case.forward if keep else case.plainly

    def block(at: Block, state: Any) -> Any:
        payload, seeds, kept = map(list, state)
        inputs = rows_at(inputs_of(piece, seeds, rows.shared), at.rows)
        outs, news = together(run(own, inputs, at.count))
        for column, x in zip(columns, outs, strict=False):
            payload[column] = at.put(payload[column], x, rows.address(plan, at.rows))
        below = iter(outs[len(columns) :])
        first, kids = rows.first[at.rows], rows.kids[at.rows]
        for place in cases.places(c):
            seeds = [at.put(s, next(below), first + place, place < kids) for s in seeds]
        stored = [x for x, k in zip(news, case.kept, strict=keep) if not cases.seen(c, k)]
        for slot, x in zip(cases.slots_of[c], stored, strict=keep):
            kept[slot] = at.put(kept[slot], x)
        return payload, seeds, kept

    payload, seeds, kept = agenda.each(c, block, (rows.payload, rows.seeds, rows.kept[1]))
    return dataclasses.replace(rows, payload=payload, seeds=seeds, kept=(rows.kept[0], kept))
