"""Nerve cells that talk to each other: a network whose diagrams have wires between their inner boxes.

| the mathematics                                     | here                                            |
| --------------------------------------------------- | ----------------------------------------------- |
| wires inside a box, from `vⱼ` to what `i` hears     | `matrix[i, j]`, of `peers(level, matrix)`       |
| a state on each wire: what is said is heard later   | `said` and `heard`                              |
| no wires: the ordinary network                      | a matrix of zeros                               |

Source: D. Spivak, T. Hosgood, *Deep neural networks as nested dynamical systems*, 2021, figure 4.

Examples:
    >>> from cdl_arch.system import neurons, talk
    >>> mlp = eqx.nn.MLP(2, 1, 3, 1, key=jax.random.key(0))
    >>> level = neurons.levels(mlp, 0.1)[0]
    >>> spoken = talk.peers(level, jnp.zeros((2, 2)))
    >>> type(spoken).__name__
    'ParaOptic'
"""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from cdl import Optic, ParaOptic
from cdl.checks import with_types
from cdl.system import Rewiring

from .cells import expect_cells
from .neurons import expect_rate


@with_types
def peers(level: Rewiring, matrix: Float[Array, "cells cells"], rate: float = 0.0) -> Rewiring:
    """The same diagram with wires between its inner boxes: each hears the others, a tick later.

    Every box takes a change, and what it has `heard`: the box `i`, `Σⱼ matrix[i, j] vⱼ` of the values that the boxes
    show. What the whole has heard it adds to the values that it shows next. With a matrix of zeros nothing is heard,
    and it is the level that was given.

    Its state has `params` as before, the matrix as `peers`, the values `said` before, and what the whole has `heard`.

    **Arguments:** `rate`: of gradient descent on the matrix, by the change of what was heard; with 0 it stays.

    **Raises:** `PortMismatch` where the level does not take a value of each box; `CdlError` for a rate that is negative
    or not finite.
    """
    expect_rate(rate)
    outside = expect_cells(level, len(matrix), matrix.dtype)
    state = {
        "params": level.params,
        "peers": matrix,
        "said": jnp.zeros_like(matrix, shape=len(matrix)),
        "heard": jnp.zeros(outside.shape, outside.dtype),
    }
    return ParaOptic(state, Optic.of(_Ahead(level.optic), _Back(level.optic, rate))).named(level.name)


@final
class _Ahead(eqx.Module):
    inner: Optic[Any, Any, Any, Any]

    def __call__(self, given: Any) -> Any:
        s, v = given
        y, kept = self.inner.forward((s["params"], v))
        return y + s["heard"], (kept, s, v)


@final
class _Back(eqx.Module):
    inner: Optic[Any, Any, Any, Any]
    rate: float = eqx.field(static=True)

    def __call__(self, seen: Any, d: Any) -> Any:
        kept, s, v = seen
        params, change = self.inner.backward(kept, d["change"])
        matrix = s["peers"] - self.rate * jnp.outer(change, s["said"]) if self.rate else s["peers"]
        after = {"params": params, "peers": matrix, "said": v, "heard": d["heard"]}
        return after, {"change": change, "heard": s["peers"] @ v}
