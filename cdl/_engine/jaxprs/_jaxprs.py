"""Jaxprs: as functions whose constants are inputs, and the equations of one that are needed."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal, Var


Atom = Var | Literal  # what an equation reads

# Calls of another jaxpr, and the parameter that has it: a `Jaxpr` or a `ClosedJaxpr`.
CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr", "checkpoint": "jaxpr",
         "remat2": "jaxpr"}  # fmt: skip

EACH = frozenset(
    "add sub mul div neg max min abs sign exp log tanh logistic sqrt rsqrt square sin cos integer_pow eq ne lt le gt "
    "ge and or not".split()
)  # operations that do the same to each number of arrays of one shape


def without_constants(jaxpr: Jaxpr) -> Jaxpr:
    """The jaxpr with its constants as the first of its inputs."""
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    return jaxpr.replace(constvars=(), invars=inputs)


def emptied(case: ClosedJaxpr) -> ClosedJaxpr:
    """The same, without any array."""
    return ClosedJaxpr(without_constants(case.jaxpr), ())


def opened(case: ClosedJaxpr) -> Callable[..., list[jax.Array]]:
    """A jaxpr as a function of its constants and its inputs."""
    run: Callable[..., Any] = jaxpr_as_fun(emptied(case))
    return run


def needed(outvars: Sequence[Any], eqns: Sequence[JaxprEqn]) -> list[JaxprEqn]:
    """The equations that the outputs need, or that have an effect."""
    read, found = set(variables(outvars)), []
    for eqn in reversed(eqns):
        if eqn.effects or not read.isdisjoint(eqn.outvars):
            found.append(eqn)
            read.update(variables(eqn.invars))
    return found[::-1]


def variables(read: Sequence[Any]) -> list[Any]:
    """What is read, each once, without the numbers that are written out."""
    return list(dict.fromkeys(v for v in read if not isinstance(v, Literal)))


def rule_of(eqn: JaxprEqn) -> Any:
    """The rule by which an equation is mapped over rows; a reduction's has its step."""
    return getattr(eqn.params.get("rule"), "rule", None)


def inside(eqn: JaxprEqn) -> list[Jaxpr]:
    """The jaxprs inside of an equation."""
    found = jax.tree.leaves(dict(eqn.params), is_leaf=_is_jaxpr)
    return [x.jaxpr if isinstance(x, ClosedJaxpr) else x for x in found if _is_jaxpr(x)]


def changed(param: Any, change: Callable[[Jaxpr], Jaxpr]) -> Any:
    """A parameter of an equation, with the jaxprs inside changed."""
    if isinstance(param, ClosedJaxpr):
        return ClosedJaxpr(change(param.jaxpr), param.consts)
    if isinstance(param, Jaxpr):
        return change(param)
    return tuple(changed(x, change) for x in param) if type(param) is tuple else param


def renamed(case: ClosedJaxpr) -> ClosedJaxpr:
    """The same function, in which each variable stands for one value."""
    return ClosedJaxpr(apart(case.jaxpr), case.consts)


def apart(jaxpr: Jaxpr) -> Jaxpr:
    """The same jaxpr, in which no variable stands for two values: JAX calls one jaxpr wherever a function is called
    with arguments of the same types, and here each call has its own, and each reduction of a `Many` its own step."""
    eqns = []
    for eqn in jaxpr.eqns:
        params = {name: changed(x, _renamed) for name, x in eqn.params.items()}
        if hasattr(rule := rule_of(eqn), "step"):
            params["rule"] = _with_step(eqn.params["rule"], rule, ClosedJaxpr(_renamed(rule.step.jaxpr), ()))
        eqns.append(eqn.replace(params=params))
    return jaxpr.replace(eqns=eqns)


def _with_step(around: Any, rule: Any, step: ClosedJaxpr) -> Any:
    """A rule for rows of another step; `around` is what JAX has around it."""

    def again(*args: Any) -> Any:
        return rule(*args)

    vars(again).update(vars(rule) | {"step": step})
    found = copy.copy(around)
    object.__setattr__(found, "rule", again)
    return found


