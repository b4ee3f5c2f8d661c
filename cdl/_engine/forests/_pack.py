"""`pack`: from trees to forests. It flattens and schedules; a `Packer` schedules any choice of trees."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax.typing import DTypeLike
from numpy.typing import NDArray

from ..._functors.poly import Sum
from ..._functors.usage import with_usage
from ...errors import CdlError
from ._bucket import Bucket, capacity, choose_sizes, few_sizes, FINE, Size
from ._epoch import heaviest
from ._family import family
from ._flatten import Flat, flatten, MAX_NODES
from ._forest import Forest
from ._keys import Keys, keys_of
from ._layout import Layout
from ._places import Places, places
from ._refuse import listed
from ._regroup import with_floats
from ._schedule import chunks, fill_rate, padded, ROW, TIME
from ._tables import tables


MARGIN = 1.05  # of the nodes of a region that a bucket has room for, over their share in the corpus

Sizes = tuple[tuple[Size, ...], tuple[Size, ...], tuple[tuple[int, int], ...]]  # of levels, of pieces; how many of each


@with_usage
def pack(
    signature: Any,
    trees: Iterable[Any],
    *,
    bucket: Bucket | None = None,
    dtype: DTypeLike | None = None,
    max_nodes: int = MAX_NODES,
) -> Forest:
    """Packs trees into a `Forest`. On the host, once; iterative at any depth.

    **Arguments:** `signature`: the signature, such as `ExprF`, or the signatures of a family in the order of its sorts,
    such as `(ExprF, StmtF)`. `trees`: in the order in which `fold` gives its results; those of a family may be of any
    of its sorts. `bucket`: that of another forest, to run in its program. `dtype`: the type of real numbers whose
    annotation names none, such as `jnp.bfloat16`; JAX's default type, if it is not given. `max_nodes`: how many nodes
    there may be once shared subtrees are written out.

    **Raises:** `ForeignLayer` for a node of another signature, `SignatureError` for one of another sort than its place,
    `PayloadMismatch` for payloads that differ in shape or are not what is annotated, `TreeTooLarge` for a cyclic tree
    or too many nodes, `CdlError` where `trees` are not some trees, or do not fit the bucket.

    Examples:
        >>> cdl.pack(cdl.TreeF, [cdl.Leaf(0.5), cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(2.0))])
        Forest of A + X²: 2 trees, 4 nodes, 2 levels, fill 1.00; bucket of 64 nodes, 2 variants, chunks of 1×2
    """
    found = family("pack", signature)
    flat = flatten(found, listed("pack", trees), max_nodes)
    flat = flat if dtype is None else with_floats(flat, dtype)
    return Packer(found, flat).forest(np.arange(len(flat.start) - 1), bucket)


class Packer:
    """Forests of one table of nodes. What depends on a node alone is found once for all of them.

    `sizes` are the sizes of chunk and of pieces, and how many each class has of them; `None` until a forest has been
    packed without a bucket.
    """

    def __init__(self, family: tuple[Sum, ...], flat: Flat) -> None:
        self.family, self.flat = family, flat
        self.sizes: Sizes | None = None
        self._open = Bucket(0, 0, 0, (), (), flat.variants, flat.forms)
        self._keys = keys_of(flat, self._open)
        self._buckets: dict[tuple[int, int, int], Bucket] = {}
        self._met: dict[tuple[int, bytes], list[int]] = {}  # what batches of trees that are mixed anew have needed

    def forest(self, which: NDArray[np.int64], bucket: Bucket | None = None) -> Forest:
        """The forest of the trees with these numbers."""
        return self.on_device(self.arrays(which, bucket))

    def on_device(self, packed: tuple[dict[str, Any], Bucket]) -> Forest:
        """The forest whose arrays `arrays` made."""
        return Forest(**jax.device_put(packed[0]), family=self.family, bucket=packed[1])

    def arrays(self, which: NDArray[np.int64], bucket: Bucket | None = None) -> tuple[dict[str, Any], Bucket]:
        """The arrays of NumPy of a forest, and its bucket.

        **Raises:** `CdlError` where the trees do not fit the bucket.
        """
        at = places(self.flat, self._sorted_for(bucket), which)
        if bucket is None:
            bucket = self._bucket(at)
        else:
            _expect_room(at, bucket)
        trees = Layout(at, bucket)
        chunk, piece = (
            chunks(sizes, bucket.variants, groups, trees.before)
            for groups, sizes in zip((at.levels, at.pieces), bucket.sizes_by_variant, strict=True)
        )
        for table in (chunk, piece):
            table[:, ROW] = trees.row_of_place[table[:, TIME]]
        computed = round(len(chunk) and len(at) / fill_rate(chunk, bucket.sizes))
        roots = trees.row[at.first].astype(np.int32)
        found = tables(trees)
        sort = found["sort"][roots]
        found["chunk"], found["piece"] = (padded(table, bucket.nodes + 1) for table in (chunk, piece))
        found["stored_roots"] = tuple(roots[sort == s] for s in range(len(self.family)))
        found["facts"] = np.array([len(at), at.stage.max(initial=-1) + 1, computed, len(chunk)], np.int32)
        return found, bucket

    def _sorted_for(self, bucket: Bucket | None) -> Keys:
        """The keys of all nodes, for the variants of a bucket."""
        wanted = bucket or self._open
        if not (keys := self._keys).fits(wanted):
            keys = self._keys = keys_of(self.flat, wanted)
        return keys

    def _bucket(self, at: Places) -> Bucket:
        """A bucket with room for some trees."""
        self._choose_sizes(at)
        room = capacity(len(at))
        of_region = np.bincount(at.keys.bucket.regions, self.flat.counts, minlength=3)
        share = MARGIN * of_region / max(of_region.sum(), 1) * room
        inner, leaves = (
            capacity(int(max(have, few)), FINE) for have, few in zip(at.of_region[:2], share, strict=False)
        )
        return self.bucket(room, inner, leaves)

    def bucket_for(self, indices: NDArray[np.int64], batches: list[NDArray[np.int64]], mixes: bool) -> Bucket:
        """A bucket with room for each of these batches; and where the trees with these numbers are mixed anew in each
        epoch, for the batches of most others, and of all that were there before."""
        if self.sizes is None:
            by_nodes = np.sort(indices)
            by_nodes = by_nodes[np.argsort(self.weights[0, by_nodes], kind="stable")]
            self._choose_sizes(places(self.flat, self._keys, by_nodes[:: -(-len(indices) // len(batches[0]))]))
        room = heaviest(self.weights, indices, batches, mixes, MARGIN)
        if mixes:
            key = len(batches[0]), np.sort(indices).tobytes()
            room = self._met[key] = list(map(max, room, self._met.get(key, room)))
        return self.bucket(*(capacity(n, FINE) for n in room))

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """For each tree, how many nodes it has, how many of them with children, and how many leaves with payload."""
        trees = len(self.flat.start) - 1
        region = np.array(self._open.regions, np.int64)[self.flat.variant]
        tree = np.repeat(np.arange(trees), np.diff(self.flat.start))
        inner, leaves = (np.bincount(tree[region == r], minlength=trees) for r in (0, 1))
        return np.stack([np.diff(self.flat.start), inner, leaves])

    def _choose_sizes(self, at: Places) -> None:
        if self.sizes is None:
            self.sizes = _sizes(self.flat, at.levels, at.pieces, self._open.classes)

    def bucket(self, nodes: int, inner: int, leaves: int) -> Bucket:
        """The bucket of the table's variants with these capacities. Its sizes are to be known."""
        if (found := self._buckets.get((nodes, inner, leaves))) is None:
            assert self.sizes is not None
            sizes, pieces, few = self.sizes
            found = Bucket(nodes, inner, leaves, sizes, pieces, self.flat.variants, self.flat.forms, few)
            self._buckets[nodes, inner, leaves] = found
        return found


