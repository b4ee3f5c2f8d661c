"""Growing many trees at once: each lane grows one tree after the other, depth first, with a stack of seeds.

| the thing   | what it is                                                                                    |
| ----------- | --------------------------------------------------------------------------------------------- |
| a lane      | a place in the batch: it takes a seed that nobody has, and when that tree is done the next    |
| a step      | every lane takes the seed on top of its stack, grows one node, and puts its children there    |
| a row       | what one lane did in one step: so many steps times lanes are the nodes of all trees           |

Depth first, with the first child on top, numbers the nodes in pre-order. A stack is a ring of as many seeds as a tree
may have nodes: what falls out at the bottom is what could not have been grown any more, and is counted.
"""

import functools
import operator
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int

from ._candidates import Growth


class Rows(eqx.Module):
    """What the lanes did: the first axis is the step, the second the lane. A lane with nothing to do has tree -1."""

    tree: Array
    number: Array  # in pre-order within the tree
    choice: Array
    above: Array  # the step of the node above, times places, plus the place; -1 at a root
    left: Array  # how many seeds wait, after the step
    log_prob: Array
    payload: list[Array]
    seeds: list[Array]  # empty where they are not kept


@dataclass(frozen=True)
class Plan:
    """How far trees may grow, one by one and all together, and in how many lanes."""

    trees: int
    nodes: int
    total: int
    lanes: int

    @property
    def steps(self) -> int:
        """The most steps that there can be: a lane is never idle while there is a seed that nobody has."""
        return min(max(1, -(-self.trees // self.lanes)) * self.nodes, -(-self.total // self.lanes) + self.nodes)


def grow(
    growth: Growth, plan: Plan, weights: list[Any], seeds: list[Any], *, keep: bool
) -> tuple[Rows, Int[Array, ""]]:
    """The rows of all trees, and how many steps it took. `keep`: the seeds of the nodes too."""
    lanes, nodes, places = plan.lanes, plan.nodes, max(growth.places, 1)
    lane = jnp.arange(lanes, dtype=jnp.int32)
    first = [x[:1] if plan.trees else jnp.zeros((1, *x.shape[1:]), x.dtype) for x in seeds]  # stands where no seed is
    arities = growth.arities

    def ints(value: int = 0) -> Any:
        return jnp.full((plan.steps, lanes), value, jnp.int32)

    def rows_like(x: Any, axes: tuple[int, ...]) -> Any:
        return jnp.zeros((*axes, *x.shape), x.dtype)

    table = (plan.steps, lanes)
    rows = Rows(
        tree=ints(-1),
        number=ints(),
        choice=ints(),
        above=ints(-1),
        left=ints(),
        log_prob=rows_like(jax.eval_shape(lambda: at_rows(growth, weights, first, None)[1][0]), table),
        payload=[rows_like(x, table) for x in growth.columns],
        seeds=[jnp.broadcast_to(x[None], (*table, *x.shape[1:])) for x in first] if keep else [],
    )
    stack = [jnp.broadcast_to(x, (lanes * nodes, *x.shape[1:])) for x in first]
    stack_above = jnp.full(lanes * nodes, -1, jnp.int32)
    none = jnp.full(lanes, -1, jnp.int32)
    zero = jnp.zeros(lanes, jnp.int32)
    start = jnp.int32(0), jnp.int32(0), none, zero, zero, stack, stack_above, rows

    def going(state: Any) -> Any:
        t, taken, _, number, size, *_ = state
        return (t < plan.steps) & ((taken < plan.trees) | jnp.any((size > 0) & (number < nodes)))

    def step(state: Any) -> Any:
        t, taken, tree, number, size, stack, stack_above, rows = state
        free = (size == 0) | (number == nodes)
        next_tree = taken + jnp.cumsum(free, dtype=jnp.int32) - 1
        takes = free & (next_tree < plan.trees)
        works = takes | ~free
        tree = jnp.where(works, jnp.where(takes, next_tree, tree), -1)
        number, size = jnp.where(takes, 0, number), jnp.where(takes, 1, size)
        top = lane * nodes + jnp.maximum(size - 1, 0) % nodes
        waited = stack_above[top]
        above = jnp.where(takes | ~works, -1, waited)
        at_root = jnp.maximum(tree, 0)
        seed = [where(takes, x[at_root], s[top]) for x, s in zip(seeds, stack, strict=True)]
        choice, log_prob, payload, children = at_rows(growth, weights, seed, None)
        arity = jnp.where(works & (choice >= 0), arities[choice], 0)
        new = Rows(tree, number, choice, above, size - 1 + arity, log_prob, payload, seed if keep else [])
        rows = jax.tree.map(lambda table, row: lax.dynamic_update_index_in_dim(table, row, t, 0), rows, new)
        for place in reversed(range(growth.places)):  # the first last: in a ring that is too short, it stays
            depth = size - 1 + (arity - 1 - place)
            at = jnp.where(place < arity, lane * nodes + depth % nodes, lanes * nodes)
            stack = [_put(s, at, x) for s, x in zip(stack, children[place], strict=True)]
            # Always the first of the two; that it waits for what was read lets the table be written in place.
            stack_above = _put(stack_above, at, jnp.where(waited >= -1, places * t + place, waited))
        size = jnp.where(works, size - 1 + arity, 0)
        number = jnp.where(works, number + 1, 0)
        taken = taken + jnp.sum(takes, dtype=jnp.int32)
        return t + 1, taken, tree, number, size, stack, stack_above, rows

    if not plan.trees:
        return rows, jnp.int32(0)
    steps, *_, rows = lax.while_loop(going, step, start)
    return rows, steps


def at_rows(growth: Growth, weights: list[Any], seeds: list[Any], choice: Any) -> Any:
    """One node in each row: the choice, the logarithm of its chance, its payload, and its seeds by place. With a
    choice given, that one."""

    def node(seed: list[Any], choice: Any) -> Any:
        given = growth.call(weights, seed, [])
        number = growth.choose(given, given.key) if choice is None else choice
        return number, *given.chosen(growth, number)

    return jax.vmap(node)(seeds, choice)


def where(mask: Any, x: Any, y: Any) -> Any:
    """By rows of any shape."""
    return jnp.where(mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim)), x, y)


def together(arrays: Any) -> Any:
    """The same arrays, none of which the compiler has before it has all of them.

    What goes into one table may come from another. So no table is written while it is still read, and none is copied.
    """
    firsts = [x.reshape(-1)[0] for x in jax.tree.leaves(arrays) if x.size]
    firsts = [x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.float32) for x in firsts]
    never = functools.reduce(operator.or_, [(x != x) & (x == 0) for x in firsts], jnp.array(False))
    return jax.tree.map(lambda x: jnp.where(never, jnp.zeros_like(x), x), arrays)


def _put(table: Any, at: Any, rows: Any) -> Any:
    """Rows written where they belong; those past the end nowhere."""
    return table.at[at].set(rows, mode="drop")
