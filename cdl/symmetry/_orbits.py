"""Equations of one or two terms, solved exactly: weights are zero, or tied to each other up to a factor.

| the equation          | what it says                                                             |
| --------------------- | ------------------------------------------------------------------------ |
| `w_p = 0`             | the weight is zero, and so is every weight that is tied to it            |
| `s w_p = t w_q`       | the two are tied: `w_q = (s / t) w_p`                                    |

The weights are the nodes of a graph and the ties its edges; a connected component is one free number, unless a cycle
of ties multiplies up to something other than 1, in which case it is zero. Signs are compared exactly, and sizes by
their logarithms, so that long chains of factors neither overflow nor vanish.
"""

from typing import NamedTuple

import numpy as np

from ._rounding import Rounding
from ._sparse import graphs, sp, Sparse


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
        return sp.csr_array((values, (kept, self.labels[kept])), shape=(len(self.labels), self.dimension))


def classes(size: int, ties: Ties, rounding: Rounding) -> Classes:
    """The solutions of ties among `size` weights. Scales are `None` where every factor is 1.

    **Raises:** `CdlError` where rounding hides whether the factor of a cycle is 1.
    """
    p, q = ties.p, ties.q
    graph = _graph(size, p, q)
    count, component = graphs.connected_components(graph, directed=False)
    dead = np.zeros(count, bool)
    dead[component[ties.zero]] = True
    scales = None
    if np.any(ties.s != ties.t):
        signs, logs = _potentials(graph, component, count, ties)
        negative = np.sign(ties.s) * signs[p] != np.sign(ties.t) * signs[q]
        gap = np.log(np.abs(ties.s)) + logs[p] - np.log(np.abs(ties.t)) - logs[q]
        dead[component[p[negative]]] = True
        alive = ~dead[component[p]]
        sums = np.maximum(1.0, np.maximum(np.abs(logs[p]), np.abs(logs[q])))  # which round by their size
        dead[component[p[alive][rounding.split((np.abs(gap) / sums)[alive])]]] = True
        greatest = np.full(count, -np.inf)
        np.maximum.at(greatest, component, logs)
        scales = signs * np.exp(logs - greatest[component])
    number = np.where(dead, -1, np.cumsum(~dead) - 1)
    labels = number[component]
    if scales is not None:
        scales = np.where(labels < 0, 0.0, scales)
        if np.all(scales[labels >= 0] == 1):
            scales = None
    return Classes(labels, scales, int(np.sum(~dead)))


def _graph(size: int, p: np.ndarray, q: np.ndarray) -> Sparse:
    return sp.csr_array((np.ones(len(p), np.int8), (p, q)), shape=(size, size))


def _potentials(graph: Sparse, component: np.ndarray, count: int, ties: Ties) -> tuple[np.ndarray, np.ndarray]:
    """A sign and the logarithm of a size for each weight, such that the ties of a spanning forest hold.

    One search goes through all components, from a root that is tied to the first weight of each; then a weight's
    factor is multiplied up along the way to the root, by doubling: the logarithm of the depth many rounds.
    """
    size = len(component)
    first = np.full(count, size)
    np.minimum.at(first, component, np.arange(size))
    rows = np.concatenate([ties.p, np.full(count, size)])
    columns = np.concatenate([ties.q, first])
    rooted = _graph(size + 1, rows, columns)
    _, parent = graphs.breadth_first_order(rooted, size, directed=False)
    parent = np.where(parent < 0, size, parent).astype(np.int64)
    signs, logs = _factors(size, parent, ties)
    while np.any(parent != size):
        signs, logs = signs * signs[parent], logs + logs[parent]
        parent = parent[parent]
    return signs[:size], logs[:size]


def _factors(size: int, parent: np.ndarray, ties: Ties) -> tuple[np.ndarray, np.ndarray]:
    """The factor of each weight over its parent's: of one of the ties between the two. The root's children have 1."""
    signs, logs = np.ones(size + 1), np.zeros(size + 1)
    size_of = np.log(np.abs(ties.s)) - np.log(np.abs(ties.t))
    sign_of = np.sign(ties.s) * np.sign(ties.t)
    down, up = parent[ties.q] == ties.p, parent[ties.p] == ties.q
    signs[ties.q[down]], logs[ties.q[down]] = sign_of[down], size_of[down]
    signs[ties.p[up]], logs[ties.p[up]] = sign_of[up], -size_of[up]
    return signs, logs
