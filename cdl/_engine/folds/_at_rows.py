"""The second of the two phases in which a case is computed for rows of several constructors; see `_levels`."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var

from ..arrays._rows import differentiated, masked, repeated, take
from ..arrays.shapes import is_smooth
from ..jaxprs._gates import by_reach, with_bits
from ..jaxprs._jaxprs import Atom, bind, opened
from ..jaxprs._reach import gate, only_active, Reach, through
from ..jaxprs._slopes import is_linear
from ._group import Group
from ._grouped import as_held, product, tie
from ._levels import EDGES, Level, Phase, ROWS, Site, STACK, Value
from ._segments import over_edges, reduced, summed


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Over:
    """Which constructor each row and edge of a chunk has. For each `Many`: the group of its edges; `places`, the row of
    each edge; and `segments`, the same, with the number of rows at padding."""

    rows: Group
    edges: list[Group]
    places: list[Any]
    segments: list[Any]


@dataclass(frozen=True)
class Active:
    """What the values of a case reach, and for each row of a chunk which columns of its own are read."""

    reach: Reach
    bits: jax.Array
    over: Over

    def at(self, many: int | None) -> jax.Array:
        """The bits of the rows, or of those of the edges of a `Many`."""
        return self.bits if many is None else take(self.bits, self.over.places[many])

    def gated(self, value: Value, v: Atom, reached: int, many: int | None) -> Value:
        """A variable's value, with a gradient by way of what reaches these columns only where they are read."""
        own = 0 if value.level < ROWS or isinstance(v, Literal) else self.reach.get(v, 0)
        if not own or not reached or own == reached:
            return value
        if not own & reached:
            return value._replace(value=lax.stop_gradient(value.value))
        return self._gated(value, reached, many)

    def entered(self, value: Value, v: Atom, eqn: JaxprEqn, many: int | None) -> Value:
        """The value of a variable inside of an equation, with a gradient only where this variable is active."""
        reached = self.reach.get(v, 0)
        within = value.level < ROWS or not reached or reached == through(self.reach, eqn)
        return value if within else self._gated(value, reached, many)

    def _gated(self, value: Value, reached: int, many: int | None) -> Value:
        return value._replace(value=gate(value.value, self.at(many if value.level == ROWS else value.many), reached))

    def only(self, cotangent: Any, site: Site) -> Any:
        """A site's cotangent, at the rows or edges at which it is active."""
        return only_active(cotangent, self.at(site.many), self.reach.get(site.variable, 0))


