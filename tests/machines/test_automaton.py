"""Finite machines: told apart by words, minimised, and run like any other machine; against brute force."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cdl import ana, Automaton, MealyF, MooreF, run, Seq
from cdl.machines import bisimilar, distinguish, minimise, respond, tabulate


@st.composite
def automata(draw: Any, mealy: bool | None = None, letters: int = 2, most: int = 5) -> Automaton:
    """Small ones, so that many have states that cannot be reached or told apart."""
    states = draw(st.integers(1, most))
    kind = draw(st.booleans()) if mealy is None else mealy
    after = draw(st.lists(st.integers(0, states - 1), min_size=states * letters, max_size=states * letters))
    count = states * letters if kind else states
    outputs = np.array(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    table = np.array(after).reshape(states, letters)
    return Automaton(table, outputs.reshape(table.shape) if kind else outputs, draw(st.integers(0, states - 1)))


def answers(a: Automaton, word: Any, state: int | None = None) -> list[int]:
    """What an automaton answers, straight from its tables."""
    s, found = a.start if state is None else state, []
    for i in word:
        found.append(int(a.outputs[s, i] if a.is_mealy else a.outputs[s]))
        s = int(a.next[s, i])
    return found if a.is_mealy else [*found, int(a.outputs[s])]


def words(letters: int, longest: int) -> Any:
    """Every word, the shorter first."""
    return itertools.chain.from_iterable(itertools.product(range(letters), repeat=n) for n in range(longest + 1))


def classes(a: Automaton) -> int:
    """How many states that are reached differ in some answer, by trying words; 5 letters tell 5 states apart."""
    reached = {a.start}
    while (more := reached | {int(s) for r in reached for s in a.next[r]}) != reached:
        reached = more
    longest = list(itertools.product(range(a.letters), repeat=5))
    return len({tuple(tuple(answers(a, w, s)) for w in longest) for s in reached})


@settings(max_examples=60)
@given(st.data())
def test_the_word_that_distinguishes_is_the_shortest_there_is(data):
    a = data.draw(automata())
    b = data.draw(automata(mealy=a.is_mealy))
    word = distinguish(a, b)
    shortest = next((w for w in words(2, 7) if answers(a, w) != answers(b, w)), None)
    if word is None:
        assert shortest is None
        assert bisimilar(a, b)
    else:
        assert answers(a, word) != answers(b, word)
        assert answers(a, word)[:-1] == answers(b, word)[:-1]
        assert shortest is None or len(shortest) == len(word)
        assert not bisimilar(a, b)


@settings(max_examples=40)
@given(automata())
def test_minimise_is_bisimilar_and_has_a_state_for_each_class(a):
    small = minimise(a)
    assert distinguish(a, small) is None
    assert small.states == classes(a)
    assert small.start == 0
    assert eqx.tree_equal(minimise(small), small)


@settings(max_examples=40)
@given(automata(), st.randoms(use_true_random=False))
def test_bisimilar_automata_have_the_same_minimal_one(a, rng):
    """Every state twice, each transition to either of the two, and all of it in another order."""
    order = list(range(2 * a.states))
    rng.shuffle(order)
    place = np.argsort(order)
    old = np.array(order) % a.states
    after = np.array([[place[s + a.states * rng.randint(0, 1)] for s in a.next[r]] for r in old])
    b = Automaton(after, a.outputs[old], int(place[a.start]))
    assert bisimilar(a, b)
    assert eqx.tree_equal(minimise(a), minimise(b))


@settings(max_examples=30)
@given(st.data())
def test_bisimilar_holds_just_where_minimal_automata_are_equal(data):
    a, b = (data.draw(automata(mealy=False)) for _ in "ab")
    same = bool(eqx.tree_equal(minimise(a), minimise(b)))
    assert bisimilar(a, b) is same


PARITY = Automaton([[0, 1], [1, 0]], [False, True])


def ends_with_01(mealy: bool) -> Automaton:
    after = np.array([[1, 0], [1, 2], [1, 0]])
    return Automaton(after, after == 2 if mealy else [False, False, True])


@pytest.mark.parametrize("mealy", [False, True])
def test_an_automaton_runs_as_any_machine(mealy):
    a = ends_with_01(mealy)
    word = np.array([0, 1, 1, 0, 0, 1])
    assert run(a, a.start, word)[0].tolist() == answers(a, word)
    assert [bool(o) for o in respond(ana(a)(a.start), word.tolist())] == answers(a, word)
    batch = Seq(np.stack([word, np.where(np.arange(6) < 2, word, 99)]), [6, 2])  # nobody reads the padding
    outputs, last, states = run(a, jnp.zeros(2, jnp.int32), batch, states=True)
    assert outputs.values[1, : int(outputs.lengths[1])].tolist() == answers(a, word[:2])
    assert last.tolist() == [2, 2]
    assert states.values[0].tolist() == [0, 1, 2, 0, 1, 1, 2]


def test_a_machine_is_tabulated_as_far_as_it_is_reached():
    count = lambda n: MooreF(n == 2, lambda i: (n + i) % 3)
    table, states = tabulate(count, 0, [1, 2])
    assert states == [0, 1, 2]
    assert eqx.tree_equal(table, Automaton(np.array([[1, 2], [2, 0], [0, 1]], np.int32), [False, False, True]))
    echo = lambda last: MealyF(lambda i: (last, i))
    table, states = tabulate(echo, "a", ["a", "b"])
    assert states == ["a", "b"]
    assert table.outputs.tolist() == [["a", "a"], ["b", "b"]]


@pytest.mark.parametrize("mealy", [False, True])
def test_nan_is_the_same_output_as_nan(mealy):
    """Whatever its bits are: two states that both answer with it are told apart by other answers alone."""
    after = np.array([[1, 2], [0, 2], [2, 2]])
    outputs = np.array([np.nan, -np.nan, 1.0])
    a = Automaton(after, np.stack([outputs, outputs], 1) if mealy else outputs)
    assert bisimilar(a, a)
    small = minimise(a)
    assert small.states == 2
    assert bisimilar(a, small)
    other = Automaton(after, np.where(np.isnan(a.outputs), 0.0, a.outputs))
    assert distinguish(a, other) == ((0,) if mealy else ())


def test_run_looks_at_letters_that_are_known_at_run_time():
    flip = Automaton(np.array([[0, 1], [1, 0]]), np.array([0, 1]))
    answers = jax.jit(lambda word: run(flip, 0, word)[0])
    assert answers(jnp.array([0, 1])).tolist() == [0, 0, 1]
    with pytest.raises(Exception, match="letter"):
        jax.block_until_ready(answers(jnp.array([0, 2])))
    batch = jax.jit(lambda words, lengths: run(flip, jnp.zeros(2, int), Seq(words, lengths))[0].values)
    padded = jnp.array([[1, 7], [1, 1]])
    assert batch(padded, jnp.array([1, 2])).tolist() == [[0, 1, 0], [0, 1, 0]]
    with pytest.raises(Exception, match="letter"):
        jax.block_until_ready(batch(padded, jnp.array([2, 2])))
