"""The dimension of `hom(X, Y)` counted modulo a prime, where the entries of the generators are meant exactly.

| step                                             | what it does                                                 |
| ------------------------------------------------ | ------------------------------------------------------------ |
| the equations, modulo a prime `p`                | no number is rounded                                         |
| an equation of one term, or of two               | a zero, or a tie: the weights of a tie become one, and again |
| what is left                                     | the rank of a matrix                                         |

A minor that is not zero modulo `p` is not zero, so the rank modulo `p` is at most the rank: the count is never below
the dimension. It is above the dimension only where `p` divides every minor of full rank, and then another prime is
tried. A dimension that was found in rounded numbers and is not one of these counts is wrong, or cannot be trusted.
"""

from itertools import chain

import numpy as np

from ..errors import CdlError
from ._generator import Generator
from ._given import exact, few_digits
from ._held import WHOLE
from ._modulo import inverse, PRIMES, rank, residues
from ._orbits import components, forest
from ._presolve import equations
from ._rounding import EXACT
from ._sparse import scipy, Sparse


WORK = 4e10  # products of two numbers, up to which a rank is counted: some seconds
ROWS = 2**13  # equations that are combined at once: a sum of this many products is below 2⁶³


def certify(dimension: int, pairs: list[tuple[Generator, Generator]]) -> None:
    """That as many linear maps commute with the generators as were found in rounded numbers.

    Nothing is counted where entries are rounded, and where that takes too many operations.

    **Raises:** `CdlError` where it is not so.
    """
    if not all(map(_meant, chain.from_iterable(pairs))):
        return
    counts: list[int] = []
    for p in PRIMES:
        count = counted(pairs, p)
        if count is None or count == dimension:
            return
        counts.append(count)
    sizes = np.abs(np.concatenate([z.values for z in chain.from_iterable(pairs)]))
    raise CdlError(
        f"the maps that commute with these generators have dimension {dimension} in rounded numbers, and at most "
        f"{min(counts)} when they are counted exactly, modulo a prime. Rounding hides the rank, where entries are from "
        f"{sizes.min():g} to {sizes.max():g}. Give generators whose entries differ less in size, or another basis of a "
        "carrier."
    )


def counted(pairs: list[tuple[Generator, Generator]], p: int) -> int | None:
    """The dimension of the solutions modulo a prime; `None` where counting takes too many operations."""
    system = _modulo(scipy.sparse.vstack([equations(_residues(x, p), _residues(y, p)) for x, y in pairs]), p)
    while True:
        lengths = np.diff(system.indptr)
        if not np.any((lengths == 1) | (lengths == 2)):
            break
        system = _substituted(system, lengths, p)
    rest = system[lengths > 0]
    columns = np.unique(rest.indices)
    if len(columns) ** 2 * max(rest.shape) > WORK:
        return None
    return int(system.shape[1]) - rank(_square(rest[:, columns], p), p)


def _meant(x: Generator) -> bool:
    """Whether the entries are exact, and not rounded from others."""
    whole = np.all(np.abs(x.values) < WHOLE) and exact(x.values)
    return x.precision <= EXACT and bool(whole or few_digits(x.values))


def _residues(x: Generator, p: int) -> Sparse:
    return scipy.sparse.csr_array((residues(x.values, p), (x.rows, x.columns)), shape=(x.size, x.size))


def _modulo(system: Sparse, p: int) -> Sparse:
    """A sparse matrix of residues, without zeros."""
    found = scipy.sparse.csr_array(system)
    found.sum_duplicates()
    found.data %= p
    found.eliminate_zeros()
    return found


def _substituted(system: Sparse, lengths: np.ndarray, p: int) -> Sparse:
    """The equations of what is free, where those of one term and of two are solved."""
    first, size = system.indptr[:-1], system.shape[1]
    zero, at = system.indices[first[lengths == 1]], first[lengths == 2]
    u, v = (system.indices[i].astype(np.int64) for i in (at, at + 1))
    a, b = system.data[at], system.data[at + 1]
    count, component = components(size, u, v)
    factors = _factors(forest(component, count, u, v), u, v, a, b, p)
    dead = np.zeros(count, bool)
    dead[component[zero]] = True
    dead[component[u[(a * factors[u] + b * factors[v]) % p != 0]]] = True
    labels = np.where(dead, -1, np.cumsum(~dead) - 1)[component]
    entries = system.tocoo()
    rows, columns = entries.coords
    kept = labels[columns] >= 0
    values = entries.data * factors[columns] % p
    shape = (system.shape[0], int(np.sum(~dead)))
    return _modulo(scipy.sparse.coo_array((values[kept], (rows[kept], labels[columns[kept]])), shape=shape), p)


def _factors(parent: np.ndarray, u: np.ndarray, v: np.ndarray, a: np.ndarray, b: np.ndarray, p: int) -> np.ndarray:
    """A factor for each weight, such that the ties `a w_u + b w_v = 0` of a forest hold."""
    root, found = len(parent) - 1, np.ones(len(parent), np.int64)
    down, up = parent[v] == u, parent[u] == v
    found[v[down]] = (p - a[down]) * inverse(b[down], p) % p
    found[u[up]] = (p - b[up]) * inverse(a[up], p) % p
    while np.any(parent != root):
        found, parent = found * found[parent] % p, parent[parent]
    return found[:-1]


def _square(system: Sparse, p: int) -> np.ndarray:
    """A dense matrix of the same rank; where there are more equations than unknowns, as many combinations of them."""
    rows, columns = system.shape
    if rows <= columns:
        return np.asarray(system.toarray(), np.float64)
    rng, found = np.random.default_rng(0), np.zeros((columns, columns), np.int64)
    for first in range(0, rows, ROWS):
        part = system[first : first + ROWS]
        found = (found + part.T @ rng.integers(0, p, (part.shape[0], columns))) % p
    return found.astype(np.float64)
