"""Reductions of a `Many` that are made of others, so that they are the same in `cata` and in `fold`.

A `Many` comes as an argument `many`: something with `map`, the reductions of `Many`, and `_run`, a list fold from the
last child whose first value is made from one child.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from ..errors import CarrierMismatch
from .attention import as_score, weight
from .items import for_none, UNSET


def variance(many: Any, zero: Any, how: str = "var") -> Any:
    """The mean of the squared distances from the mean."""
    many._expect(how, zero)
    mean = many.mean(zero)
    return many.map(lambda child: jax.tree.map(lambda x, m: _square(x - m), child, mean)).mean(zero)


def deviation(many: Any, zero: Any) -> Any:
    """The square root of the variance, whose slope is 0 where all children are equal."""
    found = variance(many, zero, "std")
    return found if _empty(many) else jax.tree.map(_root, found)


def arg_max(many: Any, zero: Any) -> Any:
    """The number of the first child that is the greatest, element by element."""

    def step(child: Any, found: tuple[Any, Any]) -> tuple[Any, Any]:
        least, number = found
        here = jax.tree.map(lambda x, y, n: (n < 0) | (x >= y) | (x != x), child, least, number)
        best = jax.tree.map(lambda yes, x, y: jnp.where(yes, x, y), here, child, least)
        return best, jax.tree.map(lambda yes, n: jnp.where(yes, 0, n + 1).astype(jnp.int32), here, number)

    def start(child: Any) -> tuple[Any, Any]:
        return child, jax.tree.map(lambda x: jnp.full(jnp.shape(x), -1, jnp.int32), child)

    if zero is not UNSET or _empty(many):
        many._expect("argmax", zero)
    return zero if _empty(many) else many._run("argmax", step, start)[1]


def greatest(many: Any, k: int, fill: Any) -> Any:
    """The `k` greatest, in descending order along a new first axis; `fill` past the last."""

    def step(child: Any, found: tuple[Any, Any]) -> tuple[Any, Any]:
        ordered, count = found
        both = jax.tree.map(lambda x, y: jnp.concatenate([jnp.asarray(x, y.dtype)[None], y]), child, ordered)
        return jax.tree.map(lambda x: lax.rev(jnp.sort(x, axis=0), (0,))[:k], both), count + 1

    def start(child: Any) -> tuple[Any, Any]:
        lowest: Any = lambda x: jnp.full((k, *jnp.shape(x)), _lowest(jnp.asarray(x).dtype), jnp.asarray(x).dtype)
        return jax.tree.map(lowest, child), jnp.zeros((), jnp.int32)

    if _empty(many):
        if fill is UNSET:
            for_none("top", fill)
        return jax.tree.map(lambda z: jnp.broadcast_to(jnp.asarray(z), (k, *jnp.shape(z))), fill)
    if fill is not UNSET:
        many._expect("top", fill)
    ordered, count = many._run("top", step, start)
    real: Any = lambda x: (jnp.arange(k, dtype=jnp.int32) < count).reshape(k, *(1,) * (x.ndim - 1))
    if fill is UNSET:
        return ordered
    return jax.tree.map(lambda x, z: jnp.where(real(x), x, jnp.asarray(z, x.dtype)), ordered, fill)


def one_or_all(many: Any, how: str, zero: Any) -> Any:
    """Whether one is true, the greatest of them, or all are, the least. A lone truth value is for none of any shape."""
    if _empty(many):
        return zero
    if not isinstance(zero, bool):
        many._expect(how, zero)
    return many.max() if how == "any" else many.min()


def soft_max(many: Any, score: Callable[[Any], Any]) -> Any:
    """Each child with its weight, as a `Many` of pairs."""
    if _empty(many):
        return many
    highest = lax.stop_gradient(many.map(lambda x: as_score(score(x), heads=True)).max())
    own: Callable[[Any], Any] = lambda x: weight(as_score(score(x), heads=True), highest)
    total = many.map(own).sum()
    return many.map(lambda x: (own(x) / total, x))


def truth(x: Any) -> Any:
    """A number as a truth value. **Raises:** `CarrierMismatch` for anything other than a truth value."""
    if isinstance(x, bool | int | float | complex):
        return bool(x)
    if not hasattr(x, "dtype"):
        raise CarrierMismatch(
            f"a `Many` of {type(x).__name__} is reduced by `any` or `all`: map to truth values first."
        )
    return x if x.dtype == bool else x != 0


def _empty(many: Any) -> bool:
    return bool(many.listed and not many.items)


def _square(x: Any) -> Any:
    return (x * x.conjugate()).real if isinstance(x, complex) or jnp.iscomplexobj(x) else x * x


def _root(x: Any) -> Any:
    if not isinstance(x, Tracer) and not hasattr(x, "dtype"):
        return x**0.5
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1)), jnp.where(x == 0, 0, x))


def _lowest(dtype: Any) -> Any:
    if dtype == np.bool_:
        return False
    return -np.inf if jnp.issubdtype(dtype, jnp.floating) else np.iinfo(dtype).min
