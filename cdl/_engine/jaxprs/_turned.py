"""Products of a weight with a row, turned round.

`W h` at many rows is `W Hᵀ`, which has its rows in the second axis, and so has all that is made of it: it would have to
be transposed before it is kept or written. `H Wᵀ` is the same, row by row.
"""

from typing import Any

import jax
from jax import lax
from jax.extend.core import JaxprEqn, Literal

from ._jaxprs import bind, evaluated, variables
from ._parts import Part, trace


def turned(part: Part) -> Part:
    """The part with its rows first in every product that allows it."""
    weights = set(part.jaxpr.invars[: part.shared])
    for eqn in part.jaxpr.eqns:
        if all(v in weights for v in variables(eqn.invars)):
            weights.update(eqn.outvars)
    if not any(_turns(eqn, weights) for eqn in part.jaxpr.eqns):
        return part

    def step(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
        return [_product(values[0], values[1], eqn.params)] if _turns(eqn, weights) else bind(eqn, values)

    again, held = trace(lambda *given: evaluated(part.jaxpr, given, step)[0], *part.inputs)
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
    turned = {"dimension_numbers": ((of_row, of_weight), batch), "precision": swapped(params["precision"])}
    return lax.dot_general(row, weight, **{**params, **turned})


def swapped(precision: Any) -> Any:
    """The precision of a product whose operands have changed places."""
    if isinstance(precision, lax.DotAlgorithm):
        (one, other), (few, many) = precision[:2], precision[3:5]
        return precision._replace(
            lhs_precision_type=other, rhs_precision_type=one, lhs_component_count=many, rhs_component_count=few
        )
    return precision[::-1] if isinstance(precision, tuple) else precision
