"""The weights of cases that are one program, stacked: one array where all have the same, else one for each case.

A case that takes its cell from a `Stacked` picks weights from stacks that are there already. What it picks becomes its
weight (`unpicked`), and the stack is taken as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Literal

from ..._schemes.stacks import PICKED
from ..arrays._rows import take
from ._fingerprint import same_bytes
from ._jaxprs import CALLS, needed, variables


@dataclass(frozen=True)
class Picked:
    """One of a stack, by its number."""

    stack: Any
    number: int

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the one."""
        return tuple(self.stack.shape[1:])

    @property
    def dtype(self) -> Any:
        """That of the stack."""
        return self.stack.dtype


def unpicked(case: ClosedJaxpr) -> ClosedJaxpr:
    """The case with what it picks from stacks as weights, `Picked`; without what no output needs; and with its weights
    in the order in which they are read. What it picks from one of a stack of stacks is computed as it is written."""
    weights, rest = dict(zip(case.jaxpr.constvars, case.consts, strict=True)), []
    for eqn in case.jaxpr.eqns:
        name = eqn.params.get("name") if eqn.primitive.name in CALLS else None
        stack = weights.get(eqn.invars[0]) if name == PICKED and not isinstance(eqn.invars[0], Literal) else None
        if stack is not None and not isinstance(stack, Picked) and isinstance(eqn.invars[1], Literal):
            weights[eqn.outvars[0]] = Picked(stack, int(eqn.invars[1].val))
        else:
            rest.append(eqn)
    eqns = needed(case.jaxpr.outvars, rest)
    read = dict.fromkeys(v for of in (*(eqn.invars for eqn in eqns), case.jaxpr.outvars) for v in variables(of))
    used = {v: weights[v] for v in read if v in weights}
    return ClosedJaxpr(case.jaxpr.replace(constvars=list(used), eqns=eqns), list(used.values()))


class Stacks(NamedTuple):
    """The weights of some cases: each one for all of them, or `stacked`; the place of each case in the stacks; and
    whether they came `apart`, so that no stack was there already."""

    weights: list[Any]
    stacked: list[bool]
    places: list[int]
    apart: bool


def stacks(cases: Sequence[Sequence[Any]], forward: bool = False) -> Stacks:
    """The weights of these cases, from those of each. `forward`: so that forward mode goes through."""
    every = list(zip(*cases, strict=True))
    stacked = [not all(_same(c, same[0]) for c in same) for same in every]
    apart = [same for same, yes in zip(every, stacked, strict=True) if yes]
    held = next((same for same in apart if _of_one_stack(same)), None)
    places = list(range(len(cases)))
    if held is not None:
        numbers = [c.number for c in held]
        if len(set(numbers)) < len(numbers) and not all(_is_at(same, numbers) for same in apart):
            held = None
        else:
            places = numbers
    found = []
    for same, yes in zip(every, stacked, strict=True):
        if not yes:
            found.append(array_of(same[0]))
        elif held is not None and _is_at(same, places):
            found.append(same[0].stack)
        else:
            arrays = list(map(array_of, same))
            own = jnp.stack(arrays) if forward else _stack(arrays)
            room = own if held is None else jnp.zeros((len(held[0].stack), *own.shape[1:]), own.dtype)
            found.append(own if held is None else room.at[jnp.array(places)].set(own))
    return Stacks(found, stacked, places, held is None)


def _of_one_stack(same: Sequence[Any]) -> bool:
    return all(isinstance(c, Picked) and c.stack is same[0].stack for c in same)


def _is_at(same: Sequence[Any], numbers: list[int]) -> bool:
    """Whether the weights are those of one stack, at these places."""
    return _of_one_stack(same) and [c.number for c in same] == numbers


def array_of(weight: object) -> jax.Array:
    """A weight as an array of its own."""
    return weight.stack[weight.number] if isinstance(weight, Picked) else jnp.asarray(weight)


def _same(x: object, y: object) -> bool:
    if isinstance(x, Picked) or isinstance(y, Picked):
        return isinstance(x, Picked) and isinstance(y, Picked) and x.stack is y.stack and x.number == y.number
    return x is y or (not isinstance(x, Tracer) and not isinstance(y, Tracer) and same_bytes(x, y))


@jax.custom_vjp
def _stack(arrays: list[Any]) -> jax.Array:
    """`jnp.stack`, whose derivative compiles faster: to cut out one of a hundred weights is the same kernel for all of
    them, if their numbers are data."""
    return jnp.stack(arrays)


def _stack_forward(arrays: list[Any]) -> tuple[Any, None]:
    return jnp.stack(arrays), None


def _stack_backward(_: None, given: jax.Array) -> tuple[list[Any]]:
    # XLA would know them, were they not behind a barrier, or scalars, or in a progression
    hidden: Any = lax.optimization_barrier
    numbers = hidden([np.array([i, -1, -1], np.int32) for i in range(len(given))])
    return ([take(given, number[0]) for number in numbers],)


_stack.defvjp(_stack_forward, _stack_backward)
