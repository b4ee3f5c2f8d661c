"""Recursion without the stack: go down from a seed, come up with a value.

Every scheme of `cdl.algebra` is one equation, `go(s) = up(s, F go (down s))`, and says what `down` and `up` are.
Here it is solved with a list for a stack, so that depth is bounded by memory alone. Nodes are numbered as they are
entered: pre-order. Places under a function are lazy; `go` is composed after them.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import TreeTooLarge
from .mapping import fill, holes, sorted_holes
from .read import sorts
from .words import an, number_of


MAX_NODES = 10_000_000  # how many nodes a tree may have once its sharing is expanded


class Done:
    """What `down` answers where there is nothing to go down to: the value itself."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Frame:
    """A node that has been entered: its seed, its layer, what waits at its places, and its number in pre-order."""

    __slots__ = ("index", "layer", "seed", "sort", "values", "waiting")

    def __init__(self, sort: int, seed: Any, layer: Any, index: int) -> None:
        self.sort, self.seed, self.layer, self.index = sort, seed, layer, index
        one_sort = sorts(type(layer)) < 2
        waiting = zip(_ZEROS, holes(layer), strict=False) if one_sort else iter(sorted_holes(layer))
        self.waiting: Iterator[tuple[int, Any]] = waiting
        self.values: list[Any] = []

    def filled(self, go: Any = ()) -> Any:
        """The layer with the values found at its places."""
        return fill(self.layer, self.values, go)


def recursion(
    down: Callable[[int, Any], Any], up: Callable[[Frame, Any], Any], *, finite: bool = False
) -> Callable[[int], Callable[[Any], Any]]:
    """The solution of `go(s) = up(s, F go (down s))`, one function for each sort.

    **Arguments:** `down`: from the sort and the seed to a layer of seeds, or `Done`. `up`: from a frame whose
    `values` are known, and the solution itself for lazy places, to a value. `finite`: whether seeds are trees, so
    that one met again on the way down is a cycle.

    **Raises:** `TreeTooLarge` for a cycle, or for more than `MAX_NODES` nodes.
    """

    def solve(root_sort: int, root: Any) -> Any:
        stack: list[Frame] = []
        path: set[Any] = set()
        entered = 0
        place: tuple[int, Any] | None = (root_sort, root)
        while place is not None:
            sort, seed = place
            layer = down(sort, seed)
            if not isinstance(layer, Done):
                if finite:
                    _refuse_cycle(path, seed, entered)
                stack.append(Frame(sort, seed, layer, entered))
                entered += 1
            elif stack:
                stack[-1].values.append(layer.value)
            else:
                return layer.value
            while (place := next(stack[-1].waiting, None)) is None:
                frame = stack.pop()
                if finite:
                    path.discard(id(frame.seed))
                value = up(frame, go)
                if not stack:
                    return value
                stack[-1].values.append(value)

    go = _BySort(solve)
    return go.__getitem__


class _BySort:
    """The solution for each sort, however many there are."""

    def __init__(self, solve: Callable[[int, Any], Any]) -> None:
        self._solve = solve

    def __getitem__(self, sort: int) -> Callable[[Any], Any]:
        return functools.partial(self._solve, sort)


_ZEROS = itertools.repeat(0)


def _refuse_cycle(path: set[Any], seed: Any, entered: int) -> None:
    if id(seed) in path:
        raise TreeTooLarge(
            f"the tree is cyclic: {an(type(seed).__name__)} is inside itself, {number_of('node', len(path))} below the "
            "root. Trees are finite; build an infinite value with `ana` of a functor with a function in it."
        )
    if entered >= MAX_NODES:
        raise TreeTooLarge(
            f"the tree has more than {MAX_NODES:,} nodes once its shared parts are written out: "
            "fold the parts by themselves, and share their values."
        )
    path.add(id(seed))
