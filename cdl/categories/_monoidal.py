"""Symmetric monoidal categories, as values.

| the mathematics                                    | here                                                    |
| -------------------------------------------------- | ------------------------------------------------------- |
| the tensor `⊗ : C × C → C`                         | `pair` of objects, `beside` of bodies; `C.tensor(f, g)` |
| the unit `I`                                       | `unit`                                                  |
| `α : (X ⊗ Y) ⊗ Z ≅ X ⊗ (Y ⊗ Z)`                    | `C.α(X, Y, Z)`                                          |
| `λ : I ⊗ X ≅ X`, `ρ : X ⊗ I ≅ X`                   | `C.λ(X)`, `C.ρ(X)`                                      |
| `σ : X ⊗ Y ≅ Y ⊗ X`                                | `C.σ(X, Y)`                                             |
| each of these as a natural isomorphism             | `C.isos()`, by its letter                               |

`cdl.laws.symmetric_monoidal` checks the axioms (Mac Lane, *Categories for the Working Mathematician*, VII.1 and
XI.1). Every diagram of `α`, `λ` and `ρ` alone commutes by them; with `σ`, those whose two sides move the factors alike:
`σ` on `X ⊗ X` is not the identity.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from .._functors.usage import with_types
from ..errors import CdlError
from ._category import Arrow, Category, product_category
from ._functor import Functor, NatIso


Bodies = tuple[Any, Any]  # there, and back


@dataclass(frozen=True, eq=False, kw_only=True)
class Monoidal(Category):
    """A symmetric monoidal category.

    **Arguments:** `unit`: an object. `pair`: the tensor of two objects. `beside`: the body of the tensor of two maps.
    `associator`, `left_unitor`, `right_unitor`: of the objects, the bodies of the isomorphism and of its inverse.
    `braiding`: of two objects, the body of the exchange. The others are those of `Category`.

    Examples:
        >>> sets: cdl.categories.Monoidal = cdl.categories.SETS
        >>> sets.σ(2, 2).body.tolist()
        [0, 2, 1, 3]
    """

    unit: Any
    pair: Callable[[Any, Any], Any]
    beside: Callable[[Arrow, Arrow], Any]
    associator: Callable[[Any, Any, Any], Bodies]
    left_unitor: Callable[[Any], Bodies]
    right_unitor: Callable[[Any], Bodies]
    braiding: Callable[[Any, Any], Any]

    @with_types
    def tensor(self, *arrows: Arrow) -> Arrow:
        """The tensor of maps, bracketed to the left.

        **Raises:** `CdlError` of no maps.
        """
        if not arrows:
            raise CdlError("`tensor` of no maps is the identity of the unit: write `identity(unit)`.")
        return reduce(self._two_beside, arrows)

    def _two_beside(self, f: Arrow, g: Arrow) -> Arrow:
        return Arrow(self.pair(f.source, g.source), self.pair(f.target, g.target), self.beside(f, g))

    def α(self, x: Any, y: Any, z: Any) -> Arrow:
        """`(X ⊗ Y) ⊗ Z → X ⊗ (Y ⊗ Z)`.

        **Arguments:** `x`, `y`, `z`: objects.
        """
        return self.isos()["α"]((x, y, z))

    def λ(self, x: Any) -> Arrow:
        """`I ⊗ X → X`."""
        return self.isos()["λ"](x)

    def ρ(self, x: Any) -> Arrow:
        """`X ⊗ I → X`."""
        return self.isos()["ρ"](x)

    def σ(self, x: Any, y: Any) -> Arrow:
        """`X ⊗ Y → Y ⊗ X`.

        **Arguments:** `x`, `y`: objects.
        """
        return self.isos()["σ"]((x, y))

    def product(self) -> Functor:
        """The tensor as a functor from `C × C`."""
        two = product_category(self, 2)
        beside: Any = lambda f: self.beside(*map(Arrow, f.source, f.target, f.body))
        return Functor(two, self, lambda xy: self.pair(*xy), beside)

    def isos(self) -> dict[str, NatIso]:
        """The four natural isomorphisms, by their letters; their objects are tuples where there are several."""
        one, two, three = Functor.identity(self), product_category(self, 2), product_category(self, 3)
        beside = self._two_beside
        many: Any = lambda f: list(map(Arrow, f.source, f.target, f.body))
        left: Any = lambda f, g, h: beside(beside(f, g), h).body
        right: Any = lambda f, g, h: beside(f, beside(g, h)).body
        unit, pair = self.identity(self.unit), self.pair
        return {
            "α": NatIso(
                Functor(three, self, lambda x: pair(pair(x[0], x[1]), x[2]), lambda f: left(*many(f))),
                Functor(three, self, lambda x: pair(x[0], pair(x[1], x[2])), lambda f: right(*many(f))),
                lambda x: self.associator(*x)[0],
                lambda x: self.associator(*x)[1],
            ),
            "λ": NatIso(
                Functor(self, self, lambda x: pair(self.unit, x), lambda f: beside(unit, f).body),
                one,
                lambda x: self.left_unitor(x)[0],
                lambda x: self.left_unitor(x)[1],
            ),
            "ρ": NatIso(
                Functor(self, self, lambda x: pair(x, self.unit), lambda f: beside(f, unit).body),
                one,
                lambda x: self.right_unitor(x)[0],
                lambda x: self.right_unitor(x)[1],
            ),
            "σ": NatIso(
                Functor(two, self, lambda x: pair(*x), lambda f: beside(*many(f)).body),
                Functor(two, self, lambda x: pair(x[1], x[0]), lambda f: beside(*reversed(many(f))).body),
                lambda x: self.braiding(*x),
                lambda x: self.braiding(x[1], x[0]),
            ),
        }
