"""The N-ary Tree-LSTM (Tai, Socher and Manning, 2015): every gate sees every child, each at its place.

| the mathematics                                           | here                                                   |
| --------------------------------------------------------- | ------------------------------------------------------ |
| `z = [x, h₁ … hₙ, Σ h′]`                                   | what is at the node, at its places, and in each group  |
| `i, o, f₁ … fₙ = σ(W z + b)`, `u = tanh(W z + b)`          | `gates`: one linear map, `(3 + n)` times the width     |
| `f′ = σ(V [x, h′] + a)` for a child `h′` of a group        | `forget`: a map for each group, at each of its children |
| `c = i ⊙ u + Σ fₖ ⊙ cₖ + Σ f′ ⊙ c′`, `h = o ⊙ tanh c`      | `State(h, c)`                                          |
"""

import math
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, PRNGKeyArray

from cdl import Many

from ._derive import Architecture, form, vector
from ._layer import Arity
from ._net import State


class NAryCell(eqx.Module):
    """The parameters of one cell, and the layer that it reads."""

    gates: eqx.nn.Linear
    forget: list[eqx.nn.Linear]
    width: int = eqx.field(static=True)

    def __init__(self, arity: Arity, embed: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> None:
        n, m = arity.places, arity.groups
        first, *rest = jr.split(key, m + 1)
        self.gates = eqx.nn.Linear(embed + (n + m) * width, (3 + n) * width, dtype=dtype, key=first)
        self.forget = [eqx.nn.Linear(embed + width, width, dtype=dtype, key=k) for k in rest]
        self.width = width

    def __call__(self, x: Array | None, places: tuple[State, ...], groups: tuple[Many[State], ...]) -> State:
        at_node = [] if x is None else [x]
        none = jnp.zeros(self.width, self.gates.weight.dtype)
        sums = [group.map(_hidden).sum(none) for group in groups]
        z = self.gates(jnp.concatenate([*at_node, *map(_hidden, places), *sums]))
        i, o, u, *f = (z[k : k + self.width] for k in range(0, z.shape[0], self.width))
        memory = jax.nn.sigmoid(i) * jnp.tanh(u)
        for gate, child in zip(f, places, strict=True):
            memory += jax.nn.sigmoid(gate) * child.memory
        for forget, group in zip(self.forget, groups, strict=True):
            memory += group.map(kept(forget, at_node)).sum(none)
        return State(jax.nn.sigmoid(o) * jnp.tanh(memory), memory)


def kept(forget: eqx.nn.Linear, at_node: list[Array]) -> Any:
    """What a child of a group leaves in the memory: its own, as far as the gate, which sees it alone, lets through."""
    return lambda child: jax.nn.sigmoid(forget(jnp.concatenate([*at_node, child.hidden]))) * child.memory


def state(width: int, dtype: Any) -> Any:
    """The shapes of a state."""
    return State(vector(width, dtype), vector(width, dtype))


def learned(width: int, dtype: Any, key: PRNGKeyArray) -> State:
    """A state to begin learning from."""
    return State(*(jr.normal(key, (2, width), dtype) / math.sqrt(width)))


def _hidden(state: State) -> Array:
    return state.hidden


n_ary = Architecture(
    NAryCell,
    state,
    learned,
    form,
    name="n_ary",
    about="The N-ary Tree-LSTM of a signature (Tai et al., 2015): a cell for each arity, and a gate for each child.",
)
"""The N-ary Tree-LSTM: a matrix for each place, which tells left from right (Tai et al., 2015).

`fold` gives a `State` whose two vectors have shape `(trees, width)`. It takes the arguments of [every tree
network][cdl_arch.recursive.Architecture.__call__].

Examples:
    >>> from cdl_arch.recursive import n_ary
    >>> words = eqx.nn.Embedding(10, 3, key=jax.random.key(1))
    >>> net = n_ary(cdl.TreeF, 4, embed=3, payload={cdl.Leaf: words}, key=jax.random.key(0))
    >>> pairs = [cdl.Fork(cdl.Leaf(1), cdl.Leaf(2)), cdl.Fork(cdl.Leaf(2), cdl.Leaf(1))]
    >>> one, other = cdl.fold(net, cdl.pack(cdl.TreeF, pairs)).hidden
    >>> bool(jnp.allclose(one, other))
    False
"""

gated = replace(
    n_ary,
    shared=False,
    name="gated",
    about="The Tree-LSTM of a signature with a cell for each constructor: `n_ary` with nothing shared.",
)
"""The Tree-LSTM of a signature with a cell for each constructor: `n_ary` with nothing shared.

`fold` gives a `State` whose two vectors have shape `(trees, width)`. It takes the arguments of [every tree
network][cdl_arch.recursive.Architecture.__call__].

Examples:
    >>> from cdl_arch.recursive import gated
    >>> words = eqx.nn.Embedding(10, 3, key=jax.random.key(1))
    >>> net = gated(cdl.TreeF, 4, embed=3, payload={cdl.Leaf: words}, key=jax.random.key(0))
    >>> cdl.fold(net, cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(1), cdl.Leaf(2))])).hidden.shape
    (1, 4)
"""
