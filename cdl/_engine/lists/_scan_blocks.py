"""A track read in blocks of steps: the forward pass.

    a block, forward     step by step → what is kept

In segments (`segment`), a block keeps the state that it began with, and is run again in the reverse pass
(`_scan_rule`). Where nothing is kept, all steps are one block, and each state is written once.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._rows import masked
from ..arrays.shapes import Arrays, rows_of
from ..jaxprs._passes import Passes
from ._scan_case import Case
from ._scan_plain import begin, Carry, ended, enter, flat, How, leave
from ._scan_track import Track


Marks = tuple[
    jax.Array, jax.Array, jax.Array, jax.Array, Arrays
]  # a number, and `own`, `first`, `owner` and keys there
Residuals = tuple[Arrays, Arrays, Arrays]  # states, what is kept, and the states that segments began with


class Blocks:
    """One algebra's case over one track, block by block."""

    def __init__(
        self, case: Case, wanted: Any, weights: Arrays, track: Track, nils: Arrays, key: jax.Array | None, how: How
    ) -> None:
        self.wanted_weights, wanted_values, _ = wanted
        self.wanted_elements = [*jax.tree.leaves(wanted_values), *([] if key is None else [False])]
        self.case, self.track, self.nils, self.how = case, track, nils, how
        self.weights = weights
        self.size = how.segment or how.block
        self.count = track.steps // self.size
        self.key, self.spare = key, track.spare()
        cut: Any = lambda x: x.reshape(self.count, self.size, *x.shape[1:])
        keys = [] if key is None else [cut(track.keys(key))]
        self.marks = (jnp.arange(self.count, dtype=jnp.int32), *map(cut, (track.own, track.first, track.owner)), keys)

    @functools.cached_property
    def passes(self) -> Passes:
        """The parts of a step for the reverse pass: made where it is asked for, as not every step has a derivative."""
        return Passes(self.case.step, self.case.elements, self.wanted_weights, range(len(self.case.states)))

    @property
    def shared(self) -> Arrays:
        """What the parts of the passes read beside a row and a state."""
        return [*self.passes.more, *self.weights]

    @property
    def emitted(self) -> list[int]:
        """The cotangents that pass 2 reads."""
        return sorted(set(self.passes.down[sum(self.case.smooth) :]))

    def forward(self, keep: bool = True) -> tuple[Arrays, Arrays, Residuals | None]:
        """The final states, the states after every step, and what the reverse pass reads."""
        begins = begin(self.case, self.track, self.how)
        if not keep:
            return *self._in_place(begins), None
        if not self.how.segment:
            final, out, kept = self._steps(begins)
            return final, self._shown(out), (out, kept, [])
        lasts = keep and not self.how.segment

        def block(carry: Carry, marks: Marks) -> tuple[Carry, Any]:
            after, out, kept = self._run(carry, marks, self._elements(marks), keep=lasts)
            return after, (out if lasts or self.how.every else [], kept, carry[0] if keep and not lasts else [])

        after, (out, kept, starts) = lax.scan(block, begins, self.marks, reverse=self.track.end)
        out, kept = ([flat(x) for x in some] for some in (out, kept))
        return ended(after), self._shown(out), (out if lasts else [], kept, starts)

    def _shown(self, out: Arrays) -> Arrays:
        return self.track.shown(out) if self.how.every else []

    def _in_place(self, begins: Carry) -> tuple[Arrays, Arrays]:
        """All steps with nothing kept: the last state, and each state written once, where it is shown."""

        def step(carry: Any, at: tuple[Any, ...]) -> Any:
            (state, last), tables = carry
            number, own, first, owner, keys = at
            row = self._row(number, own, keys)
            out = self.case.step.rows(self.weights, *row, *enter(state, self.nils, own, first, owner))
            some = [masked(own, x) for x in out[: len(tables)]]
            pairs = zip(tables, some, strict=True)
            tables = [lax.dynamic_update_index_in_dim(t, x, number, self.track.axis) for t, x in pairs]
            return (leave(last, out, own), tables), None

        shapes = jax.eval_shape(self._shown, rows_of(self.track.steps, begins[0]))
        start = begins, [jnp.zeros(x.shape, x.dtype) for x in shapes]
        marks = self._every_step()
        (after, tables), _ = lax.scan(step, start, marks, reverse=self.track.end, unroll=self.how.unroll)
        return ended(after), tables

    def _every_step(self) -> Marks:
        """The number of each step, what is at it, and its keys."""
        numbers = jnp.arange(self.track.steps, dtype=jnp.uint32)
        _, own, first, owner, keys = self.marks
        return numbers, flat(own), flat(first), flat(owner), list(map(flat, keys))

    def _row(self, number: jax.Array, own: jax.Array, keys: Arrays) -> Arrays:
        """The leaves of one step's elements, and its keys."""
        some = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, number, self.track.axis, False), self.track.values)
        return [*jax.tree.leaves(self.track.filled(some, own, self.spare)), *keys]

    def _steps(self, begins: Carry) -> tuple[Arrays, Arrays, Arrays]:
        """All steps one after another: the last state, the state after each step, and what is kept of each."""

        def step(carry: Carry, at: tuple[Any, ...]) -> tuple[Carry, Any]:
            state, last = carry
            number, own, first, owner, keys = at
            row = self._row(number, own, keys)
            found = self.passes.forward.rows(self.shared, *row, *enter(state, self.nils, own, first, owner))
            out, kept = found[: len(state)], found[len(state) :]
            return leave(last, out, own), (out, kept)

        marks = self._every_step()
        after, (out, kept) = lax.scan(step, begins, marks, reverse=self.track.end, unroll=self.how.unroll)
        return ended(after), out, kept

    def _run(self, begins: Carry, marks: Marks, elements: Arrays, *, keep: bool) -> tuple[Carry, Arrays, Arrays]:
        """A block forward: what it leaves behind, the state after each step, and what is kept of each."""
        _, own, first, owner, _ = marks
        part, shared = (self.passes.forward, self.shared) if keep else (self.case.step, self.weights)

        def step(carry: Carry, at: tuple[Any, ...]) -> tuple[Carry, Any]:
            state, last = carry
            row, own, first, owner = at
            found = part.rows(shared, *row, *enter(state, self.nils, own, first, owner))
            out, kept = found[: len(state)], found[len(state) :]
            return leave(last, out, own), (out, kept)

        xs = (elements, own, first, owner)
        after, (out, kept) = lax.scan(step, begins, xs, reverse=self.track.end, unroll=self.how.unroll)
        return after, out, kept

    def _elements(self, marks: Marks) -> Arrays:
        """The leaves of a block's elements, and its keys."""
        number, own, _, _, keys = marks
        return [*jax.tree.leaves(self.track.filled(self.track.block(number, self.size), own, self.spare)), *keys]
