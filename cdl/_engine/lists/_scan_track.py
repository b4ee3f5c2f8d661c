"""Sequences as a scan meets them: at each step one place of each lane, in blocks of steps.

A `Seq` has a lane for each list; a `Packed` has lists end to end in its lanes. Either way a place holds an element of a
list, or nothing. Where it holds nothing the step is computed all the same, for the value of the empty list and an
element that some list begins with, and what comes out is dropped: so no value is met that the lists do not have, and no
number that is not finite comes in by the gradient of what was dropped.
"""

import functools
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._random_keys import keys_at
from ..arrays._rows import chosen, masked
from ..arrays.shapes import is_weak, shaped
from ._seq import batch_and_time, Seq
from ._seq_packed import Packed


E = TypeVar("E")  # elements


class Track(eqx.Module):
    """The elements, and what is at each step of each lane: all but the elements `(steps, lanes)`."""

    values: Any
    own: Any  # whether an element is there
    first: Any  # whether it is the one that is read first of its list
    owner: Any  # its list
    order: Any  # its number in pre-order
    lengths: Any
    axis: int = eqx.field(static=True)  # of the steps, in `values`
    end: bool = eqx.field(static=True)  # whether lists are read from the end
    real: int = eqx.field(static=True)  # steps that the data have; there may be more, of nothing

    @property
    def steps(self) -> int:
        return int(self.own.shape[0])

    @property
    def lanes(self) -> int:
        return int(self.own.shape[1])

    @property
    def element(self) -> Any:
        """The shapes of one element."""
        return jax.tree.map(lambda x: shaped(x.shape[2:], x.dtype, is_weak(x)), self.values)

    def keys(self, key: jax.Array | None) -> jax.Array | None:
        """The key of each place: that of the element's node in its list."""
        return keys_at(key, self.owner, self.order)

    def spare(self) -> Any:
        """An element that a list is read from first; zero if every list is empty."""
        found = jnp.any(self.first)
        number = jnp.argmax(self.first)
        step, lane = jnp.divmod(number, self.lanes)
        at = (lane, step) if self.axis else (step, lane)
        return jax.tree.map(lambda x: lax.stop_gradient(jnp.where(found, x[at], jnp.zeros_like(x[at]))), self.values)

    def by_step(self) -> Any:
        """The elements, steps first; `spare` where there is none."""
        return self.filled(jax.tree.map(lambda x: jnp.moveaxis(x, self.axis, 0), self.values), self.own, self.spare())

    def block(self, number: jax.Array, steps: int) -> Any:
        """The elements of one block, steps first, as they are."""
        start = number * steps
        some = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, start, steps, self.axis), self.values)
        return jax.tree.map(lambda x: jnp.moveaxis(x, self.axis, 0), some)

    def filled(self, elements: E, own: jax.Array, spare: Any) -> E:
        """Some steps' elements, with `spare` where there is none."""
        return jax.tree.map(functools.partial(chosen, own), elements, spare)

    def shown(self, by_step: E) -> E:
        """What is found at each step, as `values` lie; zero in the padding."""
        zero: Any = lambda x: masked(self.own, x)
        return jax.tree.map(lambda x: jnp.moveaxis(zero(x), 0, self.axis), by_step)


def track(data: Seq[Any] | Packed[Any], end: bool, block: int = 1) -> Track:
    """The sequences as a track, of a number of steps that `block` divides."""
    if isinstance(data, Packed):
        owner, place, real, axis = data.owner, data.place, data.steps, 0
        values = data.values
        own, owner = owner >= 0, jnp.maximum(owner, 0)
        length = data.lengths[owner]
    else:
        (batch, real), axis, values = batch_and_time(data.values), 1, data.values
        owner = jnp.broadcast_to(jnp.arange(batch, dtype=jnp.int32), (real, batch))
        place = jnp.broadcast_to(jnp.arange(real, dtype=jnp.int32)[:, None], (real, batch))
        length = jnp.broadcast_to(data.lengths, (real, batch))
        own = place < length
    last = length - 1
    first = own & (place == last if end else place == 0)
    order = place if end else last - place
    steps = -(-real // block) * block
    if steps != real:
        own, first, owner, order = (_lengthened(x, steps) for x in (own, first, owner, order))
        values = jax.tree.map(lambda x: _lengthened(x, steps, axis), values)
    return Track(values, own, first, owner, order, data.lengths, axis, end, real)


def _lengthened(x: jax.Array, steps: int, axis: int = 0) -> jax.Array:
    more = [(0, 0)] * x.ndim
    more[axis] = (0, steps - x.shape[axis])
    return jnp.pad(x, more) if more[axis][1] else x
