"""Keeps NaN out of the gradients of constructors that a forest does not have.

What concerns weights alone is computed for all constructors of a program at once. Where one of them is not in the
forest, its cotangents are zero; but zero times an infinite slope is NaN. A root has one at 0, and a product where the
other factor is infinite, as `jnp.where(mask, 0.0, -jnp.inf) * w`. So where a slope may be infinite, the weights of such
a constructor have no gradient. If it shares some with others, or its values may raise an error or take a loop that does
not end, it is given the weights of one that is there.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from ..arrays._rows import chosen, differentiated, take
from ..arrays.shapes import Arrays, is_smooth
from ..jaxprs._slopes import is_tame
from ._program import Program


def only_present(program: Program, there: jax.Array, run: Callable[[Arrays], Arrays]) -> Callable[[Arrays], Arrays]:
    """A function of a program's weights, stacked results and all, for the constructors that are there. The others have
    results that are not to be used."""
    places = jnp.array(program.places, jnp.int32)
    own = jnp.zeros(program.kinds, bool).at[jnp.where(there, places, program.kinds)].set(True, mode="drop")

    def apart(weights: Arrays) -> Arrays:
        return run([differentiated(own, w) if is_smooth(w) else w for w in weights])

    def guarded(weights: Arrays) -> Arrays:
        if any(program.stacked):
            first = take(places, jnp.argmax(there))
            weights = [
                chosen(own, w, take(w, first)) if stacked else w
                for w, stacked in zip(weights, program.stacked, strict=True)
            ]
        nothing = jax.eval_shape(run, weights)
        zeros: Callable[[Arrays], Arrays] = lambda _: [jnp.zeros(x.shape, x.dtype) for x in nothing]
        return list(jax.lax.cond(jnp.any(there), run, zeros, weights))

    return apart if all(program.stacked) and is_tame(program.case.jaxpr) else guarded
