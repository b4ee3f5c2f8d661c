"""The full recurrent network: a Mealy machine, which answers every input.

| the mathematics                                            | here                                                   |
| ---------------------------------------------------------- | ------------------------------------------------------ |
| the functor `[I, O × X]`                                   | `MealyF`                                               |
| `P × S → [I, O × S] ≅ P × S × I → O × S`                   | `FullRNN`: `cell`, and `read` of the state after it    |
| the map into the final coalgebra, `S → (I⁺ → O)`, causal   | `run`, `start`; `respond` for one word by definition   |

`sums` has data to learn from: pairs of binary numbers, the lowest bit first, and the bits of their sums. The machine
that adds has two states, whether a one is carried or not.

(Gavranović et al., *Categorical Deep Learning*, 2024, examples 2.11 and I.4.)

Examples:
    >>> from cdl_arch.mealy import FullRNN, sums
    >>> net = FullRNN(2, 4, "scalar", key=jax.random.key(0))
    >>> pairs, bits = sums(3, 5, key=jax.random.key(1))
    >>> answers, state = cdl.run(net, jnp.zeros(4), pairs[0])
    >>> answers.shape
    (5,)
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from cdl import MealyF, run


Vector = Float[Array, " width"]
Input = Float[Array, " size"]
Output = Float[Array, " *answer"]


class FullRNN(eqx.Module):
    """A recurrent cell that answers with a linear map of its state."""

    init: Vector
    cell: Callable[[Input, Vector], Vector]
    read: eqx.nn.Linear

    def __init__(self, size: int, width: int, answer: Any, *, dtype: Any = None, key: PRNGKeyArray) -> None:
        a, b = jr.split(key)
        self.init = jnp.zeros(width, dtype)
        self.cell = eqx.nn.GRUCell(size, width, dtype=dtype, key=a)
        self.read = eqx.nn.Linear(width, answer, dtype=dtype, key=b)

    def __call__(self, state: Vector, /) -> MealyF[Input, Output, Vector]:
        def step(given: Input) -> tuple[Output, Vector]:
            after = self.cell(given, state)
            return self.read(after), after

        return MealyF(step)

    def answers(self, word: Float[Array, "time size"]) -> Float[Array, " time *answer"]:
        """What it answers to each input of a word."""
        return run(self, self.init, word)[0]


def sums(
    count: int, bits: int, *, key: PRNGKeyArray
) -> tuple[Float[Array, "count bits 2"], Float[Array, "count bits"]]:
    """Pairs of random binary numbers, the lowest bit first, and as many bits of their sums.

    **Arguments:** `count`: how many pairs of numbers. `bits`: of each number. `key`: for the numbers.
    """
    pairs = jr.bernoulli(key, 0.5, (count, bits, 2)).astype(jnp.int32)

    def adds(carry: Any, pair: Any) -> Any:
        total = carry + pair.sum(-1)
        return total // 2, total % 2

    _, answers = jax.lax.scan(adds, jnp.zeros(count, jnp.int32), pairs.swapaxes(0, 1))
    return pairs.astype(jnp.float32), answers.T.astype(jnp.float32)
