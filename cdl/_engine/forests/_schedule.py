"""Schedules: in which order a forest's nodes are computed, and in what chunks.

Rows are computed by stage, then class, then variant, so that all passes read runs of rows, and children come before
their parents. They are numbered so too, region by region. A chunk is one row of a table of integers, which the compiled
loop reads:

| column         | what it says                                       |
| -------------- | -------------------------------------------------- |
| `VARIANT`      | which variant, that of its first row               |
| `SIZE`         | which of the bucket's sizes                        |
| `ROW`, `ROWS`  | the first row, and how many                        |
| `TIME`         | how many rows come before it                       |
| `EDGES`, …     | the first edge of its slots, and how many; then the |
|                | same of each `Many`                                |

Past the last chunk are rows of zeros: chunks without rows.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._aligned import zeros
from ._bucket import cut, Size
from ._variant import Variant


VARIANT, SIZE, ROW, ROWS, TIME, EDGES = 0, 1, 2, 3, 4, 5


def chunks(
    sizes_of: Sequence[tuple[Size, ...]], variants: Sequence[Variant], groups: NDArray[Any], before: NDArray[Any]
) -> NDArray[np.int32]:
    """The table of chunks for these groups of rows, in their order; the column `ROW` is left to be filled in.

    **Arguments:** `sizes_of`: the sizes of chunk that each variant has, the first few of one list. `groups`: for each
    group its variant, first row and number of rows, in the order of the rows. `before`: for each region of edges, that
    of the slots and then one for each `Many`, the first edge of each row; and past the last row, where the edges end.
    """
    number = np.array(list(map(len, sizes_of)), np.int64)[groups[:, 0]]
    cutting = np.zeros((0, 4), np.int64)
    for sizes in {len(sizes): sizes for sizes in sizes_of}.values():
        which = np.flatnonzero(number == len(sizes))
        own = _cut(sizes, groups[which], before)
        own[:, 0] = which[own[:, 0]]
        cutting = np.concatenate([cutting, own])
    group, size, rows, begin = cutting[np.argsort(cutting[:, 3])].T
    variant = groups[group, 0]
    regions = 1 + max((v.manys for v in variants), default=0)
    table = np.zeros((len(group), EDGES + 2 * regions), np.int32)
    table[:, VARIANT], table[:, SIZE], table[:, ROWS], table[:, TIME] = variant, size, rows, begin
    for region, edges in enumerate(before[:regions]):
        # a row's edges in a region lie beside those of the next row of its variant
        first, column = edges[begin], EDGES + 2 * region
        table[:, column], table[:, column + 1] = first, edges[begin + rows] - first
    return table


def _cut(sizes: tuple[Size, ...], groups: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
    """Groups cut into chunks of these sizes: the group, the size, the rows and the first row of each."""
    widths = tuple(s.rows for s in sizes)
    first_cut = cut(widths, max(widths))
    cutting = _cut_even(groups, widths, first_cut)
    crowded = np.zeros(len(groups), bool)
    crowded[cutting[_overfull(cutting, sizes, before), 0]] = True
    if crowded.any():
        again = _cut_by_edges(groups, np.flatnonzero(crowded), sizes, first_cut, before)
        cutting = np.concatenate([cutting[~crowded[cutting[:, 0]]], again])
    return cutting


def _cut_even(groups: NDArray[Any], widths: tuple[int, ...], first_cut: NDArray[Any]) -> NDArray[Any]:
    """Every group by rows alone, all at once: the group, the size, the rows and the first row of each chunk."""
    limit, width = len(first_cut) - 1, np.array(widths)
    which, row, left = np.arange(len(groups)), groups[:, 1].copy(), groups[:, 2].copy()
    most = int(first_cut[limit])  # the size that long groups are cut to, down to less than the limit
    step = widths[most]
    whole = np.maximum((left - limit) // step + 1, 0)
    number = np.arange(whole.sum()) - np.repeat(np.cumsum(whole) - whole, whole)
    size, rows = np.full(len(number), most), np.full(len(number), step)
    found = [np.stack([np.repeat(which, whole), size, rows, np.repeat(row, whole) + number * step], 1)]
    row, left = row + whole * step, left - whole * step
    while True:
        more = left > 0
        which, row, left = which[more], row[more], left[more]
        if not len(which):
            return np.concatenate(found)
        size = first_cut[left]
        rows = np.minimum(width[size], left)
        found.append(np.stack([which, size, rows, row], 1))
        row, left = row + rows, left - rows


def _overfull(cutting: NDArray[Any], sizes: tuple[Size, ...], before: NDArray[Any]) -> NDArray[Any]:
    """Which chunks have more edges in a `Many` than their size has room for."""
    room = np.array([s.edges for s in sizes])[cutting[:, 1]]
    begin, end = cutting[:, 3], cutting[:, 3] + cutting[:, 2]
    return np.any(before[1:, end] - before[1:, begin] > room, 0)


def _cut_by_edges(
    groups: NDArray[Any], which: NDArray[Any], sizes: tuple[Size, ...], first_cut: NDArray[Any], before: NDArray[Any]
) -> NDArray[Any]:
    """Groups of nodes with many children, chunk by chunk: no more rows or edges than the size has room for."""
    found: list[tuple[int, int, int, int]] = []
    limit = len(first_cut) - 1
    by_room = sorted(range(len(sizes)), key=lambda s: sizes[s].edges)
    for i in which.tolist():
        _, row, left = groups[i].tolist()
        spans = before[1:, row : row + left + 1].tolist()
        done = 0
        while done < left:
            size = int(first_cut[min(left - done, limit)])
            need = max(span[done + 1] - span[done] for span in spans)
            if need > sizes[size].edges:
                size = next(s for s in by_room if sizes[s].edges >= need)
            rows = min(sizes[size].rows, left - done)
            for span in spans:
                rows = bisect_right(span, span[done] + sizes[size].edges, done + 1, done + rows + 1) - done - 1
            found.append((i, size, rows, row + done))
            done += rows
    return np.array(found, np.int64).reshape(-1, 4)


def padded(table: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """The table with rows of zeros up to a length: where a loop stops."""
    found = zeros((length, table.shape[1]))
    found[: len(table)] = table
    return found


def fill_rate(table: NDArray[np.int32], sizes: tuple[Size, ...]) -> float:
    """Useful rows over computed rows."""
    computed = np.array([s.rows for s in sizes])[table[:, SIZE]].sum()
    return float(table[:, ROWS].sum() / computed) if computed else 1.0
