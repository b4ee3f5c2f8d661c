"""Equations of any number of terms: what is short is solved exactly, and the rest by a null space.

| step                                                       | what it does                                        |
| ---------------------------------------------------------- | --------------------------------------------------- |
| the classes of weights that are known are substituted      | equations get shorter                               |
| an equation of one term, or of two                         | a zero, or a tie: solved exactly, and again         |
| an equation of more terms                                  | left to the null space of a small matrix            |
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import CdlError
from ._generator import Generator
from ._null_space import null_space
from ._orbits import Classes, classes, Ties
from ._rounding import Rounding
from ._sparse import scipy, Sparse


class Solved(NamedTuple):
    """The solutions, as classes or as a sparse matrix of factors; how they were found, and by what gap."""

    found: Classes | Sparse
    how: str
    gap: float | None


def solve(known: Classes, pairs: list[tuple[Generator, Generator]], rounding: Rounding) -> Solved:
    """The solutions of the equations of generators, beside what is known of the weights.

    **Raises:** `CdlError` where rounding hides the rank.
    """
    system = _levelled(scipy.sparse.vstack([equations(x.sparse, y.sparse) for x, y in pairs], format="csr"))
    while True:
        factors = known.factors
        rest = _substituted(system, factors, rounding)
        lengths = np.diff(rest.indptr)
        if not np.any((lengths == 1) | (lengths == 2)):
            break
        known = _after(known, classes(known.dimension, _short(rest, lengths), rounding))
    rest = rest[lengths > 0]
    if not rest.shape[0]:
        return Solved(known, "presolve", None)
    involved = np.unique(rest.indices)
    null, how, gap = null_space(scipy.sparse.csr_array(rest[:, involved]), rounding)
    free = np.setdiff1d(np.arange(known.dimension), involved)
    width = len(free) + null.shape[1]
    rows = np.concatenate([free, np.repeat(involved, null.shape[1])])
    columns = np.concatenate([np.arange(len(free)), np.tile(len(free) + np.arange(null.shape[1]), len(involved))])
    values = np.concatenate([np.ones(len(free)), null.ravel()])
    combined = scipy.sparse.csr_array((values, (rows, columns)), shape=(known.dimension, width))
    return Solved(scipy.sparse.csr_array(factors @ combined), how, gap)


def equations(x: Sparse, y: Sparse) -> Sparse:
    """`(ρ_Y ⊗ 1 − 1 ⊗ ρ_Xᵀ) vec W = 0`, for `W` row by row."""
    one: Callable[[Sparse], Sparse] = lambda matrix: scipy.sparse.eye_array(matrix.shape[0], dtype=matrix.dtype)
    times = scipy.sparse.kron
    return times(y, one(x), format="csr") - times(one(y), x.T, format="csr")


def _levelled(system: Sparse) -> Sparse:
    """Each equation over its greatest factor, so that the sizes of generators do not matter.

    **Raises:** `CdlError` where a factor vanishes.
    """
    system.sum_duplicates()
    greatest = np.zeros(system.shape[0])
    row = np.repeat(np.arange(system.shape[0]), np.diff(system.indptr))
    np.maximum.at(greatest, row, np.abs(system.data))
    scaled = system.data / greatest[row]
    if np.any((scaled == 0) & (system.data != 0)):
        raise CdlError("an equation has factors that differ by more than `float64` holds: give entries nearer to 1.")
    system.data = scaled
    return system


def _substituted(system: Sparse, factors: Sparse, rounding: Rounding) -> Sparse:
    """The equations of what is free: without the factors that cancel but for rounding."""
    rest, sizes = scipy.sparse.csr_array(system @ factors), scipy.sparse.csr_array(abs(system) @ abs(factors))
    rest.sum_duplicates()
    row = np.repeat(np.arange(rest.shape[0]), np.diff(rest.indptr))
    if len(row):
        rest.data[~rounding.split(np.abs(rest.data) / sizes[row, rest.indices])] = 0.0
    rest.eliminate_zeros()
    return rest


def _short(system: Sparse, lengths: np.ndarray) -> Ties:
    """The equations of one term as zeros, and those of two, `a u + b v = 0`, as ties."""
    first = system.indptr[:-1]
    zero = system.indices[first[lengths == 1]]
    at = first[lengths == 2]
    p, q = system.indices[at].astype(np.int64), system.indices[at + 1].astype(np.int64)
    return Ties(p, q, system.data[at], -system.data[at + 1], zero)


def _after(outer: Classes, inner: Classes) -> Classes:
    """The classes of weights, where their free numbers are in classes themselves."""
    alive = outer.labels >= 0
    at = np.maximum(outer.labels, 0)
    labels = np.where(alive, inner.labels[at], -1) if outer.dimension else outer.labels
    scales = np.ones(len(labels)) if outer.scales is None else outer.scales
    if inner.scales is not None:
        scales = scales * inner.scales[at]
    same = outer.scales is None and inner.scales is None
    return Classes(labels, None if same else np.where(labels >= 0, scales, 0.0), inner.dimension)
