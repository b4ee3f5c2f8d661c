"""What is computed once, and is the same number for all that read it: jaxprs as they are differentiated (`steadied`).

The derivative of a maximum asks which numbers are equal to it. XLA may compute a number once for the maximum and again
for that question, one time with a fused multiply-add and the other without. Then no number is equal to the maximum, and
its gradient is lost without a word, in plain JAX as well (`test_steady`). Here both read one array.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal, Primitive, Var
from jax.interpreters import ad, batching, mlir

from ..arrays._rows import after_all
from ..arrays.shapes import is_smooth
from ._jaxprs import apart, changed, inside, variables


T = TypeVar("T")
ASKED = {"reduce_max": [0], "reduce_min": [0], "scatter-max": [0, 2], "scatter-min": [0, 2]}  # and of which inputs
RULED = ("custom_jvp", "custom_vjp")  # how calls begin whose derivative is not that of the jaxpr inside


def steady(x: jax.Array) -> jax.Array:
    """The same array; where it is differentiated, one that XLA computes once."""
    found: jax.Array = _steady.bind(x, held=False)
    return found


def steadied(case: ClosedJaxpr) -> ClosedJaxpr:
    """The same function, where what a maximum or a minimum is taken of is steady, and each variable stands for one
    value."""
    return ClosedJaxpr(_within(apart(case.jaxpr)), case.consts)


def steadily(f: Callable[..., T]) -> Callable[..., T]:
    """The function of pytrees as `steadied`, where nothing else makes a jaxpr of it."""

    def call(*args: Any) -> T:
        arrays, others = eqx.partition(args, eqx.is_array)
        run: Any = lambda arrays: f(*eqx.combine(arrays, others))
        case, shapes = jax.make_jaxpr(run, return_shape=True)(arrays)
        outputs = jaxpr_as_fun(steadied(case))(*jax.tree.leaves(arrays))
        found: T = jax.tree.unflatten(jax.tree.structure(shapes), outputs)
        return found

    return call


def _within(jaxpr: Jaxpr) -> Jaxpr:
    if not _asks(jaxpr):
        return jaxpr
    slopes, eqns = _with_slopes(jaxpr), list[JaxprEqn]()
    before = {v for eqn in jaxpr.eqns if eqn.primitive is _steady for v in eqn.outvars}
    for eqn in jaxpr.eqns:
        read = list(eqn.invars)
        for i in ASKED.get(eqn.primitive.name, []) if slopes.intersection(eqn.outvars) else []:
            if not isinstance(x := read[i], Literal) and x not in before:
                read[i] = own = Var(x.aval)
                eqns.append(eqn.replace(primitive=_steady, invars=[x], outvars=[own], params={"held": False}))
        ruled = eqn.primitive.name.startswith(RULED)
        params = eqn.params if ruled else {name: changed(x, _within) for name, x in eqn.params.items()}
        eqns.append(eqn.replace(invars=read, params=params))
    return jaxpr.replace(eqns=eqns)


def _asks(jaxpr: Jaxpr) -> bool:
    return any(eqn.primitive.name in ASKED or any(map(_asks, inside(eqn))) for eqn in jaxpr.eqns)


def _with_slopes(jaxpr: Jaxpr) -> set[Any]:
    """The variables that the outputs have a derivative in."""
    found = {v for v in variables(jaxpr.outvars) if is_smooth(v.aval)}
    for eqn in reversed(jaxpr.eqns):
        if eqn.primitive.name != "stop_gradient" and not found.isdisjoint(eqn.outvars):
            found.update(v for v in variables(eqn.invars) if is_smooth(v.aval))
    return found


def _held(x: jax.Array) -> jax.Array:
    """The array that a loop of no turns gives. XLA knows neither it nor the number; a barrier, it drops too early."""
    turns = after_all([x])
    again = lambda state: (state[0] + 1, state[1] + state[1])
    return lax.while_loop(lambda state: state[0] < turns, again, (jnp.int32(0), x))[1]


_steady = Primitive("steady")  # with `held`, where it is differentiated
_steady.def_impl(lambda x, *, held: x)
_steady.def_abstract_eval(lambda x, *, held: x)
ad.primitive_jvps[_steady] = lambda xs, slopes, *, held: (_steady.bind(*xs, held=True), *slopes)
batching.defvectorized(_steady)
for platform, way in ((None, lax.optimization_barrier), ("cpu", _held)):
    lowered: Any = lambda x, *, held, way=way: way(x) if held else x
    mlir.register_lowering(_steady, mlir.lower_fun(lowered, multiple_results=False), platform=platform)
