"""Buckets: what must be equal for two forests to run in one compiled program.

A chunk is a run of rows, computed together: `W` rows at most, and at most `E` edges in each `Many`. Few sizes `(W, E)`
are compiled; a schedule cuts every group of rows into chunks of these, at the least cost.
"""

import functools
import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._functors.words import number_of
from ..arrays._platform import platform
from ..arrays.shapes import shaped
from ._variant import Variant


WORTH = 0.9  # what share of the cost a further size has to leave, to be worth its compilation
STEPS = 4  # capacities to an octave
FINE = 16  # the same, of a region
FEW = 8  # up to this number of pairs of a class and a size, every pair is compiled
SLACK = 0.05  # pairs beyond those are left out, while the cost grows by no more than this share
WIDER = 4  # a node of another forest may have this many times the children of this one's widest


@dataclass(frozen=True)
class Size:
    """A size of chunk: `rows`, and `edges` in each `Many`, or `spread` more in each than in the one before it."""

    rows: int
    edges: int
    spread: int = 0

    def edges_of(self, many: int) -> int:
        """The edges of the `Many` of this number."""
        return self.edges + many * self.spread


@dataclass(frozen=True)
class Bucket:
    """The sizes that a program is compiled for: the static part of a forest.

    Give a new forest the bucket of the last one, `pack(signature, trees, bucket=forest.bucket)`: it is padded to that
    capacity, and does not recompile if it has as many trees. Trees that do not fit are refused. `Corpus.batches` does
    so for a whole epoch.

    The fields are for the engine. `nodes` is the capacity in nodes, `inner` that in nodes with children, and `leaves`
    that in leaves with payload. `sizes` are the sizes of the chunks of a level, and `pieces` those of the chunks of one
    variant. `payload[v]` has the shape and type of each payload array of variant v. A class of variants whose chunks
    are small uses the first few sizes only: `few[c]` says how many, of `sizes` and of `pieces`. Where `few` is empty,
    each class uses all.

    Examples:
        >>> one, two = cdl.pack(cdl.TreeF, [cdl.Leaf(1)]), cdl.pack(cdl.TreeF, [cdl.Leaf(2)])
        >>> isinstance(one.bucket, cdl.compiled.Bucket), one.bucket == two.bucket
        (True, True)
    """

    nodes: int
    inner: int
    leaves: int
    sizes: tuple[Size, ...]
    pieces: tuple[Size, ...]
    variants: tuple[Variant, ...]
    payload: tuple[tuple[tuple[tuple[int, ...], Any], ...], ...] = field(repr=False)
    few: tuple[tuple[int, int], ...] = ()

    def sizes_of(self, *variants: int) -> tuple[Size, ...]:
        """The sizes of chunk of a level that these variants' classes have: the first few."""
        return self.sizes[: max(self.few[self.classes[v]][0] for v in variants)] if self.few else self.sizes

    def pieces_of(self, *variants: int) -> tuple[Size, ...]:
        """Likewise for chunks of one variant."""
        return self.pieces[: max(self.few[self.classes[v]][1] for v in variants)] if self.few else self.pieces

    @cached_property
    def sizes_by_variant(self) -> tuple[list[tuple[Size, ...]], list[tuple[Size, ...]]]:
        """The sizes of chunk of a level, and of pieces, that each variant has."""
        every = range(len(self.variants))
        return [self.sizes_of(v) for v in every], [self.pieces_of(v) for v in every]

    @property
    def first(self) -> int:
        """The first row of a node. Before it is a row for each variant, and one that belongs to no node."""
        return len(self.variants) + 1

    @cached_property
    def starts(self) -> tuple[int, int, int]:
        """The first row of a node with children, of a leaf with payload, and of one without: of each region of rows.
        There is room for a chunk to reach past the last row of a region."""
        leaf = self.first + self.inner + self._widest
        return self.first, leaf, leaf + self.leaves + self._widest

    @property
    def rows(self) -> int:
        """The length of a table of all rows, with room for the last chunk to reach past it."""
        return self.starts[2] + self.nodes + self._widest

    @cached_property
    def _widest(self) -> int:
        return max(s.rows for s in (*self.sizes, *self.pieces))

    @cached_property
    def regions(self) -> tuple[int, ...]:
        """The region of each variant's rows."""
        every = zip(self.variants, self.payload, strict=True)
        return tuple((1 if leaves else 2) if v.leaf else 0 for v, leaves in every)

    @cached_property
    def reach(self) -> int:
        """How far a chunk may reach past its own edges."""
        return max(max(s.edges, s.rows * self.slots) for s in (*self.sizes, *self.pieces))

    @property
    def edges(self) -> int:
        """The length of a table of edges, without those of the roots; see `Forest`."""
        return self.nodes + (1 + self.manys) * self.reach

    @cached_property
    def manys(self) -> int:
        """The most `Many`s with children that a variant has."""
        return max((v.manys for v in self.variants), default=0)

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The class of each variant: those of one class have layers of one shape and type, and may be one program."""
        found: dict[Any, int] = {}
        for v, leaves in zip(self.variants, self.payload, strict=True):
            found.setdefault((v.sort, v.slot_sorts, v.many_sorts, leaves), len(found))
        every = zip(self.variants, self.payload, strict=True)
        return tuple(found[v.sort, v.slot_sorts, v.many_sorts, leaves] for v, leaves in every)

    @cached_property
    def rank(self) -> tuple[int, ...]:
        """The place of each variant when they are in the order of their classes, leaves without payload first."""
        met = np.array(self.regions, np.int64) != 2
        return tuple(np.argsort(np.lexsort((np.array(self.classes, np.int64), met))).tolist())

    @cached_property
    def slots(self) -> int:
        """The most slots that a variant has."""
        return max((v.slots for v in self.variants), default=0)

    @cached_property
    def groups(self) -> int:
        """The most groups of edges that a variant has."""
        return max((len(v.groups) for v in self.variants), default=0)

    @cached_property
    def storage(self) -> tuple[tuple[int, tuple[int, ...], Any], ...]:
        """The payload arrays: one for each place, shape and type, shared by all variants that have it."""
        return tuple(dict.fromkeys((i, *leaf) for leaves in self.payload for i, leaf in enumerate(leaves)))

    def columns(self, variant: int) -> tuple[int, ...]:
        """Where a variant's payload leaves are in `storage`."""
        return tuple(self.storage.index((i, *leaf)) for i, leaf in enumerate(self.payload[variant]))

    def leaves_of(self, variant: int) -> list[Any]:
        """The shape and type of each payload leaf of one node."""
        return [shaped(shape, dtype) for shape, dtype in self.payload[variant]]

    def __str__(self) -> str:
        sizes = ", ".join(f"{s.rows}×{s.edges}" for s in self.sizes)
        return f"{self.nodes} nodes, {number_of('variant', len(self.variants))}, chunks of {sizes}"


