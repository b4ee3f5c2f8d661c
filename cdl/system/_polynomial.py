"""Polynomial functors of finite sets: positions, and the directions of each.

| the mathematics                           | here                                                                  |
| ----------------------------------------- | --------------------------------------------------------------------- |
| `p = Σ_i y^p[i]`                          | `Polynomial({i: p[i], …})`: positions, and the directions of each     |
| `A y^B`                                   | `Polynomial.monomial(A, B)`                                           |
| `p(X)`                                    | `p.at(X)`, its elements: a position, and for each direction one of `X` |
| `p + q`, `p × q`, `p ⊗ q`                 | `p + q`, `p * q`, `p @ q`                                             |
| `p ◁ q`, with `(p ◁ q)(X) = p(q(X))`      | `p.then(q)`                                                           |
| `Π_i Σ_j ∣p[i]∣^∣q[j]∣`                   | `p.count(q)`: how many maps there are to `q`                          |

Source: D. Spivak, N. Niu, *Polynomial Functors: A Mathematical Theory of Interaction*, 2023.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from .._functors.poly import superscript
from .._functors.usage import with_types
from .._functors.words import short
from ..errors import CdlError


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A polynomial functor of finite sets: for each of its positions, the directions.

    **Arguments:** `directions`: for each position its directions, hashable values, no two alike.

    Examples:
        >>> p = cdl.system.Polynomial({"open": ["a", "b"], "shut": []})
        >>> q = cdl.system.Polynomial.monomial([0, 1], ["tick"])
        >>> print(p, "|", q, "|", p @ q)
        y² + 1 | 2y | 2y² + 2
    """

    directions: Mapping[Any, tuple[Any, ...]]

    @with_types
    def __init__(self, directions: Mapping[Any, Iterable[Any]]) -> None:
        found = {i: _directions(i, each) for i, each in directions.items()}
        for i, each in found.items():
            if len(set(each)) < len(each):
                raise CdlError(
                    f"the position {short(i)} has directions {short(each)}, two of them alike: name each once."
                )
        object.__setattr__(self, "directions", found)

    @staticmethod
    @with_types
    def monomial(positions: Iterable[Any], directions: Iterable[Any]) -> "Polynomial":
        """`A y^B`: the interface of what gives one of `A` and takes one of `B`.

        **Arguments:** `positions`: the positions, hashable values. `directions`: those of every position, no two alike.
        """
        each = tuple(directions)
        return Polynomial({i: each for i in positions})

    @property
    def positions(self) -> tuple[Any, ...]:
        return tuple(self.directions)

    @with_types
    def at(self, x: Iterable[Any]) -> list[tuple[Any, tuple[Any, ...]]]:
        """The elements of `p(X)`: a position, and one of `X` for each of its directions."""
        values = tuple(x)
        return [(i, chosen) for i, each in self.directions.items() for chosen in product(values, repeat=len(each))]

    @with_types
    def __add__(self, other: "Polynomial") -> "Polynomial":
        """The sum: a position of one of them, `(0, i)` or `(1, j)`."""
        return Polynomial({(side, i): d for side, p in enumerate((self, other)) for i, d in p.directions.items()})

    @with_types
    def __mul__(self, other: "Polynomial") -> "Polynomial":
        """The product: a position of each, and a direction of one of them."""
        return self._pairs(other, lambda a, b: [*((0, x) for x in a), *((1, y) for y in b)])

    @with_types
    def __matmul__(self, other: "Polynomial") -> "Polynomial":
        """`⊗`, both at once: a position of each, and a direction of each."""
        return self._pairs(other, product)

    def _no_operator(self, other: Any) -> Any:
        raise CdlError(
            f"{short(other)} and {self} have no such sum, product or power: write `p + q`, `p * q` or `p @ q`."
        )

    __radd__ = __rmul__ = __rmatmul__ = __pow__ = _no_operator

    @with_types
    def then(self, other: "Polynomial") -> "Polynomial":
        """`p ◁ q`: a position of `p`, and for each direction one of `q`; a direction there, and one of `q` after it."""
        steps = self.at(other.positions)
        return Polynomial(
            {
                (i, js): [(a, b) for a, j in zip(self.directions[i], js, strict=True) for b in other.directions[j]]
                for i, js in steps
            }
        )

    @with_types
    def count(self, other: "Polynomial") -> int:
        """How many lenses there are to another: `Π_i Σ_j |p[i]|^|q[j]|`."""
        return prod(sum(len(a) ** len(b) for b in other.directions.values()) for a in self.directions.values())

    def _pairs(self, other: "Polynomial", of: Callable[[Any, Any], Iterable[Any]]) -> "Polynomial":
        return Polynomial({(i, j): of(a, b) for i, a in self.directions.items() for j, b in other.directions.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Polynomial):
            return NotImplemented
        return self._orders == other._orders

    def __hash__(self) -> int:
        return hash(self._orders)

    @cached_property
    def _orders(self) -> frozenset[tuple[Any, tuple[Any, ...]]]:
        """The positions in any order, each with its directions in theirs: an element of `p(X)` goes by that."""
        return frozenset(self.directions.items())

    def __str__(self) -> str:
        """`2y³ + 1`, by how many positions have how many directions."""
        many: dict[int, int] = {}
        for each in self.directions.values():
            many[len(each)] = many.get(len(each), 0) + 1
        return " + ".join(_monomial(n, k) for k, n in sorted(many.items(), reverse=True)) or "0"


def _directions(position: Any, given: Any) -> tuple[Any, ...]:
    """**Raises:** `CdlError` for what is not a set of directions: nothing to go through, or values without a hash."""
    try:
        each = tuple(given)
        hash(each)
    except TypeError:
        raise CdlError(
            f"the position {short(position)} has directions {short(given)}: give hashable values, such as `range(2)`."
        ) from None
    return each


def _monomial(n: int, k: int) -> str:
    power = "" if k == 0 else "y" if k == 1 else f"y{superscript(k)}"
    return power if n == 1 and power else f"{n}{power}"
