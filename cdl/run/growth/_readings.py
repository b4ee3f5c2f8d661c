"""An algebra at a coalgebra's candidates: one case for each, traced once.

The carrier's form is found at the candidates that have no place, and every other case is checked against it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..._errors import CarrierMismatch, CdlError
from ...algebra._algebra import apply, name_of
from .._shapes import one_of
from ._candidates import array, Candidate, Growth, open_jaxpr, show


Arrays = list[Any]


@dataclass(frozen=True)
class Readings:
    """An algebra's cases over candidates. `cases[c](weights[c], payload, values)` are the leaves of a value."""

    candidates: tuple[Candidate, ...]
    structure: Any
    leaves: tuple[Any, ...]
    cases: tuple[Callable[..., Arrays], ...]


def readings(alg: Any, growth: Growth) -> tuple[Readings, list[Arrays]]:
    """The cases of an algebra, and the arrays that each one holds.

    **Raises:** `CarrierMismatch` where two cases differ in structure, shape or dtype; `CdlError` where every candidate
    has a place, so that no tree would end.
    """
    candidates = growth.candidates
    ending = [c for c in candidates if not c.arity]
    if not ending:
        names = ", ".join(c.constructor.__name__ for c in candidates)
        raise CdlError(
            f"every layer that the coalgebra may give has a place ({names}), so that no tree ends: let one have none."
        )
    shapes = [[growth.columns[column] for column in c.columns] for c in candidates]
    first = _shape(alg, ending[0], shapes[candidates.index(ending[0])], None, None)
    structure, leaves = jax.tree.structure(first), jax.tree.leaves(first)
    for _ in range(2):  # a Python number at a leaf takes the type that other cases give it
        for candidate, payload in zip(candidates, shapes, strict=True):
            own = _shape(alg, candidate, payload, structure, leaves)
            leaves = _joined(alg, ending[0], structure, leaves, candidate, own)
    cases = [_case(alg, c, payload, structure, leaves) for c, payload in zip(candidates, shapes, strict=True)]
    found = Readings(candidates, structure, tuple(one_of(leaves)), tuple(open_jaxpr(case) for case in cases))
    return found, [[array(x) for x in case.consts] for case in cases]


def _value(alg: Any, candidate: Candidate, structure: Any) -> Callable[..., Any]:
    def value(payload: Arrays, values: list[Arrays]) -> Any:
        return apply(alg, candidate.layer(payload, [jax.tree.unflatten(structure, list(v)) for v in values]))

    return value


def _shape(alg: Any, candidate: Candidate, payload: Any, structure: Any, leaves: Any) -> Any:
    """The form of an algebra's value at a candidate; weak types stay."""

    def value(payload: Arrays, values: list[Arrays]) -> Any:
        return jax.tree.map(jnp.asarray, _value(alg, candidate, structure)(payload, values))

    return jax.eval_shape(value, payload, [one_of(leaves or [])] * candidate.arity)


def _case(alg: Any, candidate: Candidate, payload: Any, structure: Any, leaves: Any) -> ClosedJaxpr:
    def case(payload: Arrays, values: list[Arrays]) -> Arrays:
        own = jax.tree.leaves(_value(alg, candidate, structure)(payload, values))
        return [jnp.asarray(x).astype(y.dtype) for x, y in zip(own, leaves, strict=True)]

    return jax.make_jaxpr(case)(payload, [one_of(leaves)] * candidate.arity)


def _joined(alg: Any, first: Candidate, structure: Any, leaves: Any, candidate: Candidate, own: Any) -> Any:
    """The leaves of the carrier of two cases, which are alike but for the types of Python numbers."""
    others = jax.tree.leaves(own)
    same = jax.tree.structure(own) == structure and all(x.shape == y.shape for x, y in zip(leaves, others, strict=True))
    types = [_type(x, y) for x, y in zip(leaves, others, strict=True)] if same else [None]
    if any(t is None for t in types):
        raise CarrierMismatch(
            f"`{name_of(alg)}` is no algebra: at `{first.constructor.__name__}` its value is "
            f"{show(jax.tree.unflatten(structure, one_of(leaves)))}, and at `{candidate.constructor.__name__}` "
            f"{show(jax.tree.unflatten(jax.tree.structure(own), one_of(others)))}. Give every constructor's case the "
            "same structure, shapes and dtypes."
        )
    return [y if not y.weak_type else x if x.dtype == t else y for x, y, t in zip(leaves, others, types, strict=True)]


def _type(x: Any, y: Any) -> Any:
    """The type that two numbers have together; none where both insist on their own."""
    if x.dtype == y.dtype:
        return x.dtype
    joined = jnp.promote_types(x.dtype, y.dtype)
    return joined if (x.weak_type and joined == y.dtype) or (y.weak_type and joined == x.dtype) else None
