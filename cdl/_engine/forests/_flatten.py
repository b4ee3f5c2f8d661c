"""From trees to arrays: every node of every tree in one row of a table, in pre-order, tree by tree.

One pass of a list that grows while it is read visits the nodes in breadth-first order, where the children of a node
stand side by side, so that all the rest is arithmetic on whole arrays. Sharing is expanded. Host side; NumPy alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..._functors.mapping import holes
from ..._functors.poly import Const, Id, ManyOf, Poly, Sum
from ..._functors.read import layout
from ...errors import ForeignLayer, PayloadMismatch
from ._form import Place, places
from ._levels import measure
from ._payload import stack
from ._refuse import refuse_foreign, refuse_size, refuse_sort
from ._variant import describe, is_array, is_plain, refuses, sort_of, Variant, variant_of


MAX_NODES = 10_000_000
_SLAB = 65_536

Ints = NDArray[np.int32]
Whole = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Flat:
    """A forest as a table of nodes, in pre-order, tree by tree.

    `start[i]` is tree i's first row, and `start[-1]` the number of rows. `parent` counts from the tree's first row,
    and is -1 at a root; `group` and `place` say which of its parent's edges a node is at the end of, and `degrees`
    how many edges a node has in each group. `payload[v]` are the payload leaves of variant v's nodes, one
    array for each leaf, one row for each node; `nth` is a node's number among those of its variant.
    """

    variants: tuple[Variant, ...]
    start: NDArray[np.int64]
    variant: Ints
    height: Ints
    parent: Ints
    group: Ints
    place: Ints
    degrees: Ints
    nth: Ints
    payload: tuple[tuple[NDArray[Any], ...], ...]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many nodes each variant has."""
        return np.bincount(self.variant, minlength=len(self.variants))

    @cached_property
    def above(self) -> NDArray[np.int64]:
        """The table's row of each node's parent, -1 at a root."""
        first = np.repeat(self.start[:-1], np.diff(self.start))
        return np.where(self.parent < 0, -1, self.parent + first)

    @cached_property
    def depth(self) -> Ints:
        """How many nodes are above each node."""
        above = np.append(self.above, -1)
        found = (above >= 0).astype(np.int32)
        while (above >= 0).any():  # each turn doubles how far up is looked
            found += np.where(above >= 0, found[above], 0).astype(np.int32)
            above = np.where(above >= 0, above[above], -1)
        return found[:-1]

    @cached_property
    def inner(self) -> Ints:
        """How many children of each node have children."""
        some = self.above[(self.height > 0) & (self.parent >= 0)]
        return np.bincount(some, minlength=len(self.parent)).astype(np.int32)

    @cached_property
    def forms(self) -> tuple[tuple[tuple[tuple[int, ...], Any], ...], ...]:
        """The shape and type of each payload leaf of each variant's nodes."""
        return tuple(tuple((x.shape[1:], x.dtype) for x in leaves) for leaves in self.payload)

    @cached_property
    def widest(self) -> NDArray[np.int64]:
        """The most children in one `Many` of each variant's nodes."""
        found = np.zeros(len(self.variants), np.int64)
        slots = np.array([v.slots > 0 for v in self.variants], bool)[self.variant]
        many = np.arange(self.degrees.shape[1]) >= slots[:, None]
        np.maximum.at(found, self.variant, np.where(many, self.degrees, 0).max(1, initial=0))
        return found


