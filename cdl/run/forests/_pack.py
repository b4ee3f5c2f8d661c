"""`pack` and `Corpus`: from trees to forests.

`pack` flattens and schedules; a `Corpus` flattens once and schedules any choice of its trees.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import jax
import numpy as np
from numpy.typing import NDArray

from ..._errors import CdlError, SignatureError
from ...functor import functor
from ...functor._base import anew
from ...functor._read import signature_name, sorts
from ...functor._usage import with_usage
from ...functor.poly import Id, Poly, Product, Record, Sum
from ._bucket import Bucket, capacity, choose_sizes, few_sizes, FINE, Size
from ._flatten import Flat, flatten, MAX_NODES
from ._forest import Forest
from ._refuse import expect_bucket, expect_signature, listed
from ._schedule import chunks, EDGES, fill_rate, padded, ROW, runs, TIME


MARGIN = 1.05  # of the nodes of a region that a bucket has room for, over their share in the corpus

Sizes = tuple[tuple[Size, ...], tuple[Size, ...], tuple[tuple[int, int], ...]]  # of levels, of pieces; how many of each


class Corpus:
    """Trees flattened and validated once, from which any batch is packed in a few whole-array operations.

    `corpus[indices]` is a `Forest` of those trees, in that order; `corpus[0:9]` is one of a slice. Every batch has the
    sizes of chunk and the variants of the corpus, and a capacity out of a few: an epoch runs in few programs.
    `corpus.pack(indices, bucket=…)` is one of a bucket that is given: an epoch runs in one.
    """

    @with_usage
    def __init__(self, signature: Any, trees: Iterable[Any], *, max_nodes: int = MAX_NODES) -> None:
        """**Arguments** and **raises:** as `pack`."""
        self.family = family("Corpus", signature)
        self.flat = flatten(self.family, listed("Corpus", trees), max_nodes)
        self._sizes: Sizes | None = None

    def __len__(self) -> int:
        return len(self.flat.start) - 1

    @property
    def nodes(self) -> NDArray[np.int64]:
        """How many nodes each tree has."""
        return np.diff(self.flat.start)

    def __iter__(self) -> NoReturn:
        raise CdlError(
            "a corpus is not a list of trees: `corpus[[0, 1]]` is the forest of two of them, and "
            "`corpus[:]` that of all."
        )

    def __getitem__(self, indices: Sequence[int] | NDArray[Any] | slice) -> Forest:
        return self.pack(range(len(self))[indices] if isinstance(indices, slice) else indices)

    @with_usage
    def pack(self, indices: Sequence[int] | NDArray[Any], *, bucket: Bucket | None = None) -> Forest:
        """The forest of the trees with these numbers, in the program of another forest if its `bucket` is given.

        **Raises:** `IndexError` for numbers of no tree, `CdlError` where the trees do not fit the bucket.
        """
        which = np.asarray(indices)
        if which.ndim != 1 or (which.dtype.kind not in "iu" and len(which)):
            raise IndexError(
                f"a corpus is indexed by a slice or a list of numbers of trees, and got `{which.dtype}` of shape "
                f"{which.shape}: write `corpus[[i]]`, or `np.flatnonzero` of a mask."
            )
        which = which.astype(np.int64)
        if len(which) and not (0 <= which.min() and which.max() < len(self)):
            raise IndexError(
                f"trees are numbered from 0 to {len(self) - 1}; {which.min()} to {which.max()} were asked for."
            )
        expect_bucket(bucket)
        forest, sizes = assemble(self.family, self.flat, which, sizes=self._sizes, bucket=bucket)
        self._sizes = self._sizes or sizes
        return forest


@with_usage
def pack(signature: Any, trees: Iterable[Any], *, bucket: Bucket | None = None, max_nodes: int = MAX_NODES) -> Forest:
    """Packs trees into a `Forest`. On the host, once; iterative at any depth.

    **Arguments:** `signature`: the signature, such as `ExprF`, or the signatures of a family in the order of its sorts,
    such as `(ExprF, StmtF)`. `trees`: in the order in which `fold` gives its results; those of a family may be of any
    of its sorts. `bucket`: that of another forest, to run in its program. `max_nodes`: how many nodes there may be once
    shared subtrees are written out.

    **Raises:** `ForeignLayer` for a node of another signature, `SignatureError` for one of another sort than its place,
    `PayloadMismatch` for payloads that differ in shape or are not what is annotated, `TreeTooLarge` for a cyclic tree
    or too many nodes, `CdlError` where `trees` are not some trees, or do not fit the bucket.
    """
    found = family("pack", signature)
    expect_bucket(bucket)
    flat = flatten(found, listed("pack", trees), max_nodes)
    return assemble(found, flat, np.arange(len(flat.start) - 1), bucket=bucket)[0]


def family(of: str, signature: Any) -> tuple[Sum, ...]:
    """The functors of a signature, one for each of its sorts. `of`: the function that was given it."""
    expect_signature(of, signature)
    found = tuple(map(functor, signature)) if isinstance(signature, tuple) else (functor(signature),)
    every = [c for f in found for c in f.constructors]
    for constructor in every:
        if sorts(constructor) not in (0, len(found)):
            given = "one signature" if len(found) == 1 else f"{len(found)} signatures"
            raise SignatureError(
                f"`{constructor.__name__}` is of a family of {sorts(constructor)} sorts, and `{of}` was given {given}: "
                "give one for each sort, in the order of the tuple in `Base[T, tuple[…]]`."
            )
        if every.count(constructor) > 1:
            raise SignatureError(f"`{constructor.__name__}` is in two of the signatures: write a constructor for each.")
    finite: set[int] = set()
    while more := {s for s, f in enumerate(found) if not all(_needs(term, finite) for term in f.summands)} - finite:
        finite |= more
    for s, f in enumerate(found):
        if s not in finite:
            order = ", ".join(f"`{signature_name(g.constructors)}`" for g in found)
            raise SignatureError(
                f"every constructor of `{f}` needs an `X`, so that the signature has no finite value: "
                "give it a constructor without a recursive place, or make a place `X | None`"
                + (
                    f"; or were the sorts given in another order than the family's tuple has ({order})?"
                    if len(found) > 1
                    else "."
                )
            )
    return found


def _needs(term: Poly, finite: set[int]) -> bool:
    """Whether each value of a term has a recursive place that is filled, of a sort not known to be finite."""
    if isinstance(term, Id):
        return term.sort not in finite
    return isinstance(term, Product | Record) and any(_needs(f, finite) for f in term.factors)


def assemble(
    family: tuple[Sum, ...], flat: Flat, which: NDArray[np.int64], *, sizes: Any = None, bucket: Bucket | None = None
) -> tuple[Forest, Any]:
    """The forest of these trees of a table, and the sizes of chunk it was cut to."""
    node, first = _rows_of(flat, which)
    total = len(node)
    variants = flat.variants if bucket is None else _joined(bucket, flat)
    same = variants is flat.variants
    renumber = np.arange(len(variants)) if same else np.array([variants.index(v) for v in flat.variants], np.int64)
    variant, height = renumber[flat.variant[node]] if total else np.zeros(0, np.int64), flat.height[node]
    if bucket is not None and total > bucket.nodes:
        raise CdlError(
            f"the trees have {total} nodes and the bucket room for {bucket.nodes}: pack fewer, or leave `bucket` out."
        )
    payload = tuple(tuple((x.shape[1:], x.dtype) for x in leaves) for leaves in flat.payload)
    open_bucket = bucket or Bucket(0, 0, 0, (), (), variants, payload)
    regions = np.array(open_bucket.regions, np.int64)
    region = regions[variant] if total else np.zeros(0, np.int64)
    counts = np.bincount(region, minlength=3)
    for what, have, room in zip(
        ("nodes with children", "leaves with payload"), counts, (open_bucket.inner, open_bucket.leaves), strict=False
    ):
        if bucket is not None and have > room:
            raise CdlError(
                f"the trees have {have} {what} and the bucket room for {room}: pack fewer, or leave `bucket` out."
            )
    of_class = np.array(open_bucket.classes, np.int64)[variant] if total else variant
    by_row = np.lexsort((variant, of_class, height))
    keys = [key[by_row] for key in (height, of_class, variant)]
    levels, runs_of_one = runs(*keys[:2]), runs(*keys)
    if bucket is None:
        sizes = sizes or _sizes(flat, keys[2], levels, runs_of_one, open_bucket.classes)
        nodes, of_region = capacity(total), np.bincount(regions, flat.counts, minlength=3)
        share = MARGIN * of_region / max(of_region.sum(), 1) * nodes
        inner, leaves = (capacity(int(max(have, few)), FINE) for have, few in zip(counts[:2], share, strict=False))
        bucket = dataclasses.replace(
            open_bucket, nodes=nodes, inner=inner, leaves=leaves, sizes=sizes[0], pieces=sizes[1], few=sizes[2]
        )
    row, number = np.empty(total, np.int64), np.empty(total, np.int64)
    for r, start in enumerate(bucket.starts):
        number[region[by_row] == r] = np.arange(start, start + counts[r])
    row[by_row] = number
    edge_start = _edges(keys[2], flat.degrees[node[by_row]], bucket)
    chunk, piece = (
        chunks(
            list(map(cut_to, range(len(variants)))),
            variants,
            np.concatenate([keys[2][groups[:, :1]], groups], 1),
            edge_start,
        )
        for groups, cut_to in ((levels, bucket.sizes_of), (runs_of_one, bucket.pieces_of))
    )
    computed = round(len(chunk) and total / fill_rate(chunk, bucket.sizes))
    for table in (chunk, piece):
        table[:, ROW] = number[table[:, TIME]]
    columns = EDGES + 2 * bucket.groups
    last = np.repeat(runs_of_one.sum(1) - 1, runs_of_one[:, 1])  # of the rows of each row's height and variant
    tables = _tables(flat, node, first, row, variant, edge_start, number, last, bucket)
    roots = row[first].astype(np.int32)
    sort_of_root = np.array([v.sort for v in variants], np.int32)[variant[first]] if total else np.zeros(0, np.int32)
    facts = [total, int(height.max(initial=-1)) + 1, computed, len(chunk)]
    arrays = tables | {
        "payload": tuple(_payload(flat, node, row, renumber, bucket)),
        "chunk": padded(chunk[:, :columns], bucket.nodes + 1),
        "piece": padded(piece[:, :columns], bucket.nodes + 1),
        "roots": tuple(roots[sort_of_root == s] for s in range(len(family))),
        "start": np.append(first, total).astype(np.int32),
        "facts": np.array(facts, np.int32),
    }
    forest = Forest(**jax.device_put(arrays), family=family, bucket=bucket)
    return forest, sizes


def _rows_of(flat: Flat, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The table's rows of these trees, tree after tree, and where each tree begins among them."""
    begin, length = flat.start[which], flat.start[which + 1] - flat.start[which]
    first = np.cumsum(length) - length
    return np.arange(int(length.sum())) + np.repeat(begin - first, length), first


