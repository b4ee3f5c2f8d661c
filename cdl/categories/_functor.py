"""Functors and natural transformations, as values.

| the mathematics                                        | here                                                     |
| ------------------------------------------------------ | -------------------------------------------------------- |
| a functor `F : C → D`                                  | `Functor(C, D, on_objects, on_maps)`; `F(f)`, `F.at(X)`  |
| a contravariant one, `F(f) : F Y → F X`                | `Functor(…, contravariant=True)`                         |
| `G ∘ F`                                                | `F.then(G)`                                              |
| a natural transformation `τ : F ⇒ G`                   | `NatTrans(F, G, at)`; its component is `τ(X)`            |
| a natural isomorphism                                  | `NatIso(F, G, at, back)`; `τ.inverse()`                  |

In `cdl.laws`, `functor_of_categories`, `natural_transformation` and `natural_isomorphism` check them at maps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from .._functors.expected import expect_fields
from .._functors.usage import with_types
from ..errors import PortMismatch
from ._category import Arrow, Category


@final
@dataclass(frozen=True, eq=False)
class Functor:
    """A functor: `on_objects` of an object, and `on_maps` of a map, of which it gives the body.

    Examples:
        >>> transposed: cdl.categories.Functor = cdl.categories.DAGGER
        >>> transposed(cdl.categories.MAT.arrow([[1.0, 2.0]])).target
        2
    """

    source: Category
    target: Category
    on_objects: Callable[[Any], Any]
    on_maps: Callable[[Arrow], Any]
    contravariant: bool = False

    def __post_init__(self) -> None:
        expect_fields(self)

    def at(self, x: Any) -> Any:
        """The functor of an object."""
        return self.on_objects(x)

    @with_types
    def __call__(self, f: Arrow) -> Arrow:
        x, y = self.at(f.source), self.at(f.target)
        return Arrow(y, x, self.on_maps(f)) if self.contravariant else Arrow(x, y, self.on_maps(f))

    @with_types
    def then(self, other: "Functor") -> "Functor":
        """This functor, and another after it. Two contravariant ones are a functor.

        **Raises:** `PortMismatch` naming the two categories, where the other starts elsewhere.
        """
        if self.target is not other.source:
            raise PortMismatch(
                f"functors that do not compose: the first goes to `{self.target.name}`, and the second comes from "
                f"`{other.source.name}`. Give functors that share the category between them."
            )
        return Functor(
            self.source,
            other.target,
            lambda x: other.at(self.at(x)),
            lambda f: other.on_maps(self(f)),
            self.contravariant != other.contravariant,
        )

    @staticmethod
    @with_types
    def identity(category: Category) -> "Functor":
        """The functor that changes nothing."""
        return Functor(category, category, lambda x: x, lambda f: f.body)


@dataclass(frozen=True, eq=False)
class NatTrans:
    """A natural transformation between two functors `C → D`; `at` gives the body of its component at an object.

    Examples:
        >>> here = cdl.categories.Functor.identity(cdl.categories.MAT)
        >>> doubled = cdl.categories.NatTrans(here, here, lambda n: 2 * jnp.eye(n))
        >>> cdl.laws.natural_transformation(doubled, cdl.categories.MAT.arrow([[1.0, 2.0]]))
    """

    source: Functor
    target: Functor
    at: Callable[[Any], Any]

    def __post_init__(self) -> None:
        expect_fields(self)
        f, g = self.source, self.target
        if f.source is not g.source or f.target is not g.target or f.contravariant or g.contravariant:
            raise PortMismatch(
                f"a natural transformation is between two covariant functors with the same ends, and these go from "
                f"`{f.source.name}` to `{f.target.name}` and from `{g.source.name}` to `{g.target.name}`. Give two "
                "that are parallel; of a contravariant one, its composite with another."
            )

    def __call__(self, x: Any) -> Arrow:
        return Arrow(self.source.at(x), self.target.at(x), self.at(x))


@final
@dataclass(frozen=True, eq=False)
class NatIso(NatTrans):
    """A natural transformation with an inverse: `back` gives the body of its component at an object.

    Examples:
        >>> here = cdl.categories.Functor.identity(cdl.categories.MAT)
        >>> doubled = cdl.categories.NatIso(
        ...     here, here, lambda n: 2 * jnp.eye(n), lambda n: jnp.eye(n) / 2
        ... )
        >>> cdl.laws.natural_isomorphism(doubled, cdl.categories.MAT.arrow([[1.0, 2.0]]))
    """

    back: Callable[[Any], Any]

    def inverse(self) -> "NatIso":
        """The way back."""
        return NatIso(self.target, self.source, self.back, self.at)
