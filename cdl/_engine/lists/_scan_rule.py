"""A track read in blocks of steps, with a custom reverse rule.

    a block, forward     step by step → what is kept
    a block, backward    pass 1: step by step, the state's cotangent alone
                         pass 2: the weights' and the elements', all steps of the block in one product

Blocks are short enough for what passes between them to stay near the processor, and long enough for the products of
pass 2 to be of a good size. In segments (`segment`), a block keeps the state that it began with, and is run again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._rows import chosen, masked
from ..arrays.shapes import Arrays
from ._scan_blocks import Blocks, Marks, Residuals
from ._scan_case import Case
from ._scan_plain import enter, flat, How, unflat
from ._scan_track import Track


Tables = tuple[Arrays, Arrays, Arrays]  # the state before each step, that after it, and what is kept
Inputs = tuple[Arrays, Any, Arrays]  # weights, elements, and the empty list's value
At = Callable[[jax.Array], jax.Array]  # the rows of a table at some steps


class Back(Blocks):
    """The reverse pass over the same blocks."""

    def backward(self, residuals: Residuals, final: Arrays, every: Arrays) -> tuple[Arrays, Arrays, Arrays]:
        """The cotangents of the weights, the elements and the empty list's value, from those of what came out."""
        out, kept, starts = residuals
        to_weights = [
            jnp.zeros_like(w) if yes else None for w, yes in zip(self.weights, self.wanted_weights, strict=True)
        ]

        def block(carry: tuple[Arrays, Arrays, Arrays], at: tuple[Marks, Arrays]) -> tuple[Any, Arrays]:
            given, to_nils, to_weights = carry
            marks, start = at
            elements = self._elements(marks)
            if self.how.segment:
                _, own_out, own_kept = self._run((start, []), marks, elements, keep=True)
                tables, first = (self._shifted(start, own_out), own_out, own_kept), jnp.int32(0)
            else:
                tables, first = (out, out, kept), marks[0] * self.size
            given, to_nils, down = self._through(given, to_nils, marks, elements, tables, first, every)
            to_weights, to_elements = self._over(to_weights, marks, elements, tables, first, down)
            return (given, to_nils, to_weights), to_elements

        carry = (final, self._no_nils(), to_weights)
        carry, to_elements = lax.scan(block, carry, (self.marks, starts), reverse=not self.track.end)
        return carry[2], [flat(x) for x in to_elements], self._summed(carry[1])

    def _known(
        self,
        tables: Tables,
        read: At,
        before: At,
        own: jax.Array,
        first: jax.Array,
        owner: jax.Array,
    ) -> Arrays:
        """What is known of some steps: the state that they read, that they gave, and what was kept."""
        entered = enter([before(x) for x in tables[0]], self.nils, own, first, owner)
        return [*entered, *(read(tables[1][i]) for i in self.passes.known), *map(read, tables[2])]

    def _through(
        self,
        given: Arrays,
        to_nils: Arrays,
        marks: Marks,
        elements: Arrays,
        tables: Tables,
        start: jax.Array,
        every: Arrays,
    ) -> tuple[Arrays, Arrays, dict[int, jax.Array]]:
        """Pass 1: the state's cotangent through a block, and those that come down at each step."""
        block, own, first, owner, _ = marks
        passes = self.passes

        def step(
            carry: tuple[Arrays, Arrays], at: tuple[jax.Array, Arrays, jax.Array, jax.Array, jax.Array]
        ) -> tuple[Any, Arrays]:
            given, to_nils = carry
            number, row, own, first, owner = at
            read = lambda x: x[start + number]
            before = lambda x: x[self._before(start + number, x)]
            known = [*row, *self._known(tables, read, before, own, first, owner)]
            more = [lax.dynamic_index_in_dim(e, block * self.size + number, self.track.axis, False) for e in every]
            total = [g + e for g, e in zip(given, more, strict=True)] if every else given
            total = [masked(own, g) for g in total]
            found = passes.back.rows(self.shared, *passes.again.rows(self.shared, *known), *total)
            down = passes.to_late(found)
            passed = [masked(~first, d) for d in down]
            given = [chosen(own, d, g) for d, g in zip(passed, given, strict=True)]
            to_nils = [self._to_nil(t, d, own & first, owner) for t, d in zip(to_nils, down, strict=True)]
            return (given, to_nils), [found[i] for i in self.emitted]

        xs = (jnp.arange(self.size, dtype=jnp.int32), elements, own, first, owner)
        (given, to_nils), found = lax.scan(
            step, (given, to_nils), xs, reverse=not self.track.end, unroll=self.how.unroll
        )
        return given, to_nils, dict(zip(self.emitted, map(flat, found), strict=True))

    def _before(self, number: jax.Array, table: jax.Array) -> jax.Array:
        """The step that comes before one, in a table of states: of a segment's, the tables are shifted already."""
        if self.how.segment:
            return number
        return jnp.minimum(number + 1, len(table) - 1) if self.track.end else jnp.maximum(number - 1, 0)

    def _over(
        self,
        to_weights: Arrays,
        marks: Marks,
        elements: Arrays,
        tables: Tables,
        start: jax.Array,
        found: dict[int, Any],
    ) -> tuple[Any, Arrays]:
        """Pass 2: the weights' cotangents with a block's added, and those of its elements."""
        passes, to_weights = self.passes, list(to_weights)
        numbers = start + jnp.arange(self.size, dtype=jnp.int32)
        before = lambda x: x[self._before(numbers, x)]
        known = self._known(tables, lambda x: lax.dynamic_slice_in_dim(x, start, self.size), before, *marks[1:4])
        read = passes.found.rows(self.shared, *map(flat, [*elements, *known]))
        for i, g in passes.to_weights(self.weights, read, found).items():
            to_weights[i] = to_weights[i] + g
        mine = [w if yes else None for w, yes in zip(self.weights, self.wanted_weights, strict=True)]
        own = [flat(x) if yes else None for x, yes in zip(elements, self.wanted_elements, strict=True)]

        def ahead(moved: tuple[Arrays, Arrays]) -> Arrays:
            ws = [w if m is None else m for w, m in zip(self.weights, moved[0], strict=True)]
            xs = [flat(x) if m is None else m for x, m in zip(elements, moved[1], strict=True)]
            return [z for z, yes in zip(passes.ahead.rows(ws, *xs), passes.rises, strict=True) if yes]

        _, back = jax.vjp(ahead, (mine, own))
        more, to_elements = back(passes.to_ahead(found))[0]
        to_weights = [None if t is None else t + m for t, m in zip(to_weights, more, strict=True)]
        return to_weights, [masked(marks[1], unflat(x, self.track.lanes)) for x in to_elements if x is not None]

    def filled(self, given: Sequence[Any], axes: tuple[int, ...]) -> Arrays:
        """The cotangents of the states that have one, zero where none is given."""
        pairs = zip(given, self.case.states, self.case.smooth, strict=True)
        return [jnp.zeros((*axes, *x.shape), x.dtype) if g is None else g for g, x, yes in pairs if yes]

    def _shifted(self, start: Arrays, out: Arrays) -> Arrays:
        """The state before each step of a block."""
        if self.track.end:
            return [jnp.concatenate([x[1:], s[None]]) for x, s in zip(out, start, strict=True)]
        return [jnp.concatenate([s[None], x[:-1]]) for x, s in zip(out, start, strict=True)]

    def _no_nils(self) -> Arrays:
        """Zeros for the cotangents of the empty list's value: a row for each lane, or for each list if they differ."""
        some = [n for n, yes in zip(self.nils, self.case.smooth, strict=True) if yes]
        return [jnp.zeros((self.track.lanes if n.shape[0] == 1 else n.shape[0], *n.shape[1:]), n.dtype) for n in some]

    def _to_nil(self, total: jax.Array, down: jax.Array, begins: jax.Array, owner: jax.Array) -> jax.Array:
        down = masked(begins, down)
        return total + down if self.nils[0].shape[0] == 1 else total.at[owner].add(down)

    def _summed(self, to_nils: Arrays) -> Arrays:
        return [x.sum(0, keepdims=True) for x in to_nils] if self.nils[0].shape[0] == 1 else to_nils


