"""Cases: an algebra at one variant, traced for one node."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..._schemes.algebras import name_of
from ...errors import CarrierMismatch, CdlError
from ..arrays._carrier import advice, Carrier, cast, misfit
from ..arrays.shapes import Arrays
from ..calls._traced import applied
from ..forests._bucket import Bucket, Size
from ..jaxprs._jaxprs import renamed
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


def read(t: Reading) -> tuple[Storage, list[Program], list[Arrays]]:
    """The carriers of the algebras, their programs over a bucket's variants, and the weights of each program.

    The structure of a sort's values is found at the cases whose children's are known, first those that have no child,
    and every other case is checked against it.

    **Raises:** `CarrierMismatch` where two cases differ, naming both.
    """
    first: dict[int, str] = {}
    carriers = _found(t, first)
    variants = range(len(t.bucket.variants))
    before, cases = dict(carriers), [_trace(t, i, carriers, PROBE) for i in variants]
    for i, (_, own) in enumerate(cases):
        _join(t, first, carriers, i, own)
    carriers = {sort: carrier.strong() for sort, carrier in carriers.items()}
    if carriers != before:  # a Python number at a leaf takes the type that other cases return
        cases = [_trace(t, i, carriers, PROBE) for i in variants]
    storage = Storage(carriers)
    _expect_held(t, carriers, [own for _, own in cases])
    out = [storage.columns(v.sort) for v in t.bucket.variants]
    found = [(i, wiring(t.bucket, i, storage, out[i]), case) for i, (case, _) in enumerate(cases)]
    every, weights = programs(t.bucket, found, forward=t.forward)
    again: Trace = lambda i, size: _trace(t, i, carriers, size)[0]
    trace_alone(every, t.bucket, int(t.key is not None), again)
    return storage, every, weights


def _found(t: Reading, first: dict[int, str]) -> dict[int, Carrier]:
    """The carrier of each sort that the forest has, and in `first` the variant at which it was found."""
    variants = t.bucket.variants
    carriers: dict[int, Carrier] = {}
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
            _join(t, first, carriers, i, _trace(t, i, carriers, PROBE)[1])
    return carriers


def _trace(t: Reading, index: int, carriers: dict[int, Carrier], size: Size) -> tuple[ClosedJaxpr, Carrier]:
    """The case of one variant as a jaxpr whose values have the carrier's types, and what it gives by itself."""
    v = t.bucket.variants[index]
    carrier = carriers.get(v.sort)
    own: list[Carrier] = []

    def leaves(node: Node) -> list[Any]:
        layer, _ = node.layer(v, carriers)
        out = applied(t.algs[v.sort], layer, node.keys[0] if node.keys else None)
        own.append(Carrier.of(out))
        arrays = jax.tree.leaves(out)
        if carrier is None or len(arrays) != len(carrier.leaves):
            return list(map(jnp.asarray, arrays))
        return list(map(cast, arrays, carrier.leaves))

    case = renamed(jax.make_jaxpr(leaves)(node_of(t.bucket, index, carriers, size, t.key)))
    return case, own[0]


def _join(t: Reading, first: dict[int, str], carriers: dict[int, Carrier], index: int, own: Carrier) -> None:
    """Joins a case's carrier to that of its sort, which is to have the same structure and shapes."""
    v = t.bucket.variants[index]
    carrier = carriers.setdefault(v.sort, own)
    if not carrier.alike(own):
        raise _mismatch(t, v.sort, (first[v.sort], carrier), (str(v), own), advice())
    carriers[v.sort] = carrier.joined(own)


def _expect_held(t: Reading, carriers: dict[int, Carrier], cases: list[Carrier]) -> None:
    """**Raises:** `CarrierMismatch` where a case gives numbers that are others in the type that all cases have."""
    of_sort = {s: [(str(v), x) for v, x in zip(t.bucket.variants, cases, strict=True) if v.sort == s] for s in carriers}
    for sort, every in of_sort.items():
        leaves = carriers[sort].leaves
        for name, own in every:
            if (i := misfit(leaves, own)) is not None:
                other = next((o for o in every if o[1].leaves[i].dtype == leaves[i].dtype), every[0])
                raise _mismatch(t, sort, other, (name, own), advice(leaves[i], own.leaves[i]))


def _mismatch(t: Reading, sort: int, a: tuple[str, Carrier], b: tuple[str, Carrier], what: str) -> CarrierMismatch:
    there = f"`{b[0]}`" if a[0] != b[0] else f"another variant of `{b[0]}`"
    return CarrierMismatch(
        f"`{name_of(t.algs[sort])}` is not an algebra: at `{a[0]}` its value is {a[1]}, and at {there} {b[1]}. {what}"
    )
