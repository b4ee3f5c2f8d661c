"""A choice among branches, made or mixed: one network is a candidate, and the net of all candidates.

| the choice                    | its form             | what `mix` gives                    |
| ----------------------------- | -------------------- | ----------------------------------- |
| one branch                    | a whole number       | that branch, by `lax.switch`        |
| a point of the simplex        | a vector of floats   | the sum of all branches, weighted   |

A code is one choice for each place: `int[places]`, or `float[places, most]` where the choices are mixed. A table of
numbers is read at a choice by `read`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def made(choice: Array) -> bool:
    """Whether one branch is chosen, and not a mixture."""
    return jnp.issubdtype(choice.dtype, jnp.integer)


def mix(choice: Array, branches: Sequence[Callable[[Any], Any]], x: Any) -> Any:
    """What the chosen branch makes of `x`, or the weighted sum of what all make of it."""
    if made(choice):
        return jax.lax.switch(choice, branches, x)
    outs = [branch(x) for branch in branches]
    return jax.tree.map(lambda *leaves: sum(choice[i] * leaf for i, leaf in enumerate(leaves)), *outs)


def read(choice: Array, table: Float[Array, " rows"]) -> Float[Array, ""]:
    """The number at a choice; of a mixture, the mean."""
    return table[choice] if made(choice) else choice[: len(table)] @ table
