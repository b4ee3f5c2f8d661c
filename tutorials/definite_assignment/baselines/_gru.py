"""A GRU that reads a written-out tree: the recurrent network beside the recursive one, with as many parameters.

It is a fold as well, of the list of the tree's symbols: the structure is there to be inferred, and not given.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl import fold, Seq
from cdl_arch.folding import FromStart, gru
from cdl_arch.letters import letters_of


class GruReader(eqx.Module):
    """Symbols are embedded and read from the first to the last; the last state is read off by one linear map."""

    embedding: eqx.nn.Embedding
    rnn: FromStart[Float[Array, " width"], Float[Array, " width"]]
    head: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, symbols: int, width: int, *, dropout: float = 0.1, key: PRNGKeyArray) -> None:
        e, c, h = jr.split(key, 3)
        self.embedding = eqx.nn.Embedding(symbols, width, key=e)
        self.rnn = gru(width, width, key=c)
        self.head = eqx.nn.Linear(width, "scalar", key=h)
        self.dropout = eqx.nn.Dropout(dropout)

    @staticmethod
    def of_size(symbols: int, parameters: int, *, dropout: float = 0.1, key: PRNGKeyArray) -> "GruReader":
        """The reader whose number of parameters is the nearest to `parameters`.

        A reader of width `w` has `6w² + (symbols + 6)w + 1` of them.
        """
        linear = symbols + 6
        width = (math.sqrt(linear**2 + 24 * max(parameters - 1, 0)) - linear) / 12
        return GruReader(symbols, max(1, round(width)), dropout=dropout, key=key)

    def __call__(self, texts: Seq[Int[Array, ""]], *, key: PRNGKeyArray | None = None) -> Float[Array, " batch"]:
        """The logit of each text. `key`: for dropout, in training."""
        drop_in, drop_out = (None, None) if key is None else jr.split(key)
        values, lengths = jnp.asarray(texts.values), jnp.asarray(texts.lengths)
        inside = jnp.arange(values.shape[1])[None] < lengths[:, None]
        symbols = jnp.where(inside, letters_of(self.embedding.weight.shape[0], values, inside), 0)
        elements = jnp.take(self.embedding.weight, symbols, axis=0)
        elements = self.dropout(elements, key=drop_in, inference=key is None)
        last = fold(self.rnn, Seq(elements, lengths))
        return jax.vmap(self.head)(self.dropout(last, key=drop_out, inference=key is None))


def parameter_count(model: eqx.Module) -> int:
    """How many numbers there are to learn."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)))
