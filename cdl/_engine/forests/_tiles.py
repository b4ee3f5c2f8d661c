"""Tiles: a few rows side by side, of one stage and variant; and likewise of edges.

A product by constructor on a GPU or a TPU is one product over tiles. A tile has room for `TILE` rows, and often fewer.
Each row has a place in the tiles, one after another. Five rows in tiles with room for two:

| row         | 3   | 4   | 5   | 6   | 7   |
| ----------- | --- | --- | --- | --- | --- |
| its node    | Neg | Add | Add | Add | Neg |
| its tile    | 0   | 1   | 1   | 2   | 3   |
| its place   | 0   | 2   | 3   | 4   | 6   |
"""

import numpy as np
from numpy.typing import NDArray

from ._aligned import zeros
from ._layout import Layout
from ._places import Int


TILE = 32  # rows of a tile, at most


def tiles(trees: Layout) -> dict[str, NDArray[np.int32]]:
    """For each row, and each edge of a `Many`, its place in the tiles; and beside it the first row or edge of the tile
    with that number."""
    at, bucket = trees.at, trees.bucket
    rows, edges = zeros((bucket.rows, 2)), zeros((bucket.edges, 2))
    place, first = tiled(at.begin, len(at))
    rows[trees.row_of_place, 0], rows[: len(first), 1] = place, trees.row_of_place[first]
    number = 0
    for region in trees.before[1:]:
        place, first = tiled(region[at.begin], int(region[-1]))
        edges[region[0] : region[-1], 0] = number * TILE + place
        edges[number : number + len(first), 1] = first
        number += len(first)
    return {"tile": rows, "edges_tile": edges}


def tiled(begin: Int, end: int) -> tuple[Int, Int]:
    """Runs that begin here, each up to the next, of which some are empty: the place of every number in the tiles, and
    the first number of each tile."""
    count = np.diff(begin, append=end)
    number = np.arange(end - count.sum(), end)
    offset = (number - np.repeat(begin, count)) % TILE
    new = offset == 0
    return (np.cumsum(new) - 1) * TILE + offset, number[new]
