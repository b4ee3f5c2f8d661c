"""Monoids that are not groups, and act: what cannot be undone.

| the action                                        | here                         | generators          |
| ------------------------------------------------- | ---------------------------- | ------------------- |
| a shift that loses what goes over the end         | `truncated_translations(n)`  | `shift0`            |
| a projection, `P² = P`                            | `idempotent(P)`              | `project`           |
| a counter that stops at its greatest value        | `saturating_counter(n)`      | `up`, or `down` too |
| a counter round a circle, with a reset            | `reset_counter(n)`           | `up`, `reset`       |
| a memory of one bit                               | `flip_flop()`                | `set0`, `set1`      |
| all functions of `n` places to themselves         | `transformations(n)`         | 3                   |
| all partial functions                             | `partial_transformations(n)` | 4                   |
| all partial injections                            | `partial_permutations(n)`    | 3                   |
| the letters of any finite automaton on its states | `of_automaton(automaton)`    | one a letter        |

Functions are pushed, `e_i ↦ e_{g(i)}`; `X.transposed` pulls them, `x ↦ x ∘ g`.
"""

from typing import Any

import numpy as np

from .._functors.usage import with_usage
from .._functors.words import short
from .._schemes import Automaton
from ..errors import CdlError
from ._action import Action
from ._sizes import size_of
from .groups import permutations


def idempotent(projection: Any) -> Action:
    """A projection of `ℝⁿ`, `float[n, n]`. Generator `project`. **Raises:** `CdlError` where `P² = P` does not hold.

    Examples:
        >>> forget = cdl.symmetry.monoids.idempotent(jnp.diag(jnp.array([1.0, 1.0, 0.0])))
        >>> forget("project", jnp.array([1.0, 2.0, 3.0]))
        Array([1., 2., 0.], dtype=float32)
    """
    try:
        matrix = np.asarray(projection)
    except (TypeError, ValueError) as error:
        raise CdlError(f"`idempotent` takes a matrix, not {short(projection)}.") from error
    action = Action(matrix.shape[0] if matrix.ndim else 0).matrix(matrix, "project")
    if not action.holds(("project", "project"), ("project",), 1e3 * action["project"].precision):
        raise CdlError("`idempotent` takes a projection, and `P @ P` is not `P` for the matrix given.")
    return action


def saturating_counter(n: int, down: bool = False) -> Action:
    """The counter `i ↦ min(i + 1, n − 1)` on `n` states; with `down`, also `i ↦ max(i − 1, 0)`.

    **Arguments:** `n`: the number of states. `down`: whether there is a generator that counts down.

    Examples:
        >>> counter = cdl.symmetry.monoids.saturating_counter(3)
        >>> cdl.symmetry.hom(counter, counter).dimension
        3
    """
    states = np.arange(size_of(n, "states"))
    up = Action(n).push(np.minimum(states + 1, n - 1), "up")
    return up.push(np.maximum(states - 1, 0), "down") if down else up


def reset_counter(n: int) -> Action:
    """The counter `i ↦ i + 1` modulo `n`, and the reset `i ↦ 0`.

    Examples:
        >>> counter = cdl.symmetry.monoids.reset_counter(3)
        >>> cdl.symmetry.hom(counter, counter).dimension
        1
    """
    return Action(size_of(n, "states")).push(np.roll(np.arange(n), -1), "up").push(np.zeros(n, int), "reset")


def flip_flop() -> Action:
    """Two states, and two letters that set one of them, whatever it was.

    Examples:
        >>> bit = cdl.symmetry.monoids.flip_flop()
        >>> cdl.symmetry.hom(bit, bit).dimension
        1
    """
    return Action(2).push([0, 0], "set0").push([1, 1], "set1")


def transformations(n: int) -> Action:
    """All functions of `n` places: the generators of `S_n`, and `merge`, that sends 1 to 0.

    Examples:
        >>> functions = cdl.symmetry.monoids.transformations(3)
        >>> functions("merge", jnp.array([1, 2, 3]))
        Array([3, 0, 3], dtype=int32)
        >>> cdl.symmetry.hom(functions, functions).dimension
        1
    """
    merge = np.arange(size_of(n, "places"))
    merge[1:2] = 0
    return Action(n, permutations(n).generators).push(merge, "merge")


def partial_permutations(n: int) -> Action:
    """All partial injections of `n` places, the rook monoid: the generators of `S_n`, and `lose`, that loses 0.

    Examples:
        >>> rook = cdl.symmetry.monoids.partial_permutations(3)
        >>> rook("lose", jnp.array([1, 2, 3]))
        Array([0, 2, 3], dtype=int32)
    """
    lose = np.arange(size_of(n, "places"))
    lose[0] = -1
    return Action(n, permutations(n).generators).push(lose, "lose")


def partial_transformations(n: int) -> Action:
    """All partial functions of `n` places: the generators of `transformations`, and `lose`.

    Examples:
        >>> partial = cdl.symmetry.monoids.partial_transformations(3)
        >>> partial(("lose", "merge"), jnp.array([1, 2, 3]))
        Array([0, 0, 3], dtype=int32)
    """
    return Action(n, [*transformations(n).generators, partial_permutations(n)["lose"]])


@with_usage
def of_automaton(automaton: Automaton) -> Action:
    """The letters of a finite automaton on its states: the free monoid on `letter0`, `letter1`, … acts.

    Examples:
        >>> swap = cdl.Automaton([[1, 0], [0, 1]], [0, 1])
        >>> cdl.symmetry.monoids.of_automaton(swap)("letter0", jnp.array([1, 0]))
        Array([0, 1], dtype=int32)
    """
    action = Action(automaton.states)
    for letter in range(automaton.letters):
        action = action.push(automaton.next[:, letter], f"letter{letter}")
    return action