def _joined(bucket: Bucket, flat: Flat) -> tuple[Any, ...]:
    """The bucket's variants, which are to have those of the table among them, with the same payload."""
    for v, leaves in zip(flat.variants, flat.payload, strict=True):
        if v not in bucket.variants:
            if any(v == dataclasses.replace(w, weak=v.weak) for w in bucket.variants):
                raise CdlError(
                    f"the payload of `{v}` has Python numbers where that of the bucket has arrays, or the other way "
                    "round, and the two differ in type: give both as the one, or leave `bucket` out."
                )
            raise CdlError(
                f"`{v}` is not among the variants of the bucket ({', '.join(map(str, bucket.variants))}): leave "
                f"`bucket` out.{anew([v.constructor], [w.constructor for w in bucket.variants])}"
            )
        there = bucket.payload[bucket.variants.index(v)]
        here = tuple((x.shape[1:], x.dtype) for x in leaves)
        if here != there:
            raise CdlError(f"the payload of `{v}` is {here} and the bucket's is {there}: leave `bucket` out.")
    for v, widest in zip(flat.variants, flat.widest.tolist(), strict=True):
        at = bucket.variants.index(v)
        if widest > min(max(s.edges for s in sizes) for sizes in (bucket.sizes_of(at), bucket.pieces_of(at))):
            raise CdlError(
                f"a node has {widest} children and the bucket's chunks have room for fewer: leave `bucket` out."
            )
    return bucket.variants


