"""A tying: all the matrices that solve the equations, as a linear map from free numbers to weights.

| the mathematics                             | here                                                                 |
| ------------------------------------------- | -------------------------------------------------------------------- |
| `θ ↦ W`, one-to-one onto the solutions      | `tying.weight(theta)`                                                |
| every weight is a multiple of one number    | `Orbits`: `W_p = scale_p θ_{label_p}`, gathered                      |
| a weight is a sum of multiples of numbers   | `Combinations`: a sparse matrix of factors                           |

A tying is what weight tying is in `Para`: a map between parameters, along which a dense layer is reparametrised.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._drawing.diagram import Diagram
from ..errors import CdlError
from ._given import acted
from ._held import fitting
from ._orbits import Classes
from ._picture import cells, counts, tying_diagram
from ._rounding import LEAST
from ._sparse import Sparse


FEW = 4  # numbers that are selected one by one: a gradient that adds very many weights to few numbers is slow


@dataclass(frozen=True, eq=False)
class Tying(ABC):
    """The matrices `W` of a shape that satisfy equations, one for each vector `θ` of `dimension` numbers.

    `shape` is that of `W`, `(outputs, inputs)`. `how` says which method found it: "orbits", "presolve", "dense" or
    "shift-invert". `gap`, where a rank was decided by rounding, is the ratio of the least number that counts as not
    zero to the greatest that counts as zero.

    Examples:
        >>> C3 = cdl.symmetry.groups.cyclic(3)
        >>> tying = cdl.symmetry.hom(C3, C3)
        >>> tying.dimension, tying.shape
        (3, (3, 3))
    """

    shape: tuple[int, int]
    dimension: int
    how: str
    gap: float | None

    def weight(self, theta: Any) -> jax.Array:
        """`float[…, dimension] → float[…, outputs, inputs]`.

        **Raises:** `CdlError` for another last axis, and where the factor of a weight vanishes in the type of `theta`.
        """
        theta = acted(theta, "what `weight` takes")
        theta = theta if jnp.issubdtype(theta.dtype, jnp.inexact) else theta.astype(jnp.zeros(()).dtype)
        if theta.ndim == 0 or theta.shape[-1] != self.dimension:
            raise CdlError(f"`weight` takes {self.dimension} numbers, along the last axis, and gets {theta.shape}.")
        return self._weights(theta).reshape((*theta.shape[:-1], *self.shape))

    def __call__(self, theta: Any, /) -> jax.Array:
        """The same as `weight`: a tying is a 2-cell."""
        return self.weight(theta)

    @abstractmethod
    def _weights(self, theta: jax.Array) -> jax.Array:
        """`float[…, dimension] → float[…, outputs · inputs]`."""

    @property
    @abstractmethod
    def factors(self) -> Sparse:
        """The map as a sparse matrix, `(outputs · inputs, dimension)`."""

    @property
    def basis(self) -> np.ndarray:
        """A basis of the solutions, `float64[dimension, outputs, inputs]`: what `weight` makes of unit vectors."""
        return self.factors.T.toarray().reshape((self.dimension, *self.shape))

    @property
    def rows(self) -> list[str]:
        """The matrix of weights, row by row: a letter for each number, `·` for zero, `+` for a sum of several."""
        return [" ".join(text.rjust(2) for text, _ in row) for row in cells(self.factors, self.shape)]

    @property
    def counts(self) -> list[str]:
        """How many weights each number has, in words."""
        return counts(self.factors, self.shape)

    def __diagram__(self) -> Diagram:
        return tying_diagram(self.factors, self.shape)

    def __repr__(self) -> str:
        m, n = self.shape
        return f"{type(self).__name__}({m} × {n} weights of {self.dimension} numbers, by {self.how})"


@dataclass(frozen=True, eq=False, repr=False)
class Orbits(Tying):
    """Each weight is one of the numbers, times a scale, or zero.

    `labels` is `int32[outputs, inputs]`, -1 for a weight that is zero; `scales` is `float64` of that shape, or `None`
    where every scale is 1.

    Examples:
        >>> C3 = cdl.symmetry.groups.cyclic(3)
        >>> tying = cdl.symmetry.hom(C3, C3)
        >>> isinstance(tying, cdl.symmetry.Orbits)
        True
        >>> tying.labels
        array([[0, 1, 2],
               [2, 0, 1],
               [1, 2, 0]], dtype=int32)
    """

    labels: np.ndarray
    scales: np.ndarray | None

    def _weights(self, theta: jax.Array) -> jax.Array:
        labels = self.labels.ravel()
        shape = (*theta.shape[:-1], len(labels))
        found = jnp.zeros(shape, theta.dtype)
        if self.dimension <= FEW:
            for number in range(self.dimension):
                found = jnp.where(jnp.broadcast_to(labels == number, shape), theta[..., number : number + 1], found)
        else:
            gathered = theta.at[..., np.maximum(labels, 0)].get(mode="promise_in_bounds")
            found = jnp.where(jnp.broadcast_to(labels < 0, shape), found, gathered) if np.any(labels < 0) else gathered
        return found if self.scales is None else found * _fitting(self.scales.ravel(), found)

    @property
    def factors(self) -> Sparse:
        scales = None if self.scales is None else self.scales.ravel()
        return Classes(self.labels.ravel(), scales, self.dimension).factors


@dataclass(frozen=True, eq=False, repr=False)
class Combinations(Tying):
    """Each weight is a combination of the numbers, with the factors of a sparse matrix.

    Examples:
        >>> mean_free = cdl.symmetry.monoids.idempotent(jnp.eye(3) - jnp.ones((3, 3)) / 3)
        >>> tying = cdl.symmetry.hom(mean_free, mean_free)
        >>> isinstance(tying, cdl.symmetry.Combinations), tying.dimension
        (True, 5)
    """

    matrix: Sparse

    def _weights(self, theta: jax.Array) -> jax.Array:
        entries = self.matrix.tocoo()
        rows, columns = entries.coords
        found = theta[..., columns]
        out = jnp.zeros((*theta.shape[:-1], self.matrix.shape[0]), theta.dtype)
        sizes = np.abs(entries.data)
        known = np.where(sizes > LEAST * sizes.max(initial=0.0), entries.data, 0.0)  # the rest is rounding
        return out.at[..., rows].add(found * _fitting(known, found), indices_are_sorted=True)

    @property
    def factors(self) -> Sparse:
        return self.matrix


def _fitting(numbers: np.ndarray, like: jax.Array) -> jax.Array:
    """The factors of weights along the last axis. **Raises:** `CdlError` where one does not fit the type."""
    return jnp.broadcast_to(fitting("a tying of weights", numbers, like.dtype), like.shape)


def along_last(numbers: np.ndarray, like: jax.Array) -> jax.Array:
    """Numbers along the last axis of an array, and the same at all others."""
    return jnp.broadcast_to(jnp.asarray(numbers, like.dtype), like.shape)
