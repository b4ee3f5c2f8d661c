"""Graph networks: maps of `S_n`-actions from `(A, X)`, where every layer reads the same adjacency matrix.

| the mathematics                                                 | here                                         |
| --------------------------------------------------------------- | -------------------------------------------- |
| `p · (A, X) = (P A Pᵀ, P X)`: tensors of orders 2 and 1         | `permutations(n).power(2)`, `permutations(n)`|
| `hom(X, X)` and `hom(A ⊗ X, X)`, linear in `X` and in `A`       | `layer.at(n)`, two dense layers              |
| of them: `y_i = Λ x_i + Γ Σ_j A_ij x_j + b`, a mask on orbits   | `GraphLayer`                                 |
| a co-Kleisli map of the comonad `A × −`: `(A, X) ↦ Y`           | `layer.cokleisli`                            |
| the composite, that hands the same `A` to all layers            | `GraphNetwork`, by `>>` of `CoKleisli`       |

Node features are `[channels, n]`. `A` is any matrix `[n, n]`: 0 and 1, or weights; one that is divided by degrees is as
equivariant.

(Gavranović et al., *Categorical Deep Learning*, 2024, examples 2.5 and H.9; Morris et al., *Weisfeiler and Leman Go
Neural*, 2019.)
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from cdl.checks import with_usage
from cdl.errors import CdlError
from cdl.para import CoKleisli
from cdl.symmetry import Equivariant, hom
from cdl.symmetry.groups import permutations

from ._commuting import commuting, Function
from ._one_type import in_one_type
from ._partitions import in_orbits, partitions
from ._windows import drawn


OWN = partitions(2).index("aa")  # from `j` to `i`, where `i = j`
MESSAGES = partitions(4).index("aabb")  # from `(j, k), l` to `i`, where `i = j` and `k = l`
Answers = Float[Array, "outs nodes"]


class GraphLayer(eqx.Module):
    """A node's own features and the sum of its neighbours', each by a matrix of channels.

    Examples:
        >>> from cdl_arch.symmetry import GraphLayer
        >>> path = jnp.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> layer = GraphLayer(1, 2, key=jax.random.key(0))
        >>> ends = layer(path, jnp.ones((1, 3)))
        >>> ends.shape, bool(jnp.allclose(ends[:, 0], ends[:, 2]))
        ((2, 3), True)
    """

    own: Float[Array, "outs ins"]
    messages: Float[Array, "outs ins"]
    beta: Float[Array, "outs 1"]

    @with_usage
    def __init__(self, in_channels: int, out_channels: int, *, dtype: Any = None, key: PRNGKeyArray) -> None:
        self.own, self.messages = (drawn((out_channels, in_channels), dtype, k) for k in jr.split(key))
        self.beta = jnp.zeros((out_channels, 1), self.own.dtype)

    def __call__(self, adjacency: Any, x: Any, /) -> Answers:
        """`[n, n]` and `[in_channels, n]` to `[out_channels, n]`. **Raises:** `CdlError` for arrays of other shapes."""
        adjacency, x = jnp.asarray(adjacency), jnp.asarray(x)
        n = x.shape[-1] if x.ndim else 0
        if x.shape != (self.own.shape[1], n) or adjacency.shape != (n, n):
            raise CdlError(
                f"a layer of {self.own.shape[1]} channels gets nodes of {x.shape} and a matrix of {adjacency.shape}: "
                "give `[channels, n]` and `[n, n]`."
            )
        adjacency, x, own, messages, beta = in_one_type(adjacency, x, self.own, self.messages, self.beta)
        return own @ x + messages @ (x @ adjacency.T) + beta

    @property
    def cokleisli(self) -> CoKleisli[Any, Any, Any]:
        """The layer as a map that reads the adjacency matrix."""
        return CoKleisli(self)

    def at(self, n: int) -> tuple[Equivariant, Equivariant]:
        """The layer on `n` nodes as two maps by matrices, of `X` and of `A ⊗ X`: their sum is the layer."""
        X = permutations(n)
        return (_dense(X, 1, self.own, OWN, self.beta), _dense(X.power(3), 3, self.messages, MESSAGES, None))


class GraphNetwork(eqx.Module):
    """Layers on the nodes of a graph, with a function between them.

    Examples:
        >>> from cdl_arch.symmetry import GraphNetwork
        >>> path = jnp.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> GraphNetwork((1, 8, 2), key=jax.random.key(0))(path, jnp.ones((1, 3))).shape
        (2, 3)
    """

    layers: tuple[GraphLayer, ...]
    function: Function

    @with_usage
    def __init__(self, channels: Sequence[int], *, function: Function = jax.nn.relu, key: PRNGKeyArray) -> None:
        """**Arguments:** `channels`: of the nodes, and after each layer.

        **Raises:** `CdlError` for fewer than two channels, and where the function does not commute with permutations.
        """
        if len(channels) < 2:
            raise CdlError(f"channels {tuple(channels)} are asked for: give those of the nodes and of each layer.")
        pairs = zip(channels, channels[1:], jr.split(key, len(channels) - 1), strict=False)
        self.layers = tuple(GraphLayer(inner, out, key=k) for inner, out, k in pairs)
        for inner in dict.fromkeys(channels[1:-1]):
            commuting(function, 1, inner)
        self.function = function

    @property
    def cokleisli(self) -> CoKleisli[Any, Any, Any]:
        """The network as a map that reads the adjacency matrix: the composite of its layers."""
        first, *rest = (layer.cokleisli for layer in self.layers)
        for layer in rest:
            first = first >> CoKleisli.pure(self.function) >> layer
        return first

    def __call__(self, adjacency: Any, x: Any, /) -> Answers:
        """The features of the nodes after the last layer."""
        return self.cokleisli(adjacency, x)


def _dense(source: Any, order: int, weight: jax.Array, operation: int, beta: Any) -> Equivariant:
    """One operation of tensors of an order, to nodes, in the orbits of `hom`."""
    X = permutations(source.shape[0])
    out, inner = weight.shape
    layer = Equivariant(source, X, inner, out, bias=beta is not None, dtype=weight.dtype, key=jr.key(0))
    factors = in_orbits(hom(source, X), order + 1, X.size)[:, operation]
    theta = jnp.tensordot(weight, jnp.asarray(factors, weight.dtype), 0)
    return eqx.tree_at(lambda layer: (layer.theta, layer.beta), layer, (theta, beta), is_leaf=lambda x: x is None)
