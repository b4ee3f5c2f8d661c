"""What an optimiser of optax is told: the gradient, and by a learner the loss and how to find it elsewhere.

| optax's name | here                                                                                          |
| ------------ | --------------------------------------------------------------------------------------------- |
| `grad`       | the change of the parameters                                                                  |
| `value`      | the number that it is the gradient of: the loss, times the learner's rate                     |
| `value_fn`   | that number at other parameters, with the same data and key, of a learner of one optimiser    |

A lens is put a change and nothing else. So what else there is to know is written into the rule before it is used:
`told(optic, extra)` is the same optic, whose rules know it.
"""

from collections.abc import Callable
from typing import Any, cast, final

import equinox as eqx
import jax
import optax

from .._functors.words import first_line
from .._optics.optic import Optic
from ..errors import CdlError


@final
class Rule(eqx.Module):
    """What an optimiser of optax puts, and what it is told beside the gradient."""

    transformation: optax.GradientTransformation
    extra: dict[str, Any] = eqx.field(default_factory=dict)

    def __call__(self, state: Any, g: Any) -> Any:
        (kept, p), extra = state, {"grad": g, **self.extra}
        update = optax.with_extra_args_support(self.transformation).update
        try:
            with jax.numpy_dtype_promotion("standard"):  # optax multiplies numbers of different types
                updates, kept = update(g, kept, p, **extra)
        except TypeError as why:
            if "required keyword-only argument" not in str(why):
                raise
            raise CdlError(
                f"an optimiser of optax was not told all that it wants: {first_line(why)}. A learner tells it `value` "
                "and `grad`, and where it is the only one `value_fn`; give the rest to `step` by name."
            ) from why
        return kept, optax.apply_updates(p, updates)


def told(optic: Optic[Any, Any, Any, Any], extra: Callable[[], dict[str, Any]]) -> Optic[Any, Any, Any, Any]:
    """The same, where every optimiser of optax knows what is said beside the gradient."""
    is_rule: Callable[[Any], bool] = lambda part: isinstance(part, Rule)
    if not any(map(is_rule, jax.tree.leaves(optic, is_leaf=is_rule))):
        return optic
    known = extra()
    tell: Callable[[Any], Any] = lambda part: Rule(part.transformation, known) if is_rule(part) else part
    return cast("Optic[Any, Any, Any, Any]", jax.tree.map(tell, optic, is_leaf=is_rule))
