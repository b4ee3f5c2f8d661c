"""What the values of a case reach: the columns that are made of them by operations that have a derivative.

A value is active at the rows at which one of the columns that it reaches is read. Elsewhere its cotangent is made zero
(`only_active`), or it has none (`gate`). Columns are bits of a whole number.
"""

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Jaxpr, JaxprEqn, Literal

from ..arrays._rows import differentiated, masked
from ..arrays.shapes import is_smooth
from ._jaxprs import Atom, CALLS, rule_of


Reach = Mapping[Atom, int]  # the columns, as bits, that a variable reaches

FLAT = frozenset({"stop_gradient", "sign", "floor", "ceil", "round", "nextafter"})  # the derivative is zero everywhere
MOST = 30  # columns with a bit of their own; those after them share one


def bits_of(columns: Iterable[int]) -> int:
    """Columns as bits."""
    return union(1 << min(c, MOST) for c in columns)


def union(bits: Iterable[int]) -> int:
    """All bits that one of these has."""
    return functools.reduce(operator.or_, bits, 0)


def reach(jaxpr: Jaxpr, columns: Sequence[int]) -> dict[Atom, int]:
    """What every variable of a jaxpr reaches, whose outputs are these columns; also inside its equations, of
    which each has jaxprs of its own (`apart`)."""
    found: dict[Atom, int] = {}
    _note(found, jaxpr.outvars, [bits_of([c]) for c in columns])
    _backward(jaxpr, found)
    return found


def _note(found: dict[Atom, int], variables: Sequence[Any], bits: Sequence[int]) -> None:
    for v, some in zip(variables, bits, strict=True):
        if some and not isinstance(v, Literal) and is_smooth(v.aval):
            found[v] = found.get(v, 0) | some


def _backward(jaxpr: Jaxpr, found: dict[Atom, int]) -> None:
    for eqn in reversed(jaxpr.eqns):
        through = [found.get(v, 0) for v in eqn.outvars]
        if eqn.primitive.name in FLAT or not any(through):
            continue
        name, rule = eqn.primitive.name, rule_of(eqn)
        if name in CALLS or name == "cond":
            inner = [eqn.params[CALLS[name]]] if name in CALLS else eqn.params["branches"]
            given = eqn.invars[name == "cond" :]
            for own in (getattr(x, "jaxpr", x) for x in inner):
                _note(found, own.outvars, through)
                _backward(own, found)
                _note(found, given, [found.get(v, 0) for v in own.invars])
        elif hasattr(rule, "step"):
            _note(found, eqn.invars, _of_reduction(rule, through, found))
        elif name == "scan":
            _note(found, eqn.invars, _of_scan(eqn, through, found))
        else:
            _note(found, eqn.invars, [union(through)] * len(eqn.invars))


def _of_reduction(rule: Any, through: Sequence[int], found: dict[Atom, int]) -> list[int]:
    """What the inputs of a reduction of a `Many` reach: its row, the first value, the edges' rows, the children, and
    what its step uses of its surroundings."""
    step = rule.step.jaxpr
    last = len(step.invars) - rule.starts
    own = _of_step(step, step.invars[last:], through, found)
    return [0, *own[last:], 0, *own[rule.consts : last], *own[: rule.consts]]


def _of_scan(eqn: JaxprEqn, through: Sequence[int], found: dict[Atom, int]) -> list[int]:
    step, first = eqn.params["jaxpr"].jaxpr, eqn.params["num_consts"]
    return _of_step(step, step.invars[first : first + eqn.params["num_carry"]], through, found)


def _of_step(step: Jaxpr, value: Sequence[Any], through: Sequence[int], found: dict[Atom, int]) -> list[int]:
    """What the inputs of a step reach that is taken again and again. Its first outputs are the next `value`."""
    after = list(through)
    while True:
        _note(found, step.outvars, after)
        _backward(step, found)
        before = [found.get(v, 0) for v in value]
        if all(x | y == x for x, y in zip(after, before, strict=False)):
            return [found.get(v, 0) for v in step.invars]
        after[: len(before)] = [x | y for x, y in zip(after, before, strict=False)]


def through(known: Reach, eqn: JaxprEqn) -> int:
    """The columns that an equation reaches."""
    return union(known.get(v, 0) for v in eqn.outvars)


def active(bits: jax.Array, reached: int) -> jax.Array:
    """The rows at which what reaches these columns is read."""
    return (bits & reached) != 0


def only_active(cotangent: Any, bits: jax.Array, reached: int) -> Any:
    """A cotangent of what reaches these columns, without that of rows at which it is not read."""
    return None if cotangent is None else masked(active(bits, reached), cotangent)


def gate(x: Any, bits: jax.Array, reached: int) -> jax.Array:
    """A value of rows, or of one, that has no gradient by way of what reaches these columns where they are not read."""
    return differentiated(active(bits, reached), jnp.asarray(x))


def either(bits: jax.Array, at: jax.Array, number: int) -> jax.Array:
    """For each of some numbers, the bits that one of the rows with this number has."""
    found = jnp.zeros(number, jnp.int32)
    for bit in range(MOST + 1):
        one = (bits >> bit) & 1
        found = found | (jax.ops.segment_max(one, at, number) > 0).astype(jnp.int32) << bit
    return found