def flatten(family: Sequence[Sum], trees: Sequence[Any], max_nodes: int = MAX_NODES) -> Flat:
    """The table of a forest, whose trees are of the functors of a family, one for each sort.

    **Raises:** `ForeignLayer` where a node is not a constructor of the family, `SignatureError` where one is of another
    sort than its place, `TreeTooLarge` where a tree is cyclic or the forest has more than `max_nodes` nodes once
    sharing is expanded.
    """
    kinds = tuple(k for functor in family for k in functor.constructors)
    sort = {k: s for s, functor in enumerate(family) for k in functor.constructors}
    for constructor in kinds:
        if (why := refuses(constructor)) is not None:
            raise ForeignLayer(why)
    nodes = _visit(kinds, trees, max_nodes)
    number = {k: i for i, k in enumerate(kinds)}
    kind = np.fromiter(map(number.__getitem__, map(type, nodes)), np.int32, len(nodes))
    variants, variant, payload, order, arity, group, place, degrees, expected = _variants(sort, kind, nodes)
    if len(family) > 1:
        found = np.array([v.sort for v in variants], np.int32)[variant]
        wrong = np.flatnonzero(found[len(trees) :] != expected[len(trees) :]) + len(trees)
        if len(wrong):
            refuse_sort(family, nodes[wrong[0]], int(found[wrong[0]]), int(expected[wrong[0]]))
    first = len(trees) + np.cumsum(arity) - arity  # breadth-first: children stand side by side
    parent = np.full(len(nodes), -1, np.int64)
    parent[len(trees) :] = np.repeat(np.arange(len(nodes)), arity)
    sizes, height, position, root = measure(len(trees), first, arity, parent)
    start = np.concatenate([[0], np.cumsum(sizes[: len(trees)])])
    row = start[root] + position
    at = np.empty_like(row)
    at[row] = np.arange(len(row))  # the node in breadth-first order of each row
    nth_of_node = np.empty(len(nodes), np.int32)
    for v, members in enumerate(order):
        by_row = np.argsort(row[members], kind="stable")
        nth_of_node[members[by_row]] = np.arange(len(members))
        at_leaves = places(variants[v].constructor, variants[v].shape, [leaf[0] for leaf in payload[v]])
        trees_of = root[members]
        payload[v] = tuple(
            _stacked(at, leaf, trees_of, len(trees))[by_row] for at, leaf in zip(at_leaves, payload[v], strict=True)
        )
    local = np.where(parent >= 0, position[parent], -1)
    return Flat(
        variants, start, _i(variant[at]), _i(height[at]), _i(local[at]), _i(group[at]), _i(place[at]),
        _i(degrees[at]), nth_of_node[at], tuple(payload),
    )  # fmt: skip


def _stacked(at: Place, values: list[Any], tree: NDArray[Any], trees: int) -> NDArray[Any]:
    """The values at one place of a layer, each in one of some trees. **Raises:** `PayloadMismatch`. With several trees,
    the message names the first whose values are wrong by themselves."""
    try:
        return stack(at, values, tree)
    except PayloadMismatch:
        if trees == 1:
            raise
        order = np.argsort(tree, kind="stable")
        numbers, begin = np.unique(tree[order], return_index=True)
        for number, some in zip(numbers, np.split(order, begin[1:]), strict=True):
            try:
                stack(at, [values[i] for i in some], tree[some])
            except PayloadMismatch as alone:
                named = "" if "of tree" in str(alone) else f"in tree {number}, "
                raise PayloadMismatch(f"{named}{alone}") from alone
        raise


def _i(x: NDArray[Any]) -> Ints:
    return x.astype(np.int32)


def _visit(kinds: tuple[type[Any], ...], trees: Sequence[Any], max_nodes: int) -> list[Any]:
    """Every node, breadth first."""
    children = {k: _children(k) for k in kinds}
    nodes = list(trees)
    grow, visited = nodes.extend, 0
    try:
        while slab := nodes[visited : visited + _SLAB]:
            visited += len(slab)
            for node in slab:
                grow(children[node.__class__](node))
            if len(nodes) > max_nodes:
                refuse_size(trees, max_nodes)
    except (KeyError, AttributeError) as error:
        unread = error
    else:
        return nodes
    refuse_foreign(kinds, trees)  # not in the handler: a reader sees this error alone
    raise unread


def _children(kind: type[Any]) -> Callable[[Any], Sequence[Any]]:
    """The children of one constructor's layer, as fast as can be."""
    record = layout(kind)
    fields = [(n, f) for n, f in zip(record.names, record.factors, strict=True) if not isinstance(f, Const)]
    if not is_plain(kind):
        return holes
    if not fields:
        return lambda _: ()
    read = attrgetter(*(n if isinstance(f, Id) else f"{n}.items" for n, f in fields))
    match [isinstance(f, Id) for _, f in fields]:
        case [True]:
            return lambda node: (read(node),)
        case [False]:
            return cast("Callable[[Any], Sequence[Any]]", read)
        case slots if all(slots):
            return cast("Callable[[Any], Sequence[Any]]", read)
        case slots:
            return lambda node: [
                x for part, one in zip(read(node), slots, strict=True) for x in ((part,) if one else part)
            ]


