"""A case at one node, where what its parent does not read has no gradient: see `_reach`."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive
from jax.interpreters import ad, batching, mlir

from ..arrays._rows import masked
from ..arrays.shapes import Arrays, is_smooth, shaped
from ._jaxprs import bind, CALLS, evaluated, rule_of, variables, without_constants
from ._parts import Part, trace
from ._reach import active, gate, Reach, reach, through, union
from ._slopes import steep


LARGE = 4096  # numbers in an array, above which no row has a copy of it


def gated(case: ClosedJaxpr, columns: Sequence[int], bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    """The outputs of a case, from its constants and inputs. `columns` are those of the outputs, and `bits` says which
    of them are read.

    The children of a `Many`, which all rows of a chunk have in common, have no gate, and neither have large weights, of
    which each row would have a copy.
    """
    return _gated(without_constants(case.jaxpr), reach(case.jaxpr, columns), bits, given)


def with_gates(part: Part, infinite: bool) -> tuple[Part, Arrays, int]:
    """The part with gates where slopes may be infinite, and the arrays that it closes over, its first inputs.

    It has two inputs more, outputs as bits: the last of the shared ones says which are read at some row, and the first
    of a row's which are read there. Of which outputs a gate asks that, is given too. `infinite`: what a row reads may
    be. A weight larger than what is made of it has no gate there: each row would have a copy.
    """
    wild = part.jaxpr.invars[part.shared :] if infinite else []
    known = reach(part.jaxpr, range(len(part.jaxpr.outvars)))
    gates = {id(eqn): through(known, eqn) for eqn in steep(part.jaxpr, wild) if through(known, eqn)}

    def run(*inputs: Any) -> list[Any]:
        (some, own), weights = inputs[part.shared : part.shared + 2], set(part.jaxpr.invars[: part.shared])

        def step(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
            alone = weights.issuperset(variables(eqn.invars))
            weights.update(eqn.outvars if alone else ())
            if id(eqn) not in gates:
                return bind(eqn, values)
            read, most = active(some if alone else own, gates[id(eqn)]), sum(v.aval.size for v in eqn.outvars)
            free = [_is_real(v) and (alone or v not in weights or v.aval.size <= most) for v in eqn.invars]
            return bind(eqn, [_where_read.bind(x, read) if yes else x for x, yes in zip(values, free, strict=True)])

        return evaluated(part.jaxpr, [*inputs[: part.shared], *inputs[part.shared + 2 :]], step)[0]

    bits = shaped((), jnp.int32)
    found, held = trace(run, *part.inputs[: part.shared], bits, bits, *part.inputs[part.shared :])
    return Part(found.jaxpr, len(held) + part.shared + 1), held, union(gates.values())


def _gated(jaxpr: Jaxpr, known: Reach, bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    without = _children(jaxpr)

    def step(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
        if eqn.primitive.name in CALLS:
            inner = eqn.params[CALLS[eqn.primitive.name]]
            own = without_constants(getattr(inner, "jaxpr", inner))
            return _gated(own, known, bits, [*getattr(inner, "consts", ()), *values])
        reached = through(known, eqn)
        some = [_has_gate(v) and v not in without and reached > 0 for v in eqn.invars]
        return bind(eqn, [gate(x, bits, reached) if yes else x for x, yes in zip(values, some, strict=True)])

    return evaluated(jaxpr, given, step)[0]


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
    return _is_real(v) and v.aval.size <= LARGE


def _is_real(v: Any) -> bool:
    return not isinstance(v, Literal) and is_smooth(v.aval)


def _slopes(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    x, read = primals
    return _where_read.bind(x, read), masked(read, tangents[0])


def _at_rows(values: Sequence[Any], axes: Sequence[int | None]) -> tuple[Any, int]:
    size = next(x.shape[axis] for x, axis in zip(values, axes, strict=True) if axis is not None)
    return _where_read.bind(*(batching.bdim_at_front(x, axis, size) for x, axis in zip(values, axes, strict=True))), 0


_where_read = Primitive("where_read")  # a value that has a gradient where it is read, which the derivative alone asks
_where_read.def_impl(lambda x, read: x)
_where_read.def_abstract_eval(lambda x, read: x)
ad.primitive_jvps[_where_read] = _slopes
batching.primitive_batchers[_where_read] = _at_rows
mlir.register_lowering(_where_read, lambda ctx, x, read: [x])
