"""Cases: an algebra at one variant, traced for one node."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..._schemes.algebras import name_of
from ...errors import CarrierMismatch, CdlError
from ..arrays.shapes import Arrays
from ..calls._traced import applied
from ..forests._bucket import Bucket, Size
from ..jaxprs._rowwise import expect_rowwise
from ..jaxprs._steady import steadied
from ..numbers._carrier import Carrier
from ..numbers._types import advice, cast, misfit, Own
from ._node import Node, node_of, wiring
from ._program import PROBE, Program, programs, Trace
from ._sites import trace_alone
from ._storage import Storage


@dataclass(frozen=True)
class Reading:
    """The algebras of each sort, the bucket they are to read, the keys that they are given, and whether forward mode is
    to go through."""

    algs: tuple[Any, ...]
    bucket: Bucket
    key: Any  # the shape of a node's key; none where none is given
    forward: bool = False


Seen = dict[int, tuple[Any, ClosedJaxpr, Own]]  # by variant: the types that it read, its case, and what it gives


def read(t: Reading) -> tuple[Storage, list[Program], list[Arrays]]:
    """The carriers of the algebras, their programs over a bucket's variants, and the weights of each program.

    The structure of a sort's values is found at the cases whose children's are known, first those that have no child,
    and every other case is checked against it.

    **Raises:** `CarrierMismatch` where two cases differ, naming both.
    """
    seen: Seen = {}
    carriers, first = _found(t, seen)
    storage = Storage(carriers)
    while True:  # until a Python number at a leaf has the type that other cases give it
        cases = [_traced(t, i, carriers, seen) for i in range(len(t.bucket.variants))]
        known = dict(carriers)
        for i, (_, own) in enumerate(cases):
            _join(t, first, known, i, own)
        before, storage, carriers = storage, Storage(known), known
        if not storage.differs(before):
            break
    _expect_held(t, carriers, [own for _, own in cases])
    out = [storage.columns(v.sort) for v in t.bucket.variants]
    found = [(i, wiring(t.bucket, i, storage, out[i]), case) for i, (case, _) in enumerate(cases)]
    every, weights = programs(t.bucket, found, forward=t.forward)
    again: Trace = lambda i, size: _trace(t, i, carriers, size)[0]
    trace_alone(every, t.bucket, int(t.key is not None), again)
    return storage, every, weights


def _found(t: Reading, seen: Seen) -> tuple[dict[int, Carrier], dict[int, str]]:
    """The carrier of each sort that the forest has, and the variant at which it was found."""
    variants = t.bucket.variants
    carriers: dict[int, Carrier] = {}
    first: dict[int, str] = {}
    while unknown := {v.sort for v in variants} - carriers.keys():
        ready = [
            i for i, v in enumerate(variants) if v.sort in unknown and {*v.slot_sorts, *v.many_sorts} <= carriers.keys()
        ]
        if not ready:
            raise CdlError(
                "the carrier's structure is found at a constructor without children, and the forest has none: give "
                "`pack` a `bucket`."
            )
        for i in ready:
            first.setdefault(variants[i].sort, str(variants[i]))
            _join(t, first, carriers, i, _traced(t, i, carriers, seen)[1])
    return carriers, first


def _traced(t: Reading, index: int, carriers: dict[int, Carrier], seen: Seen) -> tuple[ClosedJaxpr, Own]:
    """The case of one variant at `PROBE`. The one in `seen` is used again while the types that it reads and gives are
    the same."""
    v = t.bucket.variants[index]
    reads = tuple(carriers[s].leaves for s in (*v.slot_sorts, *v.many_sorts))
    if index in seen and seen[index][0] == reads:
        case, own = seen[index][1:]
        if all(x.dtype == y.dtype for x, y in zip(case.out_avals, carriers[v.sort].leaves, strict=True)):
            return case, own
    case, own = _trace(t, index, carriers, PROBE)
    seen[index] = reads, case, own
    return case, own


def _trace(t: Reading, index: int, carriers: dict[int, Carrier], size: Size) -> tuple[ClosedJaxpr, Own]:
    """The case of one variant as a jaxpr whose values have the carrier's types, and what it gives by itself."""
    v = t.bucket.variants[index]
    carrier = carriers.get(v.sort)
    own: list[Own] = []

    def leaves(node: Node) -> list[Any]:
        layer, _ = node.layer(v, carriers)
        out = applied(t.algs[v.sort], layer, node.keys[0] if node.keys else None)
        own.append(Own.of(out))
        arrays = jax.tree.leaves(out)
        if carrier is None or len(arrays) != len(carrier.leaves):
            return list(map(jnp.asarray, arrays))
        return list(map(cast, arrays, carrier.leaves))

    case = steadied(jax.make_jaxpr(leaves)(node_of(t.bucket, index, carriers, size, t.key)))
    where = f"in `{name_of(t.algs[v.sort])}`, at `{v}`"
    expect_rowwise(case.jaxpr, where)
    return case, own[0]


def _join(t: Reading, first: dict[int, str], carriers: dict[int, Carrier], index: int, own: Own) -> None:
    """Joins a case's carrier to that of its sort, which is to have the same structure and shapes."""
    v = t.bucket.variants[index]
    carrier = carriers.setdefault(v.sort, Carrier.of(own))
    if not carrier.own.alike(own):
        raise _mismatch(t, v.sort, (first[v.sort], carrier.own), (str(v), own), advice())
    carriers[v.sort] = carrier.joined(own)


def _expect_held(t: Reading, carriers: dict[int, Carrier], cases: list[Own]) -> None:
    """**Raises:** `CarrierMismatch` where a case gives numbers that are others in the type that all cases have."""
    of_sort = {s: [(str(v), x) for v, x in zip(t.bucket.variants, cases, strict=True) if v.sort == s] for s in carriers}
    for sort, every in of_sort.items():
        leaves = carriers[sort].leaves
        for name, own in every:
            if (i := misfit(leaves, own)) is not None:
                other = next((o for o in every if o[1].leaves[i].dtype == leaves[i].dtype), every[0])
                raise _mismatch(t, sort, other, (name, own), advice(leaves[i], own.leaves[i]))


def _mismatch(t: Reading, sort: int, a: tuple[str, Own], b: tuple[str, Own], what: str) -> CarrierMismatch:
    there = f"`{b[0]}`" if a[0] != b[0] else f"another `{b[0]}`, whose payload is of another type,"
    return CarrierMismatch(
        f"`{name_of(t.algs[sort])}` is not an algebra: at `{a[0]}` its value is {a[1]}, and at {there} {b[1]}. {what}"
    )
