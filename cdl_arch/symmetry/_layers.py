"""Layers on nodes, one after the other, with a function between them that is checked when the network is built.

| the mathematics                                              | here                                            |
| ------------------------------------------------------------ | ----------------------------------------------- |
| `X^{⊗k} → X^{⊗l} → …`, maps of algebras of `S_n × −`         | `Layers(layers, function)`, for every `n`        |
| a function at each place: it has to commute with every `S_n` | `commuting(function, order)`                    |
| the network of one `n`, by matrices                          | `stack.at(n)`, a `Chain`                        |
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax
from jaxtyping import Array, Float

from cdl.errors import CdlError
from cdl.symmetry import Chain, chain, Pointwise
from cdl.symmetry.groups import permutations


Function: TypeAlias = Callable[[jax.Array], jax.Array]
NODES = 3  # on which a function is checked: a permutation of more nodes is one of exchanges of two


def commuting(function: Function, order: int, channels: int) -> Function:
    """The same function. **Raises:** `CdlError` where it does not commute with permutations of nodes."""
    Pointwise(function, permutations(NODES).power(order), channels)
    return function


class Layers(eqx.Module):
    """A network on tensors over nodes, of any number of them."""

    layers: tuple[Any, ...]
    function: Function

    def __init__(self, layers: Sequence[Any], function: Function = jax.nn.relu) -> None:
        """**Arguments:** `layers`: such as `Tensors`. `function`: between two layers, at each place.

        **Raises:** `CdlError` for no layers, for two that do not fit, and where the function does not commute.
        """
        if not layers:
            raise CdlError("a network of no layers is asked for: give one or more.")
        for before, after in itertools.pairwise(layers):
            gives, takes = (before.theta.shape[0], before.out_order), (after.theta.shape[1], after.order)
            if gives != takes:
                raise CdlError(
                    f"a layer gives {gives[0]} channels of tensors of order {gives[1]}, and the next takes "
                    f"{takes[0]} of order {takes[1]}."
                )
            commuting(function, before.out_order, gives[0])
        self.layers, self.function = tuple(layers), function

    def __call__(self, x: Float[Array, " ins *nodes"], /) -> Float[Array, " outs *others"]:
        """`[in_channels, n, …, n]`, for any `n`."""
        n = x.shape[-1]
        x = self.layers[0](x, n)
        for layer in self.layers[1:]:
            x = layer(self.function(x), n)
        return x

    def at(self, n: int) -> Chain:
        """The same network on `n` nodes, by matrices."""
        first, *rest = (layer.at(n) for layer in self.layers)
        return chain(first, *(part for layer in rest for part in (self.function, layer)))
