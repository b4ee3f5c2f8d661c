"""Trees as levels, for those who compute a batch level by level: all nodes of one height at once.

Rows are numbered by height, kind and then the order of the trees, nodes before their children. An edge goes from a
node to each of its children. Every node but a root has one node above it, so that a level's rows can be handed on to
the levels above in pieces that do not overlap.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np


@dataclass
class Level:
    """The nodes of one height. Arrays are of indices: NumPy's, or after `using` those of a peer."""

    number: int
    first: int
    rows: int
    kind: Any  # of each row
    child: Any  # the rows below, edge after edge
    owner: Any  # each edge's place in the level
    owner_kind: Any  # the kind of the node there
    groups: list[tuple[int, int, int]] = field(default_factory=list)  # kind, how many rows, how many edges
    order: Any = None  # the rows by the level of the node above
    sends: list[tuple[int, int]] = field(default_factory=list)  # that level, and how many rows it takes
    arrange: Any = None  # where each edge's row is among the pieces that arrive, lower levels first

    def using(self, index: Callable[[Any], Any]) -> "Level":
        """The same with its arrays made into a peer's."""
        names = ("kind", "child", "owner", "owner_kind", "order", "arrange")
        found = {n: getattr(self, n) for n in names}
        return replace(self, **{n: index(np.ascontiguousarray(x)) for n, x in found.items() if x is not None})


class Table:
    """All nodes of some trees, as levels."""

    def __init__(self, trees: Sequence[Any], children: Callable[[Any], Sequence[Any]], kinds: Sequence[str]) -> None:
        number = {name: i for i, name in enumerate(kinds)}
        nodes, below, roots = _flatten(trees, children)
        kind = np.array([number[type(n).__name__] for n in nodes], np.int64)
        height = np.zeros(len(nodes), np.int64)
        for i in range(len(nodes) - 1, -1, -1):  # children come later
            height[i] = max((height[j] + 1 for j in below[i]), default=0)
        order = np.lexsort((np.arange(len(nodes)), kind, height))
        row = np.empty(len(nodes), np.int64)
        row[order] = np.arange(len(nodes))
        self.kinds = list(kinds)
        self.roots = row[roots]
        self.kind = kind[order]
        self.below = [row[below[i]] for i in order]
        self.height = height[order]
        self.parent = np.full(len(nodes), -1, np.int64)
        for i, js in enumerate(self.below):
            self.parent[js] = i

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self) - len(self.roots)

    @property
    def inner(self) -> int:
        """The number of nodes with children."""
        return int((self.height > 0).sum())

    @cached_property
    def levels(self) -> list[Level]:
        """The levels from the leaves up, with all that is to be gathered at each."""
        top = int(self.height.max()) + 1
        starts = np.searchsorted(self.height, np.arange(top + 1))
        above = np.where(self.parent < 0, top, self.height[self.parent])  # the roots go to a level past the last
        levels = [self._level(h, int(starts[h]), int(starts[h + 1])) for h in range(top)]
        none = np.zeros(0, np.int64)
        levels.append(Level(top, len(self), len(self.roots), none, self.roots, none, none))
        for level in levels[:-1]:
            rows = np.arange(level.first, level.first + level.rows)
            by = np.argsort(above[rows], kind="stable")
            to, many = np.unique(above[rows], return_counts=True)
            level.order, level.sends = by, list(zip(to.tolist(), many.tolist(), strict=True))
        for level in levels[1:]:
            level.arrange = np.searchsorted(np.sort(level.child), level.child)
        return levels

    def _level(self, number: int, start: int, stop: int) -> Level:
        degree = np.array([len(js) for js in self.below[start:stop]], np.int64)
        child = np.concatenate(self.below[start:stop]) if degree.sum() else np.zeros(0, np.int64)
        owner = np.repeat(np.arange(stop - start), degree)
        kind = self.kind[start:stop]
        level = Level(number, start, stop - start, kind, child, owner, kind[owner])
        for k in np.unique(kind):
            mine = kind == k
            level.groups.append((int(k), int(mine.sum()), int(degree[mine].sum())))
        return level


def _flatten(trees: Sequence[Any], children: Callable[[Any], Sequence[Any]]) -> tuple[list[Any], list[Any], list[int]]:
    """All nodes, tree after tree in pre-order, the numbers of each one's children, and the roots'."""
    nodes: list[Any] = []
    below: list[list[int]] = []
    roots = []
    for tree in trees:
        roots.append(len(nodes))
        waiting: list[tuple[Any, int]] = [(tree, -1)]
        while waiting:
            node, parent = waiting.pop()
            if parent >= 0:
                below[parent].append(len(nodes))
            waiting += [(kid, len(nodes)) for kid in reversed(children(node))]
            nodes.append(node)
            below.append([])
    return nodes, below, roots
