"""Keeps NaN out of the gradients of constructors that a forest does not have.

What concerns weights alone is computed for all constructors of a program at once. Where one of them is not in the
forest, its cotangents are zero; but zero times an infinite slope, as of a root at 0, is NaN. So where a slope may be
infinite, such a constructor is given the weights of one that is there.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .._jaxprs import CALLS
from .._rows import take
from ..shapes import Arrays
from ._program import Program


FINITE = frozenset(
    "add sub mul neg abs max min dot_general transpose reshape broadcast_in_dim slice squeeze concatenate copy rev "
    "convert_element_type tanh logistic sin cos select_n reduce_sum iota eq ne lt gt le ge and or not sign "
    "stop_gradient dynamic_slice gather pad split".split()
)  # operations whose slopes are finite where their inputs are


def has_finite_slopes(jaxpr: Any) -> bool:
    """Whether the derivative of a jaxpr is finite wherever its inputs are, for all that can be seen of it."""
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        if name in CALLS:
            inner = eqn.params[CALLS[name]]
            if not has_finite_slopes(getattr(inner, "jaxpr", inner)):
                return False
        elif name not in FINITE:
            return False
    return True


def only_present(program: Program, there: jax.Array, run: Callable[[Arrays], Arrays]) -> Callable[[Arrays], Arrays]:
    """A function of a program's weights, stacked results and all, for the constructors that are there. The others have
    results that are not to be used."""

    def guarded(weights: Arrays) -> Arrays:
        stacks = [len(w) for w, stacked in zip(weights, program.stacked, strict=True) if stacked]
        if stacks:
            places = jnp.array(program.places, jnp.int32)
            own = jnp.full(stacks[0], take(places, jnp.argmax(there)), jnp.int32)
            own = own.at[jnp.where(there, places, stacks[0])].set(places, mode="drop")
            weights = [take(w, own) if stacked else w for w, stacked in zip(weights, program.stacked, strict=True)]
        nothing = jax.eval_shape(run, weights)
        zeros: Callable[[Arrays], Arrays] = lambda _: [jnp.zeros(x.shape, x.dtype) for x in nothing]
        return list(jax.lax.cond(jnp.any(there), run, zeros, weights))

    return guarded
