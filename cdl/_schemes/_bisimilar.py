"""When two finite machines behave alike, and the smallest that does.

| the mathematics                                 | here                                    |
| ----------------------------------------------- | --------------------------------------- |
| a bisimulation; a word that shows there is none | `bisimilar(a, b)`, `distinguish(a, b)`  |
| the quotient by bisimilarity                    | `minimise(a)`                           |

Two machines are bisimilar just where their minimal ones are equal: states there are numbered in the order in which
words, the shorter first, reach them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._functors.usage import with_usage
from ..errors import CdlError
from .automaton import _equal, _known, Automaton


Word = tuple[int, ...]


@with_usage
def distinguish(a: Automaton, b: Automaton) -> Word | None:
    """The shortest word on which two automata answer differently; `None` where there is none.

    It visits the pairs of states that the same word leads to, in the order of words. Where all agree, these pairs are a
    bisimulation.

    **Arguments:** `a`, `b`: automata over the same letters.

    **Raises:** `CdlError` where the two do not read the same letters, or are not of a kind.

    Examples:
        >>> even = cdl.Automaton([[0, 1], [1, 0]], [True, False])
        >>> once = cdl.Automaton([[0, 1], [1, 1]], [True, False])
        >>> cdl.machines.distinguish(even, once)
        (1, 1)
    """
    _expect_alike(a, b)
    first = (a.start, b.start)
    came: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {first: None}
    order = [first]
    for pair in order:
        s, t = pair
        same = np.atleast_1d(_equal(a.outputs[s], b.outputs[t]))
        if not same.all():
            return (*_path(came, pair), *((int(np.argmin(same)),) if a.is_mealy else ()))
        for i, after in enumerate(zip(a.next[s].tolist(), b.next[t].tolist(), strict=True)):
            if after not in came:
                came[after] = pair, i
                order.append(after)
    return None


@with_usage
def bisimilar(a: Automaton, b: Automaton) -> bool:
    """Whether two automata answer every word alike. `distinguish` gives a word on which they do not.

    **Arguments:** `a`, `b`: automata over the same letters.

    **Raises:** `CdlError` where the two do not read the same letters, or one is a Moore and the other a Mealy machine.

    Examples:
        >>> even = cdl.Automaton([[0, 1], [1, 0]], [True, False])
        >>> twice = cdl.Automaton([[2, 1], [1, 0], [0, 3], [3, 2]], [True, False, True, False])
        >>> cdl.machines.bisimilar(even, twice)
        True
    """
    return distinguish(a, b) is None


@with_usage
def minimise(a: Automaton) -> Automaton:
    """The smallest automaton with the same answers to every word. States that cannot be reached are left out, and
    states that no word tells apart become one.

    Partition refinement: states are told apart by their outputs, then by the classes that their letters lead to,
    until no class is divided.

    Examples:
        >>> twice = cdl.Automaton([[2, 1], [1, 0], [0, 3], [3, 2]], [True, False, True, False])
        >>> cdl.machines.minimise(twice).next
        array([[0, 1],
               [1, 0]], dtype=int32)
    """
    order = list(_reached(a))
    place = np.zeros(a.states, np.int64)
    place[order] = np.arange(len(order))
    after, outputs = place[a.next[order]], a.outputs[order]
    alphabet: dict[Any, int] = {}
    shown = [alphabet.setdefault(_known(output), len(alphabet)) for output in outputs.ravel().tolist()]
    classes = _numbered(np.reshape(shown, (len(order), -1)))
    while True:
        refined = _numbered(np.column_stack([classes, classes[after]]))
        if refined.max() == classes.max():
            break
        classes = refined
    _, one = np.unique(classes, return_index=True)  # a state of each class
    quotient = Automaton(classes[after[one]], outputs[one], int(classes[0]))
    order = list(_reached(quotient))
    place[order] = np.arange(len(order))
    return Automaton(place[quotient.next[order]], quotient.outputs[order])


def _numbered(rows: np.ndarray) -> np.ndarray:
    """For each row the number of its value."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _reached(a: Automaton) -> Iterator[int]:
    """The states that words lead to, the shorter words first."""
    found, order = {a.start}, [a.start]
    for state in order:
        yield state
        for after in a.next[state].tolist():
            if after not in found:
                found.add(after)
                order.append(after)


def _path(came: Any, pair: Any) -> Word:
    """The letters that lead to a pair of states."""
    word: list[int] = []
    while came[pair] is not None:
        pair, letter = came[pair]
        word.append(letter)
    return tuple(reversed(word))


def _expect_alike(a: Automaton, b: Automaton) -> None:
    if (a.is_mealy, a.letters) != (b.is_mealy, b.letters):
        raise CdlError(f"`{a}` and `{b}` cannot be compared: both must be Moore or Mealy, on the same letters.")
