"""Growing, with a reverse rule of its own: the steps backwards for the seeds, then all nodes at once for the weights.

| pass          | order                     | what it finds                                                          |
| ------------- | ------------------------- | ---------------------------------------------------------------------- |
| `_to_seeds`   | the last step first       | the cotangent of every node's seed, from its own and its children's    |
| `_to_weights` | any; many steps at a time | the cotangents of the coalgebra's arrays                               |

Which candidate a node has is no smooth function of anything: it is taken as it was. Its payload, and the logarithm of
its chance, are.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ._candidates import Growth
from ._grow import at_rows, grow, Plan, Rows, together, where


BLOCK = 512  # how many rows the weights' pass takes at a time


def grown_rows(growth: Growth, plan: Plan, weights: list[Any], seeds: list[Any]) -> Any:
    """The rows of all trees, how many steps it took, and where each node's row is; differentiable in weights and
    seeds."""

    def run(weights: list[Any], seeds: list[Any], keep: bool) -> Any:
        rows, steps = grow(growth, plan, weights, seeds, keep=keep)
        return rows, steps, places_of(rows, plan)

    found = _rule((weights, seeds), growth=growth, plan=plan, run=run)
    # The integers of a rule come with a tangent, which other rules refuse; an operation without derivative drops it.
    return jax.tree.map(lambda x: x if smooth(x) else x | 0, found)


def places_of(rows: Rows, plan: Plan) -> Any:
    """The number of the row of node `i` of tree `t`; -1 where there is no such node."""
    size = plan.trees * plan.nodes
    node = jnp.where(rows.tree < 0, size, rows.tree * plan.nodes + rows.number).reshape(-1)
    numbers = jnp.arange(node.shape[0], dtype=jnp.int32)
    found = jnp.full(size, -1, jnp.int32).at[node].set(numbers, mode="drop")
    return found.reshape(plan.trees, plan.nodes)


def children_of(rows: Rows, places: int) -> Any:
    """The step at which the child at each place of a row was grown, in the same lane; -1 where there is none."""
    steps, lanes = rows.above.shape
    lane = jnp.arange(lanes, dtype=jnp.int32)[None]
    row = jnp.where(rows.above < 0, steps, rows.above // places)
    table = jnp.full((steps, lanes, places), -1, jnp.int32)
    step = jnp.broadcast_to(jnp.arange(steps, dtype=jnp.int32)[:, None], (steps, lanes))
    lanes_of = jnp.broadcast_to(lane, (steps, lanes))
    return table.at[row, lanes_of, rows.above % places].set(step, mode="drop")


@eqx.filter_custom_vjp
def _rule(inputs: Any, *, growth: Growth, plan: Plan, run: Callable[..., Any]) -> Any:
    return run(*inputs, False)


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(perturbed: Any, inputs: Any, *, growth: Growth, plan: Plan, run: Any) -> Any:
    del perturbed
    rows, steps, at = run(*inputs, True)
    return (dataclasses.replace(rows, seeds=[]), steps, at), (rows, steps, at)


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    residuals: Any, given: Any, perturbed: Any, inputs: Any, *, growth: Growth, plan: Plan, run: Any
) -> Any:
    del plan, run
    rows, steps, at = residuals
    weights, _ = inputs
    back = Backwards(growth, weights, rows, steps, given[0])
    down = back.to_seeds()
    wanted = any(jax.tree.leaves(perturbed[0]))
    to_weights = back.to_weights(down) if wanted else [None] * len(weights)
    to_roots = [None if d is None else _first_rows(d, at[:, 0]) for d in down]
    return to_weights, to_roots


def _first_rows(table: Any, row: Any) -> Any:
    """The rows of a table, zero where there is none."""
    found = table.reshape(-1, *table.shape[2:])[jnp.maximum(row, 0)]
    return where(row >= 0, found, jnp.zeros_like(found))


class Backwards:
    """The rows of a growth, gone through backwards."""

    def __init__(self, growth: Growth, weights: list[Any], rows: Rows, steps: Any, given: Any) -> None:
        self.growth, self.weights, self.rows, self.steps = growth, weights, rows, steps
        self.child = children_of(rows, growth.places) if growth.places else None
        filled: Callable[..., Any] = lambda ct, x: jnp.zeros(x.shape, x.dtype) if ct is None else ct
        self.given = [filled(given.log_prob, rows.log_prob)]
        self.given += [filled(c, x) for c, x in zip(given.payload, rows.payload, strict=True) if smooth(x)]

    def to_seeds(self) -> list[Any]:
        """The cotangent of each row's seed, a leaf at a time; none for a leaf of integers."""
        down = [jnp.zeros(x.shape, x.dtype) if smooth(x) else None for x in self.rows.seeds]

        def step(state: Any) -> Any:
            t, down = state
            seeds, given = self._at(t[None], down)
            _, back = jax.vjp(lambda some: self._smooth_part(self.weights, merged(seeds, some), t[None]), only(seeds))
            (found,) = back(given)
            works = self.rows.tree[t] >= 0
            new = iter(together([where(works, x, jnp.zeros_like(x)) for x in found]))
            return t - 1, [d if d is None else lax.dynamic_update_index_in_dim(d, next(new), t, 0) for d in down]

        return lax.while_loop(lambda state: state[0] >= 0, step, (self.steps - 1, down))[1]

    def to_weights(self, down: list[Any]) -> list[Any]:
        """The cotangents of the weights; none for those of integers."""
        total, lanes = self.rows.tree.shape
        size = min(total, max(1, BLOCK // lanes))
        found = [jnp.zeros(w.shape, w.dtype) for w in only(self.weights)]

        def block(state: Any) -> Any:
            k, found = state
            t = jnp.minimum(k * size, total - size) + jnp.arange(size, dtype=jnp.int32)
            seeds, given = self._at(t, down, t >= k * size)
            _, back = jax.vjp(lambda some: self._smooth_part(merged(self.weights, some), seeds, t), only(self.weights))
            return k + 1, [a + b for a, b in zip(found, back(given)[0], strict=True)]

        if found:
            found = lax.while_loop(lambda s: s[0] * size < self.steps, block, (jnp.int32(0), found))[1]
        rest = iter(found)
        return [next(rest) if smooth(w) else None for w in self.weights]

    def _at(self, t: Any, down: list[Any], own: Any = True) -> tuple[list[Any], list[Any]]:
        """The seeds of some steps, and the cotangents of what was made of them, all rows in one axis."""
        flat: Callable[..., Any] = lambda x: x.reshape(-1, *x.shape[2:])
        works = flat((self.rows.tree[t] >= 0) & jnp.broadcast_to(own, t.shape)[:, None])
        mask: Callable[..., Any] = lambda x: where(works, x, jnp.zeros_like(x))
        given = [mask(flat(x[t])) for x in self.given]
        if self.child is not None:
            child = flat(self.child[t])
            lane = jnp.tile(jnp.arange(self.rows.tree.shape[1], dtype=jnp.int32), t.shape[0])
            for place in range(self.growth.places):
                at = child[:, place]
                has = works & (at >= 0)
                rows = [d[jnp.maximum(at, 0), lane] for d in down if d is not None]
                given += [where(has, x, jnp.zeros_like(x)) for x in rows]
        return [flat(x[t]) for x in self.rows.seeds], given

    def _smooth_part(self, weights: list[Any], seeds: list[Any], t: Any) -> list[Any]:
        """What the rows of some steps make of their seeds, without the integers."""
        flat: Callable[..., Any] = lambda x: x[t].reshape(-1)
        _, log_prob, payload, seeds = at_rows(self.growth, weights, seeds, flat(self.rows.choice))
        return [log_prob, *only(payload), *(x for place in seeds for x in only(place))]


def smooth(x: Any) -> bool:
    """Whether an array has derivatives."""
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


def only(arrays: list[Any]) -> list[Any]:
    """Those arrays that have derivatives."""
    return [x for x in arrays if smooth(x)]


def merged(arrays: list[Any], some: list[Any]) -> list[Any]:
    """The arrays, with others in place of those that have derivatives."""
    rest = iter(some)
    return [next(rest) if smooth(x) else x for x in arrays]
