"""Whether rows past the valid ones of a chunk may be zeros.

Products by constructor leave out tiles past the valid rows, and sums have no edges there: both are zeros. That does no
harm where a case makes finite numbers of all finite numbers, and has no loop or callback. Elsewhere these rows are made
to repeat the last valid one: a loop might not end at 0.
"""

from typing import Any

import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Literal
from jax.lax import GatherScatterMode

from ..jaxprs._jaxprs import CALLS, inside, rule_of
from ._present import FINITE


TAME = FINITE | frozenset(
    "mul dot_general square erf sin cos clamp floor ceil round reduce_max reduce_min cumsum steady".split()
)  # operations that make finite numbers of finite numbers


def is_tame(jaxpr: Jaxpr) -> bool:
    """Whether a jaxpr makes finite numbers of finite numbers, and has no loop, callback or custom rule, for all that
    can be seen of it."""
    return all(map(_is_tame, jaxpr.eqns))


def _is_tame(eqn: JaxprEqn) -> bool:
    rule: Any = rule_of(eqn)
    if not all(map(_is_bounded, eqn.invars)) or eqn.params.get("mode") == GatherScatterMode.FILL_OR_DROP:
        return False  # the mode fills with NaN
    if hasattr(rule, "step"):
        return rule.reduction in ("sum", "each") and is_tame(rule.step.jaxpr)
    if eqn.primitive.name in CALLS:
        return all(map(is_tame, inside(eqn)))
    return eqn.primitive.name in TAME


def _is_bounded(x: Any) -> bool:
    """Whether what an equation reads is no constant that is infinite or NaN."""
    return not isinstance(x, Literal) or x.val is None or bool(np.all(np.abs(x.val) < np.inf))
