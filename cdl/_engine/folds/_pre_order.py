"""From values by row to values by node, in pre-order."""

from typing import Any

import jax
import jax.numpy as jnp

from ..arrays._rows import spread, take
from ..forests._forest import Forest


def in_pre_order(forest: Forest, sort: int | None, values: Any, at: Any = None) -> Any:
    """Values by row as values by node in pre-order; zeros past the last, and at those of other sorts. `at`: the row, or
    the edge, at which each node has its value, if that is not its own row."""
    rows = forest.row[: forest.bucket.nodes]
    own = jnp.arange(len(rows), dtype=jnp.int32) < forest.facts[0]
    if sort is not None and len(forest.family) > 1:
        own = own & (take(forest.sort, rows) == sort)

    def at_nodes(values: Any) -> Any:
        found = take(values, rows if at is None else at)
        return jnp.where(spread(own, found), found, jnp.zeros((), found.dtype))

    return jax.tree.map(at_nodes, values)
