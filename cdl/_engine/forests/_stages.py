"""The stage at which each node is computed: after its children, and beside as many nodes of its variant as may be.

A node's stage is its height or later. The first node that cannot wait any longer, since the nodes above it fill all the
stages that are left, takes all nodes along that are ready and of its variant. So each variant has few stages, and
in each of them many rows: a matrix of weights is read less often, and fewer tiles are half empty.

An example: three trees, where `Neg(Add(…))` of the second could be computed at heights 2 and 1.

| tree                       | heights          | stages           |
| -------------------------- | ---------------- | ---------------- |
| `Neg(Add(Neg(1), 2))`      | Neg 1 Add 2 Neg 3 | Neg 1 Add 2 Neg 3 |
| `Neg(Add(1, 2))`           | Add 1 Neg 2      | Add 2 Neg 3      |
| `Add(1, 2)`                | Add 1            | Add 2            |

By height there are five pairs of a stage and a variant, and three by stages.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._flatten import Flat


MOST = 256  # stages: to find them takes a few operations on arrays for each, and a tall forest has few rows in most

Int = NDArray[np.integer[Any]]


def stages(flat: Flat, node: Int, first: Int) -> Int:
    """The stage of each node of some trees, whose nodes are these rows of the table, tree by tree. `first` says for
    each node where its tree begins among them."""
    height = flat.height[node]
    last = int(height.max(initial=0))
    inner = np.flatnonzero(height)
    kind = flat.variant[node[inner]]
    if last > MOST or (kind == kind[:1]).all():
        return height
    number = np.full(len(node), len(inner), np.int32)
    number[inner] = np.arange(len(inner))
    rows = node[inner]
    above = np.where(flat.parent[rows] < 0, len(inner), number[flat.parent[rows] + first[inner]])
    latest, waiting = last - flat.depth[rows], np.append(flat.inner[rows], -1)
    ready = np.flatnonzero(waiting == 0)
    found = np.zeros(len(inner), height.dtype)
    for stage in range(1, last + 1):
        due = np.zeros(len(flat.variants), bool)
        due[kind[ready[latest[ready] <= stage]]] = True
        goes = due[kind[ready]]
        now = ready[goes]
        found[now] = stage
        parents = above[now]
        np.subtract.at(waiting, parents, 1)
        ready = np.concatenate([ready[~goes], _once(parents[waiting[parents] == 0], number)])
    height[inner] = found
    return height


def _once(numbers: Int, room: Int) -> Int:
    """Each of these numbers once. `room` is written over at them."""
    order = np.arange(len(numbers), dtype=room.dtype)
    room[numbers] = order
    return numbers[room[numbers] == order]
