"""Laws of functors on layers of data: composition, strength, naturality.

| the law            | the two sides                                                       |
| ------------------ | ------------------------------------------------------------------- |
| identity           | `F id = id`                                                         |
| composition        | `F g ∘ F f = F (g ∘ f)`                                             |
| strength, unit     | `F π₂ ∘ σ = π₂`                                                     |
| strength, product  | `F α ∘ σ = σ ∘ (P × σ) ∘ α`, where `α : (P × Q) × X ≅ P × (Q × X)`  |
| strength, natural  | `σ ∘ (p × F f) = F (p × f) ∘ σ`                                     |
| natural transformation | `τ ∘ F f = G f ∘ τ`                                             |

Functions are not compared: give `observe` where a layer has functions in it (a machine), and what it shows is compared.
"""

from collections.abc import Callable
from typing import Any

from .._functors import fmap, strength as the_strength
from .._functors.usage import with_usage
from ._hold import hold


Map = Callable[[Callable[[Any], Any], Any], Any]


@with_usage
def functor(
    layer: Any,
    f: Callable[[Any], Any],
    g: Callable[[Any], Any],
    *,
    map: Map = fmap,
    observe: Callable[[Any], Any] = lambda layer: layer,
    tolerance: float = 0.0,
) -> None:
    """That `map` is a functor, at one layer and two functions that compose: identity and composition.

    Of a `cdl.categories.Functor`, `functor_of_categories` says the same.

    **Arguments:** `layer`: the layer to map over. `f`, `g`: functions; `g` takes what `f` gives. `map`: the map to
    check. `observe`: what is compared, where layers hold functions.

    **Raises:** `LawBroken`.

    Examples:
        >>> cdl.laws.functor(cdl.Fork(1, 2), lambda x: x + 1, lambda x: 2 * x)
    """
    hold("`F id = id`", observe(map(lambda x: x, layer)), observe(layer), tolerance)
    in_two, at_once = map(g, map(f, layer)), map(lambda x: g(f(x)), layer)
    hold("`F g ∘ F f = F (g ∘ f)`", observe(in_two), observe(at_once), tolerance)


@with_usage
def strength(
    layer: Any,
    p: Any,
    q: Any,
    f: Callable[[Any], Any],
    g: Callable[[Any], Any],
    *,
    map: Map = fmap,
    by: Callable[[Any, Any], Any] = the_strength,
    observe: Callable[[Any], Any] = lambda layer: layer,
    tolerance: float = 0.0,
) -> None:
    """That `by` is a strength: unit, product, and naturality for `f` on parameters and `g` at places.

    **Raises:** `LawBroken`.

    Examples:
        >>> after = lambda p, layer: cdl.fmap(
        ...     lambda x: (x, p), layer
        ... )  # the parameter on the wrong side
        >>> cdl.laws.strength(cdl.Fork(1, 2), "p", "q", str.upper, lambda x: x + 1)
        >>> cdl.laws.strength(cdl.Fork(1, 2), "p", "q", str.upper, lambda x: x + 1, by=after)
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `F π₂ ∘ σ = π₂`: the left side gives `'p'` where the right gives `1`.
    """
    same: Callable[[str, Any, Any], None] = lambda law, a, b: hold(law, observe(a), observe(b), tolerance)
    same("`F π₂ ∘ σ = π₂`", map(lambda px: px[1], by(p, layer)), layer)
    together = map(lambda pqx: (pqx[0][0], (pqx[0][1], pqx[1])), by((p, q), layer))
    same("`F α ∘ σ = σ ∘ (P × σ) ∘ α`", together, by(p, by(q, layer)))
    after = map(lambda px: (f(px[0]), g(px[1])), by(p, layer))
    same("`F (f × g) ∘ σ = σ ∘ (f × F g)`", after, by(f(p), map(g, layer)))


@with_usage
def natural_on_layers(
    transform: Callable[[Any], Any],
    layer: Any,
    f: Callable[[Any], Any],
    *,
    source: Map = fmap,
    target: Map = fmap,
    tolerance: float = 0.0,
) -> None:
    """That a transformation of layers does not look at what stands at their places.

    Of a `cdl.categories.NatTrans`, `natural_transformation` says the same.

    **Arguments:** `transform`: from layers to layers. `layer`: the layer to look at. `f`: a function of what is at its
    places. `source`, `target`: the map of each of the two functors.

    **Raises:** `LawBroken`.

    Examples:
        >>> mirror = lambda layer: (
        ...     cdl.Fork(layer.right, layer.left) if isinstance(layer, cdl.Fork) else layer
        ... )
        >>> cdl.laws.natural_on_layers(mirror, cdl.Fork(1, 2), str)
    """
    hold("`τ ∘ F f = G f ∘ τ`", transform(source(f, layer)), target(f, transform(layer)), tolerance)
