"""Sums over the edges of one `Many`, side by side in a case's jaxpr, so that they can be made as one."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jax.extend import core

from ..jaxprs._jaxprs import rule_of


def together(jaxpr: core.Jaxpr) -> core.Jaxpr:
    """The jaxpr with its sums as late as may be, behind all that does not wait for one: those that do not wait for each
    other stand side by side."""
    rest, eqns = list(jaxpr.eqns), []
    while rest:
        ready, rest = _split(rest, _is_sum)
        sums, rest = _split(rest, lambda eqn: not _is_sum(eqn))
        eqns += ready + sums
    return jaxpr.replace(eqns=eqns)


def side_by_side(eqns: Iterable[core.JaxprEqn]) -> list[list[core.JaxprEqn]]:
    """The equations one by one, but for sums over the same edges, of which none waits for another."""
    found: list[list[core.JaxprEqn]] = []
    for eqn in eqns:
        if found and _joins(found[-1], eqn):
            found[-1].append(eqn)
        else:
            found.append([eqn])
    return found


def _split(
    eqns: Sequence[core.JaxprEqn], later: Callable[[core.JaxprEqn], bool]
) -> tuple[list[core.JaxprEqn], list[core.JaxprEqn]]:
    """Those that can be computed before those that are to be later, and the others."""
    missing: set[Any] = set()
    first, rest = [], []
    for eqn in eqns:
        if later(eqn) or not missing.isdisjoint(_read(eqn)):
            missing.update(eqn.outvars)
            rest.append(eqn)
        else:
            first.append(eqn)
    return first, rest


def _is_sum(eqn: core.JaxprEqn) -> bool:
    rule = rule_of(eqn)
    return hasattr(rule, "step") and rule.reduction == "sum"


def _joins(sums: Sequence[core.JaxprEqn], eqn: core.JaxprEqn) -> bool:
    if not _is_sum(sums[0]) or not _is_sum(eqn) or sums[0].invars[1] is not eqn.invars[1]:
        return False
    return _read(eqn).isdisjoint(v for own in sums for v in own.outvars)


def _read(eqn: core.JaxprEqn) -> set[Any]:
    return {v for v in eqn.invars if not isinstance(v, core.Literal)}
