"""Forests: many trees of many shapes, as arrays that one compiled program folds.

What differs between forests of one bucket is data alone, so that they run in one program.
"""

import textwrap

import equinox as eqx
from jax.core import Tracer
from jaxtyping import Array, Bool, Int

from ...functor._words import number_of
from ...functor.poly import Sum
from ._bucket import Bucket


class Forest(eqx.Module):
    """Trees of one signature, packed. Made by `pack` or by a `Corpus`; read by `fold`.

    Rows are nodes, in the order of the schedule. All arrays but the payload are integers: the program as data. The
    payload's arrays are differentiable, one row for each node.
    """

    payload: tuple[Array, ...]
    child: Int[Array, " edges"]  # the row at the end of each edge
    owner: Int[Array, " edges"]  # the row it starts from
    above: Int[Array, " rows"]  # each row's own edge from above; the last edge, which is none, for a root
    chunk: Int[Array, "steps columns"]
    block: Int[Array, "blocks columns"]
    roots: tuple[Int[Array, " _"], ...]  # the rows of the roots of each sort, in the order of the trees
    start: Int[Array, " bounds"]  # where each tree begins in pre-order, and where the last one ends
    row: Int[Array, " rows"]  # the row of each node in pre-order, tree by tree
    tree: Int[Array, " rows"]  # each row's tree
    order: Int[Array, " rows"]  # its number in pre-order within the tree
    sort: Int[Array, " rows"]
    facts: Int[Array, "4"]  # nodes, levels, rows computed, chunks
    family: tuple[Sum, ...] = eqx.field(static=True)
    bucket: Bucket = eqx.field(static=True)

    def __len__(self) -> int:
        return int(self.start.shape[0]) - 1

    def nodes(self, tree: int) -> slice:
        """Where a tree's nodes are among the rows of `annotate` and `inherit`: in pre-order, the root first."""
        if not 0 <= tree < len(self):
            raise IndexError(f"trees are numbered from 0 to {len(self) - 1}; {tree} was asked for.")
        return slice(int(self.start[tree]), int(self.start[tree + 1]))

    @property
    def schedule(self) -> "Forest":
        """The forest without its payload: integers alone."""
        return eqx.tree_at(lambda f: f.payload, self, tuple(None for _ in self.payload), is_leaf=lambda x: x is None)

    def is_root(self, above: Int[Array, " some"]) -> Bool[Array, " some"]:
        """Whether an edge from above is none, which makes its row a root's."""
        return above == self.bucket.edges - 1

    @property
    def size(self) -> int:
        """The number of nodes."""
        return int(self.facts[0])

    @property
    def depth(self) -> int:
        """The number of levels: 1 where every tree is a leaf."""
        return int(self.facts[1])

    @property
    def fill(self) -> float:
        """Useful rows over computed rows, at most 1."""
        return self.size / max(int(self.facts[2]), 1)

    def __repr__(self) -> str:
        formula = " and ".join(textwrap.shorten(str(f), 80, placeholder=" + …") for f in self.family)
        if isinstance(self.facts, Tracer):
            return f"Forest of {formula}: {number_of('tree', len(self))}, traced; bucket of {self.bucket}"
        return (
            f"Forest of {formula}: {number_of('tree', len(self))}, {number_of('node', self.size)}, "
            f"{number_of('level', self.depth)}, fill {self.fill:.2f}; bucket of {self.bucket}"
        )
