"""Keeps NaN out of the gradients of constructors that a forest does not have.

What concerns weights alone is computed for all constructors of a program at once. Where one of them is not in the
forest, its cotangents are zero; but zero times an infinite slope is NaN. A root has one at 0, and a product where the
other factor is infinite, as `jnp.where(mask, 0.0, -jnp.inf) * w`. So where a slope may be infinite, such a constructor
is given the weights of one that is there.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from ..arrays._rows import take
from ..arrays.shapes import Arrays
from ._program import Program


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
