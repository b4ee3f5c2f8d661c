"""Sequences laid end to end: no step is computed for padding.

| the word     | what it is                                                                    |
| ------------ | ----------------------------------------------------------------------------- |
| a lane       | a row of steps, in which lists follow each other                              |
| a mark       | which list a step of a lane belongs to, and which of its elements is there    |

The longest list is laid first, each into the lane that has the least so far. A fold starts anew where a list begins,
so that lists of one lane do not meet. Marks are data: batches of as many lists, lanes and steps share a program.
"""

import heapq
from collections.abc import Sequence
from typing import Any, Generic, overload, TYPE_CHECKING, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Int, PyTree

from ..._functors.usage import whole, with_usage
from ..._functors.words import number_of
from ...errors import LengthMismatch
from ..arrays._rows import masked
from ..calls._standing import expect_one, not_a_list, standing
from ._seq import as_array, Rows, Seq, stacked_rows


E = TypeVar("E")  # an element
A = TypeVar("A")
STEPS = 4  # numbers of steps to an octave
FEW = 16  # steps that are not rounded up


class Packed(eqx.Module, Generic[E]):
    """Lists laid end to end in lanes. `fold` and `annotate` read it as they read a `Seq`, in the lists' own order.

    `values` are arrays `(steps, lanes, …)`. Made by `Packed.of` on the host.

    Examples:
        >>> lists = cdl.Packed.of([jnp.array([1.0, 2.0, 3.0]), jnp.array([4.0])])
        >>> @cdl.algebra
        ... def total(layer: cdl.ListF[float, float]):
        ...     return layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0.0
        >>> cdl.fold(total, lists).tolist()
        [6.0, 4.0]
    """

    values: PyTree[Array]
    owner: Int[Array, "steps lanes"]  # the list at each place, or -1
    place: Int[Array, "steps lanes"]  # the number of its element there
    lengths: Int[Array, " batch"]
    lane: Int[Array, " batch"]
    start: Int[Array, " batch"]  # the step of each list's first element

    @overload
    @staticmethod
    def of(sequences: Sequence[Rows], *, lanes: int | None = None, steps: int | None = None) -> "Packed[Array]": ...
    @overload
    @staticmethod
    def of(sequences: Sequence[A], *, lanes: int | None = None, steps: int | None = None) -> "Packed[A]": ...
    @staticmethod
    @with_usage
    def of(sequences: Sequence[Any], *, lanes: int | None = None, steps: int | None = None) -> "Packed[Any]":
        """The lists, each the pytree of its elements stacked, laid end to end.

        **Arguments:** `lanes`: how many steps are computed at once; if not given, about all elements over the longest
        list. `steps`: how long a lane is; if not given, what is needed, rounded up to one of a few numbers. Give
        `lanes` and batches of as many lists share a few programs; give both and they share one.

        **Raises:** `PayloadMismatch` where there is no list, or two lists have elements of different shapes;
        `LengthMismatch` for `lanes` below 1, or fewer `steps` than the longest lane takes.
        """
        rows, lengths = stacked_rows(sequences)
        lanes = _lanes(lengths) if lanes is None else whole("lanes", lanes, 1, LengthMismatch)
        lane, start, needed = _lay(lengths, lanes)
        steps = _rounded(needed) if steps is None else whole("steps", steps, 0, LengthMismatch)
        if steps < needed:
            raise LengthMismatch(f"the longest of {lanes} lanes takes {needed} steps, and `steps` is {steps}.")
        number = np.repeat(np.arange(len(lengths)), lengths)
        element = np.arange(len(number)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = start[number] + element, lane[number]

        def laid(*leaves: Any) -> Any:
            out = np.zeros((steps, lanes, *leaves[0].shape[1:]), leaves[0].dtype)
            out[at] = np.concatenate(leaves)
            return as_array(out)

        owner, place = np.full((steps, lanes), -1, np.int32), np.zeros((steps, lanes), np.int32)
        owner[at], place[at] = number, element
        marks = (jnp.asarray(x, jnp.int32) for x in (owner, place, lengths, lane, start))
        return Packed(jax.tree.map(laid, *rows), *marks)

    def padded(self, time: int | None = None) -> Seq[E]:
        """The same lists as a `Seq`, in their own order; its arrays as long as `time`, or as the longest list."""
        if time is None:  # inside `jit` no length is known, but none is more than a lane's
            traced = isinstance(self.lengths, Tracer)
            time = self.steps if traced else int(np.max(np.asarray(self.lengths), initial=0))
        time = whole("time", time, 0, LengthMismatch)
        element = jnp.arange(time, dtype=jnp.int32)
        own = element[None] < self.lengths[:, None]
        step = jnp.where(own, jnp.minimum(self.start[:, None] + element[None], self.steps - 1), 0)
        lane = jnp.broadcast_to(self.lane[:, None], step.shape)

        def gathered(x: Any) -> Any:
            found = x[step, lane]
            return masked(own, found)

        return Seq(jax.tree.map(gathered, self.values), self.lengths)

    def __len__(self) -> int:
        expect_one(self.lengths, 1, "`len` is of", "packed")
        return int(self.lengths.shape[0])

    if not TYPE_CHECKING:  # type checkers know that there is none
        __getitem__ = not_a_list("`Packed`", "`packed.padded()` is a `Seq` of the same lists")

    @property
    def steps(self) -> int:
        """How long a lane is."""
        expect_one(self.lengths, 1, "`steps` is of", "packed")
        return int(self.owner.shape[0])

    @property
    def lanes(self) -> int:
        """How many lanes there are."""
        expect_one(self.lengths, 1, "`lanes` is of", "packed")
        return int(self.owner.shape[1])

    @property
    def mask(self) -> Bool[Array, "steps lanes"]:
        """Where there is an element."""
        return self.owner >= 0

    @property
    def fill(self) -> float:
        """Elements over places for them, at most 1."""
        return float(np.sum(np.asarray(self.lengths))) / max(self.steps * self.lanes, 1)

    def __repr__(self) -> str:
        if not isinstance(self.lengths, jax.Array):
            return f"Packed of {type(self.lengths).__name__}"
        if other := standing(self.lengths, 1):
            return f"Packed: {other}"
        shape = f"{self.lanes} lanes of {self.steps} steps"
        if isinstance(self.lengths, Tracer):
            return f"Packed: {number_of('list', len(self))}, traced; {shape}"
        longest = int(np.max(np.asarray(self.lengths)))
        return f"Packed: {number_of('list', len(self))}, the longest {longest}, fill {self.fill:.2f}; {shape}"


def _lanes(lengths: Any) -> int:
    """As many lanes as the longest list can fill with the others."""
    longest = int(lengths.max())
    return max(1, int(lengths.sum()) // longest) if longest else 1


def _lay(lengths: Any, lanes: int) -> tuple[Any, Any, int]:
    """Each list's lane and first step, and the length of the longest lane: the longest list first."""
    heap = [(0, lane) for lane in range(lanes)]
    lane, start = np.zeros(len(lengths), np.int32), np.zeros(len(lengths), np.int32)
    for i in np.argsort(-lengths, kind="stable"):
        taken, number = heap[0]
        lane[i], start[i] = number, taken
        heapq.heapreplace(heap, (taken + int(lengths[i]), number))
    return lane, start, max(heap)[0]


def _rounded(steps: int) -> int:
    """The number of steps rounded up to one of a few to an octave."""
    if steps <= FEW:
        return steps
    step = (1 << (steps.bit_length() - 1)) // STEPS
    return -(-steps // step) * step
