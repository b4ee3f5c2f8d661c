"""A track read in blocks of steps, with a reverse rule of its own.

    a block, forward     [ahead for all its steps] → step by step → what is kept
    a block, backward    pass 1: step by step, the state's cotangent alone
                         pass 2: the weights' and the elements', all steps of the block in one product

Blocks are short enough for what passes between them to stay near the processor, and long enough for the products of
pass 2 to be of a good size. In segments (`remat`), a block keeps the state that it began with, and is run again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ._scan_case import Case
from ._scan_parts import Part, split
from ._scan_plain import Arrays, begin, enter, flat, How, leave, plain, unflat
from ._scan_plan import Plan
from ._scan_track import Track
from ._walk import spread


class Blocks:
    """One algebra's case over one track, block by block."""

    def __init__(
        self, case: Case, wanted: Any, weights: Arrays, track: Track, nils: Arrays, key: Any, how: How
    ) -> None:
        self.wanted_weights, wanted_values, _ = wanted
        self.wanted_elements = [*jax.tree.leaves(wanted_values), *([] if key is None else [False])]
        self.case, self.track, self.nils, self.how = case, track, nils, how
        self.plan = Plan(case, self.wanted_weights)
        self.weights, self.shared = weights, [*self.plan.more, *weights]
        self.size = how.segment or how.block
        self.count = track.steps // self.size
        self.key, self.spare = key, track.spare()
        cut = lambda x: x.reshape(self.count, self.size, *x.shape[1:])
        keys = [] if key is None else [cut(track.keys(key))]
        self.marks = (jnp.arange(self.count, dtype=jnp.int32), *map(cut, (track.own, track.first, track.owner)), keys)

    def forward(self) -> tuple[Arrays, Arrays, Any]:
        """The final states, the states after every step, and what the reverse pass reads."""

        def block(state: Arrays, marks: Any) -> tuple[Arrays, Any]:
            after, out, kept = self._run(state, marks, self._elements(marks), keep=not self.how.segment)
            whole = self.how.every or not self.how.segment
            return after, (state, out if whole else [], kept)

        final, (starts, out, kept) = lax.scan(
            block, begin(self.case, self.track.lanes), self.marks, reverse=self.track.end
        )
        every = [flat(x) for x in out] if self.how.every else []
        return final, every, (starts, out if not self.how.segment else [], kept)

    def _run(self, state: Arrays, marks: Any, elements: Arrays, *, keep: bool) -> tuple[Arrays, Arrays, Arrays]:
        """A block forward: its last state, the state after each step, and what is kept of each."""
        _, own, first, owner, _ = marks
        part, shared = (self.plan.forward, self.shared) if keep else (self.case.step, self.weights)
        if self.how.hoist:
            ahead, part = split(part, self.case.elements)
            elements = self._bulk(ahead, shared, elements)
        states = len(self.case.states)

        def step(state: Arrays, at: Any) -> tuple[Arrays, Any]:
            row, own, first, owner = at
            found = part.rows(shared, *row, *enter(state, self.nils, own, first, owner))
            out, kept = found[:states], found[states:]
            return leave(state, out, own), (out, kept)

        xs = (elements, own, first, owner)
        after, (out, kept) = lax.scan(step, state, xs, reverse=self.track.end, unroll=self.how.unroll)
        return after, out, kept

    def backward(self, residuals: Any, final: Arrays, every: Arrays) -> tuple[Arrays, Arrays, Arrays]:
        """The cotangents of the weights, the elements and the empty list's value, from those of what came out."""
        starts, out, kept = residuals
        every = [x.reshape(self.count, self.size, *x.shape[1:]) for x in every]
        to_weights = [
            jnp.zeros_like(w) if yes else None for w, yes in zip(self.weights, self.wanted_weights, strict=True)
        ]
        to_nils = self._no_nils()

        def block(carry: Any, at: Any) -> tuple[Any, Arrays]:
            given, to_nils, to_weights = carry
            marks, start, out, kept, every = at
            elements = self._elements(marks)
            if self.how.segment:
                _, out, kept = self._run(start, marks, elements, keep=True)
            _, own, first, owner, _ = marks
            before = enter(self._shifted(start, out), self.nils, own, first, owner)
            known = [*elements, *before, *(out[i] for i in self.plan.known), *kept]
            given, to_nils, down = self._through(given, to_nils, marks, known, every)
            to_weights, to_elements = self._over(to_weights, elements, known, down)
            return (given, to_nils, to_weights), to_elements

        xs = (self.marks, starts, out, kept, every)
        carry, to_elements = lax.scan(block, (final, to_nils, to_weights), xs, reverse=not self.track.end)
        return carry[2], [flat(x) for x in to_elements], self._summed(carry[1])

    def _through(self, given: Arrays, to_nils: Arrays, marks: Any, known: Arrays, every: Arrays) -> Any:
        """Pass 1: the state's cotangent through a block, and those that come down at each step."""
        _, own, first, owner, _ = marks
        falls = sum(self.plan.smooth)

        def step(carry: Any, at: Any) -> tuple[Any, Arrays]:
            given, to_nils = carry
            known, own, first, owner, every = at
            total = [g + e for g, e in zip(given, every, strict=True)] if every else given
            total = [jnp.where(spread(own, g), g, 0) for g in total]
            read = self.plan.again.rows(self.shared, *known)
            found = self.plan.back.rows(self.shared, *read, *total)
            down = [found[i] for i in self.plan.down[:falls]]
            given = [
                jnp.where(spread(own, d), jnp.where(spread(first, d), 0, d), g)
                for d, g in zip(down, given, strict=True)
            ]
            to_nils = [self._to_nil(t, d, own & first, owner) for t, d in zip(to_nils, down, strict=True)]
            return (given, to_nils), found

        xs = (known, own, first, owner, every)
        (given, to_nils), found = lax.scan(
            step, (given, to_nils), xs, reverse=not self.track.end, unroll=self.how.unroll
        )
        return given, to_nils, [flat(x) for x in found]

    def _over(self, to_weights: Any, elements: Arrays, known: Arrays, found: Arrays) -> tuple[Any, Arrays]:
        """Pass 2: the weights' cotangents with a block's added, and those of its elements."""
        plan, falls = self.plan, sum(self.plan.smooth)
        to_weights = list(to_weights)
        read = plan.found.rows(self.shared, *map(flat, known))
        for tap in plan.taps:
            for i, g in tap.pull(self.weights, read, found).items():
                to_weights[i] = to_weights[i] + g
        down = [found[i] for i in plan.down[falls : falls + sum(plan.rises)]]
        mine = [w if yes else None for w, yes in zip(self.weights, self.wanted_weights, strict=True)]
        own = [flat(x) if yes else None for x, yes in zip(elements, self.wanted_elements, strict=True)]

        def ahead(moved: Any) -> Arrays:
            ws = [w if m is None else m for w, m in zip(self.weights, moved[0], strict=True)]
            xs = [flat(x) if m is None else m for x, m in zip(elements, moved[1], strict=True)]
            return [z for z, yes in zip(plan.ahead.rows(ws, *xs), plan.rises, strict=True) if yes]

        _, back = jax.vjp(ahead, (mine, own))
        more, to_elements = back(down)[0]
        to_weights = [None if t is None else t + m for t, m in zip(to_weights, more, strict=True)]
        return to_weights, [unflat(x, self.track.lanes) for x in to_elements if x is not None]

    def filled(self, given: Sequence[Any], axes: tuple[int, ...]) -> Arrays:
        """The cotangents of the states that have one, zero where none is given."""
        pairs = zip(given, self.case.states, self.plan.smooth, strict=True)
        return [jnp.zeros((*axes, *x.shape), x.dtype) if g is None else g for g, x, yes in pairs if yes]

    def _elements(self, marks: Any) -> Arrays:
        """The leaves of a block's elements, and its keys."""
        number, own, _, _, keys = marks
        return [*jax.tree.leaves(self.track.filled(self.track.block(number, self.size), own, self.spare)), *keys]

    def _bulk(self, part: Part, shared: Arrays, rows: Sequence[Any]) -> Arrays:
        return [unflat(x, self.track.lanes) for x in part.rows(shared, *map(flat, rows))]

    def _shifted(self, start: Arrays, out: Arrays) -> Arrays:
        """The state before each step of a block."""
        if self.track.end:
            return [jnp.concatenate([x[1:], s[None]]) for x, s in zip(out, start, strict=True)]
        return [jnp.concatenate([s[None], x[:-1]]) for x, s in zip(out, start, strict=True)]

    def _no_nils(self) -> Arrays:
        """Zeros for the cotangents of the empty list's value: a row for each lane, or for each list if they differ."""
        some = [n for n, yes in zip(self.nils, self.plan.smooth, strict=True) if yes]
        return [jnp.zeros((self.track.lanes if n.shape[0] == 1 else n.shape[0], *n.shape[1:]), n.dtype) for n in some]

    def _to_nil(self, total: Any, down: Any, begins: Any, owner: Any) -> Any:
        down = jnp.where(spread(begins, down), down, 0)
        return total + down if self.nils[0].shape[0] == 1 else total.at[owner].add(down)

    def _summed(self, to_nils: Arrays) -> Arrays:
        return [x.sum(0, keepdims=True) for x in to_nils] if self.nils[0].shape[0] == 1 else to_nils


