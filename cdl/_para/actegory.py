"""`Para` where parameters act in another way than by a product.

| the mathematics                                       | here                                              |
| ----------------------------------------------------- | ------------------------------------------------- |
| `M` acts on `C`: `P ▷ −` of a map                     | `Actegory.on(p, f)`                               |
| `Q ⊗ P` and `μ : (Q ⊗ P) ▷ X → Q ▷ (P ▷ X)`           | `Actegory.times(q, p)`, `Actegory.split(q, p, x)` |
| `I` and `I ▷ X → X`                                   | `Actegory.unit`, `Actegory.strip(x)`              |
| a 1-cell `(P, f : P ▷ X → Y)`                         | `Acted(actegory, p, f)`                           |
| `X → Y → Z`: `(Q ⊗ P) ▷ X → Q ▷ (P ▷ X) → Q ▷ Y → Z`  | `f >> g`                                          |

| the actegory | `P ▷ X`                                   | its 1-cells                                             |
| ------------ | ----------------------------------------- | ------------------------------------------------------- |
| `PRODUCT`    | `P × X`: of one parameter and an input    | parametric maps, as `Para`                              |
| `POWER`      | `Xⁿ`, of a natural number: windows of `n` | maps of windows, which compose to maps of wider windows |

(Capucci, Gavranović, Hedges and Rischel, 2022; Gavranović et al., *Categorical Deep Learning*, 2024, definition E.2.)

Examples:
    >>> from cdl.para.actegory import Acted, POWER
    >>> difference = Acted(POWER, 2, lambda window: window[1] - window[0])
    >>> float((difference >> difference)(jnp.array([1.0, 4.0, 4.0, 9.0])))
    2.0
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import jax

from .._functors.expected import expect_fields
from .._functors.usage import with_types


M = TypeVar("M")
X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True)
class Actegory(Generic[M]):
    """A monoidal category of parameters, whose objects are the values of `M`, and how it acts on maps of arrays.

    Examples:
        >>> from cdl.para.actegory import Actegory, POWER
        >>> powers: Actegory = POWER
        >>> powers.times(2, 3), powers.unit
        (6, 1)
    """

    on: Callable[[M, Callable[[Any], Any]], Callable[[Any], Any]]
    times: Callable[[M, M], M]
    split: Callable[[M, M, Any], Any]
    unit: M
    strip: Callable[[Any], Any]

    def __post_init__(self) -> None:
        expect_fields(self)

    def identity(self) -> "Acted[M]":
        """The identity: `I ▷ X → X`."""
        return Acted(self, self.unit, self.strip)


@dataclass(frozen=True)
class Acted(Generic[M]):
    """A map `P ▷ X → Y`. Called, it is that map.

    Examples:
        >>> from cdl.para.actegory import Acted, POWER
        >>> mean = Acted(POWER, 3, lambda window: window.mean())
        >>> float(mean(jnp.array([1.0, 2.0, 6.0]))), (mean >> mean).params
        (3.0, 9)
    """

    over: Actegory[M]
    params: M
    fn: Callable[[Any], Any]

    def __post_init__(self) -> None:
        expect_fields(self)

    def __call__(self, x: Any) -> Any:
        return self.fn(x)

    @with_types
    def __rshift__(self, other: "Acted[M]") -> "Acted[M]":
        q, p = other.params, self.params
        after = self.over.on(q, self.fn)
        return Acted(self.over, self.over.times(q, p), lambda x: other.fn(after(self.over.split(q, p, x))))


PRODUCT: Actegory[Any] = Actegory(
    on=lambda _, f: lambda pair: (pair[0], f(pair[1])),
    times=lambda q, p: (q, p),
    split=lambda q, p, pair: (pair[0][0], (pair[0][1], pair[1])),
    unit=(),
    strip=lambda pair: pair[1],
)
"""The product: `Acted(PRODUCT, P, f)` is a map of pairs of a parameter in `P`, whose name it is, and an input.

Examples:
    >>> from cdl.para.actegory import Acted, PRODUCT
    >>> scale = Acted(PRODUCT, "slope", lambda pair: pair[0] * pair[1])
    >>> scale((2.0, 5.0))
    10.0
"""


POWER: Actegory[int] = Actegory(
    on=lambda _, f: jax.vmap(f),
    times=lambda m, n: m * n,
    split=lambda m, n, x: jax.tree.map(lambda leaf: leaf.reshape(m, n, *leaf.shape[1:]), x),
    unit=1,
    strip=lambda x: jax.tree.map(lambda leaf: leaf[0], x),
)
"""Powers: `Acted(POWER, n, f)` is a map of arrays with a leading axis of `n`.

Examples:
    >>> from cdl.para.actegory import Acted, POWER
    >>> difference = Acted(POWER, 2, lambda window: window[1] - window[0])
    >>> float(difference(jnp.array([1.0, 4.0])))
    3.0
"""
