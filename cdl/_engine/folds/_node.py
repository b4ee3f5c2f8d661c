"""One node of a variant: the inputs of its case, their shapes, and the layer that is made of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..._functors import Base
from ..._functors.many import Many
from ..arrays._carrier import Carrier
from ..arrays.shapes import Arrays, one_of, rows_of, Shape, shaped
from ..forests._bucket import Bucket, Size
from ..forests._variant import Variant
from ._edges import Edges
from ._program import Columns, Handed, Wiring
from ._storage import Storage


class Inputs(NamedTuple):
    """What the rows of a chunk are computed from, arrays or their shapes: `edges` has the children's values of each
    `Many`, and `own` is what a node inherits, or is given in reverse. `None` where there is no row yet."""

    payload: Arrays
    slots: list[Arrays]
    keys: Arrays
    edges: list[Arrays]
    own: Arrays


class Node(NamedTuple):
    """The inputs of a case, arrays or their shapes.

    `row` is the node's place in its chunk, `slots` the values there, `keys` its key or none, `own` what it inherits.
    `edges` has two things for each `Many`: for every edge of the chunk, the place of its node, and its child's value.
    """

    row: Any
    payload: Arrays
    slots: list[Arrays]
    keys: Arrays
    edges: list[tuple[Any, Arrays]]
    own: Arrays

    def layer(self, variant: Variant, carriers: Mapping[int, Carrier]) -> tuple[Base[Any, Any], list[Edges]]:
        """The layer that a user's function reads, and what is behind each `Many` of it."""
        values = [carriers[s].unflatten(x) for s, x in zip(variant.slot_sorts, self.slots, strict=True)]
        pairs = zip(variant.many_sorts, self.edges, strict=True)
        sources = [Edges(self.row, segment, carriers[s].unflatten(children)) for s, (segment, children) in pairs]
        return variant.layer(list(self.payload), values, list(map(Many.over, sources))), sources


def node_of(
    bucket: Bucket, index: int, below: Mapping[int, Carrier], size: Size, key: Shape | None, own: Sequence[Shape] = ()
) -> Node:
    """The shapes of the inputs of one variant at a size of chunk. `own`: of what the node inherits."""
    v = bucket.variants[index]
    pairs = zip([size.edges_of(g) for g in range(v.manys)], v.many_sorts, strict=True)
    edges = [(shaped((n,), jnp.int32), rows_of(n, below[s].leaves)) for n, s in pairs]
    slots = [one_of(below[s].leaves) for s in v.slot_sorts]
    keys = [] if key is None else [key]
    return Node(shaped((), jnp.int32), bucket.leaves_of(index), slots, keys, edges, one_of(own))


def wiring(
    bucket: Bucket, index: int, below: Storage, out: Columns, own: Columns = (), handed: Storage | None = None
) -> Wiring:
    """The columns of one variant. `below` has those of the children's values, `handed` those of what a step gives."""
    v = bucket.variants[index]
    of: Callable[[Storage], Handed] = lambda x: Handed(
        tuple(map(x.columns, v.slot_sorts)), tuple(map(x.columns, v.many_sorts))
    )
    return Wiring(bucket.columns(index), *of(below), out, own, None if handed is None else of(handed))
