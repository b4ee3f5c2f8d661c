"""Sizes, heights and pre-order of a forest's nodes, from their parents in breadth-first order."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


NARROW = 32  # nodes to a level, below which whole-array operations on levels cost more than they save


def measure(
    trees: int, first: NDArray[np.integer[Any]], arity: NDArray[np.integer[Any]], parent: NDArray[np.integer[Any]]
) -> tuple[Any, Any, Any, Any]:
    """Size and height of each node's tree, its place in pre-order, and its root; level by level."""
    n = len(arity)
    bounds = [0, trees]
    while bounds[-1] < n:
        bounds.append(int(first[bounds[-1] - 1] + arity[bounds[-1] - 1]))
    levels = list(pairwise(bounds)) if n else []
    if n < NARROW * len(levels):
        return _measure_nodes(trees, parent.tolist())
    sizes, height = np.ones(n, np.int64), np.zeros(n, np.int64)
    position, root = np.zeros(n, np.int64), np.arange(n)
    for lo, hi in reversed(levels[1:]):
        _add_runs(sizes, parent[lo:hi], sizes[lo:hi])
        np.maximum.at(height, parent[lo:hi], height[lo:hi] + 1)
    for lo, hi in levels[1:]:
        above = parent[lo:hi]
        before = np.cumsum(sizes[lo:hi]) - sizes[lo:hi]
        run = np.concatenate([[True], above[1:] != above[:-1]])
        before -= before[run][np.cumsum(run) - 1]
        position[lo:hi] = position[above] + 1 + before
        root[lo:hi] = root[above]
    return sizes, height, position, root


def _measure_nodes(trees: int, parent: list[int]) -> tuple[Any, Any, Any, Any]:
    """The same node by node, for forests of many levels with few nodes in each."""
    n = len(parent)
    sizes, height = [1] * n, [0] * n
    for i in range(n - 1, trees - 1, -1):
        p = parent[i]
        sizes[p] += sizes[i]
        height[p] = max(height[p], height[i] + 1)
    position, after, root = [0] * n, [1] * n, list(range(n))
    for i in range(trees, n):
        p = parent[i]
        position[i] = position[p] + after[p]
        after[p] += sizes[i]
        root[i] = root[p]
    return np.array(sizes), np.array(height), np.array(position), np.array(root)


def _add_runs(out: NDArray[np.integer[Any]], index: NDArray[np.integer[Any]], values: NDArray[np.integer[Any]]) -> None:
    """`out[index] += values`, where equal indices stand side by side."""
    starts = np.flatnonzero(np.concatenate([[True], index[1:] != index[:-1]]))
    out[index[starts]] += np.add.reduceat(values, starts)
