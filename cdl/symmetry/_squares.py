"""Numbers as they are measured: with a derivative, in at least 32 bits, and whole ones subtracted exactly."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .._functors.words import short
from ..errors import CdlError


def over_examples(f: Callable[[Any], Any], xs: Any) -> Any:
    """A function of one example at each of some, along their leading axis.

    **Raises:** `CdlError` for no examples, and where the arrays have different numbers of them.
    """
    counts = {x.shape[:1] for x in map(jnp.asarray, jax.tree.leaves(xs))}
    if len(counts) != 1 or () in counts or (0,) in counts:
        many = " and ".join(str(n[0]) if n else "no axis of" for n in sorted(counts)) or "no arrays of"
        raise CdlError(
            f"a map is measured at examples, along a leading axis of each array, and there are {many} examples: give "
            "one or more, `xs[None]` for one."
        )
    return jax.vmap(f)(jax.tree.map(jnp.asarray, xs))


def same_form(left: Any, right: Any) -> None:
    """**Raises:** `CdlError` where two sides have different structures or shapes."""
    forms = [jax.tree.map(jnp.shape, side) for side in (left, right)]
    trees: list[Any] = [jax.tree.structure(side) for side in (left, right)]
    if trees[0] != trees[1] or forms[0] != forms[1]:
        raise CdlError(
            f"the two sides have different forms, of the shapes {short(forms[0])} and {short(forms[1])}: give the "
            "action, or the field, on what comes out of the map."
        )


def sum_of_squares(arrays: list[Any]) -> jax.Array:
    """Of the sizes of all numbers."""
    return inner_product(arrays, arrays)


def inner_product(left: Any, right: Any) -> jax.Array:
    """The sum of the products of two values' numbers, the real part."""
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return jnp.asarray(sum((jnp.sum(jnp.real(wide(x) * jnp.conj(wide(y)))) for x, y in pairs), 0.0))


def minus(x: Any, y: Any) -> jax.Array:
    """The difference of two arrays of numbers, whole ones subtracted before they are rounded."""
    x, y = jnp.asarray(x), jnp.asarray(y)
    if any(jnp.issubdtype(side.dtype, jnp.inexact) for side in (x, y)):
        return wide(x) - wide(y)
    signed, half = (jnp.int64, 32) if max(x.dtype.itemsize, y.dtype.itemsize) > 4 else (jnp.int32, 16)
    halves = [_halves(side, signed, half) for side in (x, y)]  # the difference itself may not fit the type
    high, low = (wide(a - b) for a, b in zip(*halves, strict=True))
    return high * 2.0**half + low


def wide(x: Any) -> jax.Array:
    """Real or complex numbers of at least 32 bits."""
    x = varied(x)
    return x.astype(jnp.float32) if x.dtype.itemsize < 4 else x


def _halves(x: jax.Array, signed: Any, half: int) -> tuple[jax.Array, jax.Array]:
    """The upper and the lower half of the digits of whole numbers."""
    x = x if x.dtype.itemsize * 8 == 2 * half else x.astype(signed)
    return (x >> half).astype(signed), (x & (2**half - 1)).astype(signed)


def varied(x: Any) -> Any:
    """Numbers as arrays that have a derivative: whole numbers and truth values become real."""

    def real(leaf: Any) -> jax.Array:
        array = jnp.asarray(leaf)
        return array if jnp.issubdtype(array.dtype, jnp.inexact) else array.astype(jnp.zeros(()).dtype)

    return jax.tree.map(real, x)
