"""Small problems for tests of metrics, in double precision, and a fold that gives scores of classes."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

import cdl


CLASSES = 3


class Reader(cdl.Algebra[cdl.TreeF[float, jax.Array], jax.Array]):
    """Reads trees of numbers, with one linear layer for each constructor."""

    leaf: eqx.nn.Linear
    fork: eqx.nn.Linear

    def __call__(self, layer: cdl.TreeF[float, jax.Array]) -> jax.Array:
        match layer:
            case cdl.Leaf(value):
                return jnp.tanh(self.leaf(jnp.asarray(value)))
            case cdl.Fork(left, right):
                return jnp.tanh(self.fork(jnp.concatenate([left, right])))


def double(tree: Any) -> Any:
    """The same in double precision."""
    return jax.tree.map(lambda x: x.astype(jnp.float64) if eqx.is_inexact_array(x) else x, tree)


def reader() -> Reader:
    one, two = jr.split(jr.key(0))
    return double(Reader(eqx.nn.Linear("scalar", CLASSES, key=one), eqx.nn.Linear(2 * CLASSES, CLASSES, key=two)))


TREES = [cdl.Fork(cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(0.5))), cdl.Leaf(3.0)]


def regression(n: int = 12, d: int = 3) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Inputs, targets and parameters."""
    keys = jr.split(jr.key(1), 3)
    return tuple(jr.normal(k, shape, jnp.float64) for k, shape in zip(keys, [(n, d), (n,), (d,)], strict=True))
