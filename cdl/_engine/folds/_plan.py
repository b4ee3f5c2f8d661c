"""What is kept of a program whose rows are computed together, and in which tables.

The reverse is traced once, with a few rows. Two sites that use one variable share a table. An input, or inputs side by
side, is read again. A product's cotangent takes the place of the product.
"""

from dataclasses import dataclass
from typing import Any

import jax
from jax.extend.core import Literal

from ..arrays.shapes import Arrays
from ._levels import Site
from ._node import Inputs


@dataclass(frozen=True, order=True)
class Table:
    """A table, with one entry for each of `of`: `"rows"` (nodes with children), `"leaves"`, or `"edges"` (of all
    `Many`s). Entries have this shape and dtype. `number` tells tables of one kind apart that are of the same rows or
    edges: all programs share them, and the `Many`s of one."""

    of: str
    shape: tuple[int, ...]
    dtype: str
    number: int


@dataclass(frozen=True)
class Again:
    """What is read again: the `"payload"`, the children's states, of `"slots"` or `"edges"`, or what is the node's
    `"own"`; which slot or `Many`, and which leaf."""

    what: str
    place: int
    leaf: int


@dataclass(frozen=True)
class Joined:
    """Several things that are read again, side by side in the last axis."""

    parts: tuple[Again, ...]


Found = Table | Again | Joined  # where something is found


@dataclass(frozen=True)
class Plan:
    """By site, where each product is kept, each cotangent, and what the site is computed from.

    `kept` are the tables that the pass forwards writes: with a site's value, or with one of its inputs by number.
    `writes` is what the reverse pass writes: a table, which output of `Indexed.reverse`, flattened, goes there, and of
    which `Many`.
    """

    kept: list[tuple[Table, int, int | None]]
    products: list[Table | None]
    cotangents: list[Table | None]
    inputs: list[list[Found]]
    writes: list[tuple[Table, int, int | None]]


class Planning:
    """Which table each thing goes to, from the jaxpr of the reverse.

    **Arguments:** `values`: the shapes of the sites' values. `found`: those of the reverse's outputs. `inputs`: those
    of the rows, whose variables are the jaxpr's after the first `before`. `of`: which rows the program has, `"rows"` or
    `"leaves"`. `keep`: whether products are kept.
    """

    def __init__(
        self,
        sites: list[Site],
        values: Arrays,
        jaxpr: Any,
        found: Any,
        inputs: Inputs,
        before: int,
        of: str,
        keep: bool,
    ) -> None:
        self.sites, self.values, self.jaxpr, self.of, self.keep = sites, values, jaxpr, of, keep
        self.out = jax.tree.unflatten(jax.tree.structure(found), range(len(jaxpr.outvars)))
        self.known: dict[Any, Found] = {}
        places = (
            ("payload", [inputs.payload]), ("slots", inputs.slots), ("keys", [inputs.keys]), ("edges", inputs.edges),
            ("own", [inputs.own]),
        )  # fmt: skip
        labels = [Again(what, j, i) for what, xs in places for j, x in enumerate(xs) for i in range(len(x))]
        for v, label in zip(jaxpr.invars[before:], labels, strict=False):
            if label.what != "keys":
                self.known[v] = label
        for eqn in jaxpr.eqns:
            if eqn.primitive.name == "concatenate" and eqn.params["dimension"] == len(eqn.outvars[0].aval.shape) - 1:
                some = [None if isinstance(v, Literal) else self.known.get(v) for v in eqn.invars]
                parts = tuple(x for x in some if isinstance(x, Again))
                if len(parts) == len(some):
                    self.known[eqn.outvars[0]] = Joined(parts)
        self.count: dict[Any, int] = {}
        self.kept: list[tuple[Table, int, int | None]] = []
        self.writes: list[tuple[Table, int, int | None]] = []

    def plan(self) -> Plan:
        products: list[Table | None] = []
        for i, (site, value) in enumerate(zip(self.sites, self.values, strict=True)):
            table = self._table(site, value) if self.keep and site.kind == "product" else None
            products.append(table)
            if table is not None:
                self.kept.append((table, i, None))
        zero = _zeros(self.jaxpr)
        cotangents: list[Table | None] = []
        given: list[list[Found]] = []
        for i, (site, number) in enumerate(zip(self.sites, self.out.sites, strict=True)):
            if not site.smooth or number is None or self.jaxpr.outvars[number] in zero:
                cotangents.append(None)
                given.append([])
            else:
                cotangents.append(self._cotangent(site, number, products[i]))
                given.append([self._input(i, x, n) for x, n in enumerate(self.out.inner[i])])
        return Plan(self.kept, products, cotangents, given, self.writes)

    def _cotangent(self, site: Site, number: int, room: Table | None) -> Table:
        """The table of a cotangent: that of the product that it replaces, if no other has it."""
        v = self.jaxpr.outvars[number]
        known = None if isinstance(v, Literal) else self.known.get(v)
        return known if isinstance(known, Table) else self._written(site, number, room)

    def _input(self, i: int, x: int, number: int) -> Found:
        """Where an input of a site is found."""
        v, site = self.jaxpr.outvars[number], self.sites[i]
        if not isinstance(v, Literal) and v in self.known:
            return self.known[v]
        if not self.keep or isinstance(v, Literal):
            return self._written(site, number, None)
        self.known[v] = table = self._table(site, v.aval)
        self.kept.append((table, i, x))
        return table

    def _written(self, site: Site, number: int, room: Table | None) -> Table:
        """The table that an output of the reverse goes to."""
        v = self.jaxpr.outvars[number]
        table = room or self._table(site, v.aval)
        self.writes.append((table, number, site.many))
        if not isinstance(v, Literal):
            self.known[v] = table
        return table

    def _table(self, site: Site, x: Any) -> Table:
        kind = self.of if site.many is None else "edges", tuple(x.shape[1:]), str(x.dtype)
        self.count[kind, site.many] = number = self.count.get((kind, site.many), 0) + 1
        return Table(*kind, number)


def _zeros(jaxpr: Any) -> set[Any]:
    """The variables that are zeros."""
    spread = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "broadcast_in_dim"]
    return {eqn.outvars[0] for eqn in spread if isinstance(eqn.invars[0], Literal) and not eqn.invars[0].val}
