"""A track read by one `lax.scan`, which JAX differentiates itself, in either mode."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._rows import chosen
from ..arrays.shapes import Arrays
from ._scan_case import Case
from ._scan_track import Track


Carry = tuple[Arrays, Arrays]  # the state, and the last one that an element gave


@dataclass(frozen=True)
class How:
    """The options of a run. `segment` is how many steps are computed again at once, if any."""

    unroll: int
    bulk: bool
    segment: int | None
    block: int
    forward: bool
    every: bool  # whether the state after every step is wanted


def plain(
    case: Case, weights: Arrays, track: Track, nils: Arrays, key: jax.Array | None, how: How
) -> tuple[Arrays, Arrays]:
    """The state of each lane after its last element and, if `every` is wanted, after each step (`Track.shown`)."""
    step, rows = case.step, jax.tree.leaves(track.by_step())
    if key is not None:
        rows.append(track.keys(key))

    def body(carry: Carry, at: Any) -> tuple[Carry, Arrays]:
        state, last = carry
        row, own, first, owner = at
        out = step.rows(weights, *row, *enter(state, nils, own, first, owner))
        return leave(last, out, own), out if how.every else []

    xs = (rows, track.own, track.first, track.owner)
    start = begin(case, track, how)
    if how.segment is None:
        after, out = lax.scan(body, start, xs, reverse=track.end, unroll=how.unroll)
        return ended(after), track.shown(out)

    @jax.checkpoint
    def segment(carry: Carry, some: Any) -> tuple[Carry, Arrays]:
        return lax.scan(body, carry, some, reverse=track.end, unroll=how.unroll)

    xs = jax.tree.map(lambda x: x.reshape(-1, how.segment, *x.shape[1:]), xs)
    after, out = lax.scan(segment, start, xs, reverse=track.end)
    return ended(after), track.shown(list(map(flat, out)))


def begin(case: Case, track: Track, how: How) -> Carry:
    """The carry before the first step; no list reads it.

    Only `fold` from the start of padded lists carries the last states: there padding follows a list's last element.
    """
    zeros = [jnp.zeros((track.lanes, *x.shape), x.dtype) for x in case.states]
    return zeros, [] if how.every or track.end else zeros


def enter(state: Arrays, nils: Arrays, own: jax.Array, first: jax.Array, owner: jax.Array) -> Arrays:
    """The state that each place reads: the one before, or where a list begins the empty list's value."""
    inside = own & ~first
    return [chosen(inside, x, _of(n, owner, x)) for x, n in zip(state, nils, strict=True)]


def leave(last: Arrays, out: Arrays, own: jax.Array) -> Carry:
    """The carry after a step: the new state, and where `last` is carried, the last state that an element gave.

    The state is not masked. After a place without an element, the next element is the first of its list, and `enter`
    replaces the state. A mask here would be a second use of the state, and XLA would not fuse the cell's arithmetic.
    """
    return out, [chosen(own, y, x) for x, y in zip(last, out, strict=False)]


def ended(carry: Carry) -> Arrays:
    """The state of each lane after its last element; of no meaning where its list is empty."""
    state, last = carry
    return last or state


def flat(x: jax.Array) -> jax.Array:
    """Steps and lanes as one axis of rows."""
    return x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])


def unflat(x: jax.Array, lanes: int) -> jax.Array:
    """Rows as steps and lanes."""
    return x.reshape(x.shape[0] // max(lanes, 1), lanes, *x.shape[1:])


def _of(nil: jax.Array, owner: jax.Array, like: jax.Array) -> jax.Array:
    """The empty list's value: the same for every list, or each one's own."""
    return jnp.broadcast_to(nil[0], like.shape) if nil.shape[0] == 1 else nil[owner]
