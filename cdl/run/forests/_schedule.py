"""Schedules: in which order a forest's nodes are computed, and in what chunks.

Rows are computed by height, then class, then variant, so that all passes read runs of rows, and children come before
their parents. They are numbered so too, region by region. A chunk is one row of a table of integers, which the compiled
loop reads:

| column         | what it says                                       |
| -------------- | -------------------------------------------------- |
| `VARIANT`      | which variant, that of its first row               |
| `SIZE`         | which of the bucket's sizes                        |
| `ROW`, `ROWS`  | the first row, and how many                        |
| `TIME`         | how many rows come before it                       |
| `EDGES + 2 g`  | group g's first edge, and after it how many        |

Past the last chunk are rows of zeros: chunks without rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bucket import cut, Size
from ._variant import Variant


VARIANT, SIZE, ROW, ROWS, TIME, EDGES = 0, 1, 2, 3, 4, 5


def chunks(
    sizes_of: Sequence[tuple[Size, ...]], variants: Sequence[Variant], groups: NDArray[Any], edge_start: NDArray[Any]
) -> NDArray[np.int32]:
    """The table of chunks for these groups of rows, in their order; the column `ROW` is left to be filled in.

    **Arguments:** `sizes_of`: the sizes of chunk that each variant has, which are the first few of one list. `groups`:
    for each group its variant, first row and number of rows. `edge_start`: for each row and each group of edges, where
    its edges begin, and where they end.
    """
    of_group = np.array(list(map(len, sizes_of)), np.int64)[groups[:, 0]]
    cutting = np.zeros((0, 4), np.int64)
    for sizes in {len(sizes): sizes for sizes in sizes_of}.values():
        own = _cut(sizes, np.flatnonzero(of_group == len(sizes)), variants, groups, edge_start)
        cutting = np.concatenate([cutting, own])
    cutting = cutting[np.lexsort((cutting[:, 3], cutting[:, 0]))]
    table = np.zeros((len(cutting), EDGES + 2 * edge_start.shape[1]), np.int32)
    table[:, VARIANT] = groups[cutting[:, 0], 0]
    table[:, SIZE], table[:, TIME], table[:, ROWS] = cutting[:, 1], cutting[:, 3], cutting[:, 2]
    begin, end = cutting[:, 3], cutting[:, 3] + cutting[:, 2]
    for g in range(edge_start.shape[1]):
        # a row's edges in a group lie beside those of the next row of its variant
        table[:, EDGES + 2 * g] = edge_start[begin, g, 0]
        table[:, EDGES + 2 * g + 1] = edge_start[end - 1, g, 1] - edge_start[begin, g, 0]
    return table


def _cut(
    sizes: tuple[Size, ...], which: NDArray[Any], variants: Sequence[Variant], groups: NDArray[Any],
    edge_start: NDArray[Any],
) -> NDArray[Any]:  # fmt: skip
    """Some groups cut into chunks of these sizes: the group, the size, the rows and the first row of each."""
    widths = tuple(s.rows for s in sizes)
    first_cut = cut(widths, max(widths))
    cutting = _cut_even(groups, which, widths, first_cut)
    crowded = np.unique(cutting[_overfull(cutting, groups, sizes, variants, edge_start), 0])
    if len(crowded):
        again = _cut_by_edges(groups, crowded, sizes, first_cut, variants, edge_start)
        cutting = np.concatenate([cutting[~np.isin(cutting[:, 0], crowded)], again])
    return cutting


def _cut_even(
    groups: NDArray[Any], which: NDArray[Any], widths: tuple[int, ...], first_cut: NDArray[Any]
) -> NDArray[Any]:
    """Every group by rows alone, all at once: the group, the size, the rows and the first row of each chunk."""
    found = [np.zeros((0, 4), np.int64)]
    row, left = groups[which, 1].copy(), groups[which, 2].copy()
    width = np.array(widths)
    limit = len(first_cut) - 1
    while len(which):
        size = first_cut[np.minimum(left, limit)]
        rows = np.minimum(width[size], left)
        found.append(np.stack([which, size, rows, row], 1))
        row, left = row + rows, left - rows
        more = left > 0
        which, row, left = which[more], row[more], left[more]
    return np.concatenate(found)


def _overfull(
    cutting: NDArray[Any], groups: NDArray[Any], sizes: tuple[Size, ...], variants: Sequence[Variant],
    edge_start: NDArray[Any],
) -> NDArray[Any]:  # fmt: skip
    """Which chunks have more edges in a `Many` than their size has room for."""
    first_many = np.array([int(v.slots > 0) if v.manys else edge_start.shape[1] for v in variants], np.int64)
    room = np.array([s.edges for s in sizes])[cutting[:, 1]]
    begin, last = cutting[:, 3], cutting[:, 3] + cutting[:, 2] - 1
    many = np.arange(edge_start.shape[1]) >= first_many[groups[cutting[:, 0], 0]][:, None]
    edges = edge_start[last, :, 1] - edge_start[begin, :, 0]
    return ((edges > room[:, None]) & many).any(1)


def _cut_by_edges(
    groups: NDArray[Any], which: NDArray[Any], sizes: tuple[Size, ...], first_cut: NDArray[Any],
    variants: Sequence[Variant], edge_start: NDArray[Any],
) -> NDArray[Any]:  # fmt: skip
    """Groups of nodes with many children, chunk by chunk: no more rows or edges than the size has room for."""
    found: list[tuple[int, int, int, int]] = []
    limit = len(first_cut) - 1
    by_room = sorted(range(len(sizes)), key=lambda s: sizes[s].edges)
    for i in which.tolist():
        variant, row, left = groups[i].tolist()
        spans = [edge_start[:, g] for g in range(int(variants[variant].slots > 0), len(variants[variant].groups))]
        ends = [span[row : row + left, 1] for span in spans]
        done = 0
        while done < left:
            size = int(first_cut[min(left - done, limit)])
            need = max(int(end[done] - span[row + done, 0]) for end, span in zip(ends, spans, strict=True))
            if need > sizes[size].edges:
                size = next(s for s in by_room if sizes[s].edges >= need)
            rows = min(sizes[size].rows, left - done)
            for end, span in zip(ends, spans, strict=True):
                room = int(span[row + done, 0]) + sizes[size].edges
                rows = min(rows, int(np.searchsorted(end[done : done + rows], room, side="right")))
            found.append((i, size, rows, row + done))
            done += rows
    return np.array(found, np.int64).reshape(-1, 4)


def runs(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """The runs of rows that are equal in all keys: the first row and the number of rows of each."""
    if not len(keys[0]):
        return np.zeros((0, 2), np.int64)
    new = np.concatenate([[True], np.any([key[1:] != key[:-1] for key in keys], 0)])
    first = np.flatnonzero(new)
    return np.stack([first, np.diff(np.append(first, len(new)))], 1)


def padded(table: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """The table with rows of zeros up to a length: where a loop stops."""
    found = np.zeros((length, table.shape[1]), np.int32)
    found[: len(table)] = table
    return found


def fill_rate(table: NDArray[np.int32], sizes: tuple[Size, ...]) -> float:
    """Useful rows over computed rows."""
    computed = np.array([s.rows for s in sizes])[table[:, SIZE]].sum()
    return float(table[:, ROWS].sum() / computed) if computed else 1.0
