"""Fingerprints of jaxprs: equal for two that compute the same, and never for two that do not.

| what is in a jaxpr                    | is compared by                                                         |
| ------------------------------------- | ---------------------------------------------------------------------- |
| variables                             | their order of appearance; shape and type                              |
| numbers written out, inner constants  | type and bytes; large or traced ones by identity                       |
| jaxprs inside                         | their fingerprints                                                     |
| a function with a derivative rule     | its jaxpr, and those of its first and second derivative                |
| any other function, a callback say    | identity: two functions may close over different things                |

The constants of the outermost jaxpr are a case's weights, and are not compared. In doubt, two jaxprs differ: that costs
a compilation, and never a wrong number.
"""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal

from ..arrays._identity import Identity
from ..arrays.shapes import is_smooth, shaped
from ._jaxprs import Atom


ORDER = 2  # of the derivatives compared: a rule that calls its own function has one of every order
LARGE = 1 << 14  # numbers, above which an inner constant is told by its identity
PLAIN = int, str, bytes, type(None), np.dtype, type
NAMED = "jit", "pjit", "checkpoint", "remat2", "name", "closed_call"  # whose name says nothing


def fingerprint(jaxpr: Jaxpr, order: int = ORDER) -> Hashable:
    """What two jaxprs that compute the same have in common: a hashable value. `order`: of the derivatives compared."""
    number: dict[Atom, int] = {}

    def variable(v: Atom) -> Hashable:
        if isinstance(v, Literal):
            return _type(v.aval), _array(v.val)
        return number.setdefault(v, len(number)), _type(v.aval)

    heads = tuple(map(variable, jaxpr.constvars)), tuple(map(variable, jaxpr.invars))
    body = []
    for eqn in jaxpr.eqns:
        reads = tuple(map(variable, eqn.invars))
        outs = tuple(map(variable, eqn.outvars))
        body.append((Identity(eqn.primitive), Identity(eqn.ctx), reads, _params(eqn, order), outs))
    return heads, tuple(body), tuple(map(variable, jaxpr.outvars))


def same_bytes(x: Any, y: Any) -> bool:
    """Whether two arrays are the same in shape, type and every bit."""
    if any(jnp.issubdtype(jnp.result_type(array), jax.dtypes.prng_key) for array in (x, y)):
        return False
    return bool(jax.typeof(x) == jax.typeof(y)) and np.asarray(x).tobytes() == np.asarray(y).tobytes()


def _type(aval: Any) -> Hashable:
    return getattr(aval, "shape", None), str(getattr(aval, "dtype", aval)), bool(getattr(aval, "weak_type", False))


def _params(eqn: JaxprEqn, order: int) -> Hashable:
    name, params = eqn.primitive.name, dict(eqn.params)
    params.pop("debug_info", None)
    if name in NAMED:
        params.pop("name", None)
    if name in ("custom_jvp_call", "custom_vjp_call"):
        called = params["call_jaxpr"]
        return fingerprint(called.jaxpr, order), _consts(called), _derivative(eqn, order - 1) if order else None
    if name == "custom_vmap_call":
        rule = getattr(params.pop("rule"), "rule", None)
        how = getattr(rule, "reduction", None)  # of `Many`: all that its rule does follows from this and from its jaxpr
        return _value(params | {"rule": how or Identity(rule)}, order)
    return _value(params, order)


def _derivative(eqn: JaxprEqn, order: int) -> Hashable:
    """The jaxpr of the derivative of one equation with a rule for it; equal to itself alone where it has none."""
    if eqn.params.get("symbolic_zeros"):
        return Identity(eqn)
    avals: list[Any] = [v.aval for v in eqn.invars]
    inputs = [shaped(x.shape, x.dtype) for x in avals]
    smooth = [i for i, x in enumerate(inputs) if is_smooth(x)]
    run = _alone(eqn)

    def of(given: list[Any], some: list[Any]) -> list[Any]:
        merged = list(given)
        for i, x in zip(smooth, some, strict=True):
            merged[i] = x
        return [x for x in run(*merged) if is_smooth(x)]

    def forwards(given: list[Any]) -> Any:
        some = [given[i] for i in smooth]
        return jax.jvp(functools.partial(of, given), (some,), (some,))

    def backwards(given: list[Any]) -> Any:
        out, back = jax.vjp(functools.partial(of, given), [given[i] for i in smooth])
        return back(out)

    try:
        rule = jax.make_jaxpr(forwards if eqn.primitive.name == "custom_jvp_call" else backwards)(inputs)
    except Exception:  # whatever a rule may object to: then it is told by its identity
        return Identity(eqn)
    return fingerprint(rule.jaxpr, order), _consts(rule)


def _alone(eqn: JaxprEqn) -> Callable[..., list[Any]]:
    """One equation as a function of all that it reads."""
    own = list(dict.fromkeys(v for v in eqn.invars if not isinstance(v, Literal)))
    outs = [v for v in eqn.outvars if type(v).__name__ != "DropVar"]
    inner = eqn.params["call_jaxpr"].jaxpr
    alone = inner.replace(constvars=(), invars=own, outvars=outs, eqns=[eqn], effects=eqn.effects)
    run = jaxpr_as_fun(ClosedJaxpr(alone, ()))

    def call(*inputs: Any) -> list[Any]:
        given = {v: x for v, x in zip(eqn.invars, inputs, strict=True) if not isinstance(v, Literal)}
        return run(*[given[v] for v in own])

    return call


def _consts(case: ClosedJaxpr) -> Hashable:
    return tuple(map(_array, case.consts))


def _value(x: object, order: int) -> Hashable:
    """A parameter of an equation as a hashable value that is equal for parameters which mean the same."""
    if isinstance(x, ClosedJaxpr):
        return fingerprint(x.jaxpr, order), _consts(x)
    if isinstance(x, Jaxpr):
        return fingerprint(x, order)
    if isinstance(x, Mapping):
        return tuple((k, _value(x[k], order)) for k in sorted(x, key=str))
    if isinstance(x, tuple | list):
        return type(x), tuple(_value(y, order) for y in x)
    if isinstance(x, float | complex):
        return type(x), repr(x)
    if isinstance(x, PLAIN):
        return type(x), x
    if isinstance(x, functools.partial):
        return _value((x.func, x.args, x.keywords), order)
    if isinstance(x, np.ndarray | np.generic | jax.Array):
        return _array(x)
    if callable(x) or not type(x).__module__.startswith("jax"):
        return Identity(x)
    if dataclasses.is_dataclass(x):
        return type(x), tuple(_value(getattr(x, f.name), order) for f in dataclasses.fields(x))
    try:
        hash(x)
    except TypeError:
        return Identity(x)
    return type(x), x


def _array(x: Any) -> Hashable:
    if isinstance(x, Tracer) or jnp.issubdtype(jnp.result_type(x), jax.dtypes.prng_key) or np.size(x) > LARGE:
        return Identity(x)
    value = np.asarray(x)
    return value.shape, str(value.dtype), value.tobytes()
