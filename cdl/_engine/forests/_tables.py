"""The tables of a forest: what there is to know of each row and edge, and the payload."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._aligned import full, zeros
from ._layout import Layout
from ._places import Int, spread
from ._tiles import tiles


Tables = dict[str, Any]


def tables(trees: Layout) -> Tables:
    """The arrays of a forest, but those of its chunks."""
    at, bucket = trees.at, trees.bucket
    by_rank = np.argsort(at.rank, kind="stable")
    count = at.count[by_rank]
    by_variant = spread(trees.first_row[by_rank], count)
    begin = _ends(at.rank, at.count, len(bucket.variants))
    return {
        "row": _begun(trees.row, bucket.rows),
        "start": np.append(at.first, len(at)).astype(np.int32),
        "by_variant": _begun(by_variant, bucket.nodes),
        "begin": begin,
        "payload": _payload(trees, by_variant, at.nodes[spread(at.begin[by_rank], count)], begin),
        **_rows(trees),
        **_edges(trees),
        **_edges_by_variant(trees, by_rank),
        **tiles(trees),
    }


def _rows(trees: Layout) -> Tables:
    """What there is to know of each row."""
    at, bucket, row = trees.at, trees.bucket, trees.row_of_place
    sorts = np.array([v.sort for v in bucket.variants], np.int32)
    found = {name: zeros(bucket.rows) for name in ("tree", "order", "until", "sort")}
    found["variant"] = full(bucket.rows, len(sorts))
    found["variant"][: len(sorts)], found["sort"][: len(sorts)] = np.arange(len(sorts)), sorts
    found["variant"][row] = np.repeat(at.variant, at.count)
    found["sort"][row] = np.repeat(sorts[at.variant], at.count)
    found["until"][row] = np.repeat(trees.first_row + at.count, at.count)
    found["tree"][trees.row] = np.repeat(np.arange(len(at.first)), trees.length)
    found["order"][trees.row] = np.arange(len(at)) - np.repeat(at.first, trees.length)
    return found


def _edges(trees: Layout) -> Tables:
    """What there is to know of each edge, and the edge above each row and the first below it."""
    at, bucket, flat, count = trees.at, trees.bucket, trees.at.flat, len(trees.at.first)
    edges = bucket.edges + count
    above = trees.place[flat.parent[at.node] + np.repeat(at.first, trees.length)]  # of a root any, as it is not read
    edge = trees.before.reshape(-1)[at.keys.region[at.node] * trees.before.shape[1] + above] + flat.place[at.node]
    edge[at.first] = bucket.edges + np.arange(count)
    found = {
        "child": full(edges + 1, bucket.first - 1),
        "owner": full(bucket.edges, bucket.first - 1),
        "edges_until": zeros(bucket.edges),
        "above": full(bucket.rows, edges),
        "slot": zeros(bucket.rows),
    }
    found["child"][edge], found["above"][trees.row] = trees.row, edge
    for region, degrees in zip(trees.before, at.keys.degrees, strict=True):
        if degrees is not None:
            here, until = slice(region[0], region[-1]), region[at.begin + at.count]
            found["owner"][here] = np.repeat(trees.row_of_place, np.diff(region))
            found["edges_until"][here] = np.repeat(until, until - region[at.begin])
    if bucket.slots:
        found["slot"][trees.row_of_place] = trees.before[0, :-1]
    return found


def _edges_by_variant(trees: Layout, by_rank: Int) -> Tables:
    """The edges of `Many`s, sorted by `Many`, then by the rank of the node that they start from."""
    at, bucket = trees.at, trees.bucket
    first = trees.before[1:, at.begin[by_rank]]
    count = (trees.before[1:, (at.begin + at.count)[by_rank]] - first).reshape(-1)
    ranks = np.arange(bucket.manys)[:, None] * len(bucket.variants) + at.rank[by_rank]
    return {
        "edges_by_variant": _begun(spread(first.reshape(-1), count), bucket.nodes),
        "edges_begin": _ends(ranks.reshape(-1), count, bucket.manys * len(bucket.variants)),
    }


def _payload(trees: Layout, by_variant: Int, nodes: Int, begin: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The payload of each row. `nodes` are the table's rows of the nodes, in the order of `by_variant`."""
    flat, bucket = trees.at.flat, trees.bucket
    arrays = tuple(zeros((bucket.starts[2], *shape), dtype) for _, shape, dtype in bucket.storage)
    for v, leaves in zip(trees.at.keys.variants.tolist(), flat.payload, strict=True):
        if leaves:
            here = slice(*begin[bucket.rank[v] : bucket.rank[v] + 2])
            rows, own = by_variant[here], flat.nth[nodes[here]]
            for column, leaf in zip(bucket.columns(v), leaves, strict=True):
                _put(arrays[column], rows, leaf, own)
    return arrays


def _put(array: NDArray[Any], rows: Int, leaf: NDArray[Any], own: NDArray[Any]) -> None:
    """Copies rows `own` of `leaf` to these rows of an array, which ascend. Those that lie side by side, as leaves do,
    are copied at once."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        np.take(leaf, own, 0, array[rows[0] : rows[-1] + 1], mode="clip")  # checks of indices would copy twice
    else:
        array[rows] = leaf[own]


def _ends(kinds: Int, count: Int, length: int) -> NDArray[np.int32]:
    """Where each kind begins, and where the last one ends, from the number of each."""
    return np.append(0, np.cumsum(np.bincount(kinds, count, length))).astype(np.int32)


def _begun(numbers: Int, length: int) -> NDArray[np.int32]:
    """An array that begins with these numbers."""
    found = zeros(length)
    found[: len(numbers)] = numbers
    return found
