"""Layers on tensors over nodes of any number: the linear maps that commute with every permutation of the nodes.

| the mathematics                                            | here                                              |
| ---------------------------------------------------------- | ------------------------------------------------- |
| `hom(X^{⊗k}, X^{⊗l})` of `S_n`, for all `n` at once        | `Tensors(k, l, …)`                                |
| matrices to matrices: 15 operations, in closed form        | `Tensors(2, 2, …)`                                |
| bias in `hom(1, X^{⊗l})`                                   | `layer.beta`, one number for each partition       |
| the layer of one `n`, by a matrix in the orbits of `hom`   | `layer.at(n)`                                     |

Tensors are arrays `[channels, n, …, n]`. An operation takes the mean, and not the sum, over indices that are only in
the input: so one set of parameters serves graphs of all sizes.

(Maron et al., *Invariant and Equivariant Graph Networks*, 2019; Gavranović et al., *Categorical Deep Learning*, 2024,
example 2.5.)
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from cdl.checks import with_usage
from cdl.errors import CdlError
from cdl.symmetry import Action, Equivariant, hom
from cdl.symmetry.groups import permutations

from ._node_layers import NodeLayer
from ._one_type import in_one_type
from ._partitions import in_orbits, partitions, read, spread, summed
from ._windows import drawn


class Tensors(NodeLayer):
    """A layer from tensors of one order to tensors of another.

    Examples:
        >>> from cdl_arch.symmetry import Tensors
        >>> layer = Tensors(2, 2, 1, 1, key=jax.random.key(0))
        >>> layer.theta.size, layer(jnp.ones((1, 5, 5))).shape
        (15, (1, 5, 5))
    """

    theta: Float[Array, "outs ins operations"]
    beta: Float[Array, "outs biases"] | None
    order: int = eqx.field(static=True)
    out_order: int = eqx.field(static=True)

    @with_usage
    def __init__(
        self,
        order: int,
        out_order: int,
        in_channels: int,
        out_channels: int,
        *,
        bias: bool = True,
        dtype: Any = None,
        key: PRNGKeyArray,
    ) -> None:
        """**Arguments:** `order`, `out_order`: of the tensors that go in and come out: 0 for numbers, 1 for a number at
        each node, 2 for matrices. `bias`: whether a bias is added.

        **Raises:** `CdlError` for orders that are negative, or together above 6.
        """
        if min(order, out_order) < 0 or order + out_order > 6:
            raise CdlError(f"tensors of order {order} to order {out_order}: give orders from 0, together at most 6.")
        self.order, self.out_order = order, out_order
        shape = out_channels, in_channels, len(partitions(order + out_order))
        self.theta = drawn(shape, dtype, key)
        self.beta = jnp.zeros((out_channels, len(partitions(out_order))), self.theta.dtype) if bias else None

    @property
    def in_channels(self) -> int:
        return self.theta.shape[1]

    @property
    def out_channels(self) -> int:
        return self.theta.shape[0]

    def __call__(self, x: Any, /, n: int | None = None) -> Float[Array, " outs *others"]:
        x = jnp.asarray(x)
        n = self.nodes(x, n)
        x, theta = in_one_type(x, self.theta)
        y = self._sum(theta, x, self.order, n)
        if self.beta is None:
            return y
        return y + self._sum(self.beta[:, None].astype(y.dtype), jnp.ones(1, y.dtype), 0, n)

    def at(self, n: int) -> Equivariant:
        X = permutations(n)
        source, target = X.power(self.order), X.power(self.out_order)
        out, inner, _ = self.theta.shape
        bias, dtype = self.beta is not None, self.theta.dtype
        layer = Equivariant(source, target, inner, out, bias=bias, dtype=dtype, key=jr.key(0))
        theta = self._orbits(self.theta, source, target, self.order, n)
        if self.beta is None:
            return eqx.tree_at(lambda layer: layer.theta, layer, theta)
        beta = self._orbits(self.beta, X.trivial(), target, 0, n)
        return eqx.tree_at(lambda layer: (layer.theta, layer.beta), layer, (theta, beta))

    def _sum(self, weights: jax.Array, x: jax.Array, order: int, n: int) -> jax.Array:
        """The operations of tensors of an order, each with its weights for two channels."""
        y = jnp.zeros((weights.shape[0], *(n for _ in range(self.out_order))), x.dtype)
        wide, _ = in_one_type(x, jnp.float32(0))  # a sum of many may not fit where their mean does
        for i, p in enumerate(self._all(order)):
            mean = (read(p, wide, self.out_order) / n ** summed(p, self.out_order)).astype(x.dtype)
            mixed = jnp.tensordot(weights[..., i], mean, 1)
            y = y + spread(p, mixed, self.out_order, n)
        return y

    def _orbits(self, weights: jax.Array, source: Action, target: Action, order: int, n: int) -> jax.Array:
        """The weights of the orbits, from those of the operations."""
        scales = np.array([float(n) ** -summed(p, self.out_order) for p in self._all(order)])
        matrix = scales * in_orbits(hom(source, target), self.out_order + order, n)
        return weights @ jnp.asarray(matrix.T, weights.dtype)

    def _all(self, order: int) -> tuple[str, ...]:
        return partitions(self.out_order + order)
