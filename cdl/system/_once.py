"""A function of what comes later, of whose two results one does not wait for it, computed once.

| the mathematics                                      | here                                                       |
| ---------------------------------------------------- | ---------------------------------------------------------- |
| a layer of a Moore machine: `out`, and `x ↦ step(x)` | `out, step = once(both, x)`, of `both(x) = out, step(x)`   |

So what both results read, such as a hidden layer, is computed once, and has one gradient. `vmap` hands on no closure
over what it batches, which is why the program is traced and taken apart.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun, Var


def once(both: Callable[[Any], tuple[Any, Any]], awaited: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The first result, and the second as a function of what it waits for.

    **Arguments:** `both`: of what comes later; its first result does not depend on that. `awaited`: the shape and type
    of what comes later.
    """
    closed, shapes = jax.make_jaxpr(both, return_shape=True)(awaited)
    jaxpr, many, second = closed.jaxpr, len(jax.tree.leaves(shapes[0])), jax.tree.structure(shapes[1])
    waiting, now, later = set(jaxpr.invars), list[Any](), list[Any]()
    for eqn in jaxpr.eqns:
        waits = any(isinstance(x, Var) and x in waiting for x in eqn.invars)
        (later if waits else now).append(eqn)
        waiting |= set(eqn.outvars) if waits else set()
    out, after = jaxpr.outvars[:many], jaxpr.outvars[many:]
    read = [x for eqn in later for x in eqn.invars] + after
    held = list(dict.fromkeys(x for x in read if isinstance(x, Var) and x not in waiting))
    early = jaxpr.replace(invars=[], eqns=now, outvars=[*out, *held])
    late = jaxpr.replace(constvars=[], invars=[*held, *jaxpr.invars], eqns=later, outvars=after)
    found = jaxpr_as_fun(ClosedJaxpr(early, closed.consts))()

    def rest(x: Any) -> Any:
        made = jaxpr_as_fun(ClosedJaxpr(late, ()))(*found[many:], *jax.tree.leaves(x))
        return jax.tree.unflatten(second, made)

    return jax.tree.unflatten(jax.tree.structure(shapes[0]), found[:many]), rest
