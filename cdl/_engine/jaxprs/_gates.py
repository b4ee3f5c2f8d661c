"""A case at one node, where what its parent does not read has no gradient: see `_reach`."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from ..arrays._rows import differentiated
from ..arrays.shapes import Arrays, is_smooth, shaped
from ._jaxprs import bind, CALLS, evaluated, rule_of, variables, without_constants
from ._parts import Part, trace
from ._reach import active, gate, Reach, reach, through, union
from ._slopes import is_linear


LARGE = 4096  # numbers in an array, above which no row has a copy of it


def gated(case: ClosedJaxpr, columns: Sequence[int], bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    """The outputs of a case, from its constants and inputs. `columns` are those of the outputs, and `bits` says which
    of them are read.

    The children of a `Many` have theirs where the step of a reduction reads them, at each edge. Large weights have no
    gate, as each row would have a copy.
    """
    return gated_by(without_constants(case.jaxpr), reach(case.jaxpr, columns), bits, given)


def gated_part(part: Part, known: Reach) -> tuple[Part, Arrays, int]:
    """The part with gates, and the arrays that it closes over, its first inputs. `known`: what its variables reach.

    It has two inputs more, outputs as bits: the last of the shared ones says which are read at some row, and the first
    of a row's which are read there. Of which outputs a gate asks that, is given too. An equation has a gate where it
    has a slope that might be infinite or NaN, and one by itself for each of its outputs that reaches others. A weight
    larger than what is made of it has none: each row would have a copy.
    """
    asked = set[int]()

    def run(*inputs: Any) -> list[Any]:
        (some, own), weights = inputs[part.shared : part.shared + 2], set(part.jaxpr.invars[: part.shared])

        def step(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
            alone = weights.issuperset(variables(eqn.invars))
            weights.update(eqn.outvars if alone else ())
            if is_linear(eqn):
                return bind(eqn, values)
            most = sum(map(_size, eqn.outvars))
            free = [_is_real(v) and (alone or v not in weights or _size(v) <= most) for v in eqn.invars]

            def gated(reached: int) -> list[Any]:
                if not reached:
                    return bind(eqn, values)
                asked.add(reached)
                read = active(some if alone else own, reached)
                return bind(eqn, [differentiated(read, x) if yes else x for x, yes in zip(values, free, strict=True)])

            return by_reach(eqn, known, gated)

        return evaluated(part.jaxpr, [*inputs[: part.shared], *inputs[part.shared + 2 :]], step)[0]

    bits = shaped((), jnp.int32)
    found, held = trace(run, *part.inputs[: part.shared], bits, bits, *part.inputs[part.shared :])
    return Part(found.jaxpr, len(held) + part.shared + 1), held, union(asked)


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
