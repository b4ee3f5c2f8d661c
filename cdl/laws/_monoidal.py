"""Coherence of optics: the tensor is associative and has a unit, along isomorphisms that fit together.

| the law                     | the two sides                                                                   |
| --------------------------- | ------------------------------------------------------------------------------- |
| the isomorphisms            | `α >> α⁻¹ = id`, `α⁻¹ >> α = id`; the same of `λ` and of `ρ`                    |
| associativity is natural    | `((f @ g) @ h) >> α = α >> (f @ (g @ h))`                                       |
| the unitors are natural     | `(id @ f) >> λ = λ >> f`, `(f @ id) >> ρ = ρ >> f`                              |
| the pentagon                | `α >> α = (α @ id) >> α >> (id @ α)`, from `((W × X) × Y) × Z` to `W × (X × (Y × Z))` |
| the triangle                | `α >> (id @ λ) = ρ @ id`, from `(X × I) × Y` to `X × Y`                         |

With the naturality of the exchange and the hexagon (`cdl.laws.optics`) these are the axioms of a symmetric monoidal
category (Mac Lane, *Categories for the Working Mathematician*, VII.1 and VII.7). The other diagrams of rebracketings
and units follow.
"""

from typing import Any, TypeAlias

from .._functors.usage import with_usage
from .._optics import Optic, structure
from ._hold import hold


AnyOptic: TypeAlias = Optic[Any, Any, Any, Any]
Iso: TypeAlias = tuple[AnyOptic, AnyOptic]  # an optic, and its inverse


@with_usage
def monoidal_optics(
    f: AnyOptic,
    g: AnyOptic,
    h: AnyOptic,
    k: AnyOptic,
    x: Any,
    dy: Any,
    *,
    associator: Iso | None = None,
    left_unitor: Iso | None = None,
    right_unitor: Iso | None = None,
    tolerance: float = 0.0,
) -> None:
    """That optics are a monoidal category: naturality, the pentagon and the triangle.

    Of a `cdl.categories.Monoidal`, such as `OPTIC`, `symmetric_monoidal` checks these and the exchange.

    **Arguments:** `f`, `g`, `h`, `k`: optics from one pair of objects to itself. `x`, `dy`: an element of each.
    `associator`, `left_unitor`, `right_unitor`: an optic and its inverse, in place of those of `cdl.optics.structure`.

    **Raises:** `LawBroken`.

    Examples:
        >>> f, g, h, k = map(cdl.reverse, (jnp.sin, jnp.cos, jnp.tanh, jnp.exp))
        >>> cdl.laws.monoidal_optics(f, g, h, k, 0.5, 1.0, tolerance=1e-6)
    """
    one: AnyOptic = Optic.identity()
    α, α_back = associator or (structure.associator(), structure.associator_back())
    λ, λ_back = left_unitor or (structure.left_unitor(), structure.left_unitor_back())
    ρ, ρ_back = right_unitor or (structure.right_unitor(), structure.right_unitor_back())

    def same(law: str, a: AnyOptic, b: AnyOptic, x: Any, dy: Any) -> None:
        hold(f"{law}, get", a.get(x), b.get(x), tolerance)
        hold(f"{law}, put", a.put(x, dy), b.put(x, dy), tolerance)

    # four elements of the one object, and four changes, so that a part in another's place is seen
    w, y, z = f.get(x), g.get(x), h.get(x)
    dw, dx, dz = f.put(x, dy), g.put(x, dy), k.put(x, dy)
    left, right = ((x, y), z), (x, (y, z))
    d_left, d_right = ((dx, dy), dz), (dx, (dy, dz))
    same("`α >> α⁻¹ = id`", α >> α_back, one, left, d_left)
    same("`α⁻¹ >> α = id`", α_back >> α, one, right, d_right)
    same("associativity is natural", ((f @ g) @ h) >> α, α >> (f @ (g @ h)), left, d_right)
    for sign, iso, back, given, change in [("λ", λ, λ_back, ((), x), ((), dy)), ("ρ", ρ, ρ_back, (x, ()), (dy, ()))]:
        same(f"`{sign} >> {sign}⁻¹ = id`", iso >> back, one, given, change)
        same(f"`{sign}⁻¹ >> {sign} = id`", back >> iso, one, x, dy)
    same("`(id @ f) >> λ = λ >> f`", (one @ f) >> λ, λ >> f, ((), x), dy)
    same("`(f @ id) >> ρ = ρ >> f`", (f @ one) >> ρ, ρ >> f, (x, ()), dy)
    around = (α @ one) >> α >> (one @ α)
    same("the pentagon", α >> α, around, (((w, x), y), z), (dw, (dx, (dy, dz))))
    same("the triangle", α >> (one @ λ), ρ @ one, ((x, ()), y), (dx, dy))
