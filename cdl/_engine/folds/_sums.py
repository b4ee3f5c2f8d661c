"""Sums the cotangents at each site over all rows, for each constructor: these are the cotangents of the weights."""

import functools
import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..arrays._rows import masked, take
from ..arrays._strides import strides
from ..arrays.shapes import Arrays, Shape, shaped
from ..jaxprs._reach import active
from ..jaxprs._turned import swapped
from ._at_rows import lookup
from ._batched import sums, tiles_of
from ._group import Tiles
from ._levels import Site, STACK
from ._plan import Again, Found, Joined, Plan, Table
from ._sites import Indexed
from ._walk import Walk


BLOCK = 32768  # rows of a block, as many as a chunk may have


class Block(NamedTuple):
    """Rows, or edges, of several constructors: their numbers, the places of their constructors in the stacks, and which
    count, as the last is repeated; their tiles, and which rows of those count."""

    lines: jax.Array
    kind: jax.Array
    own: jax.Array
    tiles: Tiles
    inside: jax.Array


class Sums:
    """The cotangents of one program's sites, summed over its rows. `prepared` is what the sites take, `tables` what was
    kept and found of the rows, and `again` reads what was not kept, of rows or edges. `bits` says which columns of each
    row are read, if not all are."""

    def __init__(
        self, walk: Walk, indexed: Indexed, plan: Plan, prepared: Arrays, tables: dict[Table, Any],
        again: Callable[[Again, Any], Any], bits: jax.Array | None = None,
    ) -> None:  # fmt: skip
        self.walk, self.forest, self.indexed, self.plan = walk, walk.forest, indexed, plan
        self.prepared, self.tables, self.again = prepared, tables, again
        self.sites, self.program, self.bits = indexed.sites, indexed.program, bits

    def smooth(self) -> dict[int | None, list[int]]:
        """The sites that have a cotangent and are not lookups: those of the rows, and those of each `Many`."""
        found: dict[int | None, list[int]] = {}
        for i, site in enumerate(self.sites):
            if site.smooth and site.kind != "lookup" and self.plan.cotangents[i] is not None:
                found.setdefault(site.many, []).append(i)
        return found

    def of(self, known: dict[int, Any]) -> Arrays:
        """The cotangent of what each smooth site takes; `known` has those of the sites that are not lookups."""
        return [self._of(i, known) for i, site in enumerate(self.sites) if site.smooth]

    def _of(self, i: int, known: dict[int, Any]) -> jax.Array:
        if self.sites[i].kind == "lookup" and self.plan.cotangents[i] is not None:
            return self._lookup(i, self.prepared[i])
        return known[i] if i in known else jnp.zeros_like(self.prepared[i])

    def blocks(self, many: int | None, numbers: list[int]) -> Arrays:
        """The sums of some sites over the rows, or the edges of a `Many`: in blocks of rows of several constructors,
        which are few operations, for a GPU or a TPU."""
        weights = [self.prepared[i] for i in numbers]
        lines, bounds = self._lines(many)
        size = min(BLOCK, len(lines))

        def block(end: jax.Array, at: jax.Array, totals: Arrays) -> Arrays:
            lie = at + jnp.arange(size, dtype=jnp.int32)
            index = take(lines, jnp.minimum(lie, end - 1))
            variant = take(self.forest.variant, index if many is None else take(self.forest.owner, index))
            kind = self.walk.place_of[variant]
            tiles, inside = tiles_of(self.walk.number_of[variant], kind, len(self.program.members))
            own = lie < end
            inside &= take(own, tiles.rows)
            block = Block(index, kind, own, tiles, inside)
            found = [self._of_block(i, w, block) for i, w in zip(numbers, weights, strict=True)]
            return [total + x for total, x in zip(totals, found, strict=True)]

        def run(b: jax.Array, totals: Arrays) -> Arrays:
            begin, end = bounds[b, 0], bounds[b, 1]
            return strides(functools.partial(block, end), begin, end, size, totals)[1]

        zeros = [jnp.zeros_like(w) for w in weights]
        if len(bounds) == 1:
            return run(jnp.int32(0), zeros)
        return lax.fori_loop(jnp.int32(0), jnp.int32(len(bounds)), run, zeros)

    def _of_block(self, i: int, weight: jax.Array, block: Block) -> jax.Array:
        """The sum of one site over a block."""
        site = self.sites[i]
        given = self._read(self._table(i), block.lines)
        if site.kind == "product" and site.level == STACK:
            (x,) = (self._read(at, block.lines) for at in self.plan.inputs[i])
            rows: Callable[[Any], Any] = lambda x: x.reshape(len(x), math.prod(x.shape[1:-1]), x.shape[-1])
            x = x if self.bits is None else masked(self._active(i, block.lines, block.own), x)
            return sums(rows(given), rows(x), block.tiles, block.inside, len(weight), weight.dtype, site.precision)
        given = masked(block.own, given)
        if site.kind == "spread":
            return jax.ops.segment_sum(given, block.kind, len(weight)) if site.level == STACK else given.sum(0)
        (x,) = (self._read(at, block.lines) for at in self.plan.inputs[i])
        return _outer(given, masked(self._active(i, block.lines, block.own), x), weight.dtype, site.precision)

    def _lines(self, many: int | None) -> tuple[Any, Any]:
        """The program's rows or edges, and where they begin and end among all, those side by side together."""
        return self.lines(many)[0], self._begin(many)[jnp.array(self.ranks(apart=False), jnp.int32)]

    def lines(self, many: int | None) -> tuple[jax.Array, jax.Array]:
        """All rows or edges of the forest, by variant, and where those of each begin and end among them."""
        forest = self.forest
        return (forest.by_variant, forest.begin) if many is None else (forest.edges_by_variant, forest.edges_begin)

    def ranks(self, apart: bool) -> list[tuple[int, int]]:
        """From which rank of the variants to which the program's are: each `apart`, as in the stacks, or those side by
        side together."""
        ranks = [self.forest.bucket.rank[v] for v in self.program.members]
        if apart:
            return [(r, r + 1) for r in ranks]
        pairs: list[tuple[int, int]] = []
        for r in sorted(ranks):
            pairs[-1:] = [(pairs[-1][0], r + 1)] if pairs and pairs[-1][1] == r else [*pairs[-1:], (r, r + 1)]
        return pairs

    def _begin(self, many: int | None) -> jax.Array:
        """Where each rank of variants begins, and the last one ends."""
        if many is None:
            return self.forest.begin
        first = many * len(self.forest.bucket.variants)
        return self.forest.edges_begin[first : first + len(self.forest.bucket.variants) + 1]

    def _table(self, i: int) -> Table:
        """The table of a site's cotangent."""
        at = self.plan.cotangents[i]
        assert at is not None
        return at

    def one(self, i: int) -> Shape:
        """The shape in which the sum of a site is made, for one constructor."""
        w = self.prepared[i]
        shape = w.shape[self.sites[i].level == STACK :]
        return shaped(shape[::-1] if self.turned(i) else shape, w.dtype)

    def turned(self, i: int) -> bool:
        """Whether the sum of a site is made as (n, o), and turned when it is done. With as many rows, XLA multiplies up
        to 1.5 times as fast if there are more columns in the sum than rows."""
        site, w = self.sites[i], self.prepared[i]
        return site.kind == "product" and site.level != STACK and w.shape[0] > w.shape[1]

    def key(self, i: int) -> Hashable:
        """What sites have in common, of whatever programs, for which `add` does the same."""
        site, one = self.sites[i], self.one(i)
        inputs = tuple(map(self._source, self.plan.inputs[i]))
        reached = None if self.bits is None else self.program.reach.get(site.variable, 0)
        return site.kind, self._table(i), inputs, one.shape, str(one.dtype), site.precision, reached

    def _source(self, at: Found) -> Hashable:
        """Where something is found, said without the program."""
        if isinstance(at, Joined):
            return tuple(map(self._source, at.parts))
        return at if isinstance(at, Table) else self.walk.source(self.program, at)

    def add(self, i: int, total: jax.Array, index: jax.Array, own: jax.Array) -> jax.Array:
        """A site's sum with that of the rows or edges of these numbers, which are its `own`."""
        given = masked(own, self._read(self._table(i), index))
        if self.sites[i].kind == "spread":
            return total + given.sum(0)
        (x,) = (self._read(at, index) for at in self.plan.inputs[i])
        x = masked(self._active(i, index, own), x)
        precision = self.sites[i].precision
        if self.turned(i):
            return total + _outer(x, given, total.dtype, swapped(precision))
        return total + _outer(given, x, total.dtype, precision)

    def _active(self, i: int, index: jax.Array, own: jax.Array) -> jax.Array:
        """The rows or edges among these at which a site is active."""
        if self.bits is None:
            return own
        site = self.sites[i]
        rows = index if site.many is None else take(self.forest.owner, index)
        return own & active(take(self.bits, rows), self.program.reach.get(site.variable, 0))

    def _read(self, at: Found, index: jax.Array) -> jax.Array:
        """What was kept of rows or edges, or is read again."""
        if isinstance(at, Joined):
            return jnp.concatenate([self._read(part, index) for part in at.parts], -1)
        if isinstance(at, Table):
            return take(self.tables[at], index - self.walk.first_of(at))
        return self.again(at, index)

    def _lookup(self, i: int, weight: jax.Array) -> jax.Array:
        """The cotangent of a weight that rows index: all rows at once."""
        site: Site = self.sites[i]
        at = self._table(i)
        lines, bounds = self._lines(site.many)
        place = jnp.arange(len(lines), dtype=jnp.int32)[:, None]
        own = ((place >= bounds[None, :, 0]) & (place < bounds[None, :, 1])).any(1)
        every = jnp.where(own, lines, self.walk.first_of(at))
        read: Callable[[Found], Any] = lambda found: self._read(found, every)
        index, given = [masked(own, read(x)) for x in self.plan.inputs[i]], masked(own, read(at))
        eqn = site.eqn
        assert eqn is not None
        return jax.vjp(lambda w: lookup(eqn, w, index, [0] * len(index)), weight)[1](given)[0]


def _outer(y: jax.Array, x: jax.Array, dtype: np.dtype[Any], precision: lax.PrecisionLike) -> jax.Array:
    """The sum of the products of the rows of `y`, (W, …, o), and `x`, (W, …, n): (o, n). Rows that do not count are
    zeros in both: zero times infinity is NaN."""
    pairs = [rows.reshape(math.prod(rows.shape[:-1]), rows.shape[-1]) for rows in (y, x)]
    return jnp.einsum("ro,rn->on", *pairs, precision=precision, preferred_element_type=dtype)
