"""The stage at which each node is computed: after its children, and beside as many nodes of its variant as may be.

A node's stage is its height or later. The first node that cannot wait any longer, since the nodes above it fill all the
stages that are left, takes all nodes along that are ready and of its variant. So each variant has few stages, and
in each of them many rows: a matrix of weights is read less often, and fewer tiles are half empty.

An example: three trees, of which the second and the third could be computed earlier.

| tree                  | heights             | stages              |
| --------------------- | ------------------- | ------------------- |
| `Neg(Add(Neg(1), 2))` | Neg 1, Add 2, Neg 3 | Neg 1, Add 2, Neg 3 |
| `Neg(Add(1, 2))`      | Add 1, Neg 2        | Add 2, Neg 3        |
| `Add(1, 2)`           | Add 1               | Add 2               |

By height there are five pairs of a stage and a variant, and three by stages.
"""

import numpy as np

from ._flatten import Flat, Whole


MOST = 256  # stages: to find them takes some operations on arrays for each, and a tall forest has few rows in most
FEW = 16  # nodes with children to a stage, below which there is little to wait for


def stages(flat: Flat, node: Whole, first: Whole, length: Whole) -> Whole:
    """The stage of each node of some trees, whose nodes are these rows of the table, tree by tree. `first` and `length`
    say where each tree begins among them, and how many nodes it has."""
    height = flat.height[node]
    last = int(height.max(initial=0))
    inner = np.flatnonzero(height)
    rows = node[inner]
    kind = flat.variant[rows]
    if last > MOST or len(inner) < FEW * last or (kind == kind[:1]).all():
        return height
    number = np.full(len(node), len(inner), np.int32)
    number[inner] = np.arange(len(inner))
    parent = flat.parent[rows]
    above = np.where(parent < 0, len(inner), number[parent + np.repeat(first, length)[inner]])
    missing = np.append(flat.inner[rows], -1)  # how many children with children a node waits for
    waiting = _Waiting(kind, last - flat.depth[rows], len(flat.variants))
    waiting.add(np.flatnonzero(missing == 0))
    for stage in range(1, last + 1):
        now = waiting.due(stage)
        height[inner[now]] = stage
        parents = above[now]
        np.subtract.at(missing, parents, 1)
        waiting.add(_once(parents[missing[parents] == 0], number))
    return height


class _Waiting:
    """Nodes that are ready, by variant, and the stage at which the first of each variant can wait no longer."""

    def __init__(self, kind: Whole, latest: Whole, kinds: int) -> None:
        self.kind, self.latest = kind, latest
        self.nodes: list[list[Whole]] = [[] for _ in range(kinds)]
        self.until = np.full(kinds, MOST + 1)

    def add(self, nodes: Whole) -> None:
        """Adds nodes, each of which is not there."""
        kinds = self.kind[nodes]
        order = np.argsort(kinds, kind="stable")
        nodes, kinds = nodes[order], kinds[order]
        begin = np.flatnonzero(np.diff(kinds, prepend=-1))
        if len(begin):
            found = kinds[begin]
            self.until[found] = np.minimum(self.until[found], np.minimum.reduceat(self.latest[nodes], begin))
            for kind, first, end in zip(found.tolist(), begin.tolist(), [*begin[1:].tolist(), None], strict=True):
                self.nodes[kind].append(nodes[first:end])

    def due(self, stage: int) -> Whole:
        """Takes the nodes of all variants of which one can wait no longer."""
        kinds = np.flatnonzero(self.until <= stage)
        self.until[kinds] = MOST + 1
        found: list[Whole] = []
        for kind in kinds.tolist():
            found += self.nodes[kind]
            self.nodes[kind] = []
        return np.concatenate(found)


def _once(numbers: Whole, room: Whole) -> Whole:
    """Each of these numbers once. `room` is written over at them."""
    order = np.arange(len(numbers), dtype=room.dtype)
    room[numbers] = order
    return numbers[room[numbers] == order]
