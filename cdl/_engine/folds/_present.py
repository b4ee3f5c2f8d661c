"""Keeps NaN out of the gradients of constructors that a forest does not have.

What concerns weights alone is computed for all constructors of a program at once. Where one of them is not in the
forest, its cotangents are zero; but zero times an infinite slope is NaN. A product has one where the other factor is
infinite, as `jnp.where(mask, 0.0, -jnp.inf) * w`, and a root at 0. So where a slope may be infinite, the weights of
such a constructor have no gradient. Where a case may raise an error or take a loop that does not end, it is given the
weights of a constructor that is there.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from ..arrays._rows import chosen, differentiated, take
from ..arrays.shapes import Arrays, is_smooth
from ..jaxprs._slopes import is_tame
from ._program import Program


def bits_there(program: Program, there: jax.Array) -> jax.Array:
    """For each constructor in a program's stacks, all bits if it is there, and none if it is not."""
    return jnp.zeros(program.kinds, jnp.int32).at[program.in_stacks].min(jnp.where(there, -1, 0))


def only_present(program: Program, there: jax.Array, run: Callable[[Arrays], Arrays]) -> Callable[[Arrays], Arrays]:
    """A function of a program's weights, stacked results and all, for the constructors that are there. The others have
    results that are not to be used."""
    own = bits_there(program, there) != 0

    def masked(weights: Arrays) -> Arrays:
        pairs = zip(weights, program.stacked, strict=True)
        return run([differentiated(own, w) if stacked and is_smooth(w) else w for w, stacked in pairs])

    def guarded(weights: Arrays) -> Arrays:
        first, pairs = jnp.argmax(own), zip(weights, program.stacked, strict=True)
        some = [chosen(own, w, jax.lax.stop_gradient(take(w, first))) if stacked else w for w, stacked in pairs]
        nothing = jax.eval_shape(run, some)
        zeros: Callable[[Arrays], Arrays] = lambda _: [jnp.zeros(x.shape, x.dtype) for x in nothing]
        return list(jax.lax.cond(jnp.any(there), run, zeros, some))

    return masked if is_tame(program.case.jaxpr) else guarded
