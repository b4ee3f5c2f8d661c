"""Reading grown rows upwards, without a tree: each step after those of its children, so the last one first.

| pass        | order                     | what it finds                                                            |
| ----------- | ------------------------- | ------------------------------------------------------------------------ |
| `read`      | the last step first       | the value of every row                                                   |
| `_down`     | the first step first      | the cotangent of every row's value, and of its payload                   |
| `_weights`  | any; many steps at a time | the cotangents of the algebra's arrays                                   |

Every case is computed in every row. So that a case which has no business there does no harm, its part of a cotangent
is dropped row by row, and for the weights it reads a row that is its own.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ._grow import Rows, together, where
from ._grow_rule import BLOCK, children_of, merged, only, smooth
from ._readings import Arrays, Readings


def values_of(found: Readings, places: int, weights: list[Arrays], rows: Rows, steps: Any) -> Arrays:
    """The value at every row, differentiable in the weights and the rows' payload."""
    tables = [rows.tree, rows.choice, children_of(rows, max(places, 1)), rows.above, steps]
    return _rule((weights, rows.payload), tables, reader=Reader(found, max(places, 1)))


class Reader:
    """An algebra's cases on their way over rows."""

    def __init__(self, found: Readings, places: int) -> None:
        self.found, self.places = found, places

    def read(self, weights: list[Arrays], payload: Arrays, tables: Arrays) -> Arrays:
        """The value at every row, up from the last."""
        tree, choice, child, _, steps = tables
        lane = jnp.arange(tree.shape[1], dtype=jnp.int32)
        values = [jnp.zeros((*tree.shape, *x.shape), x.dtype) for x in self.found.leaves]

        def step(state: Any) -> Any:
            t, values = state
            below = self.below(values, child[t], lane)
            new = together(self.at_rows(weights, [x[t] for x in payload], below, choice[t]))
            return t - 1, [lax.dynamic_update_index_in_dim(v, x, t, 0) for v, x in zip(values, new, strict=True)]

        return lax.while_loop(lambda state: state[0] >= 0, step, (steps - 1, values))[1]

    def below(self, values: Arrays, child: Any, lane: Any) -> list[Arrays]:
        """The values of the children at each place; where there is none, whatever comes first."""
        return [[v[jnp.maximum(child[:, place], 0), lane] for v in values] for place in range(self.places)]

    def at_rows(self, weights: list[Arrays], payload: Arrays, below: list[Arrays], choice: Any) -> Arrays:
        """Each row's value: every case, and of these the one of its candidate."""
        new = [jnp.zeros((*choice.shape, *x.shape), x.dtype) for x in self.found.leaves]
        for c in range(len(self.found.candidates)):
            own = self.case(c, weights[c], *self.inputs(c, payload, below))
            new = [where(choice == c, x, y) for x, y in zip(own, new, strict=True)]
        return new

    def inputs(self, c: int, payload: Arrays, below: list[Arrays]) -> tuple[Arrays, list[Arrays]]:
        """What one candidate's case reads."""
        candidate = self.found.candidates[c]
        return [payload[i] for i in candidate.columns], below[: candidate.arity]

    def case(self, c: int, weights: Arrays, payload: Arrays, below: list[Arrays]) -> Arrays:
        """One case at every row."""
        run: Callable[..., Arrays] = lambda payload, below: self.found.cases[c](
            *weights, *jax.tree.leaves((payload, below))
        )
        if not payload and not below:
            return [jnp.asarray(x)[None] for x in run([], [])]
        return jax.vmap(run)(payload, below)

    def down(self, weights: list[Arrays], payload: Arrays, tables: Arrays, values: Arrays, given: Arrays) -> Any:
        """The cotangents of every row's value and payload; given those of the values from outside."""
        tree, choice, child, above, steps = tables
        lane = jnp.arange(tree.shape[1], dtype=jnp.int32)
        brought = [jnp.zeros((*v.shape[:2], self.places, *v.shape[2:]), v.dtype) for v in only(values)]
        start = jnp.int32(0), brought, *jax.tree.map(jnp.zeros_like, (given, only(payload)))

        def step(state: Any) -> Any:
            t, brought, own, to_payload = state
            has = above[t] >= 0
            at = jnp.maximum(above[t], 0)
            more = [b[at // self.places, lane, at % self.places] for b in brought]
            ct = [g[t] + where(has, x, jnp.zeros_like(x)) for g, x in zip(given, more, strict=True)]
            ct = [where(tree[t] >= 0, x, jnp.zeros_like(x)) for x in ct]
            inputs = [x[t] for x in payload], self.below(values, child[t], lane)
            at_payload, at_below = self._pulled(weights, *inputs, choice[t], ct)
            stacked = [jnp.stack(x, 1) for x in zip(*at_below, strict=True)]
            stacked, ct, at_payload = together((stacked, ct, at_payload))
            put: Callable[..., Any] = lambda tables, rows: [
                lax.dynamic_update_index_in_dim(b, x, t, 0) for b, x in zip(tables, rows, strict=True)
            ]
            return t + 1, put(brought, stacked), put(own, ct), put(to_payload, at_payload)

        _, _, own, to_payload = lax.while_loop(lambda state: state[0] < steps, step, start)
        rest = iter(to_payload)
        return own, [next(rest) if smooth(x) else None for x in payload]

    def _pulled(self, weights: list[Arrays], payload: Arrays, below: list[Arrays], choice: Any, ct: Arrays) -> Any:
        """The cotangents of what the rows read, each from its own candidate's case alone."""
        to_payload = [jnp.zeros(x.shape, x.dtype) for x in only(payload)]
        column = {c: i for i, c in enumerate(c for c, x in enumerate(payload) if smooth(x))}
        to_below = [[jnp.zeros(x.shape, x.dtype) for x in only(v)] for v in below]
        for c, candidate in enumerate(self.found.candidates):
            reads, values = self.inputs(c, payload, below)
            if not reads and not values:
                continue

            def of(some: Any, c: int = c, reads: Arrays = reads, values: list[Arrays] = values) -> Arrays:
                under = [merged(v, s) for v, s in zip(values, some[1], strict=True)]
                return only(self.case(c, weights[c], merged(reads, some[0]), under))

            _, back = jax.vjp(of, (only(reads), [only(v) for v in values]))
            (at_reads, at_values) = back(ct)[0]
            mine: Callable[..., Any] = lambda x, y, c=c: where(choice == c, x, y)
            for i, x in zip([i for i in candidate.columns if i in column], at_reads, strict=True):
                to_payload[column[i]] = mine(x, to_payload[column[i]])
            for place, xs in enumerate(at_values):
                to_below[place] = [mine(x, y) for x, y in zip(xs, to_below[place], strict=True)]
        return to_payload, to_below

    def weights(self, weights: list[Arrays], payload: Arrays, tables: Arrays, values: Arrays, own: Arrays) -> Any:
        """The cotangents of the weights, from those of every row's value."""
        tree, choice, child, _, steps = tables
        total, lanes = tree.shape
        size = min(total, max(1, BLOCK // lanes))
        flat: Callable[..., Any] = lambda x: x.reshape(-1, *x.shape[2:])
        lane = jnp.tile(jnp.arange(lanes, dtype=jnp.int32), size)

        def block(state: Any) -> Any:
            k, sums = state
            t = jnp.minimum(k * size, total - size) + jnp.arange(size, dtype=jnp.int32)
            works = flat((tree[t] >= 0) & (t >= k * size)[:, None])
            rows = [flat(x[t]) for x in payload], self.below(values, flat(child[t]), lane)
            ct = [flat(x[t]) for x in own]
            return k + 1, [
                self._added(c, weights[c], rows, works & (flat(choice[t]) == c), ct, s) for c, s in enumerate(sums)
            ]

        start = jnp.int32(0), [[jnp.zeros(w.shape, w.dtype) for w in only(ws)] for ws in weights]
        sums = lax.while_loop(lambda s: s[0] * size < steps, block, start)[1]
        rests = [iter(s) for s in sums]
        return [[next(r) if smooth(w) else None for w in ws] for ws, r in zip(weights, rests, strict=True)]

    def _added(self, c: int, weights: Arrays, rows: Any, mine: Any, ct: Arrays, sums: Arrays) -> Arrays:
        """What the rows of one candidate add; every other row reads what the first of these does."""
        if not sums:
            return sums
        at = jnp.where(mine, jnp.arange(mine.shape[0], dtype=jnp.int32), jnp.argmax(mine).astype(jnp.int32))
        reads, values = jax.tree.map(lambda x: x[at], self.inputs(c, *rows))
        ct = [where(mine, x, jnp.zeros_like(x)) for x in ct]

        def of(some: Arrays) -> Arrays:
            out = only(self.case(c, merged(weights, some), reads, values))
            return [jnp.broadcast_to(x, y.shape) for x, y in zip(out, ct, strict=True)]

        def add(sums: Arrays) -> Arrays:
            return [a + b for a, b in zip(sums, jax.vjp(of, only(weights))[1](ct)[0], strict=True)]

        return lax.cond(jnp.any(mine), add, lambda sums: sums, sums)


@eqx.filter_custom_vjp
def _rule(inputs: Any, tables: Any, *, reader: Reader) -> Any:
    weights, payload = inputs
    return reader.read(weights, payload, tables)


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(perturbed: Any, inputs: Any, tables: Any, *, reader: Reader) -> Any:
    del perturbed
    weights, payload = inputs
    values = reader.read(weights, payload, tables)
    return values, values


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(values: Any, given: Any, perturbed: Any, inputs: Any, tables: Any, *, reader: Reader) -> Any:
    weights, payload = inputs
    filled = [jnp.zeros(v.shape, v.dtype) if g is None else g for g, v in zip(given, values, strict=True)]
    own, to_payload = reader.down(weights, payload, tables, values, only(filled))
    to_weights: Any = [[None] * len(ws) for ws in weights]
    if any(jax.tree.leaves(perturbed[0])):
        to_weights = reader.weights(weights, payload, tables, values, own)
    return to_weights, to_payload
