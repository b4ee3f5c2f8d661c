"""Sums the cotangents at each site over all rows, for each constructor: these are the cotangents of the weights."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._platform import platform
from .._rows import put, spread, take
from .._strides import strides
from ..shapes import Arrays
from ._batched import sums, tiles_of
from ._group import Tiles
from ._indexed import lookup
from ._levels import Site, STACK
from ._plan import Again, Found, Joined, Plan, Table
from ._sites import Indexed
from ._walk import Walk


BIG, SMALL = 256, 32  # rows of a tile
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
    """The cotangents of one program's sites, summed over its rows."""

    def __init__(self, walk: Walk, indexed: Indexed, plan: Plan) -> None:
        self.walk, self.forest, self.indexed, self.plan = walk, walk.forest, indexed, plan
        self.members, self.places = indexed.program.members, jnp.array(indexed.program.places, jnp.int32)

    def of(self, prepared: Arrays, tables: dict[Table, Any], again: Callable[[Again, Any], Any]) -> Arrays:
        """The cotangent of what each smooth site takes. `again` reads what was not kept, of rows or edges."""
        self.tables, self.again = tables, again
        sites = self.indexed.sites
        found: dict[int, Any] = {}
        some = [i for i, site in enumerate(sites) if site.smooth and self.plan.cotangents[i] is not None]
        for many in dict.fromkeys(sites[i].many for i in some):
            own = [i for i in some if sites[i].many == many and sites[i].kind != "lookup"]
            if own:
                way = self._blocks if platform().batched else self._tiles
                found |= dict(zip(own, way(many, own, [prepared[i] for i in own]), strict=True))
        found |= {i: self._lookup(i, prepared[i]) for i in some if sites[i].kind == "lookup"}
        return [
            found.get(i, jnp.zeros_like(w))
            for i, (site, w) in enumerate(zip(sites, prepared, strict=True))
            if site.smooth
        ]

    def _tiles(self, many: int | None, numbers: list[int], weights: Arrays) -> Arrays:
        """The sums of some sites over the rows, or the edges of a `Many`; constructor by constructor."""
        sites = [self.indexed.sites[i] for i in numbers]
        lines, bounds = self._lines(many, any(site.level == STACK for site in sites))
        one = [jnp.zeros(w.shape[site.level == STACK :], w.dtype) for site, w in zip(sites, weights, strict=True)]
        whole = [jnp.zeros_like(w) if site.level == STACK else None for site, w in zip(sites, weights, strict=True)]

        def tile(size: int, at: jax.Array, end: jax.Array, sums: Arrays) -> Arrays:
            places = at + jnp.arange(size, dtype=jnp.int32)
            index, own = take(lines, jnp.minimum(places, end - 1)), places < end
            return [self._add(i, s, index, own) for i, s in zip(numbers, sums, strict=True)]

        def of_one(m: jax.Array, both: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
            whole, sums = both
            place = take(self.places, m)
            sums = _in_tiles(tile, bounds[m, 0], bounds[m, 1], sums)
            for n, site in enumerate(sites):
                if site.level == STACK:
                    before = lax.dynamic_slice_in_dim(whole[n], place, 1, allow_negative_indices=False)
                    whole[n] = put(whole[n], place, before + sums[n][None])
                    sums[n] = jnp.zeros_like(sums[n])
            return whole, sums

        whole, sums = lax.fori_loop(jnp.int32(0), jnp.int32(len(bounds)), of_one, (whole, one))
        return [s if w is None else w for w, s in zip(whole, sums, strict=True)]

    def _blocks(self, many: int | None, numbers: list[int], weights: Arrays) -> Arrays:
        """The same, over blocks of rows of several constructors: few operations, for a GPU or a TPU."""
        lines, bounds = self._lines(many, apart=False)
        size = min(BLOCK, len(lines))

        def block(end: jax.Array, at: jax.Array, totals: Arrays) -> Arrays:
            lie = at + jnp.arange(size, dtype=jnp.int32)
            index = take(lines, jnp.minimum(lie, end - 1))
            variant = take(self.forest.variant, index if many is None else take(self.forest.owner, index))
            kind = self.walk.place_of[variant]
            tiles, inside = tiles_of(self.walk.number_of[variant], kind, len(self.members))
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
        site = self.indexed.sites[i]
        given = self._read(self._table(i), block.lines)
        if site.kind == "product" and site.level == STACK:
            (x,) = (self._read(at, block.lines) for at in self.plan.inputs[i])
            rows: Callable[[Any], Any] = lambda x: x.reshape(len(x), math.prod(x.shape[1:-1]), x.shape[-1])
            return sums(rows(given), rows(x), block.tiles, block.inside, len(weight), weight.dtype, site.precision)
        given = jnp.where(spread(block.own, given), given, 0)
        if site.kind == "spread":
            return jax.ops.segment_sum(given, block.kind, len(weight)) if site.level == STACK else given.sum(0)
        (x,) = (self._read(at, block.lines) for at in self.plan.inputs[i])
        return _outer(given, x, weight.dtype, site.precision)

    def _lines(self, many: int | None, apart: bool) -> tuple[Any, Any]:
        """The program's rows or edges, and where each constructor's begin and end among them: each by itself, in the
        order of the stacks, or those that lie side by side together."""
        bucket = self.forest.bucket
        ranks = [bucket.rank[v] for v in self.members]
        pairs = [(r, r + 1) for r in ranks]
        if not apart:
            pairs = []
            for r in sorted(ranks):
                pairs[-1:] = [(pairs[-1][0], r + 1)] if pairs and pairs[-1][1] == r else [*pairs[-1:], (r, r + 1)]
        lines = self.forest.by_variant if many is None else self.forest.edges_by_variant
        return lines, self._begin(many)[jnp.array(pairs, jnp.int32)]

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

    def _add(self, i: int, total: jax.Array, index: jax.Array, own: jax.Array) -> jax.Array:
        """A site's sum with that of the rows or edges of these numbers, which are its `own`."""
        given = self._read(self._table(i), index)
        given = jnp.where(spread(own, given), given, 0)
        if self.indexed.sites[i].kind == "spread":
            return total + given.sum(0)
        (x,) = (self._read(at, index) for at in self.plan.inputs[i])
        return total + _outer(given, x, total.dtype, self.indexed.sites[i].precision)

    def _read(self, at: Found, index: jax.Array) -> jax.Array:
        """What was kept of rows or edges, or is read again."""
        if isinstance(at, Joined):
            return jnp.concatenate([self._read(part, index) for part in at.parts], -1)
        if isinstance(at, Table):
            return take(self.tables[at], index - self.walk.first_of(at))
        return self.again(at, index)

    def _lookup(self, i: int, weight: jax.Array) -> jax.Array:
        """The cotangent of a weight that rows index: all rows at once."""
        site: Site = self.indexed.sites[i]
        at = self._table(i)
        lines, bounds = self._lines(site.many, apart=False)
        place = jnp.arange(len(lines), dtype=jnp.int32)[:, None]
        own = ((place >= bounds[None, :, 0]) & (place < bounds[None, :, 1])).any(1)
        every = jnp.where(own, lines, self.walk.first_of(at))
        read: Callable[[Found], Any] = lambda found: self._read(found, every)
        mask: Callable[[Any], Any] = lambda x: jnp.where(spread(own, x), x, 0)
        index, given = [mask(read(x)) for x in self.plan.inputs[i]], mask(read(at))
        eqn = site.eqn
        assert eqn is not None
        return jax.vjp(lambda w: lookup(eqn, w, index, [0] * len(index)), weight)[1](given)[0]


def _outer(y: jax.Array, x: jax.Array, dtype: np.dtype[Any], precision: lax.PrecisionLike) -> jax.Array:
    """The sum of the products of the rows of `y`, (W, …, o), and `x`, (W, …, n): (o, n)."""
    pairs = [rows.reshape(math.prod(rows.shape[:-1]), rows.shape[-1]) for rows in (y, x)]
    return jnp.einsum("ro,rn->on", *pairs, precision=precision, preferred_element_type=dtype)


def _in_tiles(
    tile: Callable[[int, jax.Array, jax.Array, Arrays], Arrays], begin: jax.Array, end: jax.Array, sums: Arrays
) -> Arrays:
    """All rows from `begin` to `end`, in big tiles and then, less than half of one, in small ones."""
    middle = begin + BIG * lax.div(end - begin + BIG // 2 - 1, jnp.int32(BIG))
    sums = strides(lambda at, sums: tile(BIG, at, end, sums), begin, middle, BIG, sums)[1]
    return strides(lambda at, sums: tile(SMALL, at, end, sums), middle, end, SMALL, sums)[1]
