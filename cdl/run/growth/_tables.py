"""Tables with a row for each node, read and written in loops."""

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def table(size: int, like: Any) -> Any:
    """A table of zeros: so many of an array's shape and type."""
    return jnp.zeros((size, *like.shape), like.dtype)


def part(table: Any, head: Any, count: int) -> Any:
    """So many rows of a table."""
    return lax.dynamic_slice_in_dim(table, head, count)


def put(table: Any, rows: Any, head: Any) -> Any:
    """The table with those rows from `head` on."""
    return lax.dynamic_update_slice_in_dim(table, rows.astype(table.dtype), head, 0)


def where(mask: Any, x: Any, y: Any = 0) -> Any:
    """By rows of any shape."""
    return jnp.where(mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim)), x, jnp.asarray(y, x.dtype))


def together(arrays: Any) -> Any:
    """The same arrays, none of which the compiler has before it has all of them.

    What goes into one table may come from another. So no table is written while it is still read, and none is copied.
    """
    firsts = [x.reshape(-1)[0] for x in jax.tree.leaves(arrays) if x.size]
    firsts = [x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.float32) for x in firsts]
    never = functools.reduce(operator.or_, [(x != x) & (x == 0) for x in firsts], jnp.array(False))
    return jax.tree.map(lambda x: jnp.where(never, jnp.zeros_like(x), x), arrays)
