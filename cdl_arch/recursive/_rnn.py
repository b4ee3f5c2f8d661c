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

from ._derive import derive, form, Payloads, vector
from ._layer import Arity
from ._net import TreeNet, Vector


class RnnCell(eqx.Module):
    """The parameters of one cell, and the layer that it reads."""

    linear: eqx.nn.Linear

    def __init__(self, arity: Arity, embed: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> None:
        self.linear = eqx.nn.Linear(embed + (arity.places + arity.groups) * width, width, dtype=dtype, key=key)

    def __call__(self, x: Array | None, places: tuple[Vector, ...], groups: tuple[Many[Vector], ...]) -> Vector:
        at_node = [] if x is None else [x]
        none = jnp.zeros(self.linear.out_features, self.linear.weight.dtype)
        return jnp.tanh(self.linear(jnp.concatenate([*at_node, *places, *(group.sum(none) for group in groups)])))


def tree_rnn(
    signature: Any,
    width: int,
    *,
    embed: int | None = None,
    payload: Payloads | None = None,
    shared: bool = True,
    dropout: float = 0.0,
    dtype: Any = None,
    key: PRNGKeyArray,
) -> TreeNet[Vector]:
    """The plain recursive network of a signature: a cell for each arity, or for each constructor.

    **Arguments:** as `n_ary`.
    """
    return derive(
        signature,
        vector(width, dtype),
        lambda arity, given, key: RnnCell(arity, given, width, dtype=dtype, key=key),
        lambda key: jr.normal(key, (width,), dtype) / math.sqrt(width),
        shared=form if shared else None,
        embed=width if embed is None else embed,
        payload=payload,
        dropout=dropout,
        dtype=dtype,
        key=key,
    )
