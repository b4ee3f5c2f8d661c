"""Sixteen pixels of handwritten digits, and a network of two layers as a function of one vector of numbers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array
from sklearn.datasets import load_digits

from cdl.metric import Categorical, negative_log_likelihood


PIXELS, CLASSES, EXAMPLES = 16, 10, 256


class Problem(NamedTuple):
    """A model and its loss, both of a flat vector; a point; and how many of its numbers are of the first layer."""

    model: Callable[[Array], Categorical]
    loss: Callable[[Array], Array]
    start: Array
    first: int


def digits(seed: int, width: int, condition: float = 1.0) -> Problem:
    """Digits of 16 pixels, and a network of `width` hidden units.

    **Arguments:** `condition`: pixels are multiplied by numbers from 1 down to the inverse of its root, so that the
    metric of the first layer has about this condition number more.
    """
    x, y = pixels()
    x = x * jnp.geomspace(1, condition**-0.5, PIXELS)[None]
    params, rest = eqx.partition(network(seed, width), eqx.is_inexact_array)
    flat, back = ravel_pytree(jax.tree.map(lambda p: p.astype(x.dtype), params))

    def model(theta: Array) -> Categorical:
        return Categorical(jax.vmap(eqx.combine(back(theta), rest))(x))

    def loss(theta: Array) -> Array:
        return negative_log_likelihood(model(theta), y)

    return Problem(model, loss, flat, width * (PIXELS + 1))


def pixels() -> tuple[Array, Array]:
    """The means of two by two pixels, from 0 to 1, and the digits."""
    data: Any = load_digits()
    means = data.images[:EXAMPLES].reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, PIXELS) / 16
    return jnp.asarray(means), jnp.asarray(data.target[:EXAMPLES])


def network(seed: int, width: int) -> eqx.nn.MLP:
    """One hidden layer of this width."""
    return eqx.nn.MLP(PIXELS, CLASSES, width, 1, activation=jnp.tanh, key=jr.key(seed))
