"""The double category of parametric maps: squares with maps for sides, composed both ways.

```
    X ───(P, f)──▶ Y         r : P → P'
    │              │
    u      r       v         v(f(p, x)) = f'(r(p), u(x))
    ▼              ▼
    X' ──(P', f')─▶ Y'
```

| the mathematics                                       | here                                              |
| ----------------------------------------------------- | ------------------------------------------------- |
| a square with these borders, filled by `r`            | `DoubleCell(top, bottom, left, right, cell)`      |
| side by side: `v` is the other's `u`, filled by `r × s` | `a >> b`                                        |
| one above the other: `f'` is the other's `f`, by `s ∘ r` | `a.above(b)`                                   |
| the identity of a parametric map, and of a map        | `DoubleCell.still(f)`, `DoubleCell.on(u)`         |
| a `Square` of an algebra, with identities for sides   | `DoubleCell.of(square)`                           |
| the two ways round, as parametric maps `P × X → Y'`   | `a.over`, `a.under`                               |

A square with identities for sides is a 2-cell of `Para` from `f'` to `f`: it points against its map of parameters.
The two compositions interchange: `(a >> b).above(c >> d)` is `a.above(c) >> b.above(d)`. One above the other, squares
associate on the nose; side by side up to the associator of parameters, as their tops and bottoms do.

(Grandis and Paré, *Limits in Double Categories*, 1999, for double categories that are weak in one direction.)
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx

from .._functors.expected import expect_fields
from .._functors.usage import with_types
from ..errors import PortMismatch
from ._borders import described_map, is_same, then
from ._cokleisli import parameter_space
from .para import identity, Para
from .squares import Square
from .two_cells import horizontal, same


P = TypeVar("P")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
X = TypeVar("X")
Y = TypeVar("Y")
Z = TypeVar("Z")
V = TypeVar("V")
W = TypeVar("W")
U = TypeVar("U")


class DoubleCell(eqx.Module, Generic[P, X, Y, Q, V, W]):
    """A square of parametric maps over maps. Nothing is assumed of the equation: `cdl.laws.double_cell` checks it.

    **Arguments:** `top`, `bottom`: parametric maps `P × X → Y` and `Q × V → W`. `left`, `right`: maps `X → V` and
    `Y → W`. `cell`: the map of parameters `P → Q`.

    Examples:
        >>> double, half = cdl.Para(2.0, lambda p, x: p * x), lambda x: x / 2
        >>> halved = cdl.para.DoubleCell(double, double, half, half, lambda p: p)
        >>> halved.over(5.0), halved.under(5.0)
        (5.0, 5.0)
        >>> (halved >> halved).over(5.0), halved.above(halved).under(5.0)
        (10.0, 2.5)
    """

    top: Para[P, X, Y]
    bottom: Para[Q, V, W]
    left: Callable[[X], V]
    right: Callable[[Y], W]
    cell: Callable[[P], Q]

    def __check_init__(self) -> None:
        expect_fields(self)

    @staticmethod
    @with_types
    def still(f: Para[R, U, Z], /) -> "DoubleCell[R, U, Z, R, U, Z]":
        """The identity above and below `f`: its sides are identities."""
        return DoubleCell(f, f, same, same, same)

    @staticmethod
    @with_types
    def on(u: Callable[[U], Z], /) -> "DoubleCell[tuple[()], U, U, tuple[()], Z, Z]":
        """The identity beside `u`: its top and bottom are identities, with no parameters."""
        return DoubleCell(identity(), identity(), u, u, same)

    @staticmethod
    @with_types
    def of(square: Square[R, S], /) -> "DoubleCell[R, Any, Any, S, Any, Any]":
        """The square of an algebra: the direct way on top, the way through below, and identities for sides."""
        return DoubleCell(square.direct, square.through, same, same, square.cell)

    @property
    def over(self) -> Para[P, X, W]:
        """Along the top, and down: `(p, x) ↦ v(f(p, x))`."""
        return Para(self.top.params, _Over(self.top.fn, self.right))

    @property
    def under(self) -> Para[P, X, W]:
        """Down, and along the bottom: `(p, x) ↦ f'(r(p), u(x))`."""
        return Para(self.top.params, _Under(self.left, self.cell, self.bottom.fn))

    @with_types
    def __rshift__(self, other: "DoubleCell[R, Y, Z, S, W, U]") -> "DoubleCell[tuple[P, R], X, Z, tuple[Q, S], V, U]":
        """The other square to the right of this one.

        **Raises:** `PortMismatch` where the right side of this one is not the left side of the other.
        """
        if not is_same(self.right, other.left):
            raise PortMismatch(
                f"squares are composed side by side along one map, and the right side of the first is "
                f"{described_map(self.right)} where the left side of the second is {described_map(other.left)}"
                f"{_alike(self.right, other.left)}: give both the same function."
            )
        cell = horizontal(self.cell, other.cell)
        return DoubleCell(self.top >> other.top, self.bottom >> other.bottom, self.left, other.right, cell)

    @with_types
    def above(self, other: "DoubleCell[Q, V, W, R, U, Z]", /) -> "DoubleCell[P, X, Y, R, U, Z]":
        """The other square below this one.

        **Raises:** `PortMismatch` where the bottom of this one is not the top of the other.
        """
        if not is_same(self.bottom.fn, other.top.fn):
            raise PortMismatch(
                f"squares are composed one above the other along one parametric map, and the bottom of the first is "
                f"{described_map(self.bottom.fn)} where the top of the second is {described_map(other.top.fn)}"
                f"{_alike(self.bottom.fn, other.top.fn)}: give both the same `Para`."
            )
        comes, takes = parameter_space(self.bottom.params), parameter_space(other.top.params)
        if comes != takes:
            raise PortMismatch(
                f"squares are composed one above the other along one parametric map, and the bottom of the first has "
                f"parameters {comes} where the top of the second has {takes}: give both the same `Para`."
            )
        left, right = then(self.left, other.left), then(self.right, other.right)
        return DoubleCell(self.top, other.bottom, left, right, then(self.cell, other.cell))


def _alike(a: Any, b: Any) -> str:
    """What tells two functions of one name apart."""
    return ", another function of that name" if described_map(a) == described_map(b) else ""


class _Over(eqx.Module):
    fn: Callable[[Any, Any], Any]
    right: Callable[[Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.right(self.fn(params, x))


class _Under(eqx.Module):
    left: Callable[[Any], Any]
    cell: Callable[[Any], Any]
    fn: Callable[[Any, Any], Any]

    def __call__(self, params: Any, x: Any) -> Any:
        return self.fn(self.cell(params), self.left(x))
