"""A kernel as a mask on orbits: the weights that a dense equivariant layer has where its filter is local.

| the mathematics                                                   | here                                       |
| ----------------------------------------------------------------- | ------------------------------------------ |
| the orbits of the weights that the output at place `a` reads      | `read_at(X, Y, a)`, an array of `X.shape`  |
| those inside a window round `a`                                   | `windowed(labels, window, first)`          |
| the layer whose other orbits are zero                             | `dense(X, Y, kernel, orbits, beta)`        |

Where the monoid takes one place of `Y` to all of them, each orbit of weights is read once at that place. So the
parameters of a layer are an array of the shape of `X`, and a kernel is a window of it.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl.checks import expect_key
from cdl.errors import CdlError
from cdl.symmetry import Action, Equivariant, hom, Orbits


def read_at(X: Action, Y: Action, place: int) -> Int[np.ndarray, "*shape"]:
    """For each place of `X`, the orbit of the weight with which the output at a place of `Y` reads it."""
    tying = hom(X, Y)
    if not isinstance(tying, Orbits) or tying.scales is not None:
        raise CdlError(f"{X} and {Y} do not tie weights by equality: found {tying}.")
    return tying.labels[place].reshape(X.shape)


def windowed(labels: Int[np.ndarray, "*shape"], window: Sequence[int], first: Sequence[int]) -> np.ndarray:
    """A window of the last axes, round their ends, that begins at the places `first`."""
    lead = labels.ndim - len(window)
    at = [np.arange(n) for n in labels.shape[:lead]]
    at += [(f + np.arange(w)) % n for f, w, n in zip(first, window, labels.shape[lead:], strict=True)]
    return labels[np.ix_(*at)]


def dense(
    X: Action,
    Y: Action,
    kernel: Float[Array, "outs ins *window"],
    orbits: Int[np.ndarray, "*window"],
    beta: Float[Array, "outs fixed"] | None,
) -> Equivariant:
    """The dense layer, with the kernel's entries at its orbits and zero at the others."""
    out, inner = kernel.shape[:2]
    layer = Equivariant(X, Y, inner, out, bias=beta is not None, dtype=kernel.dtype, key=jr.key(0))
    theta = jnp.zeros_like(layer.theta).at[..., orbits].set(kernel)
    return eqx.tree_at(lambda layer: (layer.theta, layer.beta), layer, (theta, beta), is_leaf=lambda x: x is None)


def checked(window: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """The widths of a window.

    **Raises:** `CdlError` where it does not fit.
    """
    if len(window) != len(shape) or not all(_whole(w) and w <= n for w, n in zip(window, shape, strict=False)):
        raise CdlError(
            f"a window of {tuple(window)} does not fit a grid of {tuple(shape)}: give a width for each axis, from 1 to "
            "its length."
        )
    return tuple(int(w) for w in window)


def drawn(shape: tuple[int, ...], dtype: Any, key: PRNGKeyArray) -> jax.Array:
    """Initial values of a kernel `[out, in, …]`, such that outputs have the variance of independent inputs.

    **Raises:** `CdlError` for channels that are not whole numbers of 1 or more, and for anything other than a key.
    """
    if not all(_whole(n) for n in shape[:2]):
        raise CdlError(f"{shape[1]} channels in and {shape[0]} out are asked for: give whole numbers of 1 or more.")
    expect_key(key)
    values = jr.normal(key, tuple(map(int, shape)), dtype)
    return values / jnp.sqrt(jnp.asarray(np.prod(shape[1:]), values.dtype))


def _whole(n: Any) -> bool:
    """Whether it is a whole number of 1 or more."""
    return isinstance(n, int | np.integer) and not isinstance(n, bool) and bool(n >= 1)
