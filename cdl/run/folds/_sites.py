"""A program at the rows of a chunk, whatever their constructors, and its reverse.

The reverse pass computes a case again, but for its products, which were kept. It gives the cotangents of what the rows
were computed from and of the sites; the weights' come from these, of all rows at once (`_sums`). A product's cotangent
is kept in the place of the product; what is one variable is kept once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from .._shapes import rows_of, shaped
from ._grouped import Group
from ._indexed import broadcast, Over, Prepare, Rows, spread
from ._levels import EDGES, NotIndexed, ROWS, SHARED, Site, STACK, Value
from ._program import Program


Arrays = list[Any]
Inputs = tuple[Arrays, list[Arrays], Arrays, list[Arrays], Arrays]  # payload, slots, keys, edges, and the node's own
ROWS_OF_PROBE, EDGES_OF_PROBE = 3, 5  # with which the reverse is traced


@dataclass(frozen=True, order=True)
class Table:
    """A table of rows, or of the edges of all `Many`s: which of those with entries of one shape and type."""

    by_edge: bool
    shape: tuple[int, ...]
    dtype: str
    number: int


@dataclass(frozen=True)
class Again:
    """What is read again: the `"payload"`, or the children's states, of `"slots"` or `"edges"`; which slot or `Many`,
    and which leaf."""

    what: str
    place: int
    leaf: int


@dataclass(frozen=True)
class Plan:
    """By site, where each product is kept, each cotangent, and what the site is computed from.

    `kept` are the tables that the pass forwards writes: with a site's value, or with one of its inputs by number.
    `writes` is what the reverse pass writes: a table, which output of `Indexed.reverse`, flattened, goes there, and of
    which `Many`.
    """

    kept: dict[Table, tuple[int, int | None]]
    products: list[Table | None]
    cotangents: list[Table | None]
    inputs: list[list[Table | Again]]
    writes: list[tuple[Table, int, int | None]]


class Indexed:
    """A program whose rows are computed together, whatever their constructors."""

    def __init__(self, program: Program, keys: int) -> None:
        self.program, wiring = program, program.wiring
        self.jaxpr = program.case.jaxpr
        self.levels = [STACK if s else SHARED for s in program.stacked]
        self.sites: list[Site] = []
        self._values_of: Arrays = []  # the shape of each site's value, found by `plan`
        nothing: Callable[[Any], Arrays] = lambda columns: [None] * len(columns)
        slots, manys = list(map(nothing, wiring.slots)), list(map(nothing, wiring.manys))
        self._nothing = nothing(wiring.payload), slots, [None] * keys, manys, nothing(wiring.own)

    def prepare(self, weights: Arrays) -> Arrays:
        """What each site takes, made of the weights.

        **Raises:** `NotIndexed` for a program that is to be computed by constructor.
        """
        phase = Prepare()
        self._run(phase, weights, self._nothing, None)
        self.sites = phase.sites
        return phase.weights

    def rows(
        self, prepared: Arrays, over: Over, inputs: Inputs, given: Arrays | None = None
    ) -> tuple[Arrays, Rows]:
        """The outputs at every row, and at every edge for those that are the edges'; and the phase, with its sites."""
        phase = Rows(prepared, over, given)
        found = self._run(phase, [None] * len(self.levels), inputs, over)
        return [x.value if x.level == EDGES else broadcast(x, over.rows) for x in found], phase

    def _run(self, phase: Any, weights: Arrays, inputs: Inputs, over: Over | None) -> list[Value]:
        payload, slots, keys, edges, own = inputs
        row = None if over is None else jnp.arange(over.rows.length, dtype=jnp.int32)
        args = [Value(level, w) for level, w in zip(self.levels, weights, strict=True)]
        args += [Value(ROWS, x) for x in (row, *payload, *(x for xs in slots for x in xs), *keys)]
        args += [Value(EDGES, x, g) for g, xs in enumerate(edges) for x in (None, *xs)]
        args += [Value(ROWS, x) for x in own]
        inner = self.jaxpr.replace(constvars=(), invars=[*self.jaxpr.constvars, *self.jaxpr.invars])
        return list(phase.spread(phase.run(inner, (), args), inner.outvars, {}))

    def reverse(self, prepared: Arrays, over: Over, inputs: Inputs, products: Arrays | None, given: Arrays) -> Any:
        """The cotangents of the inputs and of the sites, `None` where there is none, and what each site is computed
        from. `products` were kept, or are computed again; `given` are the cotangents of the outputs that have one."""
        values = self._values(prepared, over, inputs, products)
        smooth, rest = eqx.partition((values, inputs), lambda x: jnp.issubdtype(x.dtype, jnp.inexact))

        def run(smooth: Any) -> tuple[Arrays, Arrays]:
            values, inputs = eqx.combine(smooth, rest)
            out, phase = self.rows(prepared, over, inputs, values)
            return [x for x in out if jnp.issubdtype(x.dtype, jnp.inexact)], phase.inputs

        _, pull, inner = jax.vjp(run, smooth, has_aux=True)
        (to_values, to_inputs), *_ = pull(given)
        return to_inputs, to_values, inner

    def _values(self, prepared: Arrays, over: Over, inputs: Inputs, products: Arrays | None) -> Arrays:
        """The sites' values, from the products; zeros for lookups, to which what is looked up is added."""
        values = self.rows(prepared, over, inputs)[1].values if products is None else iter(products)
        found = []
        for site, w, value, of in zip(self.sites, prepared, values, self._values_of, strict=True):
            group = over.rows if site.many is None else over.edges[site.many]
            if site.kind == "spread":
                found.append(spread(w, site.level, group))
            else:
                found.append(value if site.kind == "product" else jnp.zeros((group.length, *of.shape[1:]), of.dtype))
        return found

    def plan(self, weights: Arrays, inputs: Inputs, keep: bool) -> Plan:
        """What is kept of the program. `weights` and `inputs` are their shapes, those of one row or edge; `keep` says
        whether the products are kept."""
        prepared = jax.eval_shape(self.prepare, weights)
        over = _probe(len(inputs[3]))
        payload, slots, keys, edges, own = inputs
        many = [rows_of(EDGES_OF_PROBE, xs) for xs in edges]
        a_row: Callable[[Any], Arrays] = lambda xs: rows_of(ROWS_OF_PROBE, xs)
        some = a_row(payload), list(map(a_row, slots)), a_row(keys), many, a_row(own)
        out, phase_values = jax.eval_shape(lambda *args: _both(self.rows(*args)), prepared, over, some)
        self._values_of = list(phase_values)
        given = [x for x in out if jnp.issubdtype(x.dtype, jnp.inexact)]
        products = list(phase_values) if keep else None
        traced, found = jax.make_jaxpr(self.reverse, return_shape=True)(prepared, over, some, products, given)
        return _Planning(self.sites, phase_values, traced.jaxpr, found, (prepared, over, some), keep).plan()