def _renamed(jaxpr: Jaxpr) -> Jaxpr:
    """The same jaxpr with other variables, also inside."""
    jaxpr = apart(jaxpr)
    written = [*jaxpr.constvars, *jaxpr.invars, *(v for eqn in jaxpr.eqns for v in eqn.outvars)]
    new = {v: Var(v.aval) if type(v) is Var else v for v in written}
    other: Callable[[Sequence[Any]], list[Any]] = lambda vs: [v if isinstance(v, Literal) else new[v] for v in vs]
    eqns = [eqn.replace(invars=other(eqn.invars), outvars=other(eqn.outvars)) for eqn in jaxpr.eqns]
    heads = {"constvars": other(jaxpr.constvars), "invars": other(jaxpr.invars)}
    return jaxpr.replace(**heads, outvars=other(jaxpr.outvars), eqns=eqns)


def calls_back(jaxpr: Jaxpr) -> bool:
    """Whether a program calls Python while it runs, as that of `eqx.error_if` does."""
    return any("callback" in eqn.primitive.name or any(map(calls_back, inside(eqn))) for eqn in jaxpr.eqns)


def _is_jaxpr(x: object) -> bool:
    return isinstance(x, ClosedJaxpr | Jaxpr)


def evaluated(
    jaxpr: Jaxpr, given: Sequence[Any], step: Callable[[JaxprEqn, list[Any]], list[Any]]
) -> tuple[list[Any], dict[Any, Any]]:
    """The outputs of a jaxpr without constants, and the value of every variable. `step`: what an equation gives."""
    known = dict(zip(jaxpr.invars, given, strict=True))
    value: Callable[[Any], Any] = lambda v: v.val if isinstance(v, Literal) else known[v]
    for eqn in jaxpr.eqns:
        known.update(zip(eqn.outvars, step(eqn, list(map(value, eqn.invars))), strict=True))
    return list(map(value, jaxpr.outvars)), known


def bind(eqn: JaxprEqn, values: Sequence[Any], axes: Sequence[int | None] | None = None) -> list[Any]:
    """One equation, mapped over axis 0 of the values whose entry of `axes` is 0."""
    axes = axes or [None] * len(values)

    def one(*args: Any) -> list[Any]:
        params = eqn.primitive.get_bind_params(eqn.params)
        functions, params = params if isinstance(params, tuple) else ((), params)
        out = eqn.primitive.bind(*functions, *args, **params)
        return list(out) if eqn.primitive.multiple_results else [out]

    with eqn.ctx.manager:
        return one(*values) if 0 not in axes or _each(eqn, axes) else jax.vmap(one, in_axes=tuple(axes))(*values)


def _each(eqn: JaxprEqn, axes: Sequence[int | None]) -> bool:
    """Whether an equation does the same to each number, with rows or without, so that `vmap` would add nothing."""
    if eqn.primitive.name not in EACH:
        return False
    pairs = list(zip(eqn.invars, axes, strict=True))
    shapes = {getattr(v.aval, "shape", None) for v, axis in pairs if axis == 0}
    return len(shapes) == 1 and all(
        axis == 0 or (isinstance(v, Literal) and jnp.shape(v.val) == ()) for v, axis in pairs
    )


class Once:
    """A function of arrays that is traced once for each type of its arguments, however many passes call it.

    `jax.jit` alone traces it again inside another transformation, as its cache also goes by JAX's context.
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f
        self._known: dict[Any, tuple[ClosedJaxpr, Callable[..., Any], Any]] = {}

    def __call__(self, *args: Any) -> Any:
        _, run, out = self._traced(args)
        return jax.tree.unflatten(jax.tree.structure(out), run(*jax.tree.leaves(args)))

    def jaxpr(self, *args: Any) -> tuple[ClosedJaxpr, Any]:
        """The jaxpr, and the shapes of the outputs; arguments may be shapes."""
        jaxpr, _, out = self._traced(args)
        return jaxpr, out

    def _traced(self, args: Any) -> tuple[ClosedJaxpr, Callable[..., Any], Any]:
        leaves, structure = jax.tree.flatten(args)
        key = structure, tuple(map(_type, leaves))
        if key not in self._known:
            traced = jax.jit(self._f).trace(*args)
            self._known[key] = traced.jaxpr, jax.jit(jaxpr_as_fun(traced.jaxpr)), traced.out_info
        return self._known[key]


def _type(x: Any) -> Any:
    return ShapedArray(x.shape, x.dtype, x.weak_type) if isinstance(x, jax.ShapeDtypeStruct) else jax.typeof(x)
