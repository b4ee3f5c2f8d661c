"""A group convolutional network: lifted to the group, convolved there, and read as the group does not change it.

| the mathematics                                      | here                                                      |
| ---------------------------------------------------- | --------------------------------------------------------- |
| `ℤ² → G → … → G → 1`, maps of algebras of `G × −`    | `gcnn(side, (1, 8, 8), 10, key=…)`, a `Chain`             |
| `hom(G, 1)`, the invariants                          | `Equivariant(G, G.trivial(), …)`: the mean of a channel   |
| the function between two layers                      | refused where it does not commute, as `chain` does        |
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.random as jr
from jaxtyping import PRNGKeyArray

from cdl.checks import with_usage
from cdl.errors import CdlError
from cdl.symmetry import Chain, chain, Equivariant

from ._group_convolution import GroupConvolution


@with_usage
def gcnn(
    side: int,
    channels: Sequence[int],
    outputs: int,
    *,
    width: int = 3,
    mirrors: bool = False,
    function: Callable[[jax.Array], jax.Array] = jax.nn.relu,
    key: PRNGKeyArray,
) -> Chain:
    """A network from images `[channels[0], side, side]` to `[outputs]` numbers that the group does not change.

    **Arguments:** `side`: of the torus. `channels`: of the images, and of each feature map. `outputs`: how many numbers
    it gives. `width`: of the filters. `mirrors`: whether mirror images are in the group. `function`: between layers.

    **Raises:** `CdlError` where the function does not commute with the action of the group.

    Examples:
        >>> from cdl_arch.symmetry import gcnn
        >>> net = gcnn(6, (1, 2, 2), 3, key=jax.random.key(0))
        >>> x = jax.random.normal(jax.random.key(1), (1, 6, 6))
        >>> bool(jnp.allclose(net(x), net(jnp.rot90(x, axes=(1, 2))), atol=1e-4))
        True
    """
    if len(channels) < 2:
        raise CdlError(f"channels {tuple(channels)} are asked for: give those of the images and of each feature map.")
    first, *keys = jr.split(key, len(channels))
    layers: list[Any] = [
        GroupConvolution(side, channels[0], channels[1], width, lifting=True, mirrors=mirrors, key=first)
    ]
    for inner, out, k in zip(channels[1:-1], channels[2:], keys[:-1], strict=True):
        layers += [function, GroupConvolution(side, inner, out, width, mirrors=mirrors, key=k)]
    group = layers[0].target
    return chain(*layers, function, Equivariant(group, group.trivial(), channels[-1], outputs, mean=True, key=keys[-1]))