def _edges(variant: NDArray[Any], degrees: NDArray[Any], bucket: Bucket) -> NDArray[Any]:
    """For each row and group, its first edge and the one past its last. The edges of a region, the slots or a `Many`,
    lie in the order of the rows; regions are as far apart as a chunk may reach."""
    rows, groups = degrees.shape
    has_slots = np.array([v.slots > 0 for v in bucket.variants], bool)[variant] if rows else np.zeros(0, bool)
    found = np.zeros((rows, groups, 2), np.int64)
    begin = 0
    for region in range(groups + 1):
        group = np.where(has_slots, region, region - 1)
        real = (group >= 0) & (group < groups) & (has_slots | (region > 0))
        group = np.where(real, group, 0)
        count = np.where(real, degrees[np.arange(rows), group], 0)
        end = begin + np.cumsum(count)
        at = np.flatnonzero(real)
        found[at, group[at]] = np.stack([end - count, end], 1)[at]
        begin = int(end[-1] if rows else begin) + bucket.reach
    return found


def _sizes(
    flat: Flat, variant: NDArray[Any], levels: NDArray[Any], pieces: NDArray[Any], classes: tuple[int, ...]
) -> Sizes:
    """The sizes of chunk for these runs of rows, wide enough for every node of the table; and how many each class has
    of them."""
    has_many = np.array([v.manys > 0 for v in flat.variants], bool)
    degrees = flat.degrees[has_many[flat.variant]] if len(flat.variants) else flat.degrees[:0]
    mean, widest = (float(degrees.max(1).mean()), int(degrees.max())) if len(degrees) else (1.0, 1)
    inner = np.array([not v.leaf for v in flat.variants], bool)

    def counts(groups: NDArray[Any]) -> NDArray[Any]:
        if not len(groups):
            return np.ones(1, np.int64)
        some = groups[inner[variant[groups[:, 0]]], 1]
        return some if len(some) else groups[:, 1]

    whole, part = choose_sizes(counts(levels), mean, widest, 3), choose_sizes(counts(pieces), mean, widest, 2)
    number = max(classes, default=-1) + 1
    of_class = np.zeros(number, np.int64)
    np.maximum.at(of_class, np.array(classes, np.int64), flat.widest)

    def few(sizes: tuple[Size, ...], groups: NDArray[Any]) -> tuple[int, ...]:
        own = np.array(classes, np.int64)[variant[groups[:, 0]]]
        return few_sizes(sizes, [groups[own == c, 1] for c in range(number)], of_class.tolist())

    return whole, part, tuple(zip(few(whole, levels), few(part, pieces), strict=True))


