"""`Equivariant(X, Y)`: a linear layer whose weights are tied by the symmetry, with one parameter for each orbit.

| the mathematics                                       | here                                              |
| ----------------------------------------------------- | ------------------------------------------------- |
| `y = W x + b`, with `W` in `hom(X, Y)`                | `Equivariant(X, Y, key=…)`                        |
| `W = tying(θ)`, for each pair of channels             | `layer.theta`, `layer.weight`                     |
| `b` in `hom(1, Y)`: a vector that the action fixes    | `layer.beta`, `layer.bias`                        |
| the dense layer, along the tying: a 2-cell            | `layer.para()`                                    |

Initial values are scaled by orbit: each parameter contributes equally to the variance of an output, however many
weights its orbit has, and outputs of independent inputs have the variance of the inputs.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from .. import _terms as t
from .._functors.usage import with_usage
from .._para import Para
from ..errors import CdlError
from ._action import Action
from ._hom import hom
from ._maps import channels, counted, EquivariantMap
from ._tying import Tying


class Equivariant(EquivariantMap):
    """All linear equivariant maps from `X` to `Y`, as a layer with one parameter for each orbit of weights."""

    theta: jax.Array
    beta: jax.Array | None
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)
    mean: bool = eqx.field(static=True)

    @with_usage
    def __init__(
        self,
        X: Action,
        Y: Action,
        in_channels: int | None = None,
        out_channels: int | None = None,
        *,
        bias: bool = True,
        mean: bool = False,
        dtype: Any = None,
        key: jax.Array,
    ) -> None:
        """**Arguments:**

        - `X`, `Y`: actions of one monoid, on what goes in and on what comes out.
        - `in_channels`, `out_channels`: the length of a first axis of channels, on which the monoid does not act;
          `None` for no such axis.
        - `bias`: whether a bias is added, in `hom(1, Y)`.
        - `mean`: whether an orbit takes the mean of the inputs that it reads, and not their sum. Then outputs do not
          grow with the number of places where inputs are not centred.
        - `dtype`: of the parameters; JAX's default float without.
        - `key`: for the initial values.

        **Raises:** `CdlError` where the actions are not of one monoid, and where no map but zero commutes with them.
        """
        self.source, self.target, self.mean = X, Y, mean
        self.in_channels, self.out_channels = counted(in_channels), counted(out_channels)
        tying = hom(X, Y)
        if not tying.dimension:
            raise CdlError(
                f"no linear map from {X} to {Y} but zero commutes with the generators: there is nothing to learn. "
                "Choose another carrier, or fewer generators."
            )
        dtype = jnp.zeros(()).dtype if dtype is None else dtype
        out, inner = channels(self.out_channels), channels(self.in_channels)
        drawn = jr.normal(key, (*out, *inner, tying.dimension), dtype)
        self.theta = drawn * jnp.asarray(deviations(tying, mean) / np.sqrt(self.in_channels or 1), dtype)
        fixed = hom(X.trivial(), Y).dimension if bias else 0
        self.beta = jnp.zeros((*out, fixed), dtype) if fixed else None

    @property
    def tying(self) -> Tying:
        """How the weights are tied: the map from `theta` to `weight`, up to the factors of `mean`."""
        return hom(self.source, self.target)

    @property
    def weight(self) -> jax.Array:
        """`float[out_channels, in_channels, Y.size, X.size]`, without an axis of channels where there is none."""
        return self._weights((self.theta, None))[0]

    @property
    def bias(self) -> jax.Array | None:
        """`float[out_channels, Y.size]`."""
        return self._weights((self.theta, self.beta))[1]

    def para(self) -> Para[Any, Any, Any]:
        """The dense layer, reparametrised along the tying: its parameters are `theta` and `beta`."""
        own = (self.theta, self.beta)
        dense = Para(self._weights(own), self._dense).named(f"dense {self.target.size} × {self.source.size}")
        return dense.reparametrise(_Tied(self._weights), at=own)

    def __term__(self) -> t.Term:
        return self.para().__term__()

    def _apply(self, x: jax.Array) -> jax.Array:
        return self._dense(self._weights((self.theta, self.beta)), x)

    def _weights(self, own: tuple[jax.Array, jax.Array | None]) -> tuple[jax.Array, jax.Array | None]:
        """The weights and the bias of the dense layer."""
        theta, beta = own
        if self.mean:
            theta = theta / jnp.asarray(orbit_sizes(self.tying)[0], theta.dtype)
        fixed = None if beta is None else hom(self.source.trivial(), self.target).weight(beta)[..., 0]
        return self.tying.weight(theta), fixed

    def _dense(self, weights: tuple[jax.Array, jax.Array | None], x: jax.Array) -> jax.Array:
        weight, bias = weights
        out, inner = ("o" if self.out_channels else ""), ("c" if self.in_channels else "")
        flat = x.reshape((*channels(self.in_channels), self.source.size))
        y = jnp.einsum(f"{out}{inner}mn,{inner}n->{out}m", weight, flat)
        return (y if bias is None else y + bias).reshape((*channels(self.out_channels), *self.target.shape))


class _Tied(eqx.Module):
    cell: Any
    __called__ = "tying"

    def __call__(self, own: Any) -> Any:
        return self.cell(own)


def orbit_sizes(tying: Tying) -> tuple[np.ndarray, np.ndarray, int]:
    """How many weights of a row each parameter has, at most: with their sizes added, and with their squares; and how
    many parameters a row has, at most."""
    entries = tying.factors.tocoo()
    place, number = entries.coords
    row = place // tying.shape[1]
    cells, cell = np.unique(row.astype(np.int64) * tying.dimension + number, return_inverse=True)
    numbers, many = cells % tying.dimension, int(np.bincount(cells // tying.dimension).max(initial=1))
    most: Callable[[np.ndarray], np.ndarray] = lambda values: _greatest(numbers, np.bincount(cell, values), tying)
    return most(np.abs(entries.data)), most(entries.data**2), many


def deviations(tying: Tying, mean: bool) -> np.ndarray:
    """The standard deviation of each parameter at the beginning."""
    _, squares, many = orbit_sizes(tying)
    return 1 / np.sqrt(many * (np.ones_like(squares) if mean else squares))


def _greatest(numbers: np.ndarray, values: np.ndarray, tying: Tying) -> np.ndarray:
    found = np.zeros(tying.dimension)
    np.maximum.at(found, numbers, values)
    return found
