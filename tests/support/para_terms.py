"""Parametric maps put together at random, and what there is to count in them."""

from typing import Any

import jax.numpy as jnp
from hypothesis import strategies as st

from cdl import Para
from cdl.para import fanout, identity, swap, two_cells


def affine(p, x):
    return p[0] @ x + p[1]


F = Para((jnp.ones((3, 3)), jnp.ones(3)), affine)
G = Para((), lambda _, x: jnp.tanh(x)).named("tanh")

terms = st.recursive(
    st.sampled_from(["f", "g", "identity", "swap"]),
    lambda inner: st.tuples(st.sampled_from([">>", "@", "fanout", "along", "named"]), inner, inner),
    max_leaves=7,
)


def built(term: Any) -> tuple[Any, int, int]:
    """A parametric map, how many boxes it has, and how many of them have parameters."""
    match term:
        case "f":
            return F, 1, 1
        case "g":
            return G, 1, 0
        case "identity":
            return identity(), 0, 0
        case "swap":
            return swap(), 0, 0
        case (how, one, two):
            (a, boxes, params), (b, more, others) = built(one), built(two)
            if how == "named":
                return a.named("a name"), boxes, params
            if how == "along":
                return a.reparametrise(two_cells.same, at=a.params), boxes + 1, params + bool(params)
            whole = a >> b if how == ">>" else a @ b if how == "@" else fanout(a, b)
            return whole, boxes + more, params + others
