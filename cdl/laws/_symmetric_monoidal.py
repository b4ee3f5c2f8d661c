"""Laws of categories, functors and natural transformations that are values (`cdl.categories`).

| the law                 | the two sides                                                                            |
| ----------------------- | ---------------------------------------------------------------------------------------- |
| a map                   | what the category requires of it                                                         |
| category                | `(f >> g) >> h = f >> (g >> h)`, `id >> f = f = f >> id`                                 |
| functor                 | `F(id) = id`, `F(f >> g) = F f >> F g`; contravariant, `F g >> F f`                      |
| natural transformation  | `F f >> τ = τ >> G f`                                                                    |
| natural isomorphism     | also `τ >> τ⁻¹ = id`, `τ⁻¹ >> τ = id`                                                    |
| the tensor              | a functor: `(f @ g) >> (g @ h) = (f >> g) @ (g >> h)`, `id @ id = id`                    |
| the pentagon            | `α >> α = (α @ id) >> α >> (id @ α)`                                                     |
| the triangle            | `α >> (id @ λ) = ρ @ id`                                                                 |
| the hexagon             | `α >> σ >> α = (σ @ id) >> α >> (id @ σ)`                                                |
| symmetry                | `σ >> σ = id`                                                                            |

(Mac Lane, *Categories for the Working Mathematician*, I.2–4, VII.1 and XI.1.)
"""

from .._functors.usage import with_types
from ..categories import Arrow, Category, Functor, Monoidal, NatIso, NatTrans
from ._hold import hold


@with_types
def category(C: Category, f: Arrow, g: Arrow, h: Arrow, *, tolerance: float = 0.0) -> None:
    """That composition is associative and has units, at three maps that compose.

    **Arguments:** `C`: the category. `f`, `g`, `h`: maps, each from where the one before it ends.

    **Raises:** `LawBroken`; `PortMismatch` where the maps do not compose.

    Examples:
        >>> f = cdl.categories.MAT.arrow([[1.0, 2.0]])
        >>> g = cdl.categories.MAT.arrow([[3.0], [4.0]])
        >>> cdl.laws.category(cdl.categories.MAT, f, g, f)
    """
    for name, arrow in {"f": f, "g": g, "f >> g": C.compose(f, g)}.items():
        left, right = C.required(arrow)
        hold(f"`{name}` is a map of the category", left, right, tolerance)
    left, right = C.compose(C.compose(f, g), h), C.compose(f, C.compose(g, h))
    _same(C, "`(f >> g) >> h = f >> (g >> h)`", left, right, tolerance)
    _same(C, "`id >> f = f`", C.compose(C.identity(f.source), f), f, tolerance)
    _same(C, "`f >> id = f`", C.compose(f, C.identity(f.target)), f, tolerance)


@with_types
def functor_of_categories(F: Functor, f: Arrow, g: Arrow, *, tolerance: float = 0.0) -> None:
    """That a functor between categories keeps identities and composition, at two maps that compose.

    **Arguments:** `F`: the functor. `f`, `g`: maps of its source; `g` begins where `f` ends.

    **Raises:** `LawBroken`; `PortMismatch` where the maps do not compose, or their images do not.

    Examples:
        >>> f = cdl.categories.SMOOTH.arrow(jnp.sin, jnp.ones(2))
        >>> g = cdl.categories.SMOOTH.arrow(jnp.sum, jnp.ones(2))
        >>> cdl.laws.functor_of_categories(cdl.categories.BACKPROPAGATION, f, g, tolerance=1e-6)
    """
    _functorial("F", F, f, g, tolerance)


@with_types
def natural_transformation(τ: NatTrans, f: Arrow, *, tolerance: float = 0.0) -> None:
    """That the square of a natural transformation commutes, at a map.

    **Arguments:** `τ`: the transformation. `f`: a map of the source of its functors.

    **Raises:** `LawBroken`; `PortMismatch` where a component has other ends than the functors give it.

    Examples:
        >>> here = cdl.categories.Functor.identity(cdl.categories.MAT)
        >>> doubled = cdl.categories.NatTrans(here, here, lambda n: 2 * jnp.eye(n))
        >>> cdl.laws.natural_transformation(doubled, cdl.categories.MAT.arrow([[1.0, 2.0]]))
    """
    _natural("τ", τ, f, tolerance)


