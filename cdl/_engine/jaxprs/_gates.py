"""A case at one node, where what its parent does not read has no gradient: see `_reach`."""

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive, Var
from jax.interpreters import ad, batching, mlir

from ..arrays._rows import masked
from ..arrays.shapes import Arrays, is_smooth, shaped
from ._jaxprs import bind, CALLS, rule_of, variables, without_constants
from ._parts import equation, Part, trace
from ._reach import active, gate, Reach, reach, through
from ._slopes import steep


LARGE = 4096  # numbers in an array, above which no row has a copy of it


def gated(case: ClosedJaxpr, columns: Sequence[int], bits: jax.Array, given: Sequence[Any]) -> list[Any]:
    """The outputs of a case, from its constants and inputs. `columns` are those of the outputs, and `bits` says which
    of them are read.

    The children of a `Many`, which all rows of a chunk have in common, have no gate, and neither have large weights, of
    which each row would have a copy.
    """
    return _evaluated(without_constants(case.jaxpr), reach(case.jaxpr, columns), bits, given)


def with_gates(part: Part, infinite: bool) -> tuple[Part, Arrays, bool]:
    """The part with gates where slopes may be infinite, and the arrays that it closes over, its first inputs.

    It has two inputs more, outputs as bits: the last of the shared ones says which are read at some row, and the first
    of a row's which are read there. And whether it has a gate. `infinite`: what a row reads may be. A weight larger
    than what is made of it has no gate there: each row would have a copy.
    """
    wild = part.jaxpr.invars[part.shared :] if infinite else []
    known, gates = reach(part.jaxpr, range(len(part.jaxpr.outvars))), {id(eqn) for eqn in steep(part.jaxpr, wild)}
    gates = {id(eqn) for eqn in part.jaxpr.eqns if id(eqn) in gates and through(known, eqn)}

    def run(*inputs: Any) -> list[Any]:
        shared, (some, own), rows = (
            inputs[: part.shared],
            inputs[part.shared : part.shared + 2],
            inputs[part.shared + 2 :],
        )
        values = dict(zip(part.jaxpr.invars, [*shared, *rows], strict=True))
        weights = set(part.jaxpr.invars[: part.shared])
        for eqn in part.jaxpr.eqns:
            of = list(dict.fromkeys(variables(eqn.invars)))
            alone = all(v in weights for v in of)
            weights.update(eqn.outvars if alone else ())
            large = sum(math.prod(v.aval.shape) for v in eqn.outvars)
            given = [values[v] for v in of]
            for i, v in enumerate(of if id(eqn) in gates else ()):
                if is_smooth(v.aval) and (alone or v not in weights or v.aval.size <= large):
                    given[i] = _where_read.bind(given[i], active(some if alone else own, through(known, eqn)))
            values.update(zip(eqn.outvars, equation(part, eqn)(*given), strict=True))
        return [v.val if isinstance(v, Literal) else values[v] for v in part.jaxpr.outvars]

    bits = shaped((), jnp.int32)
    found, held = trace(run, *part.inputs[: part.shared], bits, bits, *part.inputs[part.shared :])
    return Part(found.jaxpr, len(held) + part.shared + 1), held, bool(gates)


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
