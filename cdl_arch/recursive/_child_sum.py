"""The child-sum Tree-LSTM (Tai, Socher and Manning, 2015): children in any number, and their order forgotten.

| the mathematics                                | here                                                          |
| ---------------------------------------------- | ------------------------------------------------------------- |
| `i, o = σ(W [x, Σ hₖ] + b)`, `u = tanh(…)`     | `gates`: one linear map, three times the width                |
| `fₖ = σ(V [x, hₖ] + a)`                        | `forget`: one map, at each child                              |
| `c = i ⊙ u + Σ fₖ ⊙ cₖ`, `h = o ⊙ tanh c`      | `State(h, c)`                                                 |

Which child is at which place is not seen: what does not commute is not for this network.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, PRNGKeyArray

from cdl import Many

from ._derive import Architecture
from ._layer import Arity
from ._n_ary import kept, learned, state
from ._net import State


class ChildSumCell(eqx.Module):
    """The parameters of one cell, and the layer that it reads."""

    gates: eqx.nn.Linear
    forget: eqx.nn.Linear

    def __init__(self, arity: Arity, embed: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> None:
        del arity  # children in any number are read alike
        first, second = jr.split(key)
        self.gates = eqx.nn.Linear(embed + width, 3 * width, dtype=dtype, key=first)
        self.forget = eqx.nn.Linear(embed + width, width, dtype=dtype, key=second)

    def __call__(self, x: Array | None, places: tuple[State, ...], groups: tuple[Many[State], ...]) -> State:
        at_node = [] if x is None else [x]
        none = jnp.zeros(self.forget.out_features, self.forget.weight.dtype)
        hidden, memory = none, none
        for group in (Many(places), *groups):
            hidden += group.map(lambda child: child.hidden).sum(none)
            memory += group.map(kept(self.forget, at_node)).sum(none)
        i, o, u = jnp.split(self.gates(jnp.concatenate([*at_node, hidden])), 3)
        memory += jax.nn.sigmoid(i) * jnp.tanh(u)
        return State(jax.nn.sigmoid(o) * jnp.tanh(memory), memory)


child_sum = Architecture(
    ChildSumCell,
    state,
    learned,
    lambda _: "every constructor",
    name="child_sum",
    about="The child-sum Tree-LSTM of a signature (Tai et al., 2015): one cell, which is told what the node is but not "
    "the children's order.",
)
"""The child-sum Tree-LSTM: children are added, each through a forget gate (Tai et al., 2015).

`fold` gives a `State` whose two vectors have shape `(trees, width)`. It takes the arguments of [every tree
network][cdl_arch.recursive.Architecture.__call__].

Examples:
    >>> from cdl_arch.recursive import child_sum
    >>> words = eqx.nn.Embedding(10, 3, key=jax.random.key(1))
    >>> net = child_sum(cdl.RoseF, 4, embed=3, payload={cdl.Node: words}, key=jax.random.key(0))
    >>> node = lambda word, *kids: cdl.Node(word, cdl.Many(kids))
    >>> forest = cdl.pack(cdl.RoseF, [node(3), node(1, node(2), node(2))])
    >>> cdl.fold(net, forest).hidden.shape
    (2, 4)
"""
