"""Forests: many trees of many shapes, as arrays that one compiled program folds.

What differs between forests of one bucket is data alone, so that they run in one program.
"""

import textwrap
from typing import Any, TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Int

from ..._functors.poly import Sum
from ..._functors.words import number_of
from ...errors import CdlError, IndexMismatch
from ..calls._standing import not_a_list, standing
from ._bucket import Bucket
from ._standing import expect_known, expect_one, number
from ._trees import trees_of


class Forest(eqx.Module):
    """Trees of one signature, packed: `pack` or a `Corpus` makes it, and `fold`, `annotate` and `inherit` read it.

    It is a pytree of arrays, so `jit` takes it as an argument. It is a batch already: `vmap` goes over models, or over
    several forests of one bucket that are stacked. Two forests with equal buckets and as many trees run in one
    compiled program.

    `len(forest)` is the number of trees, `forest.size` that of nodes, and `forest.depth` that of levels.
    `forest.trees()` gives the trees back. `annotate` gives one row for each node: `forest.nodes(i)` are the rows of
    tree i, `forest.roots` those of the roots, and `forest.mask` is true at the rows that are not padding. Gradients
    reach `forest.payload`.

    The fields are for the engine. All arrays but the payload are integers: the schedule of the program, as data. The
    payload has one row for each node. Edges lie in regions: one for the places of all nodes, and one for each `Many`
    that a node has. In a region they are in the order of the rows that they start from. After the regions come an edge
    to each root, and one that ends at no node.

    Examples:
        >>> trees = [cdl.Leaf(1), cdl.Fork(cdl.Leaf(2), cdl.Fork(cdl.Leaf(3), cdl.Leaf(4)))]
        >>> forest: cdl.Forest = cdl.pack(cdl.TreeF, trees)
        >>> len(forest), forest.size, forest.depth
        (2, 6, 3)
        >>> total = cdl.algebra(lambda t: t.label if isinstance(t, cdl.Leaf) else t.left + t.right)
        >>> cdl.fold(total, forest).tolist()
        [1, 9]
    """

    payload: tuple[Array, ...]
    child: Int[Array, " all_edges"]  # the row at the end of each edge
    owner: Int[Array, " edges"]  # the row it starts from
    above: Int[Array, " rows"]  # the edge that ends at each row; the last, for rows of no node
    variant: Int[Array, " rows"]
    chunk: Int[Array, "chunks columns"]  # the rows of a level and class, cut
    piece: Int[Array, "pieces columns"]  # those of one variant
    until: Int[Array, " rows"]  # the first row past those of the same stage and variant
    edges_until: Int[Array, " edges"]  # the first edge past those of such rows
    tile: Int[Array, "rows 2"]  # each row's place in the tiles, and the first row of the tile of that number
    edges_tile: Int[Array, "edges 2"]  # the same of the edges of `Many`s
    slot: Int[Array, " rows"]  # the edge of each row's first slot
    by_variant: Int[Array, " nodes"]  # the rows in the order of their variants' ranks
    begin: Int[Array, " ranks_and_end"]  # where each rank begins among them
    edges_by_variant: Int[Array, " nodes"]  # the edges of `Many`s, those of the first first, by the rank of their owner
    edges_begin: Int[Array, " manys_ranks_and_end"]
    stored_roots: tuple[Int[Array, " _"], ...]  # in storage, the rows of the roots of each sort
    start: Int[Array, " bounds"]  # where each tree begins in pre-order, and where the last one ends
    row: Int[Array, " rows"]  # the row of each node in pre-order, tree by tree
    tree: Int[Array, " rows"]  # each row's tree
    order: Int[Array, " rows"]  # its number in pre-order within the tree
    sort: Int[Array, " rows"]
    facts: Int[Array, "4"]  # nodes, levels, rows computed, chunks
    family: tuple[Sum, ...] = eqx.field(static=True)
    bucket: Bucket = eqx.field(static=True)

    def __len__(self) -> int:
        expect_one(self, "`len` is of")
        return int(self.start.shape[0]) - 1

    if not TYPE_CHECKING:  # type checkers know that there is none
        __getitem__ = not_a_list(
            "forest", "`forest.trees()[i]` is tree `i`, and `forest.nodes(i)` are its rows in `annotate`"
        )

    def nodes(self, tree: int) -> slice:
        """Where a tree's nodes are among the rows of `annotate` and `inherit`: in pre-order, the root first.

        **Raises:** `IndexMismatch` for a number beyond the trees; `CdlError` where it is not a whole number, or
        the forest is traced.
        """
        expect_known(self, "`nodes` is of", "use `forest.tree_of`, the number of each row's tree")
        tree = number("nodes", "tree", tree)
        if not 0 <= tree < len(self):
            raise IndexMismatch(f"trees are numbered from 0 to {len(self) - 1}; {tree} was asked for.")
        return slice(int(self.start[tree]), int(self.start[tree + 1]))

    @property
    def roots(self) -> Int[Array, " trees"]:
        """The rows of the roots among those of `annotate` and `inherit`, one for each tree.

        Examples:
            >>> trees = [cdl.Leaf(1), cdl.Fork(cdl.Leaf(2), cdl.Leaf(3))]
            >>> forest: cdl.Forest = cdl.pack(cdl.TreeF, trees)
            >>> total = cdl.algebra(lambda t: t.label if isinstance(t, cdl.Leaf) else t.left + t.right)
            >>> at_nodes = cdl.annotate(total, forest)
            >>> at_nodes[forest.mask].tolist(), at_nodes[forest.roots].tolist()
            ([1, 5, 2, 3], [1, 5])
        """
        return self.start[:-1]

    @property
    def schedule(self) -> "Forest":
        """The forest without its payload: integers alone."""
        return eqx.tree_at(lambda f: f.payload, self, tuple(None for _ in self.payload), is_leaf=lambda x: x is None)

    def is_root(self, above: Int[Array, " some"]) -> Bool[Array, " some"]:
        """Whether an edge ends at a root, or at no node."""
        return above >= self.bucket.edges

    @property
    def size(self) -> int:
        """The number of nodes. **Raises:** `CdlError` where the forest is traced."""
        expect_known(self, "`size` is of", "use `forest.count`")
        return int(self.facts[0])

    @property
    def depth(self) -> int:
        """The number of levels: 1 where every tree is a leaf. **Raises:** `CdlError` where the forest is traced."""
        expect_known(self, "`depth` is of", "take it outside of `jit`")
        return int(self.facts[1])

    @property
    def count(self) -> Int[Array, ""]:
        """The number of nodes, also where the forest is traced. **Raises:** `CdlError` for several forests,
        stacked, as do `mask`, `tree_of` and `of_sort`."""
        expect_one(self, "`count` is of")
        return self.facts[0]

    @property
    def mask(self) -> Bool[Array, " nodes"]:
        """Which rows of `annotate` and `inherit` are nodes, also where the forest is traced.

        So `jnp.mean(losses, where=forest.mask)` is the mean over all nodes of what `annotate` found.
        """
        return jnp.arange(self.bucket.nodes, dtype=jnp.int32) < self.count

    @property
    def tree_of(self) -> Int[Array, " nodes"]:
        """The number of the tree that each row of `annotate` and `inherit` is in; past the last node, the number of
        trees, which `jax.ops.segment_sum` leaves out."""
        return jnp.where(self.mask, self.tree[self.row[: self.bucket.nodes]], len(self))

    def of_sort(self, sort: int) -> Bool[Array, " nodes"]:
        """Which rows of `annotate` and `inherit` are nodes of a sort, by its number.

        **Raises:** `CdlError` for a number beyond the sorts.
        """
        sort = number("of_sort", "sort", sort)
        if not 0 <= sort < len(self.family):
            raise CdlError(
                f"the forest has {number_of('sort', len(self.family))}, numbered from 0, and no sort {sort}."
            )
        return self.mask & (self.sort[self.row[: self.bucket.nodes]] == sort)

    def trees(self) -> list[Any]:
        """The trees as values, in their order, with the payload that the forest has now, as JAX arrays: `cata` reads
        these where `fold` reads the forest. On the host.

        **Raises:** `CdlError` where the forest is traced, is several, stacked, or has no payload, as `schedule`.
        """
        return trees_of(self)

    @property
    def fill(self) -> float:
        """Useful rows over computed rows, at most 1. **Raises:** `CdlError` where the forest is traced."""
        expect_known(self, "`fill` is of", "take it outside of `jit`")
        return self.size / max(int(self.facts[2]), 1)

    def __repr__(self) -> str:
        formula = " and ".join(textwrap.shorten(str(f), 80, placeholder=" + …") for f in self.family)
        if other := standing(self.facts, 1):
            return f"Forest of {formula}: {other}; bucket of {self.bucket}"
        if isinstance(self.facts, Tracer):
            return f"Forest of {formula}: {number_of('tree', len(self))}, traced; bucket of {self.bucket}"
        return (
            f"Forest of {formula}: {number_of('tree', len(self))}, {number_of('node', self.size)}, "
            f"{number_of('level', self.depth)}, fill {self.fill:.2f}; bucket of {self.bucket}"
        )
