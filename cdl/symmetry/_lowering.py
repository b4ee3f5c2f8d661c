"""How a tied layer multiplies: by its dense matrix, or faster where the pattern of its weights allows it.

| the weights                                                      | the product                                  |
| ---------------------------------------------------------------- | -------------------------------------------- |
| circulant on a grid: `W[i, j] = w[i − j]`, round every axis       | `Circulant`: `F⁻¹(F w · F x)`                |
| one number nearly everywhere, a few others in each row            | `Uniform`: `θ · Σ x`, and the differences    |
| any other                                                        | `Gathered`: the matrix, and a dense product  |

The first is what commutes with the shifts of a circle or a torus, and with their reflections; the second what commutes
with all permutations. The results are those of the matrix up to rounding, as a part of `‖W‖ ‖x‖`; where an input is not
finite, no output is. Small matrices are always gathered. So are numbers of 16 bits, for which XLA has no Fourier
transform.
"""

import functools
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from ._tying import Orbits, Tying


LEAST = 2**14  # weights of all channels: of fewer, the matrix is as fast
MOST = 4  # numbers in a row that differ from the rest


class Product(Protocol):
    """`float[out, in, dimension], float[in, columns] → float[out, rows]`, where the axes of channels may be missing."""

    def __call__(self, theta: jax.Array, x: jax.Array, out: str, inner: str) -> jax.Array: ...

    @property
    def words(self) -> str: ...


@functools.lru_cache(maxsize=64)
def lowered(tying: Tying, source: tuple[int, ...], target: tuple[int, ...], channels: int) -> Product:
    """The fastest way for a tying, whose matrices act on arrays of a shape and give arrays of another.

    **Arguments:** `channels`: how many such matrices there are.
    """
    plain = isinstance(tying, Orbits) and tying.scales is None and bool(np.all(tying.labels >= 0))
    if isinstance(tying, Orbits) and plain and channels * tying.labels.size >= LEAST:
        if (found := _few(tying.labels)) is not None:
            return found
        if source == target and _is_circulant(tying.labels, source):
            return Circulant(Gathered(tying), tying.labels[:, 0], source)
    return Gathered(tying)


def _is_circulant(labels: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether `labels[i, j]` depends on `i − j` alone, round every axis of a grid."""
    at = np.unravel_index(np.arange(len(labels)), shape)
    apart = [(i[:, None] - i[None, :]) % n for i, n in zip(at, shape, strict=True)]
    return bool(np.all(labels == labels[np.ravel_multi_index(apart, shape), 0]))


def _few(labels: np.ndarray) -> "Uniform | None":
    """The number that is nearly everywhere, and the places and numbers of the rest; `None` where it is not so."""
    most = int(np.bincount(labels.ravel()).argmax())
    others = labels != most
    width = int(others.sum(1).max())
    if width > MOST or 4 * width > labels.shape[1]:
        return None
    columns = np.argsort(~others, axis=1, kind="stable")[:, :width]  # padded by places of the number itself
    return Uniform(most, columns, np.take_along_axis(labels, columns, 1))


@dataclass(frozen=True, eq=False)
class Gathered:
    """The matrix of weights, and a dense product."""

    tying: Tying

    def __call__(self, theta: jax.Array, x: jax.Array, out: str, inner: str) -> jax.Array:
        return jnp.einsum(f"{out}{inner}mn,{inner}n->{out}m", self.tying.weight(theta), x)

    @property
    def words(self) -> str:
        rows, columns = self.tying.shape
        return f"weights of {rows} × {columns} gathered from the parameters, and one dense product"


@dataclass(frozen=True, eq=False)
class Circulant:
    """A convolution round a grid, by Fourier transforms. `labels` are those of the first column."""

    otherwise: Gathered
    labels: np.ndarray
    shape: tuple[int, ...]

    def __call__(self, theta: jax.Array, x: jax.Array, out: str, inner: str) -> jax.Array:
        dtype = jnp.result_type(theta, x)
        if jnp.dtype(dtype).itemsize < 4:
            return self.otherwise(theta, x, out, inner)
        there, back = (
            (jnp.fft.fftn, jnp.fft.ifftn)
            if jnp.issubdtype(dtype, jnp.complexfloating)
            else (jnp.fft.rfftn, jnp.fft.irfftn)
        )
        axes = tuple(range(-len(self.shape), 0))
        seen: Any = lambda a: _flat(there(a.reshape((*a.shape[:-1], *self.shape)), axes=axes), len(self.shape))
        kernel, waves = seen(theta[..., self.labels].astype(dtype)), seen(x.astype(dtype))
        mixed = jnp.einsum(f"{out}{inner}f,{inner}f->{out}f", kernel, waves)
        last = self.shape[-1] if there is jnp.fft.fftn else self.shape[-1] // 2 + 1
        grid = mixed.reshape((*mixed.shape[:-1], *self.shape[:-1], last))
        return _flat(back(grid, s=self.shape, axes=axes), len(self.shape))

    @property
    def words(self) -> str:
        return f"a convolution round {' × '.join(map(str, self.shape))} places, by Fourier transforms"


@dataclass(frozen=True, eq=False)
class Uniform:
    """The number `most` times the sum of all inputs, and in each row a few others: at `columns`, the `labels`."""

    most: int
    columns: np.ndarray
    labels: np.ndarray

    def __call__(self, theta: jax.Array, x: jax.Array, out: str, inner: str) -> jax.Array:
        same = theta[..., self.most]
        y = jnp.einsum(f"{out}{inner},{inner}->{out}", same, x.sum(-1))[..., None]
        for column, label in zip(self.columns.T, self.labels.T, strict=True):
            there = x if np.array_equal(column, np.arange(x.shape[-1])) else x[..., column]
            if np.all(label == label[0]):
                y = y + jnp.einsum(f"{out}{inner},{inner}m->{out}m", theta[..., label[0]] - same, there)
            else:
                y = y + jnp.einsum(f"{out}{inner}m,{inner}m->{out}m", theta[..., label] - same[..., None], there)
        return jnp.broadcast_to(y, (*y.shape[:-1], len(self.columns)))

    @property
    def words(self) -> str:
        width = self.columns.shape[1]
        return f"the sum of the inputs, times one parameter, and {width} more in each row"


def _flat(a: jax.Array, axes: int) -> jax.Array:
    return a.reshape((*a.shape[: a.ndim - axes], -1))
