"""A category as a value: how its maps are composed, and by what two of them are compared.

| the mathematics                         | here                                                             |
| --------------------------------------- | ---------------------------------------------------------------- |
| a map `f : X → Y`                       | `Arrow(source, target, body)`; `C.arrow(body, …)` finds the ends |
| `id : X → X`                            | `C.identity(X)`                                                  |
| `h ∘ g ∘ f`                             | `C.compose(f, g, h)`: in reading order, and only where ends meet |
| `f = g`                                 | `C.observed(f)` and `C.observed(g)` are the same                 |
| what makes a body a map of the category | `C.required(f)`: two sides that are the same                     |
| the product category `C × … × C`        | `product_category(C, n)`: tuples of objects, and of bodies       |

A body is what a category's maps are made of: a function, a matrix, an optic. Equality of functions cannot be decided:
where a category's maps are functions, `observed` has their values at some points.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

from .._engine.arrays.shapes import shown
from .._functors.expected import expect_fields
from .._functors.usage import whole, with_types
from .._functors.words import short
from ..errors import CdlError, PortMismatch


@final
@dataclass(frozen=True, eq=False)
class Arrow:
    """A map, with its two ends.

    Examples:
        >>> row: cdl.categories.Arrow = cdl.categories.MAT.arrow([[1.0, 2.0]])
        >>> row.source, row.target
        (2, 1)
    """

    source: Any
    target: Any
    body: Any


def _nothing(_: Arrow) -> tuple[Any, Any]:
    return (), ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Category:
    """A category.

    **Arguments:** `name`: for messages. `ends`: the two ends of a body, of which some need an example of an input, or
    a size. `one`: the body of the identity at an object. `then`: the body of two bodies, the first one first.
    `observed`: what two maps are compared by. `required`: two sides that are the same where a body is a map of this
    category. `meets`: whether two objects are one.

    Examples:
        >>> matrices: cdl.categories.Category = cdl.categories.MAT
        >>> row, column = matrices.arrow([[1.0, 2.0]]), matrices.arrow([[3.0], [4.0]])
        >>> matrices.compose(column, row).body.tolist()
        [[11.0]]
    """

    name: str
    ends: Callable[..., tuple[Any, Any]]
    one: Callable[[Any], Any]
    then: Callable[[Any, Any], Any]
    observed: Callable[[Arrow], Any]
    required: Callable[[Arrow], tuple[Any, Any]] = _nothing
    meets: Callable[[Any, Any], bool] = operator.eq

    def __post_init__(self) -> None:
        expect_fields(self)

    def arrow(self, body: Any, *known: Any) -> Arrow:
        """The map of a body. **Arguments:** `known`: what `ends` needs to find its ends."""
        return Arrow(*self.ends(body, *known), body)

    def identity(self, at: Any) -> Arrow:
        """The map that changes nothing."""
        return Arrow(at, at, self.one(at))

    @with_types
    def compose(self, *arrows: Arrow) -> Arrow:
        """The composite, the first map first.

        **Raises:** `PortMismatch` naming the two ends that do not meet; `CdlError` of no maps.
        """
        if not arrows:
            raise CdlError("`compose` of no maps: of which object is the identity meant? Write `identity(X)`.")
        return reduce(self._two, arrows)

    def _two(self, f: Arrow, g: Arrow) -> Arrow:
        if not self.meets(f.target, g.source):
            raise PortMismatch(
                f"maps of `{self.name}` that do not compose: the first goes to {_said(f.target)}, and the second comes "
                f"from {_said(g.source)}. Give maps whose ends are the same."
            )
        return Arrow(f.source, g.target, self.then(f.body, g.body))


@with_types
def product_category(category: Category, n: int, /) -> Category:
    """The product of a category with itself, `n` times: its maps go between tuples of objects.

    **Arguments:** `category`: the one to take the product of. `n`: how many times.

    **Raises:** `CdlError` for objects and maps that are not `n`.

    Examples:
        >>> pairs = cdl.categories.product_category(cdl.categories.MAT, 2)
        >>> pairs.identity((1, 2)).source
        (1, 2)
    """
    whole("n", n, least=0)

    def each(parts: Any) -> Any:
        if not isinstance(parts, tuple) or len(parts) != n:
            raise CdlError(
                f"an object or a map of `{category.name} to the {n}` is a tuple of {n}, and not {short(parts)}."
            )
        return parts

    return Category(
        name=f"{category.name} to the {n}",
        ends=lambda bodies, *known: _two_sides(list(map(category.ends, each(bodies), *map(each, known)))),
        one=lambda objects: tuple(map(category.one, each(objects))),
        then=lambda f, g: tuple(map(category.then, each(f), each(g))),
        observed=lambda f: tuple(map(category.observed, _parts(f))),
        required=lambda f: _two_sides([category.required(part) for part in _parts(f)]),
        meets=lambda x, y: len(x) == len(y) and all(map(category.meets, x, y)),
    )


def _parts(f: Arrow) -> list[Arrow]:
    return list(map(Arrow, f.source, f.target, f.body))


def _two_sides(pairs: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    return tuple(left for left, _ in pairs), tuple(right for _, right in pairs)


def _said(at: Any) -> str:
    """An object on one line."""
    return " ".join(shown(at).split())
