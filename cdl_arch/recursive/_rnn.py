"""The plain recursive network (Socher and others, 2011): a vector for each tree.

| the mathematics                                  | here                                                       |
| ------------------------------------------------ | ---------------------------------------------------------- |
| `h = tanh(W [x, h₁ … hₙ, Σ h′] + b)`             | `linear`: of what is at the node, at its places, in groups |
"""

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, PRNGKeyArray

from cdl import Many

from ._derive import Architecture, form, vector
from ._layer import Arity
from ._net import Vector


class RnnCell(eqx.Module):
    """The parameters of one cell, and the layer that it reads."""

    linear: eqx.nn.Linear

    def __init__(self, arity: Arity, embed: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> None:
        self.linear = eqx.nn.Linear(embed + (arity.places + arity.groups) * width, width, dtype=dtype, key=key)

    def __call__(self, x: Array | None, places: tuple[Vector, ...], groups: tuple[Many[Vector], ...]) -> Vector:
        at_node = [] if x is None else [x]
        none = jnp.zeros(self.linear.out_features, self.linear.weight.dtype)
        return jnp.tanh(self.linear(jnp.concatenate([*at_node, *places, *(group.sum(none) for group in groups)])))


def _learned(width: int, dtype: Any, key: PRNGKeyArray) -> Vector:
    return jr.normal(key, (width,), dtype) / math.sqrt(width)


tree_rnn = Architecture(
    RnnCell,
    vector,
    _learned,
    form,
    name="tree_rnn",
    about="The recursive network of a signature (Socher et al., 2011): a cell for each arity. A state is a vector.",
)
"""A tree RNN: at each node a matrix for each child, and `tanh` (Socher et al., 2011).

`fold` gives an array of shape `(trees, width)`. It takes the arguments of [every tree
network][cdl_arch.recursive.Architecture.__call__].

Examples:
    >>> from cdl_arch.recursive import tree_rnn
    >>> net = tree_rnn(cdl.TreeF, 4, payload={cdl.Leaf: 2}, key=jax.random.key(0))
    >>> forest = cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(jnp.ones(2)), cdl.Leaf(jnp.zeros(2)))])
    >>> cdl.fold(net, forest).shape
    (1, 4)
"""
