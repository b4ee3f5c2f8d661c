"""A case at one node, where what its parent does not read has no gradient: see `_reach`."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from ..arrays.shapes import is_smooth
from ._jaxprs import bind, CALLS, evaluated, rule_of, variables, without_constants
from ._reach import gate, Reach, reach, through
from ._slopes import is_linear


LARGE = 4096  # numbers in an array, above which no row has a copy of it


def gated(case: ClosedJaxpr, columns: Sequence[int], bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    """The outputs of a case, from its constants and inputs. `columns` are those of the outputs, and `bits` says which
    of them are read.

    The children of a `Many` have theirs where the step of a reduction reads them, at each edge. Large weights have no
    gate, as each row would have a copy.
    """
    return gated_by(without_constants(case.jaxpr), reach(case.jaxpr, columns), bits, given)


def by_reach(eqn: JaxprEqn, known: Reach, run: Callable[[int], list[Any]]) -> list[Any]:
    """The outputs of an equation, which is computed once for those that reach the same columns: so none has the slopes
    of another. Those that reach none are computed with the first."""
    each = [known.get(v, 0) for v in eqn.outvars]
    found = {reached: run(reached) for reached in dict.fromkeys(x for x in each if x) or [0]}
    first = next(iter(found.values()))
    return [found.get(reached, first)[i] for i, reached in enumerate(each)]


def gated_by(jaxpr: Jaxpr, known: Reach, bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    """The outputs of a jaxpr without constants, whose variables reach what is `known`, from its inputs."""
    without = _children(jaxpr)

    def step(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
        if eqn.primitive.name in CALLS:
            inner = eqn.params[CALLS[eqn.primitive.name]]
            own = without_constants(getattr(inner, "jaxpr", inner))
            return gated_by(own, known, bits, [*getattr(inner, "consts", ()), *values])
        rule = rule_of(eqn)
        if hasattr(rule, "step") and through(known, eqn):
            return _reduction(rule, known, bits, values)
        some = [_has_gate(v) and v not in without for v in eqn.invars]

        def run(reached: int) -> list[Any]:
            gates = [yes and reached > 0 for yes in some]
            return bind(eqn, [gate(x, bits, reached) if yes else x for x, yes in zip(values, gates, strict=True)])

        return run(through(known, eqn)) if is_linear(eqn) else by_reach(eqn, known, run)

    return evaluated(jaxpr, given, step)[0]


def with_bits(jaxpr: Jaxpr, known: Reach) -> Callable[..., list[Any]]:
    """A jaxpr as a function of the bits and of its inputs, with gates."""
    return lambda bits, *given: gated_by(jaxpr, known, bits, given)


def _reduction(rule: Any, known: Reach, bits: jax.Array, values: Sequence[Any]) -> list[Any]:
    """A reduction of a `Many`, whose step has gates at each edge."""
    row, start, segment = values[0], list(values[1 : 1 + rule.starts]), values[1 + rule.starts]
    rest = values[2 + rule.starts :]
    number = len(rest) - rule.consts

    run = with_bits(rule.step.jaxpr, known)
    step: Callable[[Any, Any, list[Any]], Any] = lambda x, value, given: run(*given, *jax.tree.leaves((x, value)))
    found: list[Any] = rule.remade(step)(row, start or None, segment, list(rest[:number]), [bits, *rest[number:]])
    return found


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
    return _is_real(v) and _size(v) <= LARGE


def _size(v: Any) -> int:
    return int(v.aval.size)


def _is_real(v: Any) -> bool:
    return not isinstance(v, Literal) and is_smooth(v.aval)
