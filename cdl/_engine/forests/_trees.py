"""The way back from a `Forest`: its trees, as values."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from numpy.typing import NDArray

from ..._functors.many import Many
from ...errors import CdlError
from ._standing import expect_payload


def trees_of(forest: Any) -> list[Any]:
    """The trees, with the payload that the forest has now, as JAX arrays: those that a case of `fold` reads. On the
    host, at any depth: a node comes after its children.

    **Raises:** `CdlError` where the forest is traced, is not one forest, or has no payload.
    """
    if forest.start is None:
        raise CdlError(
            "`trees` builds the trees of a whole forest, and this is a gradient, or a part of `eqx.partition`: write "
            "`eqx.combine(gradient, forest).trees()` for trees with the gradient's numbers in their places."
        )
    expect_payload(forest, "`trees` builds the trees of")
    if any(isinstance(x, Tracer) for x in (forest.facts, *forest.payload)):
        raise CdlError(
            "trees are built on the host, and this forest is traced: call `forest.trees()` outside of `jit`."
        )
    nodes, variants = forest.size, forest.bucket.variants
    row = np.asarray(forest.row)[:nodes]
    variant = np.asarray(forest.variant)[row].tolist()
    payload = [np.asarray(x) for x in forest.payload]
    columns = [forest.bucket.columns(v) for v in range(len(variants))]
    leaves = jax.device_put([payload[c][row[i]] for i in range(nodes) for c in columns[variant[i]]])
    below, begin = _below(forest, row)
    built: list[Any] = [None] * nodes
    for i in reversed(range(nodes)):
        v = variant[i]
        own = [leaves.pop() for _ in columns[v]][::-1]
        groups = [
            [built[child] for child in some[start[i] : start[i + 1]]] for some, start in zip(below, begin, strict=True)
        ]
        built[i] = variants[v].layer(own, groups[0], [Many(x) for x in groups[1 : 1 + variants[v].manys]])
    return [built[i] for i in np.asarray(forest.start)[:-1].tolist()]


def _below(forest: Any, row: NDArray[Any]) -> tuple[list[list[int]], list[list[int]]]:
    """For the slots, and for each `Many`, the numbers of all nodes' children, and where those of each node begin."""
    bucket = forest.bucket
    node_of = np.full(bucket.rows, -1)
    node_of[row] = np.arange(len(row))
    owner, child = node_of[np.asarray(forest.owner)], np.asarray(forest.child)[: bucket.edges]
    group = np.zeros(bucket.edges, np.int64)
    ends = np.asarray(forest.edges_begin)[:: max(len(bucket.variants), 1)]
    for m in range(bucket.manys):
        group[np.asarray(forest.edges_by_variant)[ends[m] : ends[m + 1]]] = m + 1
    found, begin = [], []
    for g in range(1 + bucket.manys):
        edge = np.flatnonzero((group == g) & (owner >= 0) & (node_of[child] >= 0))
        edge = edge[np.argsort(owner[edge], kind="stable")]
        found.append(node_of[child[edge]].tolist())
        begin.append(np.searchsorted(owner[edge], np.arange(len(row) + 1)).tolist())
    return found, begin
