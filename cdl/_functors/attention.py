"""The mean of children weighted by a softmax: what its definition and its compiled form have in common.

For scores `sᵢ` and children `xᵢ` it is `v = Σ pᵢ xᵢ` with `pᵢ = exp(sᵢ - s) / Σ exp(sⱼ - s)`, where `s` is the highest
score. The gradient for a score is `pᵢ ⟨g, xᵢ - v⟩`. Where the softmax is saturated, or all children share a big offset,
`xᵢ - v` is much smaller than `xᵢ`, and the difference of `⟨g, xᵢ⟩` and `⟨g, v⟩` is mostly rounding. So the children are
taken relative to a centre `c` near `v`, which changes neither the value nor a derivative of any order:

    v = c + Σ pᵢ (xᵢ - c)

All of it is of halves, and doubled at the end: the difference of two numbers of a type may be no number of that type,
and the difference of their halves always is. Numbers of 16 bits are taken as those of 32: a sum of 300 weights in
`bfloat16` stops at 256.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..errors import CarrierMismatch


def weight(score: Any, highest: Any) -> Any:
    """The weight of a score before all weights are divided by their sum: at the highest exactly 1, which rounding and
    edges of no row may miss; with its gradient."""
    below = score - highest
    return jnp.exp(below - lax.stop_gradient(jnp.where(score >= highest, below, 0)))


def near(weight: Any, child: Any) -> Any:
    """A child's part of the centre, to be summed: whether its weight is among the greatest, and half of it if so."""
    yes = weight > 0.5
    part: Any = lambda x: jnp.where(_spread(yes, x), x, 0)
    return yes.astype(weight.dtype), jax.tree.map(lambda x: part(_half(weight, x)), child)


def centre(total: Any) -> Any:
    """The mean of the children with the greatest weights, halved; 0 where it is not finite. It has no gradient."""
    count, halves = lax.stop_gradient(total)
    mean: Any = lambda x: x / _spread(jnp.maximum(count, 1), x)
    return jax.tree.map(lambda x: jnp.where(jnp.isfinite(mean(x)), mean(x), 0), halves)


def apart(weight: Any, child: Any, centre: Any) -> Any:
    """A child relative to the centre, halved, times its weight."""
    return jax.tree.map(lambda x, c: by_heads(weight, _half(weight, x) - c), child, centre)


def around(centre: Any, mean: Any) -> Any:
    """The weighted mean, from that of the halves relative to the centre."""
    return jax.tree.map(lambda c, x: 2 * (c + x), centre, mean)


def by_heads(weight: Any, x: Any) -> Any:
    """A child's array times its weight, or that of each head. **Raises:** `CarrierMismatch` where the array does not
    begin with the axes of the heads."""
    heads, shape = jnp.shape(weight), jnp.shape(x)
    if shape[: len(heads)] != heads:
        raise CarrierMismatch(
            f"the score of `attend` has shape {heads}, one number for each head, and a child has an array of shape "
            f"{shape}: give each of its arrays the axes of the heads first."
        )
    return _spread(weight, x) * x


def widened(child: Any) -> Any:
    """A child, with numbers of 32 bits for real ones of 16."""
    return jax.tree.map(lambda x: x.astype(jnp.float32) if is_narrow(x) else x, child)


def narrowed(mean: Any, like: Any) -> Any:
    """The weighted mean of widened children, in the types of the children."""
    return jax.tree.map(lambda x, own: x.astype(own.dtype) if is_narrow(own) else x, mean, like)


def is_narrow(x: Any) -> bool:
    """Whether something is an array of real numbers of 16 bits."""
    return getattr(x, "dtype", None) in (jnp.bfloat16, jnp.float16)


def as_score(x: Any, heads: bool = False) -> Any:
    """A score as a real number, or as one for each head. **Raises:** `CarrierMismatch` where it is not."""
    x = jnp.asarray(x)
    if is_complex(x):
        raise CarrierMismatch("the score of `attend` is complex, and a softmax is of real numbers: give its `jnp.abs`.")
    if x.shape and not heads:
        raise CarrierMismatch(
            f"the score of `attend` has shape {x.shape}, and it is one number for each child: give a number, as "
            '`eqx.nn.Linear(n, "scalar")` does.'
        )
    return widened(x) if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)


def is_complex(x: Any) -> bool:
    """Whether something is a complex number, or an array of them."""
    return isinstance(x, complex) or jnp.issubdtype(getattr(x, "dtype", bool), jnp.complexfloating)


def _half(weight: Any, x: Any) -> Any:
    return by_heads(jnp.full_like(weight, 0.5), x)


def _spread(weight: Any, x: Any) -> Any:
    """One number for each head, with axes of length 1 for the others of an array."""
    heads, shape = jnp.shape(weight), jnp.shape(x)
    return jnp.reshape(weight, (*heads, *(1,) * (len(shape) - len(heads)))) if heads else weight