def _variants(sort: dict[type[Any], int], kind: Ints, nodes: list[Any]) -> tuple[Any, ...]:
    """The variants met, each one's payload and members; for each node its variant, arity, group, place and degrees,
    and the sort that its place asks for."""
    kinds = tuple(sort)
    index: dict[Variant, int] = {}
    payload: list[Any] = []
    order: list[Any] = []
    counts_of: list[Any] = []
    n = len(nodes)
    variant, arity = np.zeros(n, np.int32), np.zeros(n, np.int64)
    by_kind = np.argsort(kind, kind="stable")
    ends = np.cumsum(np.bincount(kind, minlength=len(kinds)))
    for constructor, members in zip(kinds, np.split(by_kind, ends[:-1]), strict=True):
        if len(members):
            for v, where, leaves, counts in _split(
                constructor, [nodes[i] for i in members.tolist()], sort[constructor]
            ):
                at = members[where]
                index[v] = len(index)
                variant[at] = index[v]
                arity[at] = counts.sum(1)
                payload.append(leaves)
                order.append(at)
                counts_of.append(counts)
    variants = tuple(index)
    width = max((len(v.groups) for v in variants), default=0)
    degrees = np.zeros((n, max(width, 1)), np.int32)
    edge = np.cumsum(arity) - arity
    total = int(arity.sum())
    group, place, expected = (np.zeros(n, np.int32) for _ in range(3))
    first_child = n - total
    for v, at, counts in zip(variants, order, counts_of, strict=True):
        begin = edge[at] + first_child
        for p, (g, (_, of)) in enumerate(zip(v.group_of, v.places, strict=True)):
            if g >= 0:
                child = _lay(place, begin, counts[:, p], degrees[at, g])
                group[child], expected[child] = g, of
                degrees[at, g] += counts[:, p].astype(np.int32)
                begin = begin + counts[:, p]
    return variants, variant, payload, order, arity, group, place, degrees, expected


def _lay(place: Ints, begin: Whole, counts: Whole, before: Whole) -> NDArray[np.int64]:
    """The children at one place, which stand side by side, numbered in their group after those before."""
    inside = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    child: NDArray[np.int64] = np.repeat(begin, counts) + inside
    place[child] = np.repeat(before, counts) + inside
    return child


def _split(
    constructor: type[Any], layers: list[Any], sort: int
) -> list[tuple[Variant, NDArray[np.int64], tuple[Any, ...], NDArray[np.int64]]]:
    """One constructor's layers by variant: the variant, which they are, its payload leaves, and the children at each
    of its places."""
    if is_plain(constructor):
        record = layout(constructor)
        fields = list(zip(record.names, record.factors, strict=True))
        leaves = [list(map(attrgetter(n), layers)) for n, f in fields if isinstance(f, Const)]
        if all(is_array(x) for leaf in leaves for x in _samples(leaf)):
            return _split_plain(constructor, layers, fields, leaves, sort)
    found: dict[Variant, tuple[list[int], list[Any], list[list[int]]]] = {}
    for i, layer in enumerate(layers):
        variant, payload, counts = describe(constructor, layer, sort)
        where, payloads, rows = found.setdefault(variant, ([], [], []))
        where.append(i)
        payloads.append(payload)
        rows.append(counts)
    return [
        (v, np.array(w), tuple(map(list, zip(*ls, strict=True))), np.array(cs, np.int64).reshape(len(w), -1))
        for v, (w, ls, cs) in found.items()
    ]


def _split_plain(
    constructor: type[Any], layers: list[Any], fields: list[tuple[str, Poly]], leaves: list[list[Any]], sort: int
) -> list[Any]:
    """The same for plain fields, a whole column at a time. A variant is which of the `Many`s have children."""
    recursive = [(n, f) for n, f in fields if not isinstance(f, Const)]
    places = [(True, sort_of(f.of)) if isinstance(f, ManyOf) else (False, sort_of(f)) for _, f in recursive]
    counts = np.ones((len(layers), len(places)), np.int64)
    for p, (name, f) in enumerate(recursive):
        if isinstance(f, ManyOf):
            counts[:, p] = np.fromiter(map(len, map(attrgetter(f"{name}.items"), layers)), np.int64, len(layers))
    marks = [counts[:, p] > 0 for p, (many, _) in enumerate(places) if many]
    group = np.zeros(len(layers), np.int64)  # of layers that agree in all marks: numbered anew after each of them
    for mark in marks:
        group = np.unique(2 * group + mark, return_inverse=True)[1]
    found = []
    for number in range(int(group.max()) + 1):
        where = np.flatnonzero(group == number)
        some = (counts[where[0]] > 0).tolist()
        mine = leaves if len(where) == len(layers) else [[leaf[i] for i in where.tolist()] for leaf in leaves]
        found.append((variant_of(constructor, (), places, some, sort), where, tuple(mine), counts[where]))
    return found


def _samples(leaf: list[Any]) -> list[Any]:
    """One value of each type among many."""
    return list({type(x): x for x in leaf}.values())
