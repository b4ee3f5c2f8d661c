"""Cases: an algebra at one variant, traced for one node."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..._errors import CarrierMismatch, CdlError
from ...algebra._algebra import name_of
from ...functor._many import Many
from .._shapes import one_of, rows_of, shaped
from .._traced import applied
from ..forests._bucket import Bucket, Size
from ._carrier import Carrier, show, Storage, stronger
from ._edges import Edges
from ._program import PROBES, Program, programs, Wiring


@dataclass(frozen=True)
class Reading:
    """The algebras of each sort, the bucket they are to read, and whether they are given keys."""

    algs: tuple[Any, ...]
    bucket: Bucket
    keyed: bool


def read(t: Reading) -> tuple[Storage, list[Program]]:
    """The carriers of the algebras, and their programs over a bucket's variants.

    The structure of a sort's values is found at the cases whose children's are known, first those that have no child,
    and every other case is checked against it.

    **Raises:** `CarrierMismatch` where two cases differ, naming both.
    """
    carriers, first = _found(t)
    while True:  # until a Python number at a leaf has the type that other cases give it
        cases = [_trace(t, i, carriers, PROBES[0]) for i in range(len(t.bucket.variants))]
        joined = dict(carriers)
        for i, (_, own) in enumerate(cases):
            _join(t, first, joined, i, own)
        if all(joined[s].types == carriers[s].types for s in carriers):
            break
        carriers = joined
    storage = Storage(carriers)
    found = [(i, wiring(t.bucket, i, storage), case) for i, (case, _) in enumerate(cases)]
    return storage, programs(t.bucket, found, lambda i, size: _trace(t, i, carriers, size)[0])


def _found(t: Reading) -> tuple[dict[int, Carrier], dict[int, str]]:
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
            _join(t, first, carriers, i, _trace(t, i, carriers, PROBES[0])[1])
    return carriers, first


def wiring(bucket: Bucket, index: int, storage: Storage) -> Wiring:
    """The columns of one variant: of its payload, and of the states that it reads and writes."""
    v = bucket.variants[index]
    slots, manys = (tuple(map(storage.columns, some)) for some in (v.slot_sorts, v.many_sorts))
    return Wiring(bucket.columns(index), slots, manys, storage.columns(v.sort))


def _node(t: Reading, index: int, carriers: dict[int, Carrier]) -> Callable[..., Any]:
    """The algebra at one variant, on one node's inputs."""
    v = t.bucket.variants[index]

    def node(row: Any, payload: Any, slots: Any, keys: Any, edges: Any) -> Any:
        values = [carriers[s].unflatten(x) for s, x in zip(v.slot_sorts, slots, strict=True)]
        pairs = zip(v.many_sorts, edges, strict=True)
        manys = [Many.over(Edges(row, segment, carriers[s].unflatten(c))) for s, (segment, c) in pairs]
        return applied(t.algs[v.sort], v.layer(list(payload), values, manys), keys[0] if keys else None)

    return node


def _trace(t: Reading, index: int, carriers: dict[int, Carrier], size: Size) -> tuple[ClosedJaxpr, Carrier]:
    """The case of one variant as a jaxpr whose values have the carrier's types, and the carrier of its own values."""
    node, carrier = _node(t, index, carriers), carriers.get(t.bucket.variants[index].sort)
    own: list[Carrier] = []

    def leaves(*inputs: Any) -> list[Any]:
        out, structure = jax.tree.flatten(node(*inputs))
        arrays = [jnp.asarray(x) for x in out]
        own.append(Carrier(structure, tuple(jax.typeof(x) for x in arrays)))
        if carrier is None or len(arrays) != len(carrier.leaves):
            return arrays
        return [x.astype(a.dtype) for x, a in zip(arrays, carrier.leaves, strict=True)]

    return jax.make_jaxpr(leaves)(*_inputs(t, index, carriers, size)), own[0]


def _inputs(t: Reading, index: int, carriers: dict[int, Carrier], size: Size) -> Any:
    """The shapes of one node's inputs: row, payload, slots, key, and the chunk's edges."""
    v = t.bucket.variants[index]
    payload = [shaped(shape, dtype) for shape, dtype in t.bucket.payload[index]]
    lengths = [size.edges_of(g) for g in range(v.manys)]
    pairs = zip(lengths, v.many_sorts, strict=True)
    many = [(shaped((n,), jnp.int32), rows_of(n, carriers[s].leaves)) for n, s in pairs]
    keys = [jax.eval_shape(lambda: jax.random.key(0))] if t.keyed else []
    return shaped((), jnp.int32), payload, [one_of(carriers[s].leaves) for s in v.slot_sorts], keys, many


def _join(t: Reading, first: dict[int, str], carriers: dict[int, Carrier], index: int, own: Carrier) -> None:
    """Joins a case's carrier to that of its sort: the same structure and shapes, and the same types up to Python
    numbers'."""
    v = t.bucket.variants[index]
    a = carriers.setdefault(v.sort, own)
    same = a.structure == own.structure and all(x.shape == y.shape for x, y in zip(a.leaves, own.leaves, strict=True))
    joined = [stronger(x, y) for x, y in zip(a.leaves, own.leaves, strict=True)] if same else [None]
    if None in joined:
        raise CarrierMismatch(
            f"`{name_of(t.algs[v.sort])}` is no algebra: at `{first[v.sort]}` its value is {show(a)}, and at `{v}` "
            f"{show(own)}. Give every constructor's case the same structure, shapes and dtypes."
        )
    carriers[v.sort] = Carrier(a.structure, tuple(joined))
