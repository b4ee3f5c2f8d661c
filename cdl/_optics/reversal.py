"""Backpropagation: the functor from smooth maps to optics.

| the mathematics                                    | here                                               |
| -------------------------------------------------- | -------------------------------------------------- |
| `f ↦ (f, R[f])`, a functor `Smooth → Optic(Smooth)`| `reverse(f)`                                       |
| its residual                                       | what `jax.vjp` keeps of `f`: no second `f`         |
| `R[g ∘ f]` is the composite of `R[f]` and `R[g]`   | `reverse(f) >> reverse(g)`, with the same numbers  |

What is not a floating number (a label, an index, a tree's shape) has no change: `None` stands where one would be.
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax

from .._functors.usage import with_types
from .._terms import box, changes, name, Term
from .letters import X, Y
from .optic import Optic


@with_types
def reverse(f: Callable[[X], Y], /) -> Optic[X, Y]:
    """A smooth map with its reverse derivative: `x ↦ f(x)`, and back `dy ↦ R[f](x, dy)`.

    What is not in floating point has no change, and `None` stands for it: also for a Python number such as `3`, where
    you may mean `3.0`.

    Examples:
        >>> power = cdl.reverse(lambda pair: pair[0] ** pair[1])
        >>> power.get((3.0, 2)), power.put((3.0, 2), 1.0)
        (Array(9., dtype=float32, weak_type=True), (Array(6., dtype=float32, weak_type=True), None))
    """
    return Reverse(f)


@final
class Reverse(Optic[Any, Any, Any, Any]):
    """`(f, R[f])` by `jax.vjp`."""

    fn: Callable[[Any], Any]

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        return pullback(self.fn, x)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        return residual(dy)[0]

    def __term__(self) -> Term:
        return box(name(self.fn), None, back=True)


def pullback(fn: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """`jax.vjp` in the floating numbers of `x`."""
    numbers, rest = eqx.partition(x, changes)
    return jax.vjp(lambda numbers: fn(eqx.combine(numbers, rest)), numbers)
