"""A recogniser: reads letters one by one and says, before each and at the end, how likely the word is in a language.

Parameters: a state to begin in, a vector for each letter, a gated cell and a readout. One layer: `O × [I, X]`. The
coalgebra that they make is a Moore machine, so `cdl.run` runs it, `cdl.start` feeds it, and `automata` reads the
automaton that it has learnt.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

import cdl


State = Float[Array, " width"]
Words = tuple[Int[Array, "words time"], Bool[Array, "words prefixes"]]


class Recogniser(eqx.Module):
    """A gated recurrent cell as a Moore machine; its output is the logarithm of the odds that a word belongs."""

    start: State
    letters: eqx.nn.Embedding
    cell: eqx.nn.GRUCell
    read: eqx.nn.Linear

    def __init__(self, letters: int, width: int, *, key: PRNGKeyArray) -> None:
        a, b, c = jr.split(key, 3)
        self.start = jnp.zeros(width)
        self.letters = eqx.nn.Embedding(letters, width, key=a)
        self.cell = eqx.nn.GRUCell(width, width, key=b)
        self.read = eqx.nn.Linear(width, "scalar", key=c)

    def __call__(self, state: State, /) -> cdl.MooreF[Int[Array, ""], Float[Array, ""], State]:
        return cdl.MooreF(self.read(state), lambda letter: self.cell(self.letters(letter), state))

    def odds(self, word: Int[Array, " time"]) -> Float[Array, " prefixes"]:
        """What it says of each prefix of a word, the empty one first."""
        outputs, _ = cdl.run(self, self.start, word)
        return outputs


def loss(model: Recogniser, batch: Words, key: PRNGKeyArray | None = None) -> Float[Array, ""]:
    """The mean surprise at which prefixes of some words, the empty one first, belong to the language."""
    del key
    words, belongs = batch
    odds = jax.vmap(model.odds)(words)
    return jnp.mean(jnp.where(belongs, jax.nn.softplus(-odds), jax.nn.softplus(odds)))
