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

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from .._functors.usage import with_usage
from .._functors.words import short
from .._para import Para
from .._schemes.expect import expect_key
from ..errors import CdlError
from ._action import Action
from ._hom import hom
from ._lowering import Gathered, lowered, Product
from ._map import EquivariantMap
from ._sizes import axis_of, counted
from ._tying import along_last, Tying


class Equivariant(EquivariantMap):
    """All linear equivariant maps from `X` to `Y`, as a layer with one parameter for each orbit of weights.

    Examples:
        >>> C4 = cdl.symmetry.groups.cyclic(4)
        >>> layer = cdl.symmetry.Equivariant(C4, C4, key=jax.random.key(0))
        >>> sum(array.size for array in jax.tree.leaves(eqx.filter(layer, eqx.is_array)))
        5
        >>> cdl.symmetry.is_hom(layer, C4, C4, jnp.array([[1.0, 2.0, 3.0, 4.0]]))
        True
    """

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
        - `dtype`: of the parameters, real or complex; JAX's default float without.
        - `key`: for the initial values.

        **Raises:** `CdlError` where the actions are not of one monoid, where no map but zero commutes with them, for
        parameters that are whole numbers, and where the factor between two weights does not fit their type.
        """
        self.source, self.target, self.mean = X, Y, mean
        self.in_channels, self.out_channels = counted(in_channels), counted(out_channels)
        tying = hom(X, Y)
        if not tying.dimension:
            raise CdlError(
                f"no linear map from {X} to {Y} but zero commutes with the generators: there is nothing to learn. "
                "Choose another carrier, or fewer generators."
            )
        expect_key(key)
        dtype = _inexact(dtype)
        out, inner = axis_of(self.out_channels), axis_of(self.in_channels)
        drawn = jr.normal(key, (*out, *inner, tying.dimension), dtype)
        self.theta = drawn * along_last(deviations(tying, mean) / np.sqrt(self.in_channels or 1), drawn)
        fixed = fixed_vectors(X, Y).dimension if bias else 0
        self.beta = jnp.zeros((*out, fixed), dtype) if fixed else None
        jax.eval_shape(self.weights, (self.theta, self.beta))  # whose factors have to fit the type

    @property
    def tying(self) -> Tying:
        """How the weights are tied: the map from `theta` to `weight`, up to the factors of `mean`."""
        return hom(self.source, self.target)

    @property
    def weight(self) -> jax.Array:
        """`float[out_channels, in_channels, Y.size, X.size]`, without an axis of channels where there is none."""
        return self.weights((self.theta, None))[0]

    @property
    def bias(self) -> jax.Array | None:
        """`float[out_channels, Y.size]`."""
        return self._fixed(self.beta)

    def dense(self) -> Para[Any, Any, Any]:
        """The dense layer, untied: its parameters are the weights and the bias."""
        at = self.weights((self.theta, self.beta))
        return Para(at, self._dense).named(f"dense {self.target.size} × {self.source.size}")

    def para(self) -> Para[Any, Any, Any]:
        """The dense layer, reparametrised along the tying: its parameters are `theta` and `beta`."""
        return self.dense().reparametrise(_Tied(self.weights), at=(self.theta, self.beta))

    @property
    def execution(self) -> str:
        return self._product.words

    @property
    def _product(self) -> Product:
        channels = (self.in_channels or 1) * (self.out_channels or 1)
        return lowered(self.tying, self.source.shape, self.target.shape, channels)

    def _apply(self, x: jax.Array) -> jax.Array:
        if isinstance(self._product, Gathered):
            return self._dense(self.weights((self.theta, self.beta)), x)
        return self._of(lambda *given: self._product(self._scaled(self.theta), *given), self.bias, x)

    def weights(self, own: tuple[jax.Array, jax.Array | None]) -> tuple[jax.Array, jax.Array | None]:
        """The tying between parameters: from `(theta, beta)` to the weights and the bias of the dense layer."""
        theta, beta = own
        return self.tying.weight(self._scaled(theta)), self._fixed(beta)

    def _scaled(self, theta: jax.Array) -> jax.Array:
        return theta / along_last(orbit_sizes(self.tying), theta) if self.mean else theta

    def _fixed(self, beta: jax.Array | None) -> jax.Array | None:
        return None if beta is None else fixed_vectors(self.source, self.target).weight(beta)[..., 0]

    def _dense(self, weights: tuple[jax.Array, jax.Array | None], x: jax.Array) -> jax.Array:
        weight, bias = weights
        product: Any = lambda x, out, inner: jnp.einsum(f"{out}{inner}mn,{inner}n->{out}m", weight, x)
        return self._of(product, bias, x)

    def _of(
        self, product: Callable[[jax.Array, str, str], jax.Array], bias: jax.Array | None, x: jax.Array
    ) -> jax.Array:
        """What a product with the weights, and a bias, make of an input; the letters of channels are empty without."""
        out, inner = ("o" if self.out_channels else ""), ("c" if self.in_channels else "")
        y = product(x.reshape((*axis_of(self.in_channels), self.source.size)), out, inner)
        return (y if bias is None else y + bias).reshape((*axis_of(self.out_channels), *self.target.shape))


def _inexact(dtype: Any) -> Any:
    """The type of parameters, checked."""
    if dtype is None:
        return jnp.zeros(()).dtype
    try:
        found = jnp.dtype(dtype)
    except TypeError as error:
        raise CdlError(f"`dtype={short(dtype)}` is not a type of numbers: give one such as `jnp.float32`.") from error
    if not jnp.issubdtype(found, jnp.inexact):
        raise CdlError(
            f"parameters of the type `{found}` have no gradient: give `dtype=jnp.float32`, or another float."
        )
    return found


class _Tied(eqx.Module):
    cell: Any
    __called__ = "tying"

    def __call__(self, own: Any) -> Any:
        return self.cell(own)


@functools.lru_cache(maxsize=64)
def fixed_vectors(X: Action, Y: Action) -> Tying:
    """`hom(1, Y)`, for the monoid that acts on both: where a bias is. A layer asks each time that it is called."""
    return hom(X.trivial(), Y)


@functools.lru_cache(maxsize=64)
def orbit_sizes(tying: Tying) -> np.ndarray:
    """How many weights of a row each parameter has, at most; weights that are not 1 count by their size."""
    cells = _cells(tying)
    return _most(cells, cells.sums, tying)


def deviations(tying: Tying, mean: bool) -> np.ndarray:
    """The standard deviation of each parameter at first: all contribute equally, and a row has the variance 1 at most.

    With means, that is the variance at inputs that are all equal; without, at independent inputs.
    """
    cells = _cells(tying)
    parts = cells.sums**2 if mean else cells.squares
    most = _most(cells, parts, tying)
    shares = np.bincount(cells.rows, parts / most[cells.numbers])
    return 1 / np.sqrt(shares.max() * (np.ones_like(most) if mean else most))


class _Cells(NamedTuple):
    """The rows and the numbers that have weights in common, with the sums of these weights' sizes and squares."""

    rows: np.ndarray
    numbers: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


def _cells(tying: Tying) -> _Cells:
    entries = tying.factors.tocoo()
    place, number = entries.coords
    keys = (place // tying.shape[1]).astype(np.int64) * tying.dimension + number
    found, cell = np.unique(keys, return_inverse=True)
    sums, squares = (np.bincount(cell, values) for values in (np.abs(entries.data), entries.data**2))
    return _Cells(found // tying.dimension, found % tying.dimension, sums, squares)


def _most(cells: _Cells, values: np.ndarray, tying: Tying) -> np.ndarray:
    """For each number, the greatest of its rows' values."""
    found = np.zeros(tying.dimension)
    np.maximum.at(found, cells.numbers, values)
    return found
