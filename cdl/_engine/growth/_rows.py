"""The queue of a growth: a row for each node of all trees, in the order of birth."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..arrays._rows import put
from ..arrays.shapes import Arrays
from ._candidates import at_ends
from ._cases import Cases
from ._plan import Plan
from ._tables import table


class Rows(eqx.Module):
    """Tables with a row for each node, and room for one chunk more; and what there is of each tree and chunk."""

    tree: Array
    number: Array  # within the tree, breadth first
    choice: Array
    kids: Array  # how many children there are
    end: Array  # the number of each node without places among these
    first: Array  # the row of the first
    below: Array  # its number
    log_prob: Array  # by row, or by tree and number
    payload: Arrays  # the same; or by the numbers of nodes without places, where no other has any (`at_ends`)
    seeds: Arrays
    shared: Arrays  # what the choice hands on
    kept: tuple[Arrays, Arrays]  # by the choice and by candidates, for the reverse pass; none where it is not kept
    count: Array  # how many nodes each tree has
    waiting: Array  # how many of its places still hold a seed
    starts: Array  # the first row of each chunk, and the end
    chunks: Array  # how many there are

    @property
    def real(self) -> Array:
        """Which rows are nodes."""
        return jnp.arange(self.choice.shape[0], dtype=jnp.int32) < self.starts[self.chunks]

    def chosen(self) -> Array:
        """The choice of each node, and -1 where there is none."""
        return jnp.where(self.real, self.choice, -1)

    def address(self, plan: Plan, at: jax.Array, *, ends: bool = False) -> tuple[jax.Array, ...]:
        """Where the payload of some rows is. `ends`: that of a column which those without places alone have."""
        if plan.spread:
            return self.tree[at], self.number[at]
        return (self.end[at] if ends else at,)


def begun(cases: Cases, plan: Plan, seeds: Arrays, keep: bool) -> Rows:
    """The roots, and room for the rest. A row without a seed holds the first seed, so that every value in the table is
    a seed.
    """
    size, roots = plan.rows + plan.lanes, plan.roots
    nodes, ends = (plan.trees, plan.nodes) if plan.spread else (size,), max(1, plan.ends(cases.growth.places))
    own = frozenset() if plan.spread else at_ends(cases.growth.candidates)
    numbers, trees = jnp.zeros(size, jnp.int32), jnp.zeros(plan.trees, jnp.int32)

    def room(x: jax.Array) -> jax.Array:
        if not roots:
            return jnp.zeros((size, *x.shape[1:]), x.dtype)
        return jnp.concatenate([x[:roots], jnp.broadcast_to(x[:1], (size - roots, *x.shape[1:]))])

    tables: Any = lambda likes: [table((size,), x) for x in likes]
    return Rows(
        tree=put(numbers, 0, jnp.arange(roots, dtype=jnp.int32)),
        number=numbers,
        choice=numbers,
        kids=numbers,
        end=numbers,
        first=numbers,
        below=numbers,
        log_prob=jnp.zeros(nodes, cases.choosing.part.outputs[1].dtype),
        payload=[table((ends,) if i in own else nodes, x) for i, x in enumerate(cases.growth.columns)],
        seeds=list(map(room, seeds)),
        shared=tables(cases.shared),
        kept=(tables(cases.choosing.kept), tables(cases.slots.forms)) if keep else ([], []),
        count=trees.at[:roots].set(1),
        waiting=trees.at[roots:].set(1),
        starts=jnp.zeros(plan.chunks + 1, jnp.int32),
        chunks=jnp.int32(0),
    )
