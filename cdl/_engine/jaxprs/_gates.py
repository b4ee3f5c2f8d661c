"""A case at one node, where what its parent does not read has no gradient: see `_reach`."""

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var

from ..arrays.shapes import is_smooth
from ._jaxprs import bind, CALLS, rule_of, variables, without_constants
from ._reach import gate, Reach, reach, through


LARGE = 4096  # numbers in an array, above which no row has a copy of it


def gated(case: ClosedJaxpr, columns: Sequence[int], bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    """The outputs of a case, from its constants and inputs. `columns` are those of the outputs, and `bits` says which
    of them are read.

    The children of a `Many`, which all rows of a chunk have in common, have no gate, and neither have large weights, of
    which each row would have a copy.
    """
    return _evaluated(without_constants(case.jaxpr), reach(case.jaxpr, columns), bits, given)


def _evaluated(jaxpr: Jaxpr, known: Reach, bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    values: dict[Var, Any] = dict(zip(jaxpr.invars, given, strict=True))
    without = _children(jaxpr)

    def value(v: Any) -> Any:
        return v.val if isinstance(v, Literal) else values[v]

    for eqn in jaxpr.eqns:
        if eqn.primitive.name in CALLS:
            inner = eqn.params[CALLS[eqn.primitive.name]]
            own = without_constants(getattr(inner, "jaxpr", inner))
            found = _evaluated(own, known, bits, [*getattr(inner, "consts", ()), *map(value, eqn.invars)])
        else:
            reached = through(known, eqn)
            some = [_has_gate(v) and v not in without and reached > 0 for v in eqn.invars]
            ins = [gate(value(v), bits, reached) if yes else value(v) for v, yes in zip(eqn.invars, some, strict=True)]
            found = bind(eqn, ins, [None] * len(ins))
        values.update(zip(eqn.outvars, found, strict=True))
    return list(map(value, jaxpr.outvars))


def _children(jaxpr: Jaxpr) -> set[Any]:
    """The children of `Many`s, as they are and in another type."""
    found: set[Any] = set()
    for eqn in reversed(jaxpr.eqns):
        rule = rule_of(eqn)
        if hasattr(rule, "step"):
            found.update(variables(eqn.invars[2 + rule.starts : len(eqn.invars) - rule.consts]))
        elif not found.isdisjoint(eqn.outvars):
            found.update(variables(eqn.invars))
    return found


def _has_gate(v: Any) -> bool:
    return not isinstance(v, Literal) and is_smooth(v.aval) and v.aval.size <= LARGE
