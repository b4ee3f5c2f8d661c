"""Networks that look letters up refuse one that is not in their table, where JAX would take another for it."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import pytest

from cdl import CdlError, Seq
from cdl_arch import moore, unfolding
from definite_assignment.baselines import GruReader


KEY = jr.key(0)
STATES = jnp.zeros((1, 3))
WRITER = unfolding.Decoder(2, 3, key=KEY)
READERS = {
    "moore": lambda word: moore.Recogniser(2, 3, key=KEY).odds(word),
    "decoder": lambda word: WRITER.log_prob(STATES, Seq(word[None], jnp.array([len(word)]))),
    "seq2seq": lambda word: unfolding.Seq2Seq(2, 3, key=KEY).read(Seq(word[None], jnp.array([len(word)]))),
    "gru": lambda word: GruReader(2, 3, key=KEY)(Seq(word[None], jnp.array([len(word)]))),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_letter_that_there_is_not_is_refused(reader: Any):
    """Eagerly for one below, compiled for one above; of a decoder the letter 2 would be the end."""
    with pytest.raises(CdlError, match="there are 2 letters, numbered from 0, and -1 is read"):
        READERS[reader](jnp.array([0, -1, 1]))
    with pytest.raises(RuntimeError, match="there are 2 letters, numbered from 0, and another number is read"):
        eqx.filter_jit(READERS[reader])(jnp.array([0, 1, 2]))


def test_what_is_beyond_the_end_of_a_list_is_not_read():
    long, short = Seq(jnp.array([[1, 0, 99]]), jnp.array([2])), Seq(jnp.array([[1, 0]]), jnp.array([2]))
    assert jnp.allclose(WRITER.log_prob(STATES, long), WRITER.log_prob(STATES, short))
    reader = GruReader(2, 3, key=KEY)
    assert jnp.allclose(reader(long), reader(short))
