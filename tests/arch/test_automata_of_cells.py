"""The automaton that a machine behaves like: exactly where it is finite, and told how well where it is trained."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from cdl import Automaton, MealyF, MooreF, run
from cdl.machines import bisimilar, distinguish, minimise
from cdl_arch.automata import extract


LETTERS = jnp.arange(2)
# Words whose number of ones is divisible by three, as a machine on angles, of which no two are ever quite equal.
THIRD = Automaton([[0, 1], [1, 2], [2, 0]], [True, False, False])


TURN = jnp.array([0, 2 * jnp.pi / 3])


def turning(state: Any) -> Any:
    angle, steps = state
    return MooreF(jnp.cos(angle), lambda one: (angle + TURN[one] + 1e-3 / (1 + steps), steps + 1))


def answering(state: Any) -> Any:
    shown = turning(state)
    return MealyF(lambda one: (jnp.cos(shown.step(one)[0]), shown.step(one)))


def upright(x: Any) -> Any:
    return x > 0.5


BEGIN = jnp.array(0.0), jnp.array(0.0)


def test_a_machine_on_vectors_has_the_automaton_that_it_behaves_like(getkey):
    found = extract(turning, BEGIN, LETTERS, upright, tests=3, key=getkey())
    assert distinguish(found.automaton, THIRD) is None
    assert found.automaton.states == minimise(found.automaton).states == 3
    assert found.access == ((), (1,), (1, 1))
    assert (found.agreement, found.differs) == (1.0, None)
    assert str(found) == (
        "Automaton(Moore, 3 states, 2 letters, start 0): agrees with 100.00% of the machine's answers to 1000 words of "
        "20 letters"
    )


def test_a_mealy_machine_has_one_too(getkey):
    found = extract(answering, BEGIN, LETTERS, upright, tests=3, key=getkey())
    assert bisimilar(found.automaton, Automaton(THIRD.next, THIRD.outputs[THIRD.next]))


def test_tests_that_are_too_short_show_in_the_agreement(getkey):
    """Two letters do not tell five zeros to come from four."""
    five = Automaton([[min(n + 1, 5), 0] for n in range(6)], np.arange(6) == 5)
    found = extract(five, 0, LETTERS, lambda x: x, tests=2, held_out=200, key=getkey())
    assert found.automaton.states < 6
    assert found.agreement < 1
    word = jnp.array(found.differs)
    ours, theirs = (run(m, 0, word)[0].tolist() for m in (found.automaton, five))
    assert ours != theirs
    better = extract(five, 0, LETTERS, lambda x: x, tests=5, held_out=200, key=getkey())
    assert bisimilar(better.automaton, five)
    assert better.agreement == 1


def test_answers_that_are_nan_are_one_answer_and_agree(getkey):
    """A machine that is broken from the second letter on, by one NaN or the other."""
    broken = lambda s: MooreF(jnp.where(s == 0, 1.0, jnp.where(s == 1, jnp.nan, -jnp.nan)), lambda i: 1 + s % 2)
    found = extract(broken, 0, LETTERS, lambda x: x, tests=2, held_out=20, key=getkey())
    assert found.automaton.states == 2
    assert found.agreement == 1
