"""Compiled forms of trees as smooth functions of one weight, for their derivatives and for devices."""

from typing import Any

import jax.numpy as jnp

from cdl import algebra, choose, Cons, Fork, Leaf, ListF, TreeF


W = jnp.float32(0.5)


def net(w: Any) -> Any:
    """An algebra of trees."""

    @algebra
    def alg(layer: TreeF[float, Any]) -> Any:
        return jnp.tanh(w * layer.label) if isinstance(layer, Leaf) else jnp.sin(w * layer.left + layer.right)

    return alg


def cell(w: Any) -> Any:
    """An algebra of lists."""

    @algebra
    def alg(layer: ListF[Any, Any]) -> Any:
        return jnp.tanh(w * layer.tail + layer.head) if isinstance(layer, Cons) else jnp.float32(0)

    return alg


def halves(w: Any) -> Any:
    """A coalgebra: a seed is halved until it is less than 1.5."""
    return lambda n: choose(jnp.stack([1.5 - n * w, n - 1.5]), Leaf(n * w), Fork(n * w / 2, n / 2))
