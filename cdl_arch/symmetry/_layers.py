"""Layers on nodes, one after the other, with a function between them that is checked when the network is built.

| the mathematics                                              | here                                            |
| ------------------------------------------------------------ | ----------------------------------------------- |
| `X^{⊗k} → X^{⊗l} → …`, maps of algebras of `S_n × −`         | `Layers(layers, function)`, for every `n`        |
| a function at each place: it has to commute with every `S_n` | `commuting(function, order)`                    |
| the network of one `n`, by matrices                          | `stack.at(n)`, a `Chain`                        |
"""

import itertools
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from cdl.checks import with_usage
from cdl.errors import CdlError
from cdl.symmetry import Chain, chain

from ._commuting import commuting, Function
from ._node_layers import NodeLayer


class Layers(eqx.Module):
    """A network on tensors over nodes, of any number of them.

    Examples:
        >>> from cdl_arch.symmetry import DeepSet, Layers
        >>> net = Layers(
        ...     [DeepSet(1, 4, key=jax.random.key(0)), DeepSet(4, 1, key=jax.random.key(1))]
        ... )
        >>> net(jnp.ones((1, 7))).shape
        (1, 7)
    """

    layers: tuple[NodeLayer, ...]
    function: Function

    @with_usage
    def __init__(self, layers: Sequence[NodeLayer], function: Function = jax.nn.relu) -> None:
        """**Arguments:** `layers`: such as `Tensors`. `function`: between two layers, at each place.

        **Raises:** `CdlError` for no layers, for one of another kind, for two that do not fit, and where the function
        does not commute.
        """
        if not layers:
            raise CdlError("a network of no layers is asked for: give one or more.")
        for layer in layers:
            if not isinstance(layer, NodeLayer):
                raise CdlError(f"`Layers` takes layers such as `Tensors`, not `{type(layer).__name__}`.")
        for before, after in itertools.pairwise(layers):
            gives, takes = (before.out_channels, before.out_order), (after.in_channels, after.order)
            if gives != takes:
                raise CdlError(
                    f"a layer gives {gives[0]} channels of tensors of order {gives[1]}, and the next takes "
                    f"{takes[0]} of order {takes[1]}."
                )
            commuting(function, before.out_order, gives[0])
        self.layers, self.function = tuple(layers), function

    def __call__(self, x: Any, /, n: int | None = None) -> Float[Array, " outs *others"]:
        """`[in_channels, n, …, n]`, for any `n`; where the first order is 0, `x` has no nodes, and `n` says how many.

        **Raises:** `CdlError` for an array of another shape, and for another number of nodes than it has.
        """
        x = jnp.asarray(x)
        n = self._nodes(x, n)
        x = self.layers[0](x, n)
        for layer in self.layers[1:]:
            x = layer(self.function(x), n)
        return x

    def at(self, n: int) -> Chain:
        """The same network on `n` nodes, by matrices."""
        first, *rest = (layer.at(n) for layer in self.layers)
        return chain(first, *(part for layer in rest for part in (self.function, layer)))

    def _nodes(self, x: jax.Array, n: int | None) -> int:
        """How many nodes there are: those of `x`, or of the first tensors that have any."""
        spread = self.layers[0].order == 0 and any(layer.out_order for layer in self.layers)
        if spread and n is None:
            raise CdlError("numbers are spread over nodes: say how many, `network(x, n=…)`.")
        return self.layers[0].nodes(x, n)
