"""One generator of an action: a square matrix, kept by its entries that are not zero.

| the generator                    | its matrix                           | entries                        |
| -------------------------------- | ------------------------------------ | ------------------------------ |
| along a function `g`: `push(g)`  | `e_i ↦ e_{g(i)}`                     | at most one in a column        |
| against a function: `pull(g)`    | `(x · g)_i = x_{g(i)}`               | at most one in a row           |
| `perm(p)`, `signed(p, s)`        | `e_i ↦ s_i e_{p(i)}`                 | at most one in both            |
| `matrix(A)`                      | `A`                                  | any                            |
| `lie(A)`                         | `A`, for the elements `exp(t A)`     | any                            |

A function may be partial: where `g(i)` is -1, `push` loses the entry and `pull` puts a zero.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from wadler_lindig import TextDoc

from ._given import entries, indices, numbers, precision_of
from ._held import fitting, held, not_wrapping
from ._rounding import EXACT
from ._sparse import scipy, Sparse


@dataclass(frozen=True, eq=False)
class Generator:
    """A matrix of `size × size`, by entries. `lie` says that it stands for the elements `exp(t A)`; `precision`, how
    well its entries are known, relative to their size."""

    name: str
    size: int
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    lie: bool = False
    precision: float = EXACT

    @staticmethod
    def of(name: str, matrix: Sparse, lie: bool = False, precision: float = EXACT) -> "Generator":
        """A sparse matrix as a generator: entries summed, ordered by row, zeros left out.

        **Raises:** `CdlError` where an entry is not finite, or so small that it loses its digits.
        """
        ordered = scipy.sparse.csr_array(matrix)
        ordered.sum_duplicates()
        ordered.eliminate_zeros()
        found = ordered.tocoo()
        rows, columns = (np.asarray(x, np.int64) for x in found.coords)
        return Generator(name, matrix.shape[0], rows, columns, held(name, found.data), lie, precision)

    @cached_property
    def sparse(self) -> Sparse:
        """The matrix, sparse."""
        return scipy.sparse.csr_array((self.values, (self.rows, self.columns)), shape=(self.size, self.size))

    @property
    def dense(self) -> np.ndarray:
        """The matrix, dense, `float64[n, n]`."""
        return self.sparse.toarray()

    @cached_property
    def by_row(self) -> bool:
        """Whether no row has two entries."""
        return _distinct(self.rows)

    @cached_property
    def by_column(self) -> bool:
        """Whether no column has two entries."""
        return _distinct(self.columns)

    @cached_property
    def bound(self) -> float:
        """A number that no vector is made longer by: `√(‖A‖₁ ‖A‖_∞)`."""
        if not self.size:
            return 0.0
        sizes = abs(self.sparse)
        return float(np.sqrt(sizes.sum(axis=0).max()) * np.sqrt(sizes.sum(axis=1).max()))

    @cached_property
    def orthogonal(self) -> bool:
        """Whether the elements it stands for keep lengths: `AᵀA = 1`, or `A + Aᵀ = 0` for one of a Lie algebra."""
        matrix = self.sparse
        off = matrix + matrix.T if self.lie else matrix.T @ matrix - scipy.sparse.eye_array(self.size)
        return bool(abs(off).max() <= 1e3 * self.precision) if self.size else True

    def __call__(self, x: jax.Array, /) -> jax.Array:
        """The matrix on the last axis of `x`, exact where its entries and `x` are whole numbers.

        What only moves numbers keeps their type. Truth values and narrow whole numbers that are added, or get a sign,
        become `int32`, and whole numbers that get a fraction become real. Inside `jit`, where numbers are not known,
        whole numbers wrap as JAX's do. A matrix of more than `4 n` entries that are not zero is multiplied as a dense
        one: what is infinite or not a number then also reaches the places that it has zeros for.

        **Raises:** `CdlError` where an entry does not fit the type of `x`, and where whole numbers may outgrow theirs.
        """
        dtype = x.dtype
        if not (self.by_row and bool(np.all(self.values == 1))):
            if not jnp.issubdtype(dtype, jnp.inexact):
                whole = bool(np.all(self.values == np.round(self.values)))
                narrow = dtype.itemsize < 4 or not jnp.issubdtype(dtype, jnp.signedinteger)
                dtype = (jnp.dtype(jnp.int32) if narrow else dtype) if whole else jnp.zeros(()).dtype
            not_wrapping(f"generator `{self.name}`", x, self.sparse, dtype)
        known = fitting(f"generator `{self.name}`", self.values, dtype)
        values = jnp.broadcast_to(known, (*x.shape[:-1], len(self.values)))
        if self.by_row:
            taken = x[..., self.columns].astype(dtype) * values
            return jnp.zeros(x.shape, dtype).at[..., self.rows].set(taken)
        if len(self.values) > 4 * self.size:
            return x.astype(dtype) @ jnp.asarray(self.dense.T, dtype)
        return jnp.zeros(x.shape, dtype).at[..., self.rows].add(x[..., self.columns].astype(dtype) * values)

    def renamed(self, name: str) -> "Generator":
        return dataclasses.replace(self, name=name)

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (
            self.name,
            self.size,
            self.lie,
            self.precision,
            self.rows.tobytes(),
            self.columns.tobytes(),
            self.values.tobytes(),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Generator) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __pdoc__(self, **_: Any) -> TextDoc:
        """How Equinox writes it inside a network."""
        return TextDoc(repr(self))

    def __repr__(self) -> str:
        return f"{self.name}: {self.size} × {self.size}, {len(self.values)} entries"


def along(name: str, targets: Any, size: int, scales: Any = None) -> Generator:
    """`e_i ↦ s_i e_{g(i)}`, for `g` as an array of `size` targets; a target of -1 maps to zero."""
    targets = indices(name, targets, size)
    values = np.ones(size) if scales is None else numbers(name, scales, size)
    kept = np.flatnonzero(targets >= 0)
    return _made(name, size, targets[kept], kept, values[kept])


def against(name: str, sources: Any, size: int) -> Generator:
    """`(x · g)_i = x_{g(i)}`, for `g` as an array of `size` sources; a source of -1 gives zero."""
    sources = indices(name, sources, size)
    kept = np.flatnonzero(sources >= 0)
    return _made(name, size, kept, sources[kept], np.ones(len(kept)))


def of_matrix(name: str, matrix: Any, size: int, lie: bool) -> Generator:
    """A dense or sparse matrix of the carrier as a generator."""
    return _made(name, size, *entries(name, matrix, size), lie)


def _made(
    name: str, size: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, lie: bool = False
) -> Generator:
    matrix = scipy.sparse.coo_array((held(name, values), (rows, columns)), shape=(size, size))
    return Generator.of(name, matrix, lie, precision_of(values))


def _distinct(index: np.ndarray) -> bool:
    return len(np.unique(index)) == len(index)
