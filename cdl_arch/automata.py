"""The finite automaton that a machine behaves like, read off by words.

| the mathematics                                        | here                                                      |
| ------------------------------------------------------ | --------------------------------------------------------- |
| `s ~ t` where both answer each word of `k` letters alike | states whose answers to all words up to `tests` are equal |
| a word that leads to each class                        | `Extraction.access`                                       |
| the quotient, as far as it is reached                  | `Extraction.automaton`                                    |

The states of a trained cell are vectors, and no two words may lead to the same one. Two of them count as one state here
if the machine answers the same to every word up to a length, all of which are run at once. What comes out is the
machine's own automaton if no longer word would tell more states apart: that is not known, so it is tried on words that
had no part in the making, and `agreement` is the share of these that it answers as the machine does.

Examples:
    >>> from cdl_arch.automata import extract
    >>> fours = lambda n: cdl.MooreF(n % 2 == 0, lambda letter: (n + letter) % 4)
    >>> found = extract(
    ...     fours, jnp.array(0), jnp.array([0, 1]), lambda out: out, key=jax.random.key(0)
    ... )
    >>> found.automaton.states, float(found.agreement)
    (2, 1.0)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import PRNGKeyArray

import cdl


Word = tuple[int, ...]


@dataclass(frozen=True)
class Extraction:
    """An automaton out of a machine, and how far it can be trusted."""

    automaton: cdl.Automaton
    access: tuple[Word, ...]  # a word that leads to each state
    agreement: float  # the share of answers to the held-out words that are the machine's
    held_out: int  # how many words that was
    longest: int  # and how long they were
    differs: Word | None  # the first of them with another answer

    def __str__(self) -> str:
        return (
            f"{self.automaton}: agrees with {self.agreement:.2%} of the machine's answers to {self.held_out} words of "
            f"{self.longest} letters"
        )


def extract(
    machine: Callable[[Any], Any],
    state: Any,
    letters: Any,
    decide: Callable[[Any], Any],
    *,
    tests: int = 4,
    max_states: int = 100,
    held_out: int = 1000,
    length: int = 20,
    key: PRNGKeyArray,
) -> Extraction:
    """The finite automaton that a machine behaves like from a state.

    **Arguments:** `machine`: a Moore or Mealy machine. `letters`: the inputs that stand for the letters, along a
    leading axis. `decide`: from an output to a number or truth value, which is what has to be equal. `tests`: how long
    the words are by which states are told apart. `max_states`: how many there may be. `held_out`, `length`: how many
    random words the automaton is tried on, and how long; they are made longer than those that it was made from.

    **Raises:** `TreeTooLarge` where more than `max_states` states differ.
    """
    count = jax.tree.leaves(letters)[0].shape[0]
    words = np.array(list(np.ndindex(*[count] * tests)), np.int32).reshape(-1, tests)
    begins = jax.tree.map(jnp.asarray, state)
    known = {_signature(_probe(machine, begins, letters, words, decide)): 0}
    access: list[Word] = [()]
    rows, outputs, waiting = [], [], [begins]
    for number, at in enumerate(waiting):
        shown, answers, after = jax.device_get(_expand(machine, at, letters, decide))
        outputs.append(np.asarray(shown if answers is None else answers))
        row = []
        for i in range(count):
            to = jax.tree.map(lambda x: x[i], after)  # noqa: B023
            signature = _signature(_probe(machine, to, letters, words, decide))
            if signature not in known:
                if len(known) == max_states:
                    raise cdl.errors.TreeTooLarge(
                        f"more than {max_states} states answer the words of up to {tests} letters differently: the "
                        "machine is not finite, or not well trained. Give shorter `tests`, or a larger `max_states`."
                    )
                known[signature] = len(known)
                access.append((*access[number], i))
                waiting.append(to)
            row.append(known[signature])
        rows.append(row)
    automaton = cdl.Automaton(np.array(rows), np.stack(outputs))
    length = max(length, max(map(len, access)) + tests + 2)
    tried = np.asarray(jr.randint(key, (held_out, length), 0, count))
    same, differs = _agreement(machine, begins, letters, decide, automaton, tried)
    return Extraction(automaton, tuple(access), same, held_out, length, differs)


@eqx.filter_jit
def _probe(machine: Any, state: Any, letters: Any, words: Any, decide: Any) -> Any:
    """What the machine answers from a state to each word and, on the way, to all that are shorter."""
    answers: Any = jax.vmap(lambda word: cdl.run(machine, state, jax.tree.map(lambda x: x[word], letters))[0])(words)
    decided: Any = jax.vmap(jax.vmap(decide))
    return decided(answers)


@eqx.filter_jit
def _expand(machine: Any, state: Any, letters: Any, decide: Any) -> Any:
    """What a state shows, or what it answers to each letter; and the states that follow."""
    layer = machine(state)
    answers = jax.vmap(layer.step)(letters)
    if isinstance(layer, cdl.MooreF):
        return decide(layer.out), None, answers
    return None, jax.vmap(decide)(answers[0]), answers[1]


def _signature(answers: Any) -> bytes:
    found = np.asarray(answers)
    if np.issubdtype(found.dtype, np.inexact):  # there is one NaN, and one zero
        found = np.where(found == found, found, np.nan) + 0.0
    return found.tobytes()


def _agreement(
    machine: Any, state: Any, letters: Any, decide: Any, automaton: cdl.Automaton, words: Any
) -> tuple[float, Word | None]:
    """The share of equal answers, and the first word with another."""
    theirs = np.asarray(_probe(machine, state, letters, words, decide))
    given = np.arange(automaton.letters)
    ours = np.asarray(_probe(automaton, jnp.int32(automaton.start), given, words, _same))
    same = (theirs == ours) | ((theirs != theirs) & (ours != ours))
    wrong = np.flatnonzero(~same.all(axis=1))
    return float(same.mean()), tuple(words[wrong[0]].tolist()) if wrong.size else None


def _same(x: Any) -> Any:
    return x
