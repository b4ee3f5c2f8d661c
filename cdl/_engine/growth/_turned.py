"""Products of a weight with a row, turned round.

`W h` at many rows is `W Hᵀ`, which has its rows in the second axis, and so has all that is made of it: it would have to
be transposed before it is kept or written. `H Wᵀ` is the same, row by row.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax.extend.core import JaxprEqn, Literal

from ..jaxprs._parts import equation, Part, trace, variables


def turned(part: Part) -> Part:
    """The part with its rows first in every product that allows it."""
    weights = set(part.jaxpr.invars[: part.shared])
    for eqn in part.jaxpr.eqns:
        if all(v in weights for v in variables(eqn)):
            weights.update(eqn.outvars)
    if not any(_turns(eqn, weights) for eqn in part.jaxpr.eqns):
        return part

    def run(*inputs: jax.Array) -> list[Any]:
        known = dict(zip(part.jaxpr.invars, inputs, strict=True))
        value: Callable[[Any], Any] = lambda v: v.val if isinstance(v, Literal) else known[v]
        for eqn in part.jaxpr.eqns:
            if _turns(eqn, weights):
                weight, row = map(value, eqn.invars)
                found = [_product(weight, row, eqn.params)]
            else:
                found = equation(part, eqn)(*map(value, variables(eqn)))
            known.update(zip(eqn.outvars, found, strict=True))
        return list(map(value, part.jaxpr.outvars))

    again, held = trace(run, *part.inputs)
    return part if held else Part(again.jaxpr, part.shared)


def _turns(eqn: JaxprEqn, weights: set[Any]) -> bool:
    """Whether an equation is a product of something of the weights with a vector of the row's, in this order."""
    if eqn.primitive.name != "dot_general" or any(isinstance(v, Literal) for v in eqn.invars):
        return False
    (_, over), batch = eqn.params["dimension_numbers"]
    first, second = eqn.invars
    row: Any = second.aval
    return first in weights and second not in weights and batch == ((), ()) and len(over) == row.ndim


def _product(weight: jax.Array, row: jax.Array, params: dict[str, Any]) -> jax.Array:
    (of_weight, of_row), batch = params["dimension_numbers"]
    return lax.dot_general(row, weight, **{**params, "dimension_numbers": ((of_row, of_weight), batch)})
