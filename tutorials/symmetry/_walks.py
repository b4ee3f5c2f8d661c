"""Observations of a machine: a history, what happens next, and the value that is read after it."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cdl.symmetry import Action
from cdl_arch.symmetry.futures import futures, number


class Machine(NamedTuple):
    """A monoid on states, a group with letters of the same names, and how often each letter comes."""

    name: str
    monoid: Action
    group: Action
    chances: tuple[float, ...]
    longest: int


class Walk(NamedTuple):
    """A history and what follows it: words, the last letter first."""

    before: tuple[str, ...]
    after: tuple[str, ...]


def walks(machine: Machine, rng: np.random.Generator, many: int, longest: int) -> list[Walk]:
    """Histories that begin at state 0, and what follows: each of 0 to `longest` letters that lose no state."""
    found = []
    for _ in range(many):
        first, second = rng.integers(0, longest + 1, 2)
        word = _walk(machine, rng, int(first + second))
        found.append(Walk(word[:first][::-1], word[first:][::-1]))
    return found


def reached(X: Action, words: Sequence[Walk]) -> tuple[jax.Array, jax.Array]:
    """The state after each history, `float[n, states]`, and the number of the element that follows, `int[n]`."""
    future = futures(X)
    states = np.eye(X.size, dtype=np.float32)[[_end(X, w.before) for w in words]]
    return jnp.asarray(states), jnp.asarray([number(future, w.after) for w in words])


def values(machine: Machine, words: Sequence[Walk], worth: np.ndarray) -> np.ndarray:
    """The worth of the state that a machine is in after each history and what follows it, `float[n]`."""
    X = machine.monoid
    return np.array([worth[_end(X, (*w.after, *w.before))] for w in words], np.float32)


def _end(X: Action, word: tuple[str, ...]) -> int:
    at, tables = 0, _tables(X)
    for name in reversed(word):
        at = tables[name][at]
    return at


@functools.cache
def _tables(X: Action) -> dict[str, list[int]]:
    """Where each letter sends each state; -1 for nowhere."""
    found = {}
    for x in X.generators:
        goes = np.full(X.size, -1)
        goes[x.columns] = x.rows
        found[x.name] = goes.tolist()
    return found


def _walk(machine: Machine, rng: np.random.Generator, length: int) -> tuple[str, ...]:
    X, at, word = machine.monoid, 0, list[str]()
    tables = list(_tables(X).values())
    for _ in range(length):
        chances = np.array([c if table[at] >= 0 else 0.0 for c, table in zip(machine.chances, tables, strict=True)])
        letter = int(rng.choice(len(tables), p=chances / chances.sum()))
        word.append(X.names[letter])
        at = tables[letter][at]
    return tuple(word)
