"""Where the nodes and edges of some trees lie in the tables of a bucket."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._bucket import Bucket
from ._places import Int, Places, spread, starts


@dataclass(frozen=True)
class Layout:
    """Trees laid out in a bucket, which has room for them."""

    at: Places
    bucket: Bucket

    @cached_property
    def first_row(self) -> Int:
        """The first row of each piece. The rows of a region have the order of the places."""
        found = np.zeros(len(self.at.count), np.int64)
        for r, start in enumerate(self.bucket.starts):
            here = self.at.region == r
            found[here] = start + starts(self.at.count[here])
        return found

    @cached_property
    def row_of_place(self) -> Int:
        """The row of each place."""
        return spread(self.first_row, self.at.count)

    @cached_property
    def place(self) -> Int:
        """The place of each node in pre-order."""
        found = np.empty(len(self.at), np.int64)
        found[self.at.order] = np.arange(len(self.at))
        return found

    @cached_property
    def row(self) -> Int:
        """The row of each node in pre-order."""
        return self.row_of_place[self.place]

    @cached_property
    def length(self) -> Int:
        """How many nodes each tree has."""
        return np.diff(self.at.first, append=len(self.at))

    @cached_property
    def before(self) -> Int:
        """For each region of edges, that of the slots and then one for each `Many`, the first edge of each place; and
        past the last place, where the edges end. Regions are as far apart as a chunk may reach."""
        found = np.zeros((1 + self.bucket.manys, len(self.at) + 1), np.int64)
        begin = 0
        for region, degrees in zip(found, self.at.keys.degrees, strict=True):
            region[0] = begin
            region[1:] = 0 if degrees is None else degrees[self.at.nodes]
            np.cumsum(region, out=region)
            begin = int(region[-1]) + self.bucket.reach
        return found
