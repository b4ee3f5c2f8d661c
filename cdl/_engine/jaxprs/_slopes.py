"""Which operations have infinite slopes, or make infinite numbers: there zero times a slope is NaN.

A root has an infinite slope at 0, and a product where its other factor is infinite. So a row whose value nothing reads,
or that is there to fill a block, may spoil a sum over rows, although its own cotangent is zero.
"""

from typing import Any

import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Literal
from jax.lax import GatherScatterMode

from ._jaxprs import CALLS, inside, rule_of


FINITE = frozenset(
    "add sub neg abs max min transpose reshape broadcast_in_dim slice squeeze concatenate copy rev "
    "convert_element_type tanh logistic select_n reduce_sum iota eq ne lt gt le ge and or not sign "
    "stop_gradient dynamic_slice gather pad split".split()
)  # operations whose slopes are finite wherever they are taken

CURVED = frozenset(("abs", "tanh", "logistic"))  # of those, operations with slopes that are NaN at NaN

TAME = FINITE | frozenset(
    "mul dot_general square erf sin cos clamp floor ceil round reduce_max reduce_min cumsum".split()
)  # operations that make finite numbers of finite numbers, and whose slopes are finite there


def is_finite(eqn: JaxprEqn) -> bool:
    """Whether the slopes of an operation are finite, for all that can be seen of it. That of a product is a factor."""
    match eqn.primitive.name:
        case "mul":
            return any(isinstance(v, Literal) and bool(np.isfinite(v.val).all()) for v in eqn.invars)
        case "div":
            by = eqn.invars[1]
            return isinstance(by, Literal) and bool(np.all((by.val != 0) & np.isfinite(by.val)))
        case name:
            return name in FINITE


def has_finite_slopes(jaxpr: Jaxpr) -> bool:
    """Whether the derivative of a jaxpr is finite wherever it is taken, also at NaN, for all that can be seen of it."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in CALLS:
            inner = eqn.params[CALLS[eqn.primitive.name]]
            if not has_finite_slopes(getattr(inner, "jaxpr", inner)):
                return False
        elif not is_linear(eqn):
            return False
    return True


def is_tame(jaxpr: Jaxpr) -> bool:
    """Whether a jaxpr makes finite numbers of finite numbers, and has no loop, callback or custom rule, for all that
    can be seen of it. Then it may be computed at zeros, where a loop might not end."""
    return all(map(_is_tame, jaxpr.eqns))


def is_linear(eqn: JaxprEqn) -> bool:
    """Whether the slopes of an operation are finite whatever it reads, also NaN, for all that can be seen of it."""
    return is_finite(eqn) and eqn.primitive.name not in CURVED


def _is_tame(eqn: JaxprEqn) -> bool:
    rule: Any = rule_of(eqn)
    if not all(map(_is_bounded, eqn.invars)) or eqn.params.get("mode") == GatherScatterMode.FILL_OR_DROP:
        return False  # the mode fills with NaN
    if hasattr(rule, "step"):
        return rule.reduction in ("sum", "each") and is_tame(rule.step.jaxpr)
    if eqn.primitive.name in CALLS:
        return all(map(is_tame, inside(eqn)))
    if eqn.primitive.name == "integer_pow":
        return bool(eqn.params["y"] > 0)
    return eqn.primitive.name in TAME or is_finite(eqn)


def _is_bounded(x: Any) -> bool:
    """Whether what an equation reads is no constant that is infinite or NaN."""
    return not isinstance(x, Literal) or x.val is None or bool(np.all(np.abs(x.val) < np.inf))
