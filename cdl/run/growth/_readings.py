"""Algebras at coalgebras' candidates: one case for each, traced once.

The form of a sort's values is found at a candidate without places, or where the forms at all its places are known;
every other case is checked against it. A value has room for one of every sort, and is zero where it is of another.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..._errors import CarrierMismatch, CdlError, SignatureError
from ...algebra._algebra import name_of, reads
from ...functor._read import signature_name
from .._shapes import one_of, shown
from .._traced import applied
from ._candidates import Candidate, Growth
from ._tracing import array, open_jaxpr


Arrays = list[Any]


@dataclass(frozen=True)
class Carrier:
    """The form of the values of one sort, and the candidate that it was found at."""

    structure: Any
    leaves: list[Any]
    first: Candidate

    def unflatten(self, leaves: Arrays) -> Any:
        return jax.tree.unflatten(self.structure, list(leaves))


@dataclass(frozen=True)
class Readings:
    """The algebras' cases over candidates. `cases[c](weights[c], payload, values)` are the leaves of a value."""

    candidates: tuple[Candidate, ...]
    carriers: tuple[Carrier, ...]
    cases: tuple[Callable[..., Arrays], ...]

    @property
    def leaves(self) -> list[Any]:
        """The shapes and types of the leaves of a value, of all sorts."""
        return one_of(x for carrier in self.carriers for x in carrier.leaves)

    def of(self, sort: int, leaves: Arrays) -> Any:
        """The value of one sort."""
        return self.carriers[sort].unflatten(leaves[room(self.carriers, sort)])


def room(carriers: tuple[Carrier, ...], sort: int) -> slice:
    """Where the leaves of a sort's values are."""
    start = sum(len(c.leaves) for c in carriers[:sort])
    return slice(start, start + len(carriers[sort].leaves))


def readings(algs: tuple[Any, ...], growth: Growth) -> tuple[Readings, list[Arrays]]:
    """The cases of an algebra for each sort, and the arrays that each one holds.

    **Raises:** `CarrierMismatch` where two cases differ in structure, shape or dtype; `CdlError` where every candidate
    has a place, so that no tree would end; `SignatureError` where an algebra reads another sort.
    """
    _expect_order(algs, growth)
    each = list(zip(growth.owners, growth.candidates, strict=True))
    payloads = [[growth.columns[column] for column in c.columns] for c in growth.candidates]
    known: dict[int, Carrier] = {}
    for _ in algs:
        for (sort, c), payload in zip(each, payloads, strict=True):
            if sort not in known and known.keys() >= set(c.sorts):
                found = _shape(algs[sort], c, payload, known)
                known[sort] = Carrier(jax.tree.structure(found), jax.tree.leaves(found), c)
    if len(known) < len(algs):
        names = ", ".join(c.constructor.__name__ for sort, c in each if sort not in known)
        raise CdlError(
            f"every layer that the coalgebra may give has a place ({names}), so that no tree ends: let one have none."
        )
    for _ in range(2):  # a Python number at a leaf takes the type that other cases give it
        for (sort, c), payload in zip(each, payloads, strict=True):
            leaves = _joined(algs[sort], known[sort], c, _shape(algs[sort], c, payload, known))
            known[sort] = dataclasses.replace(known[sort], leaves=leaves)
    carriers = tuple(known[sort] for sort in range(len(algs)))
    pairs = zip(each, payloads, strict=True)
    cases = [_case(algs[sort], sort, c, payload, carriers) for (sort, c), payload in pairs]
    found = Readings(growth.candidates, carriers, tuple(open_jaxpr(case) for case in cases))
    return found, [[array(x) for x in case.consts] for case in cases]


def _expect_order(algs: tuple[Any, ...], growth: Growth) -> None:
    if len(algs) != len(growth.counts):
        raise SignatureError(
            f"there are {len(growth.counts)} coalgebras, and the number of algebras is {len(algs)}: give one for each "
            "sort, in a tuple, in the same order."
        )
    for sort, (alg, first, count) in enumerate(zip(algs, growth.firsts, growth.counts, strict=True)):
        own = [c.constructor for c in growth.candidates[first : first + count]]
        read = reads(alg)
        if read and not set(read) & set(own):
            raise SignatureError(
                f"the coalgebra of sort {sort} grows `{signature_name(own)}`, and `{name_of(alg)}` reads "
                f"`{signature_name(read)}`: give the algebras in the order of the coalgebras."
            )


def _value(alg: Any, candidate: Candidate, carriers: Any) -> Callable[..., Any]:
    def value(payload: Arrays, values: list[Arrays]) -> Any:
        pairs = zip(candidate.sorts, values, strict=True)
        return applied(alg, candidate.layer(payload, [carriers[sort].unflatten(v) for sort, v in pairs]))

    return value


def _shape(alg: Any, candidate: Candidate, payload: Any, carriers: dict[int, Carrier]) -> Any:
    """The form of an algebra's value at a candidate; weak types stay."""

    def value(payload: Arrays, values: list[Arrays]) -> Any:
        return jax.tree.map(jnp.asarray, _value(alg, candidate, carriers)(payload, values))

    return jax.eval_shape(value, payload, [one_of(carriers[sort].leaves) for sort in candidate.sorts])


def _case(alg: Any, sort: int, candidate: Candidate, payload: Any, carriers: tuple[Carrier, ...]) -> ClosedJaxpr:
    every = one_of(x for carrier in carriers for x in carrier.leaves)

    def case(payload: Arrays, values: list[Arrays]) -> Arrays:
        below = [v[room(carriers, s)] for s, v in zip(candidate.sorts, values, strict=True)]
        own = jax.tree.leaves(_value(alg, candidate, carriers)(payload, below))
        found = [jnp.zeros(x.shape, x.dtype) for x in every]
        types = [x.dtype for x in carriers[sort].leaves]
        found[room(carriers, sort)] = [jnp.asarray(x).astype(t) for x, t in zip(own, types, strict=True)]
        return found

    return jax.make_jaxpr(case)(payload, [every] * candidate.arity)


def _joined(alg: Any, carrier: Carrier, candidate: Candidate, own: Any) -> list[Any]:
    """The leaves of the carrier of two cases, which are alike but for the types of Python numbers."""
    leaves, others = carrier.leaves, jax.tree.leaves(own)
    same = jax.tree.structure(own) == carrier.structure
    same = same and all(x.shape == y.shape for x, y in zip(leaves, others, strict=True))
    types = [_type(x, y) for x, y in zip(leaves, others, strict=True)] if same else [None]
    if any(t is None for t in types):
        found = jax.tree.unflatten(jax.tree.structure(own), one_of(others))
        raise CarrierMismatch(
            f"`{name_of(alg)}` is no algebra: at `{carrier.first.constructor.__name__}` its value is "
            f"{shown(carrier.unflatten(one_of(leaves)))}, and at `{candidate.constructor.__name__}` {shown(found)}. "
            "Give every constructor's case the same structure, shapes and dtypes."
        )
    return [y if not y.weak_type else x if x.dtype == t else y for x, y, t in zip(leaves, others, types, strict=True)]


def _type(x: Any, y: Any) -> Any:
    """The type that two numbers have together; none where both insist on their own."""
    if x.dtype == y.dtype:
        return x.dtype
    joined = jnp.promote_types(x.dtype, y.dtype)
    return joined if (x.weak_type and joined == y.dtype) or (y.weak_type and joined == x.dtype) else None
