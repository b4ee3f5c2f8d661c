"""Finite machines, as tables.

| the mathematics                                | here                                                          |
| ---------------------------------------------- | ------------------------------------------------------------- |
| `S → O × [I, S]` with `S` and `I` finite       | `Automaton(next, outputs, start)`, `outputs` for each state   |
| `S → [I, O × S]`                               | the same, `outputs` for each state and letter                 |
| the part reached from a state                  | `tabulate(machine, start, letters)`                           |

States and letters are the numbers from 0. NaN is the same output as NaN.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._functors import MealyF, MooreF
from .._functors.described import described
from .._functors.usage import with_usage
from .._functors.words import short
from ..errors import CdlError, TreeTooLarge
from .compose import layer_of
from .in_range import in_range


class Automaton(eqx.Module):
    """A finite machine. It is a coalgebra like any other, for `ana` and for `run`.

    **Arguments:** `next`: the number of the state that each state goes to on each letter, `int[states, letters]`.
    `outputs`: of each state, `[states]`, for a Moore machine; of each state and letter, `[states, letters]`, for a
    Mealy machine. `start`: the number of the state it begins in.

    **Raises:** `CdlError` for tables that do not fit together, or lead to a state that does not exist.

    Examples:
        >>> even = cdl.Automaton([[0, 1], [1, 0]], [True, False])  # an even number of letters 1
        >>> cdl.run(even, 0, jnp.array([1, 0, 1]))[0]
        Array([ True, False, False,  True], dtype=bool)
    """

    next: np.ndarray
    outputs: np.ndarray
    start: int = eqx.field(static=True)

    def __init__(self, next: Any, outputs: Any, start: int = 0) -> None:
        after, self.outputs, self.start = _table("next", next), _table("outputs", outputs), int(start)
        _validate(after, self.outputs, self.start)
        self.next = after.astype(np.int32)

    @property
    def is_mealy(self) -> bool:
        """Whether outputs answer letters; otherwise they belong to states."""
        return self.outputs.ndim == 2

    @property
    def states(self) -> int:
        """How many states there are."""
        return int(self.next.shape[0])

    @property
    def letters(self) -> int:
        """How many letters it reads."""
        return int(self.next.shape[1])

    def __call__(self, state: Any, /) -> Any:
        """The layer at a state: a lookup in the tables."""
        _expect(state, self.states, "state")
        _refuse_incomputable(self.outputs)
        after, outputs = jnp.asarray(self.next), jnp.asarray(self.outputs)

        def step(letter: Any) -> Any:
            _expect(letter, self.letters, "letter")
            return (outputs[state, letter], after[state, letter]) if self.is_mealy else after[state, letter]

        return MealyF(step) if self.is_mealy else MooreF(outputs[state], step)

    def expect(self, states: Any, letters: Any, lengths: Any = None) -> tuple[Any, Any]:
        """States and letters, which are to be the automaton's; letters beyond their `lengths` may be anything.

        **Raises:** `CdlError` naming the first that is not; or an error when the program runs, where they are known no
        sooner.
        """
        _refuse_incomputable(self.outputs)
        known = not any(isinstance(x, Tracer) for x in (letters, lengths))
        array: Any = np if known else jnp
        within = True if lengths is None else array.arange(np.shape(letters)[1])[None] < array.asarray(lengths)[:, None]
        return _expect(states, self.states, "state"), _expect(letters, self.letters, "letter", within)

    def __repr__(self) -> str:
        kind = "Mealy" if self.is_mealy else "Moore"
        return f"Automaton({kind}, {self.states} states, {self.letters} letters, start {self.start})"


@with_usage
def tabulate(
    machine: Callable[[Any], Any], start: Hashable, letters: Sequence[Any], *, max_states: int = 10_000
) -> tuple[Automaton, list[Any]]:
    """The part of a machine that is reached from a state, as an automaton.

    **Arguments:** `machine`: a Moore or Mealy machine whose states hash and compare, such as numbers and tuples of
    them. `start`: its first state. `letters`: its inputs, in the order of their numbers.

    **Returns:** the automaton, and the machine's state for each of its states.

    **Raises:** `TreeTooLarge` for more than `max_states` states; `CdlError` for states that do not hash, such as
    arrays, and for outputs that do not fit into one table, such as `1` and `"1"`.

    Examples:
        >>> def counter(n):
        ...     return cdl.MooreF(n == 0, lambda step: (n + step) % 3)
        >>> found = cdl.machines.tabulate(counter, 0, [0, 1])
        >>> found[0].next
        array([[0, 1],
               [1, 2],
               [2, 0]], dtype=int32)
    """
    found: dict[Any, int] = {_known(start): 0}
    order, rows, outputs = [start], [], []
    mealy = False
    for state in order:
        layer = layer_of(machine, state, None)
        answers = [layer.step(i) for i in letters]
        mealy = isinstance(layer, MealyF)
        after = [s for _, s in answers] if mealy else answers
        outputs.extend([o for o, _ in answers] if mealy else [layer.out])
        for s in after:
            if _known(s) not in found:
                if len(found) == max_states:
                    raise TreeTooLarge(
                        f"more than {max_states:,} states are reached from {short(start)}; the last is {short(s)}. "
                        "Give a machine with fewer, or a larger `max_states`."
                    )
                found[_known(s)] = len(order)
                order.append(s)
        rows.append([found[_known(s)] for s in after])
    table = np.array(rows).reshape(len(order), len(letters))
    return Automaton(table, _unchanged(outputs).reshape(table.shape if mealy else len(order))), order


def _known(value: Any) -> Any:
    """A state or an output that is equal to itself: NaN stands for every NaN."""
    if type(value) is tuple:
        return tuple(map(_known, value))
    try:
        hash(value)
    except TypeError:
        raise CdlError(
            f"a state or an output is {described(value)}, which does not hash: give a number, a text or a tuple of "
            "them, such as `int(x)` or `tuple(x.tolist())`."
        ) from None
    return math.nan if isinstance(value, float | complex | np.inexact) and value != value else value


def _refuse_incomputable(outputs: Any) -> None:
    """**Raises:** `CdlError` for an output that JAX does not compute with, or would change."""
    if isinstance(outputs, Tracer):
        return
    if not (outputs.dtype == bool or np.issubdtype(outputs.dtype, np.number)):
        raise CdlError(
            f"the outputs of this automaton are {outputs.dtype}, and a machine is run on numbers: give each a number."
        )
    kind = jax.dtypes.canonicalize_dtype(outputs.dtype)
    if np.issubdtype(outputs.dtype, np.integer) and not np.array_equal(outputs.astype(kind), outputs):
        wrong = outputs[outputs.astype(kind) != outputs][0]
        raise CdlError(f"the output {wrong} does not fit into {kind}. Give smaller ones, or enable 64 bits in JAX.")


def _unchanged(outputs: list[Any]) -> np.ndarray:
    """Outputs as an array, one for each.

    **Raises:** `CdlError` for an output that is several, or that an array with the others would change.
    """
    several = [output for output in outputs if np.shape(output)]
    if several:
        raise CdlError(f"an automaton answers with one number or string, and this machine with {short(several[0])}.")
    table = np.array(outputs)
    for given, kept in zip(outputs, table.tolist(), strict=True):
        if not _equal(given, kept):
            raise CdlError(
                f"the output {short(given)} is {short(kept)} in a table with the others: give all outputs one type."
            )
    return table


def _equal(x: Any, y: Any) -> Any:
    """Whether outputs are the same; NaN is the same as NaN."""
    return (x == y) | ((x != x) & (y != y))


def _table(name: str, given: Any) -> np.ndarray:
    """A table as an array. **Raises:** `CdlError` where its rows are not of one length."""
    try:
        return np.asarray(given)
    except ValueError:
        raise CdlError(
            f"`{name}` is {short(given)}, whose rows are not of one length: give every state an entry for each letter, "
            "as in `Automaton([[0, 1], [1, 0]], [True, False])`."
        ) from None


def _validate(after: np.ndarray, outputs: np.ndarray, start: int) -> None:
    if after.ndim != 2 or not np.issubdtype(after.dtype, np.integer) or 0 in after.shape:
        raise CdlError(
            f"`next` is {after.dtype}{list(after.shape)}, and a table of transitions is an integer for each state and "
            "letter."
        )
    if outputs.shape not in (after.shape, after.shape[:1]):
        raise CdlError(
            f"`outputs` has shape {outputs.shape}: with `next` of shape {after.shape} it is {after.shape[:1]} for a "
            f"Moore machine, {after.shape} for a Mealy machine."
        )
    states = after.shape[0]
    for what, least, most in (("next", after.min(), after.max()), ("start", start, start)):
        if least < 0 or most >= states:
            wrong = least if least < 0 else most
            raise CdlError(f"`{what}` leads to state {wrong}, and the states are 0 to {states - 1}.")


def _expect(numbers: Any, count: int, what: str, within: Any = True) -> Any:
    """States or letters, which are to be some where they are `within` their sequences."""
    which: Callable[[Any], str] = lambda x: f"such {what}" if x is None else f"{what} {x}"
    words: Callable[[Any], str] = lambda x: f"there is no {which(x)}: the automaton has {count}, numbered from 0."
    return in_range(numbers, count, words, within)
