"""The Moore network: a recogniser, which says before each letter and at the end how likely a word is in a language.

| the mathematics                                          | here                                                     |
| -------------------------------------------------------- | -------------------------------------------------------- |
| the functor `O × [I, X]`                                 | `MooreF`                                                 |
| `P × S → O × [I, S] ≅ (P × S → O) × (P × S × I → S)`     | `Recogniser`: `read`, and `cell` after `letters`         |
| the map into the final coalgebra, `S → (I* → O)`         | `run`, `start`; `respond` for one word by definition     |

`every_word` has data to learn from: all words of one length, and which of their prefixes are in the language of a
finite automaton, which is a Moore machine itself. `automata` reads the automaton that has been learnt.

(Gavranović et al., *Categorical Deep Learning*, 2024, example I.5.)

Examples:
    >>> from cdl_arch.moore import every_word, Recogniser
    >>> even = cdl.Automaton([[0, 1], [1, 0]], [True, False])
    >>> words, accepted = every_word(even, 2)
    >>> words.tolist(), accepted.tolist()
    ([[0, 0], [0, 1], [1, 0], [1, 1]], [[True, True, True], [True, True, False], [True, False,
    False], [True, False, True]])
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

import cdl

from .letters import letters_of


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
        count = self.letters.weight.shape[0]
        outputs, _ = cdl.run(self, self.start, letters_of(count, word))
        return outputs


def every_word(language: cdl.Automaton, time: int) -> Words:
    """All words of one length, and which of their prefixes, the empty one first, the automaton accepts.

    **Arguments:** `language`: an automaton. `time`: how long the words are.
    """
    words = jnp.array(list(np.ndindex(*[language.letters] * time)), jnp.int32)
    belongs: Any = jax.vmap(lambda word: cdl.run(language, language.start, word)[0])(words)
    return words, belongs


def loss(model: Recogniser, batch: Words, key: PRNGKeyArray | None = None) -> Float[Array, ""]:
    """The mean surprise at which prefixes of some words, the empty one first, belong to the language.

    **Arguments:** `model`: what reads words. `batch`: words, and which prefixes are in the language, as `every_word`
    gives them. `key`: not used; `train` gives one.
    """
    del key
    words, belongs = batch
    odds = jax.vmap(model.odds)(words)
    return jnp.mean(jnp.where(belongs, jax.nn.softplus(-odds), jax.nn.softplus(odds)))
