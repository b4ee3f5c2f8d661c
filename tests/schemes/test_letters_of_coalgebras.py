"""One coalgebra that writes letters and scores them: `ana`, `unfold`, `likelihood` and `follow` of the same object."""

import itertools
import math
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few
from refused_calls import refused, table

from cdl import (
    ana,
    Base,
    choose,
    Cons,
    Corpus,
    follow,
    Fork,
    Leaf,
    likelihood,
    ListF,
    Nil,
    pack,
    to_list,
    TreeF,
    unfold,
)
from cdl.errors import ForeignLayer, PayloadMismatch


LETTERS = 3
X = TypeVar("X", covariant=True)


class Plan:
    """Floor plans."""


class Room(Base[Plan, Never]):
    kind: int
    area: float


class Cut(Base[Plan, X], Generic[X]):
    axis: int
    first: X
    second: X


PlanF = Union[Room, Cut[X]]


class Writer(eqx.Module):
    """Letters one after another; each goes into the state that the next is drawn from."""

    embed: jax.Array
    read: jax.Array

    def __call__(self, state: jax.Array) -> ListF[int, jax.Array]:
        scores = self.read @ state
        return choose(scores, Nil(), *(Cons(i, jnp.tanh(state + self.embed[i])) for i in range(LETTERS)))


WRITER = Writer(
    jnp.array([[0.5, -0.2], [0.1, 0.9], [-0.7, 0.3]]),
    jnp.array([[0.6, -0.1], [0.2, 0.4], [-0.3, 0.5], [0.1, 0.1]]),
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


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32], ids=lambda kind: kind.__name__)
def test_follow_compares_letters_as_numbers_not_in_a_narrow_type(kind):
    def writer(state: Any) -> Any:
        return choose(jnp.zeros(3), Nil(), Cons(kind(0), state), Cons(kind(1), state))

    words = [to_list([letter]) for letter in (256, -256, 65536, -1, 1, 0)]
    found = follow(writer, pack(ListF, words), jnp.stack([SEED] * 6)).tolist()
    assert found == [likelihood(writer, SEED)(word) for word in words]
    assert found[:4] == [-math.inf] * 4 != found[2:]
    for letter in (True, 1.0):
        assert likelihood(writer, SEED)(to_list([letter])) == -math.inf


def as_both(coalg: Any, tree: Any, wanted: Any, payload: Any = None) -> None:
    """`likelihood` and `follow` agree in value and in gradient, in the scores and in the seed."""
    signature = TreeF if isinstance(tree, Leaf | Fork) else ListF
    forest = pack(signature, [tree])
    scores = jnp.array([0.3, -0.2])
    slow = lambda both: likelihood(lambda s: coalg(both[0], s), both[1], payload=payload)(tree)
    fast = lambda both: follow(lambda s: coalg(both[0], s), forest, both[1][None], payload=payload)[0]
    (x, dx), (y, dy) = (eqx.filter_value_and_grad(way)((scores, SEED)) for way in (slow, fast))
    assert x == pytest.approx(wanted, rel=1e-5)
    assert y == pytest.approx(wanted, rel=1e-5)
    assert all(jnp.allclose(p, q, atol=1e-6) for p, q in zip(dx, dy, strict=True))


def chance(*chosen: int) -> float:
    """The log-probability of a choice of the two layers at every node."""
    return float(sum(jax.nn.log_softmax(jnp.array([0.3, -0.2]))[i] for i in chosen))


ONE = {
    "boolean": (lambda a, s: choose(a, Nil(), Cons(True, s)), [True, True], [True, False]),
    "array": (
        lambda a, s: choose(a, Nil(), Cons(np.array([0, 1]), s)),
        [np.array([0, 1])],
        [np.array([0, 2])],
    ),
    "another kind": (lambda a, s: choose(a, Nil(), Cons(1, s)), [1], [True]),
    "of the seed": (lambda a, s: choose(a, Nil(), Cons((s[0] > 0).astype(int), s)), [1, 1], [1, 0]),
}


