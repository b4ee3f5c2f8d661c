"""The same cells on whole levels, written once, for PyTorch and for JAX: what a peer's batch is made of.

A level's program is exact: as many rows as there are nodes, in one product, or in one for each kind of node where each
has weights of its own. Where the states wait until the level above them asks is a choice, and no library makes it:

| the store   | what it does                                                             | what that costs         |
| ----------- | ------------------------------------------------------------------------ | ----------------------- |
| `Joined`    | one array, joined anew with each level                                   | nodes × levels          |
| `Buffered`  | one array for all nodes, written in place                                | nodes × levels backward |
| `Pieces`    | each level in pieces, one for each level that will ask for some of it    | nodes                   |
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._problems import Problem
from ._table import Level, Table


@dataclass(frozen=True)
class Ops:
    """What PyTorch and JAX spell differently."""

    cat: Callable[[list[Any]], Any]
    parts: Callable[[Any, int], Any]  # equal parts, by columns
    split: Callable[[Any, list[int]], Any]  # by rows
    linear: Callable[..., Any]  # with a bias, or without
    sigmoid: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    take: Callable[[Any, Any], Any]
    sum_at: Callable[[Any, Any, int], Any]
    index: Callable[[Any], Any]
    zeros: Callable[[int, int], Any]
    write: Callable[[Any, int, Any], Any]  # rows from a place on


class Joined:
    """States in one array that is joined anew with each level."""

    def __init__(self, ops: Ops, table: Table, width: int) -> None:
        self.ops = ops
        self.states: list[Any] = []

    def children(self, level: Level) -> list[Any]:
        return [self.ops.take(s, level.child) for s in self.states]

    def keep(self, level: Level, new: list[Any]) -> None:
        self.states = [self.ops.cat([s, x]) for s, x in zip(self.states, new, strict=True)] if self.states else new


class Buffered(Joined):
    """States in one array, written in place."""

    def __init__(self, ops: Ops, table: Table, width: int) -> None:
        self.ops = ops
        self.states = [ops.zeros(len(table), width) for _ in range(2)]

    def keep(self, level: Level, new: list[Any]) -> None:
        self.states = [self.ops.write(s, level.first, x) for s, x in zip(self.states, new, strict=True)]


class Pieces:
    """States in pieces, each for the one level that will ask for it."""

    def __init__(self, ops: Ops, table: Table, width: int) -> None:
        self.ops = ops
        self.waiting: dict[int, list[list[Any]]] = {}

    def children(self, level: Level) -> list[Any]:
        arrived = [self.ops.cat(list(pieces)) for pieces in zip(*self.waiting.pop(level.number), strict=True)]
        return [self.ops.take(s, level.arrange) for s in arrived]

    def keep(self, level: Level, new: list[Any]) -> None:
        ordered = [self.ops.take(x, level.order) for x in new]
        split = [self.ops.split(x, [many for _, many in level.sends]) for x in ordered]
        for (to, _), *pieces in zip(level.sends, *split, strict=True):
            self.waiting.setdefault(to, []).append(list(pieces))


Cell = Callable[[Ops, int, Any, Level, list[Any]], list[Any]]
STORES: dict[str, Any] = {"joined": Joined, "buffered": Buffered, "pieces": Pieces}


def by_levels(ops: Ops, table: Table, width: int, cell: Cell, store: str) -> Callable[[Any], Any]:
    """From the weights to the hidden states at the roots."""
    *levels, roots = [level.using(ops.index) for level in table.levels]

    def run(weights: Any) -> Any:
        states = STORES[store](ops, table, width)
        for level in levels:
            children = states.children(level) if level.number else []
            states.keep(level, cell(ops, width, weights, level, children))
        return states.children(roots)[0]

    return run


def cell_of(problem: Problem) -> Cell:
    """The cell of a problem."""
    return binary_cell if problem.name == "binary" else child_sum_cell


def binary_cell(ops: Ops, width: int, w: Any, level: Level, children: list[Any]) -> list[Any]:
    """The binary Tree-LSTM at all nodes of a level."""
    if not children:
        i, o, u = ops.parts(ops.linear(w["inputs"], w["leaf"], w["leaf_bias"]), 3)
        c = ops.sigmoid(i) * ops.tanh(u)
    else:
        h, below = (s.reshape(level.rows, 2 * width) for s in children)
        left, right = ops.parts(below, 2)
        i, o, u, f, g = ops.parts(ops.linear(h, w["fork"], w["fork_bias"]), 5)
        c = ops.sigmoid(i) * ops.tanh(u) + ops.sigmoid(f) * left + ops.sigmoid(g) * right
    return [ops.sigmoid(o) * ops.tanh(c), c]


def child_sum_cell(ops: Ops, width: int, w: Any, level: Level, children: list[Any]) -> list[Any]:
    """The child-sum Tree-LSTM at all nodes of a level: `index_add` from edges to nodes."""
    z, kept = ops.take(w["gates_bias"], level.kind), 0.0
    if children:
        h, below = children
        away = ops.take(w["forget_bias"], level.owner_kind)
        f = ops.sigmoid(_linear(ops, h, w["forget"], level, 2) + away)
        kept = ops.sum_at(f * below, level.owner, level.rows)
        z = z + _linear(ops, ops.sum_at(h, level.owner, level.rows), w["gates"], level, 1)
    i, o, u = ops.parts(z, 3)
    c = ops.sigmoid(i) * ops.tanh(u) + kept
    return [ops.sigmoid(o) * ops.tanh(c), c]


def _linear(ops: Ops, x: Any, weights: list[Any], level: Level, count: int) -> Any:
    """The weights of each kind at its rows (`count` 1) or at its edges (2), which lie side by side."""
    if len(weights) == 1:
        return ops.linear(x, weights[0])
    pieces = ops.split(x, [group[count] for group in level.groups])
    return ops.cat([ops.linear(p, weights[kind]) for p, (kind, *_) in zip(pieces, level.groups, strict=True)])


def as_tables(weights: dict[str, Any], array: Callable[[Any], Any]) -> dict[str, Any]:
    """The weights for levels: matrices as they are, the vectors of all kinds as one table."""
    one = {k: np.stack(w) if k.endswith("_bias") and isinstance(w, list) else w for k, w in weights.items()}
    return {k: [array(x) for x in w] if isinstance(w, list) else array(w) for k, w in one.items()}
