"""Equations of one or two terms, solved exactly: weights are zero, or tied to each other up to a factor.

| the equation          | what it says                                                             |
| --------------------- | ------------------------------------------------------------------------ |
| `w_p = 0`             | the weight is zero, and so is every weight that is tied to it            |
| `s w_p = t w_q`       | the two are tied: `w_q = (s / t) w_p`                                    |

The weights are the nodes of a graph and the ties its edges; a connected component is one free number, unless a cycle
of ties multiplies up to something other than 1, in which case it is zero. Signs are compared exactly, and sizes as
`Sizes` says: exactly where all factors are whole numbers or short binary fractions.
"""

from typing import NamedTuple

import numpy as np

from ._factors import Sizes, sizes_of
from ._rounding import Rounding
from ._sparse import scipy, Sparse


class Ties(NamedTuple):
    """Ties between weights `p` and `q`: `s w_p = t w_q`, where neither factor is zero. Weights that are zero."""

    p: np.ndarray
    q: np.ndarray
    s: np.ndarray
    t: np.ndarray
    zero: np.ndarray


class Classes(NamedTuple):
    """For each weight the free number that it is a multiple of, -1 for none, the factor, and how many are free."""

    labels: np.ndarray
    scales: np.ndarray | None
    dimension: int

    @property
    def factors(self) -> Sparse:
        """The same as a sparse matrix, from free numbers to weights."""
        kept = np.flatnonzero(self.labels >= 0)
        values = np.ones(len(kept)) if self.scales is None else self.scales[kept]
        return scipy.sparse.csr_array((values, (kept, self.labels[kept])), shape=(len(self.labels), self.dimension))


def classes(size: int, ties: Ties, rounding: Rounding) -> Classes:
    """The solutions of ties among `size` weights. Scales are `None` where every factor is 1.

    **Raises:** `CdlError` where rounding hides whether the factor of a cycle is 1.
    """
    p, q = ties.p, ties.q
    count, component = components(size, p, q)
    dead = np.zeros(count, bool)
    dead[component[ties.zero]] = True
    scales = None
    if np.any(ties.s != ties.t):
        sizes = sizes_of(ties.s, ties.t, rounding.exact)
        signs, found, depth = _potentials(component, count, ties, sizes)
        negative = np.sign(ties.s) * signs[p] != np.sign(ties.t) * signs[q]
        dead[component[p[negative]]] = True
        alive = ~dead[component[p]]
        gap = (sizes.left + found[p] - sizes.right - found[q])[alive]
        if sizes.base is None:
            many = (depth[p] + depth[q] + 1)[alive]
            sums = np.maximum(1.0, np.maximum(np.abs(found[p]), np.abs(found[q])))[
                alive, 0
            ]  # which round by their size
            broken = rounding.split(np.abs(gap[:, 0]) / (many * sums))
        else:
            broken = np.any(gap != 0, axis=1)
        dead[component[p[alive][broken]]] = True
        kept = np.flatnonzero(~dead[component])
        scales = np.zeros(size)
        scales[kept] = signs[kept] * sizes.factor((found - found[_greatest(sizes.logarithms(found), component)])[kept])
    number = np.where(dead, -1, np.cumsum(~dead) - 1)
    labels = number[component]
    if scales is not None and np.all(scales[labels >= 0] == 1):
        scales = None
    return Classes(labels, scales, int(np.sum(~dead)))


def _greatest(logs: np.ndarray, component: np.ndarray) -> np.ndarray:
    """For each weight, the first of the greatest of its component."""
    order = np.lexsort((-np.arange(len(logs)), logs, component))
    last = np.cumsum(np.bincount(component)) - 1
    return order[last][component] if len(logs) else component


def components(size: int, p: np.ndarray, q: np.ndarray) -> tuple[int, np.ndarray]:
    """How many connected components the edges between `p` and `q` make, and the number of each node's."""
    count, component = scipy.sparse.csgraph.connected_components(_graph(size, p, q), directed=False)
    return int(count), component


def forest(component: np.ndarray, count: int, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The parent of each node in a spanning forest; the first node of each component is a child of a root, `size`."""
    size = len(component)
    first = np.full(count, size)
    np.minimum.at(first, component, np.arange(size))
    rooted = _graph(size + 1, np.concatenate([p, np.full(count, size)]), np.concatenate([q, first]))
    _, parent = scipy.sparse.csgraph.breadth_first_order(rooted, size, directed=False)
    return np.where(parent < 0, size, parent).astype(np.int64)


def _graph(size: int, p: np.ndarray, q: np.ndarray) -> Sparse:
    return scipy.sparse.csr_array((np.ones(len(p), np.int8), (p, q)), shape=(size, size))


def _potentials(
    component: np.ndarray, count: int, ties: Ties, sizes: Sizes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sign and a size for each weight, such that the ties of a spanning forest hold, and its depth in this forest.

    A weight's factor is multiplied up along the way to the root, by doubling: the logarithm of the depth many rounds.
    """
    size = len(component)
    parent = forest(component, count, ties.p, ties.q)
    signs, found = _factors(size, parent, ties, sizes)
    depth = (parent != size).astype(np.int64)
    while np.any(parent != size):
        signs, found, depth = signs * signs[parent], found + found[parent], depth + depth[parent]
        parent = parent[parent]
    return signs[:size], found[:size], depth[:size]


def _factors(size: int, parent: np.ndarray, ties: Ties, sizes: Sizes) -> tuple[np.ndarray, np.ndarray]:
    """The factor of each weight over its parent's: of one of the ties between the two. The root's children have 1."""
    signs, found = np.ones(size + 1), np.zeros((size + 1, sizes.left.shape[1]), sizes.left.dtype)
    size_of = sizes.left - sizes.right
    sign_of = np.sign(ties.s) * np.sign(ties.t)
    down, up = parent[ties.q] == ties.p, parent[ties.p] == ties.q
    signs[ties.q[down]], found[ties.q[down]] = sign_of[down], size_of[down]
    signs[ties.p[up]], found[ties.p[up]] = sign_of[up], -size_of[up]
    return signs, found