def ruled(case: Case, weights: Arrays, track: Track, nils: Arrays, key: Any, how: How) -> tuple[Arrays, Arrays]:
    """As `plain`, with the rule."""
    key = None if key is None else lax.stop_gradient(key)
    return _rule((weights, track.values, nils), _without_values(track), key, case=replace(case, weights=[]), how=how)


@eqx.filter_custom_vjp
def _rule(inputs: Any, track: Track, key: Any, *, case: Case, how: How) -> tuple[Arrays, Arrays]:
    weights, values, nils = inputs
    return plain(case, weights, replace(track, values=values), nils, key, replace(how, segment=None))


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(wanted: Any, inputs: Any, track: Track, key: Any, *, case: Case, how: How) -> Any:
    final, every, residuals = _blocks(wanted, inputs, track, key, case, how).forward()
    return (final, every), residuals


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    residuals: Any, given: Any, wanted: Any, inputs: Any, track: Track, key: Any, *, case: Case, how: How
) -> Any:
    blocks = _blocks(wanted, inputs, track, key, case, how)
    final = blocks.filled(given[0], (track.lanes,))
    every = blocks.filled(given[1], (track.steps, track.lanes)) if any(x is not None for x in given[1]) else []
    to_weights, to_elements, to_nils = blocks.backward(residuals, final, every)
    back = lambda like, wanted, found: jax.tree.map(lambda _, yes: next(found) if yes else None, like, wanted)
    to_values = back(inputs[1], wanted[1], (jnp.moveaxis(x, 0, track.axis) for x in to_elements))
    smooth = iter(to_nils)
    every_nil = [next(smooth) if yes else None for yes in case.smooth]
    return to_weights, to_values, [n if yes else None for n, yes in zip(every_nil, wanted[2], strict=True)]


def _blocks(wanted: Any, inputs: Any, track: Track, key: Any, case: Case, how: How) -> Blocks:
    weights, values, nils = inputs
    return Blocks(case, wanted, weights, replace(track, values=values), nils, key, how)


def _without_values(track: Track) -> Track:
    return replace(track, values=jax.tree.map(lambda _: None, track.values))
