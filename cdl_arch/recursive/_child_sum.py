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

from ._derive import derive, Payloads, vector
from ._n_ary import kept, learned
from ._net import State, TreeNet


class ChildSumCell(eqx.Module):
    """The parameters of one cell, and the layer that it reads."""

    gates: eqx.nn.Linear
    forget: eqx.nn.Linear

    def __init__(self, embed: int, width: int, *, dtype: Any = None, key: PRNGKeyArray) -> None:
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


def child_sum(
    signature: Any,
    width: int,
    *,
    embed: int | None = None,
    payload: Payloads | None = None,
    shared: bool = True,
    dropout: float = 0.0,
    dtype: Any = None,
    key: PRNGKeyArray,
) -> TreeNet[State]:
    """The child-sum Tree-LSTM of a signature: one cell, which is told what the node is, or one for each constructor.

    **Arguments:** as `n_ary`.
    """
    return derive(
        signature,
        State(vector(width, dtype), vector(width, dtype)),
        lambda _, given, key: ChildSumCell(given, width, dtype=dtype, key=key),
        lambda key: learned(width, dtype, key),
        shared=(lambda _: "every constructor") if shared else None,
        embed=width if embed is None else embed,
        payload=payload,
        dropout=dropout,
        dtype=dtype,
        key=key,
    )
