"""Algebras at coalgebras' candidates: one case for each, traced once.

The form of a sort's values is found at a candidate without places, or where the forms at all its places are known;
every other case is checked against it. A value has room for one of every sort, and is zero where it is of another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..._functors.read import signature_name
from ..._schemes.algebras import name_of, reads
from ...errors import CarrierMismatch, CdlError, SignatureError
from ..arrays._carrier import advice, Carrier, cast, misfit, own_of
from ..arrays.shapes import Arrays, one_of
from ..calls._traced import applied
from ..jaxprs._jaxprs import opened, renamed
from ..jaxprs._stacks import unpicked
from ._candidates import Candidate, Growth
from ._tracing import array


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
    first: dict[int, Candidate] = {}  # at which each was found
    for _ in algs:
        for (sort, c), payload in zip(each, payloads, strict=True):
            if sort not in known and known.keys() >= set(c.sorts):
                known[sort], first[sort] = _shape(algs[sort], c, payload, known), c
    if len(known) < len(algs):
        names = ", ".join(c.constructor.__name__ for sort, c in each if sort not in known)
        raise CdlError(
            f"every layer that the coalgebra may give has a place ({names}), so that no tree ends: let one have none."
        )
    before = dict(known)
    for (sort, c), payload in zip(each, payloads, strict=True):
        own = _shape(algs[sort], c, payload, before)
        if not known[sort].alike(own):
            raise _mismatch(algs[sort], first[sort], known[sort], c, own, advice())
        known[sort] = known[sort].joined(own)
    known = {sort: carrier.strong() for sort, carrier in known.items()}
    for (sort, c), payload in zip(each, payloads, strict=True):
        own, leaves = _shape(algs[sort], c, payload, known), known[sort].leaves
        if (i := misfit(leaves, own)) is not None:
            raise _mismatch(algs[sort], first[sort], known[sort], c, own, advice(leaves[i], own.leaves[i]))
    carriers = tuple(known[sort] for sort in range(len(algs)))
    pairs = zip(each, payloads, strict=True)
    cases = [_case(algs[sort], sort, c, payload, carriers) for (sort, c), payload in pairs]
    read = Readings(growth.candidates, carriers, tuple(map(opened, cases)))
    return read, [list(map(array, case.consts)) for case in cases]


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


def _value(alg: Callable[..., Any], candidate: Candidate, carriers: Any) -> Callable[..., Any]:
    def value(payload: Arrays, values: list[Arrays]) -> Any:
        pairs = zip(candidate.sorts, values, strict=True)
        return applied(alg, candidate.layer(payload, [carriers[sort].unflatten(v) for sort, v in pairs]))

    return value


def _shape(alg: Callable[..., Any], candidate: Candidate, payload: Any, carriers: dict[int, Carrier]) -> Carrier:
    """What an algebra gives at a candidate."""
    below = [one_of(carriers[sort].leaves) for sort in candidate.sorts]
    return own_of(_value(alg, candidate, carriers), payload, below)


def _case(
    alg: Callable[..., Any], sort: int, candidate: Candidate, payload: Any, carriers: tuple[Carrier, ...]
) -> ClosedJaxpr:
    every = one_of(x for carrier in carriers for x in carrier.leaves)

    def case(payload: Arrays, values: list[Arrays]) -> Arrays:
        below = [v[room(carriers, s)] for s, v in zip(candidate.sorts, values, strict=True)]
        own = jax.tree.leaves(_value(alg, candidate, carriers)(payload, below))
        found = [jnp.zeros(x.shape, x.dtype) for x in every]
        found[room(carriers, sort)] = list(map(cast, own, carriers[sort].leaves))
        return found

    return unpicked(renamed(jax.make_jaxpr(case)(payload, [every] * candidate.arity)))


def _mismatch(
    alg: Callable[..., Any], first: Candidate, carrier: Carrier, candidate: Candidate, own: Carrier, what: str
) -> CarrierMismatch:
    """That of a case which does not fit the carrier, found at the `first` candidate."""
    return CarrierMismatch(
        f"`{name_of(alg)}` is not an algebra: at `{first.constructor.__name__}` its value is {carrier}, and at "
        f"`{candidate.constructor.__name__}` {own}. {what}"
    )
