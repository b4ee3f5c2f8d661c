"""Maps with a loss: the slice `Smooth / R`.

| the mathematics                              | here                                                          |
| -------------------------------------------- | ------------------------------------------------------------- |
| an object: a space, and `L : X → R`          | `Over(kind, loss)`                                            |
| a map `f : (X, L₁) → (Y, L₂)`, `L₂ ∘ f = L₁` | `SLICE.arrow(f, example, L₂)`, whose `L₁` is made so          |
| the tensor, by the sum of losses             | `(X × Y, L + M)`; the unit is `((), 0)`                       |

No gradient is in it, and no trajectory: it has the maps along which a loss is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from .._functors.expected import expect_fields
from ._category import Arrow
from ._kinds import points
from ._monoidal import Monoidal
from ._smooth import associator, both, braiding, in_order, left_unitor, right_unitor, same, smooth_ends


@final
@dataclass(frozen=True)
class Over:
    """A space with a loss. Two are the same where their types are equal, and their losses are the same function.

    Examples:
        >>> kept = cdl.categories.SLICE.arrow(jnp.negative, jnp.ones(2), jnp.sum)
        >>> over: cdl.categories.Over = kept.source
        >>> float(over.loss(jnp.ones(2)))
        -2.0
    """

    kind: Any
    loss: Callable[[Any], Any]

    def __post_init__(self) -> None:
        expect_fields(self)


@dataclass(frozen=True)
class _Sum:
    """`L + M`, of pairs."""

    first: Callable[[Any], Any]
    second: Callable[[Any], Any]

    def __call__(self, pair: Any) -> Any:
        return self.first(pair[0]) + self.second(pair[1])


def _zero(_: Any) -> float:
    return 0.0


def _ends(f: Any, example: Any, loss: Callable[[Any], Any]) -> tuple[Over, Over]:
    source, target = smooth_ends(f, example)
    return Over(source, in_order(f, loss)), Over(target, loss)


def _losses(f: Arrow) -> tuple[Any, Any]:
    some = points(f.source.kind)
    return [f.target.loss(f.body(x)) for x in some], [f.source.loss(x) for x in some]


SLICE = Monoidal(
    name="Smooth / R",
    ends=_ends,
    one=lambda _: same,
    then=in_order,
    observed=lambda f: [f.body(x) for x in points(f.source.kind)],
    required=_losses,
    unit=Over((), _zero),
    pair=lambda x, y: Over((x.kind, y.kind), _Sum(x.loss, y.loss)),
    beside=both,
    associator=associator,
    left_unitor=left_unitor,
    right_unitor=right_unitor,
    braiding=braiding,
)
"""Smooth maps that keep a loss: `SLICE.arrow(f, example_of_an_input, loss_of_the_target)`.

Examples:
    >>> kept = cdl.categories.SLICE.arrow(jnp.negative, jnp.ones(2), jnp.sum)
    >>> float(kept.target.loss(jnp.ones(2))), float(kept.source.loss(jnp.ones(2)))
    (2.0, -2.0)
"""
