"""Three small networks that read pictures of digits: convolutions, an MLP-mixer and a transformer.

Each is a list of stages, `stages(net)`, so that an error can be told apart by stages. `Mixer` and `Transformer` read
patches of 2 × 2 pixels (Tolstikhin et al., 2021; Dosovitskiy et al., 2021).
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr


SIDE = 8
TOKENS = (SIDE // 2) ** 2


class Cnn(eqx.Module):
    """Two convolutions of 3 × 3 that keep the size, relu, the greatest value over all places, and a linear map."""

    first: eqx.nn.Conv2d
    second: eqx.nn.Conv2d
    out: eqx.nn.Linear

    def __init__(self, *, key: jax.Array, width: int = 20) -> None:
        keys = jr.split(key, 3)
        self.first = eqx.nn.Conv2d(1, width, 3, padding=1, key=keys[0])
        self.second = eqx.nn.Conv2d(width, width, 3, padding=1, key=keys[1])
        self.out = eqx.nn.Linear(width, 10, key=keys[2])

    def stages(self) -> list[tuple[str, Callable[[Any], Any]]]:
        """The parts, the first that is applied first: images of some channels, until the last gives logits."""
        return [
            ("first convolution", lambda x: self.first(x[None])),
            ("first relu", jax.nn.relu),
            ("second convolution", self.second),
            ("second relu", jax.nn.relu),
            ("maximum and linear map", lambda x: self.out(jnp.max(x, (1, 2)))),
        ]

    def __call__(self, image: jax.Array) -> jax.Array:
        """`float[8, 8] → float[10]`."""
        x = image
        for _, stage in self.stages():
            x = stage(x)
        return x


class Mixer(eqx.Module):
    """Patches, two blocks that mix tokens and then channels, the mean over all tokens, and a linear map."""

    patches: eqx.nn.Linear
    blocks: list[tuple[eqx.nn.MLP, eqx.nn.MLP]]
    out: eqx.nn.Linear

    def __init__(self, *, key: jax.Array, width: int = 16) -> None:
        keys = jr.split(key, 6)
        mix: Callable[..., eqx.nn.MLP] = lambda size, hidden, key: eqx.nn.MLP(
            size, size, hidden, 1, jax.nn.gelu, key=key
        )
        self.patches = eqx.nn.Linear(4, width, key=keys[0])
        self.blocks = [(mix(TOKENS, 24, keys[i]), mix(width, 24, keys[i + 1])) for i in (1, 3)]
        self.out = eqx.nn.Linear(width, 10, key=keys[5])

    def __call__(self, image: jax.Array) -> jax.Array:
        """`float[8, 8] → float[10]`."""
        x = jax.vmap(self.patches)(_patches(image))
        for tokens, channels in self.blocks:
            x = x + jax.vmap(tokens)(_normal(x).T).T
            x = x + jax.vmap(channels)(_normal(x))
        return self.out(jnp.mean(_normal(x), 0))


class Transformer(eqx.Module):
    """Patches with a learnt vector for each place, two blocks of attention and dense layers, the mean, a linear map."""

    patches: eqx.nn.Linear
    places: jax.Array
    blocks: list[tuple[eqx.nn.MultiheadAttention, eqx.nn.MLP]]
    out: eqx.nn.Linear

    def __init__(self, *, key: jax.Array, width: int = 16) -> None:
        keys = jr.split(key, 7)
        attention: Callable[..., eqx.nn.MultiheadAttention] = lambda key: eqx.nn.MultiheadAttention(2, width, key=key)
        dense: Callable[..., eqx.nn.MLP] = lambda key: eqx.nn.MLP(width, width, 32, 1, jax.nn.gelu, key=key)
        self.patches = eqx.nn.Linear(4, width, key=keys[0])
        self.places = 0.1 * jr.normal(keys[1], (TOKENS, width))
        self.blocks = [(attention(keys[i]), dense(keys[i + 1])) for i in (2, 4)]
        self.out = eqx.nn.Linear(width, 10, key=keys[6])

    def __call__(self, image: jax.Array) -> jax.Array:
        """`float[8, 8] → float[10]`."""
        x = jax.vmap(self.patches)(_patches(image)) + self.places
        for attention, dense in self.blocks:
            y = _normal(x)
            x = x + attention(y, y, y)
            x = x + jax.vmap(dense)(_normal(x))
        return self.out(jnp.mean(_normal(x), 0))


def _patches(image: jax.Array) -> jax.Array:
    """`float[8, 8] → float[tokens, 4]`."""
    half = SIDE // 2
    return image.reshape((half, 2, half, 2)).transpose((0, 2, 1, 3)).reshape((TOKENS, 4))


def _normal(x: jax.Array) -> jax.Array:
    """Each row with mean 0 and variance 1."""
    x = x - jnp.mean(x, 1, keepdims=True)
    return x / jnp.sqrt(jnp.mean(jnp.square(x), 1, keepdims=True) + 1e-5)
