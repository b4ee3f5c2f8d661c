"""Buckets: what must be equal for two forests to run in one compiled program.

A chunk is a run of rows of one variant, computed together: `W` rows at most, and at most `E` edges in each `Many`.
Few sizes `(W, E)` are compiled; a schedule cuts every group of rows into chunks of these, at the least cost.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._shapes import shaped
from ._variant import Variant


OVERHEAD = 12.0  # what a chunk costs beyond its rows, in rows
WIDTHS = (1, 4, 16, 64, 256, 512)
WORTH = 0.9  # what share of the cost a second size has to leave, to be worth its compilation
STEPS = 4  # capacities to an octave


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
    """The static part of a forest: capacity in nodes, sizes of chunk, variants and the payload each one has.

    `sizes` are those of the passes in the order of the schedule, `blocks` those of the parameters' pass, where order
    does not matter. `payload[v]` are the shape and type of each payload leaf of variant v.
    """

    nodes: int
    sizes: tuple[Size, ...]
    blocks: tuple[Size, ...]
    variants: tuple[Variant, ...]
    payload: tuple[tuple[tuple[tuple[int, ...], Any], ...], ...] = field(repr=False)

    @property
    def rows(self) -> int:
        """The length of a table of rows: the capacity, and room for the last chunk to reach past it."""
        return self.nodes + max(s.rows for s in (*self.sizes, *self.blocks))

    @property
    def edges(self) -> int:
        """The length of a table of edges; every node but a root is at the end of one."""
        reach = max(max(s.edges, s.rows * self.slots) for s in (*self.sizes, *self.blocks))
        return self.nodes + reach + 1

    @property
    def slots(self) -> int:
        """The most slots that a variant has."""
        return max((v.slots for v in self.variants), default=0)

    @property
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

    def leaves(self, variant: int) -> list[Any]:
        """The shape and type of each payload leaf of one node; those of Python numbers are weak."""
        v, leaves = self.variants[variant], self.payload[variant]
        weak = v.weak or (False,) * len(leaves)
        return [shaped(shape, t, w) for (shape, t), w in zip(leaves, weak, strict=True)]

    def __str__(self) -> str:
        sizes = ", ".join(f"{s.rows}×{s.edges}" for s in self.sizes)
        return f"{self.nodes} nodes, {len(self.variants)} variants, chunks of {sizes}"


def capacity(nodes: int) -> int:
    """The number of nodes rounded up to one of a few steps to an octave."""
    if nodes <= 64:
        return 64
    octave = 1 << (nodes.bit_length() - 1)
    step = octave // STEPS
    return -(-nodes // step) * step


def choose_sizes(groups: NDArray[Any], degree: float, widest: int) -> tuple[Size, ...]:
    """The sizes of chunk that make the groups cheapest, out of a few candidates.

    **Arguments:** `groups`: how many rows each group has. `degree`: how many children a row with a `Many` has on
    average. `widest`: the most children in one `Many`.
    """
    counts, times = np.unique(groups, return_counts=True)
    cost: Callable[[tuple[int, ...]], float] = lambda option: float((_cost(option, counts) * times).sum())
    widths: tuple[int, ...] = min([(w,) for w in WIDTHS], key=cost)
    pair = min([(a, b) for a in WIDTHS for b in WIDTHS if a < b], key=cost)
    if cost(pair) < WORTH * cost(widths):
        widths = pair
    ratio = 1 << max(0, int(np.ceil(np.log2(max(degree, 1.0) * 1.25))))
    room = max(4096, _power(widest))
    sizes = [Size(w, min(max(w * ratio, 2), room)) for w in widths]
    while sizes[-1].edges < widest:  # a node of very many children: few rows, and room for all its edges
        sizes.append(Size(min(sizes[-1].rows, 8), _power(widest)))
    return tuple(sizes)


@functools.cache
def cut(widths: tuple[int, ...], limit: int) -> NDArray[np.int32]:
    """For each number of rows up to `limit`, the width (by its number) of the chunk to cut off first."""
    best, first = np.zeros(limit + 1), np.zeros(limit + 1, np.int32)
    for n in range(1, limit + 1):
        costs = [OVERHEAD + w + best[max(n - w, 0)] for w in widths]
        first[n] = int(np.argmin(costs))
        best[n] = costs[first[n]]
    return first


def _cost(widths: tuple[int, ...], counts: NDArray[Any]) -> NDArray[Any]:
    """What groups of these many rows cost, cut into chunks of these widths."""
    big = widths[-1]
    whole, rest = counts // big, counts % big
    small = widths[0]
    ends = np.minimum(np.where(rest > 0, OVERHEAD + big, 0), -(-rest // small) * (OVERHEAD + small))
    return whole * (OVERHEAD + big) + ends


def _power(n: int) -> int:
    return 1 << max(0, (n - 1).bit_length())
