"""One coalgebra that writes letters and scores them: `ana`, `unfold`, `likelihood` and `follow` of the same object."""

import itertools
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import ana, choose, Cons, Corpus, follow, likelihood, ListF, Nil, pack, to_list, unfold
from cdl.errors import ForeignLayer


LETTERS = 3


class Writer(eqx.Module):
    """Letters one after another; each goes into the state that the next is drawn from."""

    embed: jax.Array
    read: jax.Array

    def __call__(self, state: jax.Array) -> ListF[int, jax.Array]:
        scores = self.read @ state
        return choose(scores, Nil(), *(Cons(i, jnp.tanh(state + self.embed[i])) for i in range(LETTERS)))


WRITER = Writer(
    jnp.array([[0.5, -0.2], [0.1, 0.9], [-0.7, 0.3]]), jnp.array([[0.6, -0.1], [0.2, 0.4], [-0.3, 0.5], [0.1, 0.1]])
)
SEED = jnp.array([0.3, -0.4])


def by_hand(writer: Writer, seed: jax.Array, word: list[int]) -> Any:
    """Teacher forcing, written out."""
    state, total = seed, jnp.zeros(())
    for letter in [*word, None]:
        found = jax.nn.log_softmax(writer.read @ state)
        total = total + found[0 if letter is None else letter + 1]
        state = state if letter is None else jnp.tanh(state + writer.embed[letter])
    return total


WORDS = [[], [0], [2, 1, 1, 0], [1, 2]]


@pytest.mark.parametrize("word", WORDS, ids=str)
def test_a_word_is_as_likely_as_by_hand(word):
    found = likelihood(WRITER, SEED)(to_list(word))
    assert jnp.allclose(found, by_hand(WRITER, SEED, word), rtol=1e-6)


def test_words_of_a_length_have_the_chance_that_is_left():
    """All words of two letters and more, and those of fewer, have chance 1 together."""
    chance = lambda word: jnp.exp(likelihood(WRITER, SEED)(to_list(word)))
    fewer = sum(chance(word) for n in range(2) for word in map(list, itertools.product(range(LETTERS), repeat=n)))
    step = lambda state, i: jnp.tanh(state + WRITER.embed[i])
    go_on = lambda state: jax.nn.softmax(WRITER.read @ state)[1:]
    two = sum(go_on(SEED)[i] * go_on(step(SEED, i)).sum() for i in range(LETTERS))
    assert jnp.allclose(fewer + two, 1, rtol=1e-5)


def test_follow_is_its_likelihood_in_value_and_gradient():
    forest = pack(ListF, list(map(to_list, WORDS)))
    seeds = jnp.stack([SEED, -SEED, 2 * SEED, SEED])

    def slow(writer: Writer, seeds: jax.Array) -> Any:
        return sum(by_hand(writer, s, w) for s, w in zip(seeds, WORDS, strict=True))

    compiled = eqx.filter_jit(eqx.filter_value_and_grad(lambda both: follow(both[0], forest, both[1]).sum()))
    value, slope = compiled((WRITER, seeds))
    wanted, by = eqx.filter_value_and_grad(lambda both: slow(*both))((WRITER, seeds))
    assert jnp.allclose(value, wanted, rtol=1e-5)
    assert all(jnp.allclose(x, y, atol=1e-5) for x, y in zip(jax.tree.leaves(slope), jax.tree.leaves(by), strict=True))


def test_what_it_writes_is_as_likely_as_it_says():
    grown = unfold(WRITER, jnp.stack([SEED] * 6), nodes=12, key=jax.random.key(1))
    done = [t for t in range(6) if not bool(grown.cut[t])]
    assert len(done) > 2
    words = [grown.elements.values[t, : grown.elements.lengths[t]].tolist() for t in done]
    found = follow(WRITER, Corpus(ListF, list(map(to_list, words)))[:], jnp.stack([SEED] * len(done)))
    assert jnp.allclose(found, grown.log_prob.sum(1)[jnp.array(done)], rtol=1e-5)
    keys = [jax.random.fold_in(jax.random.key(1), t) for t in done]
    assert [ana(WRITER, key=key)(SEED) for key in keys] == list(map(to_list, words))


def test_a_letter_that_is_not_written_has_no_chance():
    word = to_list([0, 7])
    assert likelihood(WRITER, SEED)(word) == -math.inf
    assert follow(WRITER, pack(ListF, [word, to_list([1])]), jnp.stack([SEED] * 2))[0] == -math.inf


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int16, np.uint32, np.int32])
def test_a_letter_is_compared_as_a_number_and_not_in_a_narrow_type(kind):
    def writer(state: Any) -> Any:
        return choose(jnp.zeros(3), Nil(), Cons(kind(0), state), Cons(kind(1), state))

    for letter in (256, -256, 65536, -1, 1, 0):
        word = to_list([letter])
        found = follow(writer, pack(ListF, [word]), SEED[None])[0]
        assert found == likelihood(writer, SEED)(word)
        assert (found > -math.inf) == (letter in (0, 1))


def test_what_is_not_a_whole_number_is_not_a_letter():
    writer = lambda state: choose(jnp.zeros(3), Nil(), Cons(0, state), Cons(1, state))
    assert likelihood(writer, SEED)(to_list([True])) == -math.inf
    assert likelihood(writer, SEED)(to_list([1.0])) == -math.inf


@pytest.mark.parametrize("make", [lambda i: i, lambda i: np.int32([i]), lambda i: jnp.array([[i]]), jnp.int32])
def test_letters_are_of_one_shape_or_refused(make):
    writer = lambda state: choose(jnp.zeros(3), Nil(), Cons(0, state), Cons(make(1), state))
    ways = (
        lambda word: likelihood(writer, SEED)(word),
        lambda word: follow(writer, pack(ListF, [word]), SEED[None])[0],
    )
    for way, letter in itertools.product(ways, (1, np.int32([1]))):
        if np.shape(make(1)) == np.shape(letter) == ():
            assert way(to_list([letter])) > -math.inf
        else:
            with pytest.raises(ForeignLayer, match=r"a `Cons` .* has a letter of shape \(.*\), and the tree's"):
                way(to_list([letter]))


def test_layers_that_nothing_tells_apart_are_refused():
    def twice(state: Any) -> Any:
        return choose(jnp.zeros(3), Nil(), Cons(1, state), Cons(1, state))

    def real(state: Any) -> Any:
        return choose(jnp.zeros(3), Nil(), Cons(1.0, state), Cons(2.0, state))

    for coalg in (twice, real):
        with pytest.raises(ForeignLayer, match=r"2 are a `Cons` of this shape: .* or several that differ in a whole"):
            likelihood(coalg, SEED)(to_list([1]))
