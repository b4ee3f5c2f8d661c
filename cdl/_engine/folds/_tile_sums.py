"""The cotangents of all programs' sites, summed over rows: on a CPU, by loops over tiles of rows of one constructor.

Sites of several programs whose sums are alike, but for the weights, have one loop: it goes over the constructors of all
these programs. Alike are those that find what they need in the same tables and columns. The programs of a hundred
constructors have a few loops then, and not three for each program.
"""

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..arrays._platform import platform
from ..arrays._rows import put, take
from ..arrays._strides import strides
from ..arrays.shapes import Arrays
from ._levels import STACK
from ._sums import Sums


APART = 256, 32  # rows of a big and a small tile, where each constructor has a sum of its own
TOGETHER = 1024, 128  # the same, where all have one: the sum is read and written for each tile


def sums_of(programs: Sequence[Sums]) -> list[Arrays]:
    """The cotangent of what each smooth site of these programs takes."""
    runs = [_Run(p, many, own) for p in programs for many, own in p.smooth().items()]
    known: dict[Sums, dict[int, Any]] = {p: {} for p in programs}
    if platform().batched:
        for run in runs:
            known[run.of] |= zip(run.sites, run.of.blocks(run.many, run.sites), strict=True)
    else:
        alike: dict[Hashable, list[_Run]] = {}
        for run in itertools.chain(*(run.parts() for run in runs)):
            alike.setdefault(run.key(), []).append(run)
        for run, found in _in_tiles(list(alike.values())):
            known[run.of] |= zip(run.sites, found, strict=True)
    return [p.of(known[p]) for p in programs]


@dataclass(frozen=True)
class _Run:
    """The sites of one program that are summed over its rows, or over the edges of one of its `Many`s."""

    of: Sums
    many: int | None
    sites: list[int]

    def parts(self) -> list["_Run"]:
        """Its sites where each constructor has a sum of its own, and those where all have one, which needs no tiles of
        one constructor."""
        each = [[i for i in self.sites if (self.of.sites[i].level == STACK) == own] for own in (True, False)]
        return [_Run(self.of, self.many, sites) for sites in each if sites]

    def key(self) -> Hashable:
        """What runs have in common that are one loop."""
        return self.many is None, self.apart, tuple(map(self.of.key, self.sites))

    @property
    def apart(self) -> bool:
        """Whether its constructors have a sum each."""
        return self.of.sites[self.sites[0]].level == STACK

    def pairs(self) -> list[tuple[int, int]]:
        """Where its constructors' rows or edges begin and end, by number in the forest's table of that."""
        first = (self.many or 0) * len(self.of.forest.bucket.variants)
        return [(first + begin, first + end) for begin, end in self.of.ranks(self.apart)]

    def places(self) -> list[int]:
        """The place of each pair's sum among those of a site."""
        return list(self.of.program.places) if self.apart else [0] * len(self.pairs())

    def length(self, i: int) -> int:
        """How many sums a site has."""
        return len(self.of.prepared[i]) if self.apart else 1


def _in_tiles(every: Sequence[Sequence[_Run]]) -> list[tuple[_Run, Arrays]]:
    """The sums at the sites of all runs, of which those side by side are alike; with each run, those of its sites."""
    width = max((len(run.sites) for runs in every for run in runs), default=0)
    table = [line for runs in every for line in _lines(runs, width)]
    found: list[tuple[_Run, Arrays]] = []
    begin = 0
    for runs in every:
        count = sum(len(run.pairs()) for run in runs)
        found += zip(runs, _alike(runs, jnp.array(table, jnp.int32), begin, begin + count), strict=True)
        begin += count
    return found


def _lines(runs: Sequence[_Run], width: int) -> list[list[int]]:
    """For each constructor of runs that are alike: where the forest's table has the begin and the end of its rows or
    edges, and the places of its sums at `width` sites, or fewer."""
    found, starts = [], [0] * width
    for run in runs:
        places = [[start + place for place in run.places()] for start, _ in zip(starts, run.sites, strict=False)]
        places += [[0] * len(run.pairs())] * (width - len(places))
        found += [[*pair, *own] for pair, *own in zip(run.pairs(), *places, strict=True)]
        starts = [start + run.length(i) for start, i in zip(starts, run.sites, strict=False)]
    return found


def _alike(runs: Sequence[_Run], table: jax.Array, first: int, last: int) -> list[Arrays]:
    """The sums at the sites of runs that are alike, whose lines in the table these are: for each run, those of its
    sites."""
    of, sites = runs[0].of, runs[0].sites
    lines, ends = of.lines(runs[0].many)
    sizes = APART if runs[0].apart else TOGETHER
    one = list(map(of.one, sites))
    starts = [[0, *itertools.accumulate(run.length(run.sites[n]) for run in runs)] for n in range(len(sites))]

    def tile(size: int, at: jax.Array, end: jax.Array, sums: Arrays) -> Arrays:
        lie = at + jnp.arange(size, dtype=jnp.int32)
        index, own = take(lines, jnp.minimum(lie, end - 1)), lie < end
        return [of.add(i, s, index, own) for i, s in zip(sites, sums, strict=True)]

    def constructor(m: jax.Array, totals: Arrays) -> Arrays:
        line = take(table, m)
        zeros = [jnp.zeros(x.shape, x.dtype) for x in one]
        sums = _over(tile, sizes, take(ends, line[0]), take(ends, line[1]), zeros)
        return [_added(x, line[2 + n], sums[n]) for n, x in enumerate(totals)]

    totals = [jnp.zeros((s[-1], *x.shape), x.dtype) for s, x in zip(starts, one, strict=True)]
    totals = lax.fori_loop(jnp.int32(first), jnp.int32(last), constructor, totals)
    return [[_cut(x, run, run.sites[n], starts[n][r]) for n, x in enumerate(totals)] for r, run in enumerate(runs)]


def _cut(every: jax.Array, run: _Run, i: int, start: int) -> jax.Array:
    """The sums of one run's site, from those of all runs."""
    own = every[start : start + run.length(i)]
    if run.apart:
        return own
    return own[0].T if run.of.turned(i) else own[0]


def _added(every: jax.Array, place: jax.Array, x: jax.Array) -> jax.Array:
    before = lax.dynamic_slice_in_dim(every, place, 1, allow_negative_indices=False)
    return put(every, place, before + x[None])


def _over(
    tile: Callable[[int, jax.Array, jax.Array, Arrays], Arrays], sizes: tuple[int, int],
    begin: jax.Array, end: jax.Array, sums: Arrays,
) -> Arrays:  # fmt: skip
    """All rows from `begin` to `end`, in big tiles and then, less than half of one, in small ones."""
    big, small = sizes
    middle = begin + big * lax.div(end - begin + big // 2 - 1, jnp.int32(big))
    sums = strides(lambda at, sums: tile(big, at, end, sums), begin, middle, big, sums)[1]
    return strides(lambda at, sums: tile(small, at, end, sums), middle, end, small, sums)[1]
