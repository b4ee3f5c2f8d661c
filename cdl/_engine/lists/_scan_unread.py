"""The reverse pass of a step that computes more than is read, such as a part of the state that no loss reads.

By the definition such values have no gradient, whatever their slopes (see `jaxprs._reach`). Which columns of a state
are read depends on how many steps come after it, as all steps are the same: those after the last step are known, and
those one step before are those that they reach. Then JAX differentiates the scan, with gates. This takes longer than
`Back`, and is done only where a step has such values.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from ..arrays.shapes import Arrays, is_smooth
from ..jaxprs._reach import bits_of, reach
from ._scan_case import Case
from ._scan_plain import How, plain
from ._scan_track import Track


Given = tuple[Arrays, Arrays]  # the cotangents of the final states and of those after every step, `None` for no one


class Read(NamedTuple):
    """Which columns of the state are read after each step, `(steps, lanes)`, and which weights of the step are read at
    any."""

    bits: jax.Array
    weights: list[bool]


def read_of(case: Case, track: Track, how: How, given: Given) -> Read | None:
    """What is read of a step; `None` where it computes nothing that is not read."""
    step = case.step
    known = reach(step.jaxpr, range(len(case.states)))
    before = [known.get(v, 0) for v in step.jaxpr.invars[-len(case.states) :]]
    last, every = (bits_of(c for c, g in enumerate(some) if g is not None) for some in given)
    base = 0 if how.ends else every
    found, bits = [], last | every
    while bits not in found:
        found.append(bits)
        bits = base | bits_of(c for c, reached in enumerate(before) if reached & found[-1])
    if all(reached & bits for reached in known.values() for bits in found):
        return None
    begin = found.index(bits)  # from there on they repeat
    later, period = jnp.maximum(track.order, 0), len(found) - begin
    number = jnp.where(later < begin, later, begin + (later - begin) % period)
    weights = [any(known.get(v, 0) & bits for bits in found) for v in step.jaxpr.invars[: step.shared]]
    return Read(jnp.where(track.own, jnp.array(found, jnp.int32)[number], 0), weights)


def with_gates(
    case: Case, inputs: Any, wanted: Any, track: Track, key: jax.Array | None, how: How, given: Given, read: Read
) -> Any:
    """The cotangents of the weights, the elements and the empty list's value that are `wanted`. A weight that no step
    reads has none, so that what it is made of has none."""
    moved, rest = eqx.partition(inputs, jax.tree.map(lambda x, yes: yes and is_smooth(x), inputs, wanted))

    def run(moved: Any) -> list[Any]:
        weights, values, nils = eqx.combine(moved, rest)
        found = plain(case, weights, replace(track, values=values), nils, key, replace(how, hoist=False), read.bits)
        return [x for some in found for x in some if is_smooth(x)]

    out, pull = jax.vjp(run, moved)
    known = [g for some in given for g, x in zip(some, case.states, strict=False) if is_smooth(x)]
    to_weights, *others = pull([jnp.zeros_like(x) if g is None else g for g, x in zip(known, out, strict=True)])[0]
    return [g if yes else None for g, yes in zip(to_weights, read.weights, strict=True)], *others