def capacity(nodes: int, steps: int = STEPS) -> int:
    """The number of nodes rounded up to one of a few steps to an octave."""
    if nodes <= 64:
        return 64
    octave = 1 << (nodes.bit_length() - 1)
    step = octave // steps
    return -(-nodes // step) * step


def choose_sizes(groups: NDArray[Any], degree: float, widest: int, most: int) -> tuple[Size, ...]:
    """The sizes of chunk that make the groups cheapest, out of a few candidates: `most` of them at most.

    **Arguments:** `groups`: how many rows each group has. `degree`: how many children a row with a `Many` has on
    average. `widest`: the most children in one `Many`.
    """
    counts, times = np.unique(groups, return_counts=True)
    cost: Callable[[tuple[int, ...]], float] = lambda option: float((_cost(option, counts) * times).sum())
    widths: tuple[int, ...] = ()
    for number in range(1, most + 1):
        best = min(itertools.combinations(platform().widths, number), key=cost)
        if widths and cost(best) >= WORTH * cost(widths):
            break
        widths = best
    room = max(8 * platform().widths[-1], _power(widest))
    sizes = [Size(w, min(_edges(w, degree), room)) for w in widths]
    while sizes[-1].edges < widest:  # a node of very many children: few rows, and room for all its edges
        sizes.append(Size(min(sizes[-1].rows, 8), _power(widest)))
    return tuple(sizes)


def few_sizes(sizes: tuple[Size, ...], groups: Sequence[NDArray[Any]], widest: Sequence[int]) -> tuple[int, ...]:
    """How many of the sizes, from the smallest, each class gets, so that few programs are compiled.

    The largest size of a class is left out where that costs least, again and again, while all that is left out costs
    little.

    **Arguments:** `groups`: for each class, how many rows each of its groups has. `widest`: for each class, the most
    children of one node; room is kept for several times as many.
    """
    numbers = [len(sizes)] * len(groups)
    counts = [np.unique(some, return_counts=True) for some in groups]
    rooms = [max(s.edges for s in sizes[:n]) for n in range(1, len(sizes) + 1)]

    def cost(c: int, number: int) -> float:
        if rooms[number - 1] < min(WIDER * widest[c], rooms[-1]):
            return math.inf
        rows, times = counts[c]
        return float((_cost(tuple(s.rows for s in sizes[:number]), rows) * times).sum())

    limit = SLACK * sum(cost(c, len(sizes)) for c in range(len(groups)))
    more = [(cost(c, n - 1) - cost(c, n), c) for c, n in enumerate(numbers) if n > 1]
    heapq.heapify(more)
    while more and sum(numbers) > FEW and (limit := limit - more[0][0]) >= 0:
        c = heapq.heappop(more)[1]
        numbers[c] -= 1
        if (n := numbers[c]) > 1:
            heapq.heappush(more, (cost(c, n - 1) - cost(c, n), c))
    return tuple(numbers)


def cut(widths: tuple[int, ...], limit: int) -> NDArray[np.int32]:
    """For each number of rows up to `limit`, the width (by its number) of the chunk to cut off first."""
    best, n = _costs(widths, limit, platform().overhead), np.arange(limit + 1)
    return np.argmin([w + best[np.maximum(n - w, 0)] for w in widths], 0).astype(np.int32)


@functools.cache
def _costs(widths: tuple[int, ...], limit: int, overhead: float) -> NDArray[np.float64]:
    """The least cost of each number of rows up to `limit`, cut into chunks of these widths."""
    best, unit = [0.0], math.gcd(*widths)
    for n in range(unit, limit + unit, unit):
        best.append(min(overhead + w + best[max(n - w, 0) // unit] for w in widths))
    return np.array(best)[-(-np.arange(limit + 1) // unit)]


def _cost(widths: tuple[int, ...], counts: NDArray[Any]) -> NDArray[Any]:
    """What groups of these many rows cost, cut into chunks of these widths."""
    big, overhead = max(widths), platform().overhead
    whole = np.maximum(counts // big - 1, 0)
    best = _costs(widths, 2 * big, overhead)
    found: NDArray[Any] = whole * (overhead + big) + best[counts - whole * big]
    return found


def _edges(rows: int, degree: float) -> int:
    """Edges for some rows of this many children on average: more than that for few rows, which differ more."""
    return max(
        2, -(-int(rows * degree * (1 + 0.1 + 1.5 / rows**0.5)) // 8) * 8 if rows > 1 else _power(int(degree) + 1)
    )


def _power(n: int) -> int:
    return 1 << max(0, (n - 1).bit_length())
