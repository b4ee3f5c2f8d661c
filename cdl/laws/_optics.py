"""Laws of optics: they are a symmetric monoidal category, and backpropagation is a functor into it.

| the law        | the two sides                                                                       |
| -------------- | ----------------------------------------------------------------------------------- |
| sliding        | `((1 × m) ∘ f, b)` and `(f, b ∘ (m × 1))`, for a map `m` of residuals               |
| category       | `(f >> g) >> h = f >> (g >> h)`, `id >> f = f = f >> id`                            |
| tensor         | `(f @ g) >> (h @ k) = (f >> h) @ (g >> k)`, `id @ id = id`                          |
| coherence      | naturality, the pentagon and the triangle: `cdl.laws.monoidal_optics`                      |
| symmetry       | `(f @ g) >> σ = σ >> (g @ f)`, `σ >> σ = id`, the hexagon                           |
| round trip     | `to_optic ∘ to_lens = id`; so `to_lens ∘ to_optic = id` at the lens of an optic     |
| lenses         | `to_lens (f >> g) = to_lens f >> to_lens g`                                         |
| reverse        | `R[f >> g] = R[f] >> R[g]`, `R[f × g] = R[f] @ R[g]`, `R[id] = id`                  |

Two optics are the same when their lenses are: they get the same from `x`, and put the same for a change `dy`. A
residual is never looked at.
"""

from collections.abc import Callable
from typing import Any

from .._functors.usage import with_usage
from .._optics import Optic, reverse as the_reverse, structure, to_lens, to_optic
from ._hold import hold
from ._monoidal import monoidal_optics


AnyOptic = Optic[Any, Any, Any, Any]


@with_usage
def sliding(
    forward: Callable[[Any], tuple[Any, Any]],
    slide: Callable[[Any], Any],
    backward: Callable[[Any, Any], Any],
    x: Any,
    dy: Any,
    *,
    by: Callable[[Callable[[Any], Any], Callable[[Any, Any], Any]], AnyOptic] = Optic.of,
    tolerance: float = 0.0,
) -> None:
    """That a map of residuals may stand on either side.

    **Arguments:** `forward`, `slide`, `backward`: `X → Y × M`, `M → N` and `N × Y' → X'`. `by`: how an optic is made
    of two maps; one that looks at the residual, or keeps it in lower precision, breaks the law.

    **Raises:** `LawBroken`.

    Examples:
        >>> forward, backward = lambda x: (x, x), lambda kept, dy: kept * dy
        >>> cdl.laws.sliding(forward, lambda m: (m, 1.0), lambda kept, dy: kept[0] * dy, 3.0, 1.0)
    """

    def slid(x: Any) -> tuple[Any, Any]:
        y, residual = forward(x)
        return y, slide(residual)

    before, after = by(slid, backward), by(forward, lambda residual, dy: backward(slide(residual), dy))
    _same("`((1 × m) ∘ f, b) = (f, b ∘ (m × 1))`", before, after, x, dy, tolerance)


@with_usage
def optics(f: AnyOptic, g: AnyOptic, h: AnyOptic, k: AnyOptic, x: Any, dy: Any, *, tolerance: float = 0.0) -> None:
    """That optics are a symmetric monoidal category, and their lenses another.

    **Arguments:** `f`, `g`, `h`, `k`: optics from one pair of objects to itself. `x`, `dy`: an element of each.

    **Raises:** `LawBroken`.

    Examples:
        >>> f, g, h, k = map(cdl.reverse, (jnp.sin, jnp.cos, jnp.tanh, jnp.exp))
        >>> cdl.laws.optics(f, g, h, k, 0.5, 1.0, tolerance=1e-6)
    """
    one: AnyOptic = Optic.identity()
    swap: AnyOptic = Optic.swap()
    same: Callable[..., None] = lambda law, a, b, x=x, dy=dy: _same(law, a, b, x, dy, tolerance)
    same("`(f >> g) >> h = f >> (g >> h)`", (f >> g) >> h, f >> (g >> h))
    same("`id >> f = f`", one >> f, f)
    same("`f >> id = f`", f >> one, f)
    x2, dy2 = (x, f.get(x)), (dy, f.put(x, dy))
    same("`(f @ g) >> (h @ k) = (f >> h) @ (g >> k)`", (f @ g) >> (h @ k), (f >> h) @ (g >> k), x2, dy2)
    same("`id @ id = id`", one @ one, one, x2, dy2)
    same("`(f @ g) >> σ = σ >> (g @ f)`", (f @ g) >> swap, swap >> (g @ f), x2, dy2)
    same("`σ >> σ = id`", swap >> swap, one, x2, dy2)
    monoidal_optics(f, g, h, k, x, dy, tolerance=tolerance)
    right: AnyOptic = structure.associator()
    x3, dy3 = ((x, f.get(x)), g.get(x)), (dy, (f.put(x, dy), g.put(x, dy)))
    around = right >> swap >> right
    hexagon = (swap @ one) >> right >> (one @ swap)
    same("the hexagon", around, hexagon, x3, dy3)
    same("`to_optic ∘ to_lens = id`", to_optic(to_lens(f)), f)
    lens, by_hand = to_lens(f >> g), to_lens(f) >> to_lens(g)
    hold("`to_lens (f >> g) = to_lens f >> to_lens g`, get", lens.get(x), by_hand.get(x), tolerance)
    hold("`to_lens (f >> g) = to_lens f >> to_lens g`, put", lens.put(x, dy), by_hand.put(x, dy), tolerance)


@with_usage
def reverse_functor(
    f: Callable[[Any], Any],
    g: Callable[[Any], Any],
    x: Any,
    dz: Any,
    *,
    by: Callable[[Callable[[Any], Any]], AnyOptic] = the_reverse,
    tolerance: float = 0.0,
) -> None:
    """That backpropagation is a functor, and a monoidal one, at maps `X → Y → Z`, an `x` and a change of `g(f(x))`.

    **Arguments:** `f`, `g`: maps, the second from where the first ends. `x`: an input of `f`. `dz`: a change of
    `g(f(x))`. `by`: from a map to its optic. `tolerance`: the largest difference that is allowed.

    **Raises:** `LawBroken`.

    Examples:
        >>> cdl.laws.reverse_functor(jnp.sin, jnp.square, 0.5, 1.0, tolerance=1e-6)
    """
    _same("`R[f >> g] = R[f] >> R[g]`", by(lambda x: g(f(x))), by(f) >> by(g), x, dz, tolerance)
    y = f(x)
    beside = lambda pair: (f(pair[0]), g(pair[1]))
    change = (by(g).put(y, dz), dz)
    _same("`R[f × g] = R[f] @ R[g]`", by(beside), by(f) @ by(g), (x, y), change, tolerance)
    _same("`R[id] = id`", by(lambda z: z), Optic.identity(), g(y), dz, tolerance)


def _same(law: str, a: AnyOptic, b: AnyOptic, x: Any, dy: Any, tolerance: float) -> None:
    hold(f"{law}, get", a.get(x), b.get(x), tolerance)
    hold(f"{law}, put", a.put(x, dy), b.put(x, dy), tolerance)
