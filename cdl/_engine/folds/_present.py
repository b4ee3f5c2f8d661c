"""Keeps NaN out of the gradients of constructors that a forest does not have.

What concerns weights alone is computed for all constructors of a program at once. Where one of them is not in the
forest, its cotangents are zero; but zero times an infinite slope is NaN. A root has one at 0, and a product where the
other factor is infinite, as `jnp.where(mask, 0.0, -jnp.inf) * w`. So where a slope may be infinite, such a constructor
is given the weights of one that is there.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Literal

from ..arrays._rows import take
from ..arrays.shapes import Arrays
from ..jaxprs._jaxprs import CALLS
from ._program import Program


FINITE = frozenset(
    "add sub neg abs max min transpose reshape broadcast_in_dim slice squeeze concatenate copy rev "
    "convert_element_type tanh logistic select_n reduce_sum iota eq ne lt gt le ge and or not sign "
    "stop_gradient dynamic_slice gather pad split".split()
)  # operations whose slopes are finite wherever they are taken


def is_finite(eqn: JaxprEqn) -> bool:
    """Whether the slopes of an operation are finite, for all that can be seen of it. That of a product is a factor."""
    if eqn.primitive.name == "mul":
        return any(isinstance(v, Literal) and bool(np.isfinite(v.val).all()) for v in eqn.invars)
    return eqn.primitive.name in FINITE


def has_finite_slopes(jaxpr: Jaxpr) -> bool:
    """Whether the derivative of a jaxpr is finite wherever it is taken, for all that can be seen of it."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in CALLS:
            inner = eqn.params[CALLS[eqn.primitive.name]]
            if not has_finite_slopes(getattr(inner, "jaxpr", inner)):
                return False
        elif not is_finite(eqn):
            return False
    return True


def only_present(program: Program, there: jax.Array, run: Callable[[Arrays], Arrays]) -> Callable[[Arrays], Arrays]:
    """A function of a program's weights, stacked results and all, for the constructors that are there. The others have
    results that are not to be used."""

    def guarded(weights: Arrays) -> Arrays:
        if any(program.stacked):
            places = jnp.array(program.places, jnp.int32)
            own = jnp.full(program.kinds, take(places, jnp.argmax(there)), jnp.int32)
            own = own.at[jnp.where(there, places, program.kinds)].set(places, mode="drop")
            weights = [take(w, own) if stacked else w for w, stacked in zip(weights, program.stacked, strict=True)]
        nothing = jax.eval_shape(run, weights)
        zeros: Callable[[Arrays], Arrays] = lambda _: [jnp.zeros(x.shape, x.dtype) for x in nothing]
        return list(jax.lax.cond(jnp.any(there), run, zeros, weights))

    return guarded
