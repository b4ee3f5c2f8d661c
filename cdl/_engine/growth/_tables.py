"""Tables with a row for each node, read and written in loops.

A loop that reads what it writes makes the compiler copy the table. So the loop over a chunk's blocks has the chunk's
own rows beside the table, and either it reads those, cut out when the chunk before was done, and writes their children
in the table; or it reads the children there and writes those, which are put into the table when it is done. A reverse
pass reads and writes one table in a turn: where it writes is not known before it has read (`after_all`).
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def table(size: tuple[int, ...], like: Any) -> jax.Array:
    """A table of zeros: this many, of an array's shape and type."""
    return jnp.zeros((*size, *like.shape), like.dtype)


def part(table: jax.Array, head: jax.Array | int, count: int) -> jax.Array:
    """This number of rows of a table."""
    return lax.dynamic_slice_in_dim(table, head, count)
