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

from ..errors import CdlError
from ._rounding import EXACT
from ._sparse import sp, Sparse


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
        """A sparse matrix as a generator: entries summed, ordered by row, zeros left out."""
        ordered = sp.csr_array(matrix)
        ordered.sum_duplicates()
        ordered.eliminate_zeros()
        entries = ordered.tocoo()
        rows, columns = (np.asarray(x, np.int64) for x in entries.coords)
        return Generator(name, matrix.shape[0], rows, columns, np.asarray(entries.data, np.float64), lie, precision)

    @cached_property
    def sparse(self) -> Sparse:
        """The matrix, sparse."""
        return sp.csr_array((self.values, (self.rows, self.columns)), shape=(self.size, self.size))

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
    def orthogonal(self) -> bool:
        """Whether the elements it stands for keep lengths: `AᵀA = 1`, or `A + Aᵀ = 0` for one of a Lie algebra."""
        matrix = self.sparse
        off = matrix + matrix.T if self.lie else matrix.T @ matrix - sp.eye_array(self.size)
        return bool(abs(off).max() <= 1e3 * self.precision) if self.size else True

    def __call__(self, x: jax.Array, /) -> jax.Array:
        """The matrix on the last axis of `x`, exact where its entries and `x` are whole numbers.

        What only moves numbers keeps their type. Truth values and narrow whole numbers that are added, or get a sign,
        become `int32`, and whole numbers that get a fraction become real.
        """
        moves = self.by_row and bool(np.all(self.values == 1))
        whole = bool(np.all(self.values == np.round(self.values)))
        dtype = x.dtype
        if not moves and not jnp.issubdtype(dtype, jnp.inexact):
            narrow = dtype.itemsize < 4 or not jnp.issubdtype(dtype, jnp.signedinteger)
            dtype = (jnp.dtype(jnp.int32) if narrow else dtype) if whole else jnp.zeros(()).dtype
        values = jnp.broadcast_to(jnp.asarray(self.values, dtype), (*x.shape[:-1], len(self.values)))
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

    def __repr__(self) -> str:
        return f"{self.name}: {self.size} × {self.size}, {len(self.values)} entries"


def along(name: str, targets: Any, size: int, scales: Any = None) -> Generator:
    """`e_i ↦ s_i e_{g(i)}`, for `g` as an array of `size` targets; a target of -1 is none."""
    targets = indices(name, targets, size)
    values = np.ones(size) if scales is None else numbers(name, scales, size)
    kept = np.flatnonzero(targets >= 0)
    matrix = sp.coo_array((values[kept], (targets[kept], kept)), shape=(size, size))
    return Generator.of(name, matrix, precision=precision_of(np.asarray(scales)))


def against(name: str, sources: Any, size: int) -> Generator:
    """`(x · g)_i = x_{g(i)}`, for `g` as an array of `size` sources; a source of -1 gives zero."""
    sources = indices(name, sources, size)
    kept = np.flatnonzero(sources >= 0)
    return Generator.of(name, sp.coo_array((np.ones(len(kept)), (kept, sources[kept])), shape=(size, size)))


def of_matrix(name: str, matrix: Any, size: int, lie: bool) -> Generator:
    """A dense or sparse matrix of the carrier as a generator."""
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
        if matrix.dtype.kind not in "biuf":
            raise CdlError(f"generator `{name}` holds {matrix.dtype} values; a matrix of real numbers is expected.")
    if matrix.shape != (size, size):
        what = f"has shape {tuple(matrix.shape)}"
        raise CdlError(
            f"generator `{name}` {what}, and the carrier has {size} numbers: give a matrix of {size} × {size}."
        )
    if not np.all(np.isfinite(matrix.data if sp.issparse(matrix) else matrix)):
        raise CdlError(f"generator `{name}` has an entry that is infinite or not a number.")
    return Generator.of(name, sp.coo_array(matrix, dtype=np.float64), lie, precision_of(matrix))


def precision_of(given: Any) -> float:
    """How well the entries of an array are known: as its type rounds. Whole numbers, halves and the like are exact."""
    dtype = np.dtype(given.dtype)
    entries = np.asarray(given.data if sp.issparse(given) else given)
    if dtype.kind != "f" or np.all(1024 * entries == np.round(1024 * entries)):
        return EXACT
    return max(EXACT, float(np.finfo(dtype).eps))


def indices(name: str, given: Any, size: int) -> np.ndarray:
    """An index array of `size` entries between -1 and `size - 1`, checked."""
    found = np.asarray(given)
    if found.dtype.kind not in "iu":
        raise CdlError(
            f"generator `{name}` has {found.dtype} indices; give whole numbers, one for each of {size} places."
        )
    if found.shape != (size,):
        raise CdlError(f"generator `{name}` has indices of shape {found.shape}, and the carrier has {size} places.")
    wrong = found[(found.astype(np.int64) < -1) | (found.astype(np.int64) >= size)]
    if len(wrong):
        raise CdlError(f"generator `{name}` goes to {wrong[0]}: places are 0 to {size - 1}, and -1 for none.")
    return found.astype(np.int64)


def numbers(name: str, given: Any, size: int) -> np.ndarray:
    """`size` finite real numbers, checked."""
    found = np.asarray(given)
    if found.dtype.kind not in "biuf" or found.shape != (size,):
        raise CdlError(
            f"generator `{name}` has scales of {found.dtype}{list(found.shape)}; give {size} real numbers, one a place."
        )
    if not np.all(np.isfinite(found)):
        raise CdlError(f"generator `{name}` has a scale that is infinite or not a number.")
    return found.astype(np.float64)


def _distinct(index: np.ndarray) -> bool:
    return len(np.unique(index)) == len(index)
