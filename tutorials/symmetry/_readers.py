"""Networks that read a picture: one convolution after the other, the same without shared weights, and dense layers.

| the network    | its weights                                                                          |
| -------------- | ------------------------------------------------------------------------------------ |
| `convolution`  | 3 × 3, shared by all places                                                          |
| `untied`       | 3 × 3, with weights of each place: as many numbers go in and other ones are learnt   |
| `dense`        | every pixel to every hidden unit                                                     |
| `permuted`     | those of `convolution`, on pixels in another order                                   |

All have two hidden layers, and a linear map to ten logits. Widths are chosen so that all learn as nearly as possible
the same number of parameters.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np


class Reader(eqx.Module):
    """Two hidden layers, each followed by relu, and a linear map to logits."""

    first: Any
    second: Any
    out: eqx.nn.Linear
    order: np.ndarray | None
    flat: bool = eqx.field(static=True)

    def __call__(self, image: jax.Array) -> jax.Array:
        """`float[height, width] → float[10]`."""
        x = image.ravel() if self.order is None else image.ravel()[self.order]
        x = x if self.flat else x.reshape((1, *image.shape))
        return self.out(jax.nn.relu(self.second(jax.nn.relu(self.first(x)))).ravel())


class Untied(eqx.Module):
    """A convolution of 3 × 3 whose places have weights of their own: locally connected."""

    weight: jax.Array  # [height, width, out, in · 9]
    bias: jax.Array  # [out, height, width]
    stride: int = eqx.field(static=True)

    def __init__(self, inner: int, out: int, side: int, stride: int, *, key: jax.Array) -> None:
        """**Arguments:** `side`: of the pictures that come in."""
        after = -(-side // stride)
        limit = 1 / np.sqrt(9 * inner)  # as Equinox has it for a convolution
        self.weight = jr.uniform(key, (after, after, out, 9 * inner), minval=-limit, maxval=limit)
        self.bias = jnp.zeros((out, after, after))
        self.stride = stride

    def __call__(self, x: jax.Array) -> jax.Array:
        patches = jax.lax.conv_general_dilated_patches(x[None], (3, 3), (self.stride, self.stride), [(1, 1), (1, 1)])
        return jnp.einsum("hwoi,ihw->ohw", self.weight, patches[0]) + self.bias


def convolution(side: int, width: int = 32, *, key: jax.Array) -> Reader:
    """Convolutions of 3 × 3, the second one with a stride of 2."""
    keys = jr.split(key, 3)
    first = eqx.nn.Conv2d(1, width, 3, padding=1, key=keys[0])
    second = eqx.nn.Conv2d(width, width, 3, stride=2, padding=1, key=keys[1])
    return Reader(first, second, eqx.nn.Linear(width * (-(-side // 2)) ** 2, 10, key=keys[2]), None, False)


def permuted(side: int, width: int = 32, *, key: jax.Array) -> Reader:
    """The same on pixels in an order that the key draws."""
    reader = convolution(side, width, key=key)
    order = np.asarray(jr.permutation(jr.fold_in(key, 1), side * side))
    return eqx.tree_at(lambda r: r.order, reader, order, is_leaf=lambda x: x is None)


def untied(side: int, wanted: int, *, key: jax.Array) -> Reader:
    """Locally connected layers of about so many parameters."""
    before, after = side**2, (-(-side // 2)) ** 2
    size = lambda a, b: 10 * a * before + (9 * a + 11) * b * after + 10
    a, b = _nearest(size, itertools.product(range(1, 65), repeat=2), wanted)
    keys = jr.split(key, 3)
    first, second = Untied(1, a, side, 1, key=keys[0]), Untied(a, b, side, 2, key=keys[1])
    return Reader(first, second, eqx.nn.Linear(b * after, 10, key=keys[2]), None, False)


def dense(side: int, wanted: int, *, key: jax.Array) -> Reader:
    """Two dense layers of one width, of about so many parameters."""
    size = lambda width: (side**2 + 1) * width + (width + 1) * width + 10 * width + 10
    (width,) = _nearest(size, ((width,) for width in range(1, 1025)), wanted)
    keys = jr.split(key, 3)
    first, second = eqx.nn.Linear(side * side, width, key=keys[0]), eqx.nn.Linear(width, width, key=keys[1])
    return Reader(first, second, eqx.nn.Linear(width, 10, key=keys[2]), None, True)


def _nearest(size: Callable[..., int], widths: Iterable[tuple[int, ...]], wanted: int) -> tuple[int, ...]:
    """The widths whose network has the number of parameters that is nearest; of equal ones, those most alike."""
    return min(widths, key=lambda given: (abs(size(*given) - wanted), max(given) - min(given)))
