"""DeepSets: the linear maps that commute with every permutation of a set, in time linear in its size.

| the mathematics                                              | here                                            |
| ------------------------------------------------------------ | ----------------------------------------------- |
| `hom(X, X)` of `S_n`: `y_i = Λ x_i + Γ mean_j x_j + b`       | `DeepSet`: `layer.tensors.theta[…, 0]` is `Λ`   |
| `hom(X, 1)`: the mean                                        | `Tensors(1, 0, …)`                              |
| a function of sets                                           | `deep_sets`                                     |

A set of `n` elements is an array `[channels, n]`; the parameters do not depend on `n`. Two elements of the same set may
be equal. `DeepSet` gives what `Tensors(1, 1, …)` gives: it has that layer's parameters, and the two operations written
out. `Γ` is `theta[…, 1]`.

(Zaheer et al., *Deep Sets*, 2017.)
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
from cdl.symmetry import Equivariant

from ._commuting import Function
from ._layers import Layers
from ._node_layers import NodeLayer
from ._one_type import in_one_type
from ._tensors import Tensors


class DeepSet(NodeLayer):
    """One layer, from sets to sets of as many elements.

    Examples:
        >>> from cdl_arch.symmetry import DeepSet
        >>> layer = DeepSet(1, 2, key=jax.random.key(0))
        >>> x = jnp.array([[3.0, 1.0, 2.0]])
        >>> bool(jnp.allclose(layer(x[:, ::-1]), layer(x)[:, ::-1], atol=1e-5))
        True
    """

    tensors: Tensors
    order: int = eqx.field(static=True)
    out_order: int = eqx.field(static=True)

    @with_usage
    def __init__(
        self, in_channels: int, out_channels: int, *, bias: bool = True, dtype: Any = None, key: PRNGKeyArray
    ) -> None:
        self.order = self.out_order = 1
        self.tensors = Tensors(1, 1, in_channels, out_channels, bias=bias, dtype=dtype, key=key)

    @property
    def in_channels(self) -> int:
        return self.tensors.in_channels

    @property
    def out_channels(self) -> int:
        return self.tensors.out_channels

    def __call__(self, x: Any, /, n: int | None = None) -> Float[Array, "outs nodes"]:
        """`[in_channels, n] → [out_channels, n]`."""
        x = jnp.asarray(x)
        self.nodes(x, n)
        x, theta = in_one_type(x, self.tensors.theta)
        y = theta[..., 0] @ x + theta[..., 1] @ x.mean(1, keepdims=True)
        return y if self.tensors.beta is None else y + self.tensors.beta.astype(y.dtype)

    def at(self, n: int) -> Equivariant:
        return self.tensors.at(n)


@with_usage
def deep_sets(channels: Sequence[int], outputs: int, *, function: Function = jax.nn.relu, key: PRNGKeyArray) -> Layers:
    """A function of sets `[channels[0], n]`, to `[outputs]`: layers on elements, and then the mean.

    **Arguments:** `channels`: of the set, and after each layer. `outputs`: how many numbers it gives. `function`:
    between layers.

    **Raises:** `CdlError` for no channels, and where the function does not commute with permutations.

    Examples:
        >>> from cdl_arch.symmetry import deep_sets
        >>> net = deep_sets((1, 8), 2, key=jax.random.key(0))
        >>> x = jnp.array([[3.0, 1.0, 2.0]])
        >>> bool(jnp.allclose(net(x), net(x[:, ::-1]), atol=1e-5))
        True
    """
    if not channels:
        raise CdlError("a set of no channels is asked for: give the channels of its elements.")
    last, *keys = jr.split(key, len(channels))
    pairs = zip(channels, channels[1:], keys, strict=False)
    layers = [DeepSet(inner, out, key=k) for inner, out, k in pairs]
    return Layers([*layers, Tensors(1, 0, channels[-1], outputs, key=last)], function)