@with_types
def natural_isomorphism(τ: NatIso, f: Arrow, *, tolerance: float = 0.0) -> None:
    """That a natural transformation is one, and has an inverse.

    **Arguments:** `τ`: the isomorphism. `f`: a map of the source of its functors.

    **Raises:** `LawBroken`.

    Examples:
        >>> here = cdl.categories.Functor.identity(cdl.categories.MAT)
        >>> doubled = cdl.categories.NatIso(
        ...     here, here, lambda n: 2 * jnp.eye(n), lambda n: jnp.eye(n) / 2
        ... )
        >>> cdl.laws.natural_isomorphism(doubled, cdl.categories.MAT.arrow([[1.0, 2.0]]))
    """
    _isomorphism("τ", τ, f, tolerance)


@with_types
def symmetric_monoidal(C: Monoidal, f: Arrow, g: Arrow, h: Arrow, *, tolerance: float = 0.0) -> None:
    """That a category is symmetric monoidal: all of the laws above, at three maps `W → X → Y → Z`.

    **Arguments:** `C`: the category. `f`, `g`, `h`: maps that compose, as above.

    **Raises:** `LawBroken`; `PortMismatch` where the maps do not compose, or a structure map has other ends.

    Examples:
        >>> f = cdl.categories.SETS.arrow([0, 0, 1], 2)
        >>> g = cdl.categories.SETS.arrow([1, 0], 2)
        >>> cdl.laws.symmetric_monoidal(cdl.categories.SETS, f, g, g)
    """
    category(C, f, g, h, tolerance=tolerance)
    isos, product = C.isos(), C.product()
    _functorial("⊗", product, _together(f, g), _together(g, h), tolerance)
    at = {"α": _together(f, g, h), "λ": f, "ρ": f, "σ": _together(f, g)}
    for sign, iso in isos.items():
        check = _natural if sign == "σ" else _isomorphism
        check(sign, iso, at[sign], tolerance)
        left, right = C.required(iso(at[sign].source))
        hold(f"`{sign}` is a map of the category", left, right, tolerance)
    w, x, y, z = f.source, g.source, h.source, h.target
    α, σ, one, pair = C.α, C.σ, C.identity, C.pair
    short = C.compose(α(pair(w, x), y, z), α(w, x, pair(y, z)))
    long = C.compose(C.tensor(α(w, x, y), one(z)), α(w, pair(x, y), z), C.tensor(one(w), α(x, y, z)))
    _same(C, "the pentagon", short, long, tolerance)
    over = C.compose(α(w, C.unit, x), C.tensor(one(w), C.λ(x)))
    _same(C, "the triangle", over, C.tensor(C.ρ(w), one(x)), tolerance)
    around = C.compose(α(w, x, y), σ(w, pair(x, y)), α(x, y, w))
    by_two = C.compose(C.tensor(σ(w, x), one(y)), α(x, w, y), C.tensor(one(x), σ(w, y)))
    _same(C, "the hexagon", around, by_two, tolerance)
    _same(C, "`σ >> σ = id`", C.compose(σ(w, x), σ(x, w)), one(pair(w, x)), tolerance)


def _functorial(name: str, F: Functor, f: Arrow, g: Arrow, tolerance: float) -> None:
    C, D = F.source, F.target
    _same(D, f"`{name}(id) = id`", F(C.identity(f.source)), D.identity(F.at(f.source)), tolerance)
    apart = D.compose(F(g), F(f)) if F.contravariant else D.compose(F(f), F(g))
    _same(D, f"`{name}(f >> g)`", F(C.compose(f, g)), apart, tolerance)


def _natural(name: str, τ: NatTrans, f: Arrow, tolerance: float) -> None:
    D, F, G = τ.source.target, τ.source, τ.target
    left, right = D.compose(F(f), τ(f.target)), D.compose(τ(f.source), G(f))
    _same(D, f"`{name}` is natural", left, right, tolerance)


def _isomorphism(name: str, τ: NatIso, f: Arrow, tolerance: float) -> None:
    _natural(name, τ, f, tolerance)
    D, there, back = τ.source.target, τ(f.source), τ.inverse()(f.source)
    _same(D, f"`{name} >> {name}⁻¹ = id`", D.compose(there, back), D.identity(there.source), tolerance)
    _same(D, f"`{name}⁻¹ >> {name} = id`", D.compose(back, there), D.identity(there.target), tolerance)


def _together(*arrows: Arrow) -> Arrow:
    """Several maps as one of a power of the category."""
    return Arrow(*(tuple(part) for part in zip(*((f.source, f.target, f.body) for f in arrows), strict=True)))


def _same(C: Category, law: str, left: Arrow, right: Arrow, tolerance: float) -> None:
    hold(law, C.observed(left), C.observed(right), tolerance)