class Rows(Phase):
    """What is computed for the rows of a chunk.

    `values` and `inputs` are filled with the value of each site, and with what it is computed from. `given` are the
    values of sites that are known, as in the reverse pass: products are then tied to what they were computed from
    (`tie`), and lookups have theirs added, which are zeros. `held` are variables whose values are known. `active` says
    what each row and edge is read for, if not all are. `tame` says that rows past the valid ones may be zeros, and need
    not repeat the last one.
    """

    def __init__(
        self,
        weights: list[Any],
        over: Over,
        given: list[Any] | None = None,
        held: Mapping[Var, Any] = MappingProxyType({}),
        active: Active | None = None,
        tame: bool = False,
    ) -> None:
        super().__init__()
        self.over, self.given, self.held, self.active, self.tame = over, given, held, active, tame
        self.weights: Iterator[Any] = iter(weights)
        self.values: list[Any] = []
        self.inputs: list[list[Any]] = []

    @property
    def group(self) -> Group:
        """The rows, or the edges, that values at `ROWS` are of."""
        return self.over.rows if self.many is None else self.over.edges[self.many]

    def seen(self, v: Var, value: Value) -> Value:
        known = v in self.held and value.level == ROWS  # what is made of weights meets the rows at a site
        return Value(ROWS, as_held(value.value, self.held[v])) if known else value

    def gated(self, eqn: JaxprEqn, ins: list[Value], reached: int | None = None) -> list[Value]:
        if self.active is None:
            return ins
        reached = through(self.active.reach, eqn) if reached is None else reached
        return [self.active.gated(i, v, reached, self.many) for i, v in zip(ins, eqn.invars, strict=True)]

    def entered(self, eqn: JaxprEqn, ins: list[Value], inner: Sequence[Atom]) -> list[Value]:
        if self.active is None:
            return ins
        return [self.active.entered(i, v, eqn, self.many) for i, v in zip(ins, inner, strict=True)]

    def only_taken(self, value: Value) -> Value:
        x = value.value  # `None` for the edges' rows
        if value.level < ROWS or self.given is None or x is None or not is_smooth(x):
            return value
        return value._replace(value=differentiated(self._taken(value.many if value.level == EDGES else self.many), x))

    def _taken(self, many: int | None) -> jax.Array:
        """Which rows, or edges of a `Many`, take all branches around."""
        every = []
        for branch in self.branches:
            mask = jnp.clip(branch.which.value.astype(jnp.int32), 0, branch.of - 1) == branch.number
            every.append(mask if many is None or many == branch.many else take(mask, self.over.places[many]))
        return functools.reduce(jnp.logical_and, every)

    def at_weights(self, eqn: JaxprEqn, ins: list[Value]) -> list[Any]:
        return [None] * len(eqn.outvars)

    def at_rows(self, eqn: JaxprEqn, ins: list[Value]) -> list[Any]:
        def run(reached: int | None) -> list[Any]:
            given = self.gated(eqn, ins, reached)
            return bind(eqn, [i.value for i in given], [0 if i.level == ROWS else None for i in given])

        return run(None) if self.active is None or is_linear(eqn) else by_reach(eqn, self.active.reach, run)

    def at_edges(self, eqn: JaxprEqn, ins: list[Value]) -> list[Any]:
        return bind(eqn, [i.value for i in ins], [0 if i.level == EDGES else None for i in ins])

    def at_spread(self, weight: Value) -> jax.Array:
        w = next(self.weights)
        known = None if self.given is None else self.given[len(self.values)]
        return self._kept(spread(w, weight.level, self.group) if known is None else known, [])

    def at_lookup(self, eqn: JaxprEqn, ins: list[Value]) -> jax.Array:
        w, index = next(self.weights), [i.value for i in ins[1:]]
        found = lookup(eqn, w, index, [0 if i.level == ROWS else None for i in ins[1:]])
        if self.given is not None and self.given[len(self.values)] is not None:
            found = found + self.given[len(self.values)]
        rows = [broadcast(i, self.group) for i in ins[1:]]
        return self._kept(found, rows)

    def at_product(self, eqn: JaxprEqn, ins: list[Value], side: int) -> jax.Array:
        w, x = next(self.weights), ins[1 - side].value
        axes = [a + 1 for a in eqn.params["dimension_numbers"][0][1 - side]]
        free = [s for a, s in enumerate(x.shape) if a and a not in axes]
        precision = eqn.params["precision"]
        out: Any = eqn.outvars[0].aval
        if axes != [x.ndim - 1]:
            x = jnp.moveaxis(x, axes, range(-len(axes), 0)).reshape(len(x), *free, w.shape[-1])
        if self.branches:  # infinite, it would make the weights' gradient NaN
            x = masked(self._taken(self.many), x)
        z: Any
        if self.given is None:
            z = product(x, w, self.group, out.dtype, precision)
            if w.ndim > 2 and self.group.tiles is None:  # tiles of rows past the valid ones have been left out
                z = self._padded(z, self.group)
        else:
            z = self.given[len(self.values)]
            z = tie(z, x, w, self.group, precision) if is_smooth(x) else z
        z = self._kept(z, [x])
        z = jnp.moveaxis(z, -1, 1) if side == 0 and free else z
        return z if z.shape[1:] == out.shape else z.reshape(len(z), *out.shape)

    def _kept(self, value: jax.Array, given: list[jax.Array]) -> jax.Array:
        self.values.append(value)
        self.inputs.append(given)
        of_branch = self.branches and self.given is not None and is_smooth(value)
        return differentiated(self._taken(self.many), value) if of_branch else value

    def at_choice(self, which: Value, outs: Sequence[Value]) -> jax.Array:
        ys = [broadcast(y, self.group) for y in outs]

        def choose(at: jax.Array, *y: Any) -> jax.Array:
            return lax.select_n(at if at.dtype == bool else jnp.clip(at, 0, len(y) - 1), *y)

        return jax.vmap(choose)(which.value, *ys)

    def at_fold(
        self, step: ClosedJaxpr, start: list[Value], many: int, children: list[Value], consts: list[Value]
    ) -> list[Any]:
        starts = [broadcast(s, self.over.rows) for s in start]
        batched = [c.level == ROWS for c in consts]
        values, edges = [c.value for c in consts], [c.value for c in children]
        run = opened(step)
        if self.active is not None:
            run = with_bits(step.jaxpr, self.active.reach)
            values, batched = [self.active.bits, *values], [True, *batched]
        found: list[Any] = over_edges(
            "fold", lambda x, v, cs: run(*cs, *x, *v), self.over.segments[many], edges, values, batched, starts,
            self.over.rows.length,
        )  # fmt: skip
        return found

    def to_edges(self, value: Value, many: int) -> Value:
        return Value(ROWS, take(value.value, self.over.places[many]))

    def at_reduction(self, how: str, found: list[Value], many: int) -> list[Value]:
        every = [broadcast(y, self.over.edges[many]) for y in found]
        if how == "each":
            return [Value(EDGES, y, many) for y in every]
        rows, segment = self.over.rows, self.over.segments[many]
        if how == "sum" and rows.tiles is not None:
            sums = summed(every, segment, rows.length)
        else:
            sums = [reduced(how, y, segment, rows.length) for y in every]
        return [Value(ROWS, self._padded(y, rows)) for y in sums]

    def _padded(self, x: jax.Array, group: Group) -> jax.Array:
        return x if self.tame else repeated(x, group.own, group.count - 1)


def spread(weight: jax.Array, level: Level, group: Group) -> jax.Array:
    """The weight of each row."""
    if level == STACK:
        return take(weight, group.kind)
    return jnp.broadcast_to(weight, (group.length, *jnp.shape(weight)))


def lookup(eqn: JaxprEqn, weight: jax.Array, index: list[Any], axes: list[int | None]) -> jax.Array:
    """The rows of a weight that rows index."""
    return bind(eqn, [weight, *index], [None, *axes])[0]


def broadcast(value: Value, group: Group) -> jax.Array:
    """A value for each row."""
    return (
        value.value if value.level == ROWS else jnp.broadcast_to(value.value, (group.length, *jnp.shape(value.value)))
    )
