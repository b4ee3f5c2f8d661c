"""Base change: a functor that preserves products, applied to parametric maps.

| the mathematics                                | here                                                    |
| ---------------------------------------------- | ------------------------------------------------------- |
| a functor `G`, on a map                        | `Change.on(f)`                                          |
| `G P × G X → G (P × X)`                        | `Change.pair(gp, gx)`                                   |
| a point of `P` as one of `G P`                 | `Change.point(p)`                                       |
| `Para(G)(P, f)`, `G P × G X → G (P × X) → G Y` | `change(G, f)`                                          |
| the tangent functor `T`, `f ↦ (f, D[f])`       | `TANGENT`: forward differentiation is a base change     |
| the power `X ↦ Xⁿ`, along a new first axis     | `power(n)`: a parameter for each of a batch             |

`Para(G)` is a functor: `change(G, f >> g)` is `change(G, f) >> change(G, g)`, whose parameters are in `G P × G Q` and
not in `G (P × Q)`. Weights that are shared in a batch are `power(n)` along `Δ`; the base change along `f ↦ (f, R[f])`,
which goes to optics, is in `cdl.optics`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from .._functors.expected import expect_fields
from .._functors.usage import whole, with_types
from .para import Para


@dataclass(frozen=True)
class Change:
    """A functor on maps, with what makes it one that preserves products.

    Examples:
        >>> moving: cdl.para.Change = cdl.para.TANGENT
        >>> value, velocity = moving.on(jnp.square)((3.0, 1.0))
        >>> float(value), float(velocity)
        (9.0, 6.0)
    """

    on: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]
    pair: Callable[[Any, Any], Any]
    point: Callable[[Any], Any]

    def __post_init__(self) -> None:
        expect_fields(self)


@with_types
def change(functor: Change, f: Para[Any, Any, Any], /) -> Para[Any, Any, Any]:
    """The parametric map `G P × G X → G Y`, at the point of `G P` that `f`'s parameters are.

    **Arguments:** `functor`: the functor `G`, with its strength. `f`: a parametric map `P × X → Y`.

    Examples:
        >>> double = cdl.Para(2.0, lambda p, x: p * x)
        >>> value, velocity = cdl.para.change(cdl.para.TANGENT, double)((3.0, 1.0))
        >>> float(value), float(velocity)
        (6.0, 2.0)
    """
    mapped = functor.on(lambda both: f.fn(*both))
    return Para(functor.point(f.params), lambda params, x: mapped(functor.pair(params, x)))


TANGENT = Change(
    on=lambda f: lambda moving: jax.jvp(f, (moving[0],), (moving[1],)),
    pair=lambda p, x: ((p[0], x[0]), (p[1], x[1])),
    point=lambda p: (p, jax.tree.map(jnp.zeros_like, p)),
)
"""`T`: an element and its velocity. A point of `P` stands still.

Examples:
    >>> value, velocity = cdl.para.TANGENT.on(lambda x: x**3)((2.0, 1.0))
    >>> float(value), float(velocity)
    (8.0, 12.0)
"""


@with_types
def power(n: int, /) -> Change:
    """`X ↦ Xⁿ`: arrays with a new first axis of `n`. A point of `P` is the same `n` times.

    Examples:
        >>> double = cdl.Para(2.0, lambda p, x: p * x)
        >>> cdl.para.change(cdl.para.power(2), double)(jnp.array([3.0, 4.0])).tolist()
        [6.0, 8.0]
    """
    whole("n", n)
    repeated: Callable[[Any], Any] = lambda p: jax.tree.map(lambda x: jnp.broadcast_to(x, (n, *jnp.shape(x))), p)
    return Change(on=jax.vmap, pair=lambda p, x: (p, x), point=repeated)