@pytest.mark.parametrize(("coalg", "grown", "never"), few(ONE.values(), 2), ids=ONE)
def test_the_letter_of_a_single_proposal_is_compared(coalg, grown, never):
    as_both(coalg, to_list(grown), chance(*[1] * len(grown), 0))
    as_both(coalg, to_list(never), -math.inf)


def test_likelihood_scores_a_single_letter_by_a_payload_function():
    coalg = lambda a, s: choose(a, Leaf(2), Fork(s, s))
    distance = lambda proposed, node: (
        -jnp.asarray(abs(proposed.label - node.label), float) if isinstance(node, Leaf) else 0.0
    )
    as_both(coalg, Fork(Leaf(2), Leaf(5)), chance(1, 0, 0) - 3.0, distance)


def test_real_payloads_are_taken_as_given():

    as_both(lambda a, s: choose(a, Nil(), Cons(s, s)), to_list([2, 0]), chance(1, 1, 0))


def test_a_score_that_is_nan_is_a_log_probability_that_is_nan():
    coalg: Any = lambda h: choose(jnp.array([jnp.nan, 0.0]), Leaf(1.0), Fork(h, h))
    assert jnp.isnan(likelihood(coalg, SEED)(Leaf(1.0)))
    assert jnp.isnan(follow(coalg, pack(TreeF, [Leaf(1.0)]), SEED[None])).all()


def of_letters(*letters: Any) -> Any:
    return lambda state: choose(jnp.zeros(len(letters) + 1), Nil(), *(Cons(x, state) for x in letters))


def of_rooms(kind: Any) -> Any:
    return lambda h: choose(h[:2], Room(kind, 1.0), Cut(0, h, h))


PLAN: Any = Cut(0, Room(1, 2.0), Room(2, 3.0))
WORD = to_list([1])


@table(
    (
        lambda: likelihood(of_letters(0, np.int32([1])), SEED)(WORD),
        ForeignLayer,
        "`Cons` letter shape",
    ),
    (
        lambda: follow(of_letters(0, jnp.array([[1]])), pack(ListF, [WORD]), SEED[None]),
        ForeignLayer,
        "`Cons` letter shape",
    ),
    (
        lambda: likelihood(of_letters(0, 1), SEED)(to_list([np.int32([1])])),
        ForeignLayer,
        "`Cons` letter shape",
    ),
    (lambda: likelihood(of_letters(1, 1), SEED)(WORD), ForeignLayer, "2 `Cons` differ"),
    (lambda: likelihood(of_letters(1.0, 2.0), SEED)(WORD), ForeignLayer, "2 `Cons` differ"),
    (
        lambda: likelihood(of_rooms(1.5), SEED)(PLAN),
        PayloadMismatch,
        "`1.5` `Room.kind` `int` `payload=`",
    ),
    (
        lambda: follow(of_rooms(SEED), pack(PlanF, [PLAN]), SEED[None]),
        PayloadMismatch,
        "`float32` `Room.kind`",
    ),
    (lambda: likelihood(of_rooms("bed"), SEED)(PLAN), PayloadMismatch, "`'bed'` `Room.kind`"),
)
def test_likelihoods_refuse(call, error, words):
    refused(call, error, words)


def test_likelihood_takes_any_proposal_with_a_payload_function():
    payload: Any = lambda mine, given: -((mine.area - given.area) ** 2) if isinstance(given, Room) else 0.0
    assert jnp.isfinite(likelihood(of_rooms(1.5), SEED, payload=payload)(PLAN))
    coalg: Any = lambda h: choose(h, Leaf(h[0]), Fork(h, h))  # where no letter is annotated
    assert jnp.isfinite(likelihood(coalg, SEED)(Fork(Leaf(1), Leaf(2))))