def ruled(
    case: Case, weights: Arrays, track: Track, nils: Arrays, key: jax.Array | None, how: How
) -> tuple[Arrays, Arrays]:
    """As `plain`, with the rule."""
    key = None if key is None else lax.stop_gradient(key)
    return _rule((weights, track.values, nils), _without_values(track), key, case=replace(case, weights=[]), how=how)


@eqx.filter_custom_vjp
def _rule(inputs: Inputs, track: Track, key: jax.Array | None, *, case: Case, how: How) -> tuple[Arrays, Arrays]:
    nothing = jax.tree.map(lambda _: False, inputs)
    return _blocks(nothing, inputs, track, key, case, how).forward(keep=False)[:2]


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(
    wanted: Any, inputs: Inputs, track: Track, key: jax.Array | None, *, case: Case, how: How
) -> tuple[tuple[Arrays, Arrays], Residuals | None]:
    final, every, residuals = _blocks(wanted, inputs, track, key, case, how).forward()
    return (final, every), residuals


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    residuals: Residuals,
    given: tuple[Arrays, Arrays],
    wanted: Any,
    inputs: Inputs,
    track: Track,
    key: jax.Array | None,
    *,
    case: Case,
    how: How,
) -> Inputs:
    blocks = _blocks(wanted, inputs, track, key, case, how)
    final = blocks.filled(given[0], (track.lanes,))
    axes = (track.lanes, track.steps) if track.axis else (track.steps, track.lanes)
    every = blocks.filled(given[1], axes) if any(x is not None for x in given[1]) else []
    to_weights, to_elements, to_nils = blocks.backward(residuals, final, every)
    moved = (jnp.moveaxis(x, 0, track.axis) for x in to_elements)
    to_values = jax.tree.map(lambda yes: next(moved) if yes else None, wanted[1])
    smooth = iter(to_nils)
    every_nil = [next(smooth) if yes else None for yes in case.smooth]
    return to_weights, to_values, [n if yes else None for n, yes in zip(every_nil, wanted[2], strict=True)]


def _blocks(wanted: Any, inputs: Inputs, track: Track, key: jax.Array | None, case: Case, how: How) -> Back:
    weights, values, nils = inputs
    return Back(case, wanted, weights, replace(track, values=values), nils, key, how)


def _without_values(track: Track) -> Track:
    return replace(track, values=jax.tree.map(lambda _: None, track.values))