def _both(found: tuple[Arrays, Rows]) -> tuple[Arrays, Arrays]:
    return found[0], found[1].values


def _probe(manys: int) -> Over:
    """The shapes of what a chunk is computed over."""
    ints: Callable[..., Any] = lambda *shape: shaped(shape, jnp.int32)
    group: Callable[[int], Group] = lambda n: Group(ints(n), ints(n), ints(), n)
    edges = [EDGES_OF_PROBE] * manys
    return Over(group(ROWS_OF_PROBE), [group(n) for n in edges], [ints(n) for n in edges], [ints(n) for n in edges])


class _Planning:
    """Which table each thing goes to, from the jaxpr of the reverse."""

    def __init__(self, sites: list[Site], values: Arrays, jaxpr: Any, found: Any, args: Any, keep: bool) -> None:
        self.sites, self.values, self.jaxpr, self.keep = sites, values, jaxpr, keep
        self.out = jax.tree.unflatten(jax.tree.structure(found), range(len(jaxpr.outvars)))
        before = len(jax.tree.leaves(args[:2]))
        payload, slots, _, edges, _ = args[2]
        labels = [Again("payload", 0, i) for i in range(len(payload))]
        labels += [Again("slots", j, i) for j, xs in enumerate(slots) for i in range(len(xs))]
        first_edge = before + len(jax.tree.leaves(args[2][:3]))
        self.known: dict[Any, Table | Again] = dict(zip(jaxpr.invars[before:], labels, strict=False))
        labels = [Again("edges", g, i) for g, xs in enumerate(edges) for i in range(len(xs))]
        self.known |= dict(zip(jaxpr.invars[first_edge:], labels, strict=False))
        self.zero = {
            v for eqn in jaxpr.eqns if eqn.primitive.name == "broadcast_in_dim"
            for v in eqn.outvars if isinstance(eqn.invars[0], Literal) and not eqn.invars[0].val
        }  # fmt: skip
        self.count: dict[Any, int] = {}
        self.writes: list[tuple[Table, int, int | None]] = []

    def plan(self) -> Plan:
        _, to_values, inputs = self.out
        products, cotangents, given = [], [], []
        for site, value in zip(self.sites, self.values, strict=True):
            kept = self.keep and site.kind == "product"
            products.append(self._table(site, value) if kept else None)
        self.kept = {t: (i, None) for i, t in enumerate(products) if t is not None}
        for i, site in enumerate(self.sites):
            number = to_values[i]
            if not site.smooth or number is None or self.jaxpr.outvars[number] in self.zero:
                cotangents.append(None)
                given.append([])
                continue
            cotangents.append(self._at(site, number, products[i]))
            given.append([self._input(i, x, number) for x, number in enumerate(inputs[i])])
        return Plan(self.kept, products, cotangents, given, self.writes)

    def _input(self, i: int, x: int, number: int) -> Any:
        """Where an input of a site is found."""
        v = self.jaxpr.outvars[number]
        if not self.keep or v in self.known:
            return self._at(self.sites[i], number)
        self.known[v] = self._table(self.sites[i], v.aval)
        self.kept[self.known[v]] = i, x
        return self.known[v]

    def _at(self, site: Site, number: int, room: Table | None = None) -> Any:
        """Where an output is found: read again, or in a table, its own or that of a product that it replaces."""
        v = self.jaxpr.outvars[number]
        if isinstance(v, Literal) or v not in self.known:
            table = room or self._table(site, v.aval)
            self.writes.append((table, number, site.many))
            if isinstance(v, Literal):
                return table
            self.known[v] = table
        return self.known[v]

    def _table(self, site: Site, x: Any) -> Table:
        kind = site.many is not None, tuple(x.shape[1:]), str(x.dtype)
        self.count[kind] = self.count.get(kind, 0) + 1
        return Table(*kind, self.count[kind])


def indexed(program: Program, keys: int) -> Indexed | None:
    """The program at rows of any of its constructors, if it is one that can be computed so."""
    found = Indexed(program, keys)
    try:
        jax.eval_shape(found.prepare, program.weights)
    except NotIndexed:
        return None
    return found
