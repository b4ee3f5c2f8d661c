"""Some trees of a table, in the order in which their nodes are computed.

A place is a node's number in that order. Places are sorted by stage, class and variant: those of one stage and
variant are a piece, and those of one stage and class are a level. The rows of a piece lie side by side, and so do its
edges of each region.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ._flatten import Flat
from ._keys import Keys
from ._stages import stages


Int = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """The places of some trees.

    `node[i]` is the table's row of their i-th node in pre-order, tree by tree, and `first` has the numbers i of the
    roots. `order[p]` is the number i of the node at place p. For each piece, `begin` is its first place, `count` how
    many places it has, `stage` its stage, and `rank` and `variant` are the rank and the number of its variant.
    """

    flat: Flat
    keys: Keys
    node: Int
    first: Int
    order: Int
    begin: Int
    count: Int
    stage: Int
    rank: Int
    variant: Int

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def nodes(self) -> Int:
        """The table's row of the node at each place."""
        return self.node[self.order]

    @cached_property
    def region(self) -> Int:
        """The region of each piece's rows."""
        return np.array(self.keys.bucket.regions, np.int64)[self.variant]

    @cached_property
    def of_region(self) -> list[int]:
        """How many rows there are in each region."""
        return [int(self.count[self.region == r].sum()) for r in range(3)]

    @property
    def pieces(self) -> Int:
        """The variant, first place and number of places of each piece."""
        return np.stack([self.variant, self.begin, self.count], 1)

    @property
    def levels(self) -> Int:
        """Likewise for each level; the variant is that of its first piece."""
        classes = np.array(self.keys.bucket.classes, np.int64)[self.variant]
        new = np.ones(len(classes), bool)
        new[1:] = (np.diff(classes) != 0) | (np.diff(self.stage) != 0)
        start = np.flatnonzero(new)
        count = np.add.reduceat(self.count, start) if len(start) else self.count
        return np.stack([self.variant[start], self.begin[start], count], 1)


def places(flat: Flat, keys: Keys, which: Int) -> Places:
    """The places of the trees with these numbers."""
    length = flat.start[which + 1] - flat.start[which]
    first = starts(length)
    node = spread(flat.start[which], length)
    count, rank = max(len(keys.bucket.variants), 1), keys.rank[node]
    key = stages(flat, node, first, length).astype(rank.dtype) * rank.dtype.type(count) + rank
    order = np.argsort(key, kind="stable")
    key = key[order].astype(np.int64)
    new = np.ones(len(key), bool)
    new[1:] = key[1:] != key[:-1]
    begin = np.flatnonzero(new)
    stage, rank = np.divmod(key[begin], count)
    variant = np.argsort(keys.bucket.rank).astype(np.int64)[rank]
    return Places(flat, keys, node, first, order, begin, np.diff(begin, append=len(key)), stage, rank, variant)


def spread(first: Int, count: Int) -> Int:
    """Consecutive numbers from each start, as many as its count says."""
    return np.arange(count.sum()) + np.repeat(first - starts(count), count)


def starts(count: Int) -> Int:
    """Where each of some runs starts, when they lie side by side."""
    return np.cumsum(count) - count
