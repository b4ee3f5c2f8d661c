"""The first of the two phases in which a case is computed for rows of several constructors; see `_levels`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from ..arrays._rows import chosen, take
from ..arrays.shapes import is_smooth
from ..jaxprs._gates import by_reach
from ..jaxprs._jaxprs import bind
from ..jaxprs._reach import active, gate, Reach
from ..jaxprs._slopes import is_linear
from ._levels import EDGES, Phase, ROWS, SHARED, STACK, Value


@dataclass(frozen=True)
class ActiveWeights:
    """What the values of a case reach, and which columns are read at any row: of each constructor in the stacks, and
    of all."""

    reach: Reach
    each: jax.Array
    every: jax.Array

    def bound(self, eqn: JaxprEqn, ins: list[Value]) -> list[Any]:
        """What an equation that reads weights alone gives, with a gradient only where it is active."""
        return by_reach(eqn, self.reach, lambda reached: self._bound(eqn, ins, reached))

    def _bound(self, eqn: JaxprEqn, ins: list[Value], reached: int) -> list[Any]:
        each = any(i.level == STACK for i in ins)
        if not reached:
            return bound(eqn, ins)
        outputs: list[Any] = [v.aval for v in eqn.outvars]
        most = sum(math.prod(x.shape) for x in outputs)
        gates = [i.level in (SHARED, STACK) and is_smooth(i.value) for i in ins]
        wide = [each and yes and i.level == SHARED and i.value.size > most for i, yes in zip(ins, gates, strict=True)]
        if any(wide):  # a copy for each constructor would be large
            return self._beside(eqn, ins, reached)

        def one(value: Value) -> Value:
            if each and value.level == SHARED:
                rows = jnp.broadcast_to(value.value, (len(self.each), *value.value.shape))
                value = value._replace(level=STACK, value=rows)
            return value._replace(value=gate(value.value, self.each if value.level == STACK else self.every, reached))

        return bound(eqn, [one(i) if yes else i for i, yes in zip(ins, gates, strict=True)])

    def _beside(self, eqn: JaxprEqn, ins: list[Value], reached: int) -> list[Any]:
        """The same, where constructors at which the equation is not active are differentiated at the weights of one at
        which it is: their cotangents are zeros, and so are its slopes times these."""
        here = active(self.each, reached)
        first = jnp.argmax(here)

        def there(i: Value) -> Value:
            if i.level == STACK:
                return i._replace(value=chosen(here, i.value, lax.stop_gradient(take(i.value, first))))
            smooth = i.level == SHARED and is_smooth(i.value)
            return i._replace(value=gate(i.value, self.every, reached)) if smooth else i

        pairs = zip(bound(eqn, list(map(there, ins))), bound(eqn, ins), strict=True)
        return [chosen(here, y, lax.stop_gradient(x)) if is_smooth(x) else x for y, x in pairs]


def bound(eqn: JaxprEqn, ins: list[Value]) -> list[Any]:
    """What an equation that reads weights alone gives."""
    return bind(eqn, [i.value for i in ins], [0 if i.level == STACK else None for i in ins])


class Prepare(Phase):
    """What is made of weights alone, once for a fold: `weights` has what each site takes, those of products as (o, n),
    or (C, o, n). `active` says what is read of it, if not all is."""

    def __init__(self, active: ActiveWeights | None = None) -> None:
        super().__init__()
        self.active = active
        self.weights: list[Any] = []
        self.linear = True  # whether the operations on weights have finite slopes, whatever the weights are

    def at_weights(self, eqn: JaxprEqn, ins: list[Value]) -> list[Any]:
        linear = is_linear(eqn)
        self.linear = self.linear and linear
        return bound(eqn, ins) if linear or self.active is None else self.active.bound(eqn, ins)

    def at_spread(self, weight: Value) -> None:
        self.weights.append(weight.value)

    def at_lookup(self, eqn: JaxprEqn, ins: list[Value]) -> None:
        self.weights.append(ins[0].value)

    def at_product(self, eqn: JaxprEqn, ins: list[Value], side: int) -> None:
        axes = eqn.params["dimension_numbers"][0][side]

        def matrix(w: jax.Array) -> jax.Array:
            n = math.prod(w.shape[a] for a in axes)
            o = math.prod(size for a, size in enumerate(w.shape) if a not in axes)
            return jnp.moveaxis(w, axes, range(-len(axes), 0)).reshape(o, n)

        weight = ins[side]
        self.weights.append(jax.vmap(matrix)(weight.value) if weight.level == STACK else matrix(weight.value))

    def at_rows(self, eqn: JaxprEqn, ins: list[Value]) -> list[Any]:
        return [None] * len(eqn.outvars)

    at_edges = at_rows

    def at_choice(self, which: Value, outs: Sequence[Value]) -> None:
        return None

    def at_fold(
        self, step: ClosedJaxpr, start: list[Value], many: int, children: list[Value], consts: list[Value]
    ) -> list[Any]:
        return [None] * len(step.jaxpr.outvars)

    def to_edges(self, value: Value, many: int) -> Value:
        return value

    def at_reduction(self, how: str, found: list[Value], many: int) -> list[Value]:
        return [Value(EDGES, None, many) if how == "each" else Value(ROWS) for _ in found]