def _expect_room(at: Places, bucket: Bucket) -> None:
    """**Raises:** `CdlError` where a bucket has no room for some trees."""
    have = {"nodes": len(at), "nodes with children": at.of_region[0], "leaves with payload": at.of_region[1]}
    for (what, many), room in zip(have.items(), (bucket.nodes, bucket.inner, bucket.leaves), strict=True):
        if many > room:
            raise CdlError(
                f"the trees have {many} {what} and the bucket room for {room}: pack fewer, or leave `bucket` out."
            )
    for v, widest in zip(at.keys.variants.tolist(), at.flat.widest.tolist(), strict=True):
        if widest > min(max(s.edges for s in sizes) for sizes in (bucket.sizes_of(v), bucket.pieces_of(v))):
            raise CdlError(
                f"a node has {widest} children and the bucket's chunks have room for fewer: leave `bucket` out."
            )


def _sizes(flat: Flat, levels: NDArray[Any], pieces: NDArray[Any], classes: tuple[int, ...]) -> Sizes:
    """The sizes of chunk for these levels and pieces, wide enough for every node of the table; and how many each class
    has of them."""
    has_many = np.array([v.manys > 0 for v in flat.variants], bool)
    degrees = flat.degrees[has_many[flat.variant]] if len(flat.variants) else flat.degrees[:0]
    mean, widest = (float(degrees.max(1).mean()), int(degrees.max())) if len(degrees) else (1.0, 1)
    inner = np.array([not v.leaf for v in flat.variants], bool)
    of_class = np.zeros(max(classes, default=-1) + 1, np.int64)
    np.maximum.at(of_class, np.array(classes, np.int64), flat.widest)

    def counts(groups: NDArray[Any]) -> NDArray[Any]:
        if not len(groups):
            return np.ones(1, np.int64)
        some = groups[inner[groups[:, 0]], 2]
        return some if len(some) else groups[:, 2]

    def few(sizes: tuple[Size, ...], groups: NDArray[Any]) -> tuple[int, ...]:
        own = np.array(classes, np.int64)[groups[:, 0]]
        return few_sizes(sizes, [groups[own == c, 2] for c in range(len(of_class))], of_class.tolist())

    whole, part = choose_sizes(counts(levels), mean, widest, 3), choose_sizes(counts(pieces), mean, widest, 2)
    return whole, part, tuple(zip(few(whole, levels), few(part, pieces), strict=True))
