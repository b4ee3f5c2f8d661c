"""Boolean circuits that learn: reverse derivative ascent, the same composite over another category.

| the mathematics                                            | here                                                  |
| ---------------------------------------------------------- | ----------------------------------------------------- |
| bits, of which changes are bits                            | floating numbers 0 and 1; `z2.reverse`                |
| `Σⱼ pⱼ mⱼ(x)`, with a minterm for each input: a table      | `table(inputs, outputs)`: any function                |
| `⟨p, x⟩`, a parity                                         | `parity(inputs)`                                      |
| the loss `y + f(p, x)`, an error for each output           | `ERROR`                                               |
| the rate, which wishes for the error itself                | `WHOLE`: `put(e, ()) = e`                             |
| the update `p + R[f](p, x, e)`                             | `FLIP`                                                |
| one sample at a time                                       | `ascend(model)`, a `Learner`                          |
| a batch, in which the majority of those concerned decides  | `majority(model)`, a `Learner`                        |

In a batch, changes that are added mod 2 would cancel: two samples that ask to flip the same bit would leave it as it
is. So votes are counted. For each bit, one count is of the samples that it matters to, and one of those that ask to
flip it.

Examples:
    >>> circuits = cdl.learning.circuits
    >>> learner = circuits.majority(circuits.table(2))
    >>> inputs, answers = (
    ...     jnp.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]),
    ...     jnp.array([[0.0], [1], [1], [0]]),
    ... )
    >>> entries, _ = jax.jit(learner.step)(learner.state, (inputs, answers))
    >>> entries.tolist()
    [[0.0], [1.0], [1.0], [0.0]]
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._functors.usage import whole, with_types
from .._optics import z2
from .._optics.lens import Lens, to_optic
from .._optics.optic import Optic
from .._optics.para_optic import ParaOptic
from .._optics.parametric import Batched
from ._learner import Learner
from ._learners import supervised
from .optimisers import Optimiser


def _error(pair: tuple[Array, Array]) -> Array:
    return pair[0] + pair[1]


def _flipped(p: Array, change: Array) -> Array:
    return jnp.mod(p + change, 2)


def _kept(name: str, put: Callable[[Array, Any], Array]) -> Optimiser:
    return Optimiser(lambda p: p, to_optic(Lens(lambda p: p, put)).named(name))


ERROR: Optic[tuple[Array, Array], Array] = z2.reverse(_error).named("error")
_END: Lens[Array, tuple[()], Array, tuple[()]] = Lens(lambda error: (), lambda error, _: error)
WHOLE = to_optic(_END).named("rate")
FLIP = _kept("flip", _flipped)


@with_types
def table(inputs: int, outputs: int = 1) -> ParaOptic[Array, Array, Array]:
    """Any function of bits, as its table: a bit of each output for each of the `2ⁿ` inputs, at first 0.

    **Arguments:** `inputs`, `outputs`: the numbers of bits.
    """
    whole("inputs", inputs, least=0)
    whole("outputs", outputs, least=0)
    others = 1.0 - np.array(list(product((0.0, 1.0), repeat=inputs)), np.float32)

    def at(pair: tuple[Array, Array]) -> Array:
        entries, x = pair
        minterms = jnp.prod(x[None, :] + others, axis=1)  # the factor is x where the bit is 1, and 1 + x where it is 0
        return minterms @ entries

    return ParaOptic(jnp.zeros((2**inputs, outputs)), z2.reverse(at).named("table"))


@with_types
def parity(inputs: int) -> ParaOptic[Array, Array, Array]:
    """The sum of some of the bits: which of them are the parameters, at first none."""
    whole("inputs", inputs, least=0)

    def at(pair: tuple[Array, Array]) -> Array:
        chosen, x = pair
        return jnp.sum(chosen * x)[None]

    return ParaOptic(jnp.zeros(inputs), z2.reverse(at).named("parity"))


@with_types
def ascend(model: ParaOptic[Array, Array, Array]) -> Learner[Array, tuple[Array, Array], Array]:
    """Reverse derivative ascent, a sample at a time: `p ← p + R[f](p, x, y + f(p, x))`."""
    return supervised(model, ERROR, FLIP, rate=WHOLE)


@with_types
def majority(model: ParaOptic[Array, Array, Array]) -> Learner[Array, tuple[Array, Array], Array]:
    """The same for a batch: a bit is changed where more than half of the samples it matters to want it changed.

    Of a model in which no bit matters to two outputs of a sample, as in `table` and `parity`: changes add mod 2.
    """
    rows = Batched(model.optic)
    each = jax.vmap(model.optic.backward)
    count: Callable[[Array], Array] = lambda changes: jnp.sum(changes.astype(jnp.int32), axis=0)

    def votes(residual: Any, error: Any) -> Any:
        wanted, dx = each(residual, error)
        concerned, _ = each(residual, jnp.ones_like(error))
        return (count(wanted), count(concerned)), dx

    counting: Any = Optic.of(rows.forward, votes).named(model.name)
    return supervised(ParaOptic(model.params, counting), ERROR, _MAJORITY, rate=WHOLE)


def _decided(p: Array, votes: tuple[Array, Array]) -> Array:
    wanted, concerned = votes
    return jnp.where(2 * wanted > concerned, 1 - p, p)


_MAJORITY = _kept("majority", _decided)