def _tables(
    flat: Flat, node: Any, first: Any, row: Any, variant: Any, edge_start: Any, number: Any, last: Any, bucket: Bucket
) -> dict[str, Any]:
    """The tables of rows and edges. `number` has the row of each place in the order of the schedule, and `last` the
    last place of the same height and variant."""
    total, count = len(node), len(bucket.variants)
    length = np.diff(np.concatenate([first, [total]]))
    begin = np.repeat(first, length)
    inner = np.flatnonzero(flat.parent[node] >= 0)
    above = flat.parent[node[inner]] + begin[inner]
    parent, of_parent = row[above], variant[above]
    place = np.zeros(bucket.rows, np.int64)
    place[number] = np.arange(total)
    at, group = place[parent], flat.group[node[inner]]
    edge = edge_start[at, group, 0] + flat.place[node[inner]]
    nothing = bucket.first - 1
    tables: dict[str, Any] = {n: np.zeros(bucket.rows, np.int32) for n in ("tree", "order", "row", "until", "slot")}
    tables["child"] = np.full(bucket.edges + len(first) + 1, nothing, np.int32)
    tables["above"] = np.full(bucket.rows, len(tables["child"]) - 1, np.int32)
    tables["owner"] = np.full(bucket.edges, nothing, np.int32)
    tables["edges_until"] = np.zeros(bucket.edges, np.int32)
    tables["variant"] = np.full(bucket.rows, count, np.int32)
    tables["variant"][: bucket.first] = np.arange(bucket.first)
    tables["child"][edge], tables["owner"][edge] = row[inner], parent
    tables["child"][bucket.edges : -1] = row[first]
    tables["above"][row[inner]] = edge
    tables["above"][row[first]] = bucket.edges + np.arange(len(first))
    tables["tree"][row] = np.repeat(np.arange(len(first)), length)
    tables["order"][row] = np.arange(total) - begin
    tables["row"][:total] = row
    tables["variant"][row] = variant
    tables["sort"] = np.array([*(v.sort for v in bucket.variants), 0], np.int32)[tables["variant"]]
    tables["until"][number] = number[last] + 1
    tables["edges_until"][edge] = edge_start[last[at], group, 1]
    tables["slot"][number] = edge_start[:, 0, 0]
    rank = np.array([*bucket.rank, 0], np.int64)
    order, tables["begin"] = _in_order(rank[tables["variant"][number]], count, bucket.nodes)
    tables["by_variant"] = np.zeros(bucket.nodes, np.int32)
    tables["by_variant"][:total] = number[order[:total]]
    many = group - np.array([v.slots > 0 for v in bucket.variants], bool)[of_parent]
    some = np.flatnonzero(many >= 0)
    order, tables["edges_begin"] = _in_order((many * count + rank[of_parent])[some], bucket.manys * count, bucket.nodes)
    tables["edges_by_variant"] = np.zeros(bucket.nodes, np.int32)
    tables["edges_by_variant"][: len(some)] = edge[some[order[: len(some)]]]
    return tables


def _in_order(kinds: NDArray[Any], count: int, length: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Which are of each kind, those of one beside each other, up to a length; and where each kind begins."""
    found = np.zeros(length, np.int32)
    found[: len(kinds)] = np.argsort(kinds, kind="stable")
    return found, np.append(0, np.cumsum(np.bincount(kinds, minlength=count))).astype(np.int32)


def _payload(flat: Flat, node: Any, row: Any, renumber: Any, bucket: Bucket) -> list[NDArray[Any]]:
    arrays = [np.zeros((bucket.starts[2], *shape), dtype) for _, shape, dtype in bucket.storage]
    for v, leaves in enumerate(flat.payload):
        if leaves:
            here = np.flatnonzero(flat.variant[node] == v)
            for column, leaf in zip(bucket.columns(int(renumber[v])), leaves, strict=True):
                arrays[column][row[here]] = leaf[flat.nth[node[here]]]
    return arrays
