"""Laws of the free monad, of the cofree comonad, and of comonads.

| the law               | the two sides                                                                  |
| --------------------- | ------------------------------------------------------------------------------ |
| free                  | `g ↦ g ∘ Pure` and `f ↦ interpret(f, β)` are inverse, for maps of algebras `g` |
| cofree                | `g ↦ extract ∘ g` and `f ↦ observe(f, γ)` are inverse, for maps of coalgebras `g`|
| comonad, counit       | `extract ∘ duplicate = id`, `W extract ∘ duplicate = id`                       |
| comonad, associativity| `duplicate ∘ duplicate = W duplicate ∘ duplicate`                              |
"""

from collections.abc import Callable
from typing import Any

from .._functors import (
    Cofree,
    duplicate as the_duplicate,
    extract as the_extract,
    fmap,
    interpret,
    map_cofree,
    observe,
    Pure,
)
from .._functors.recursion import Done, recursion
from .._functors.usage import with_usage
from ._hold import hold


@with_usage
def free(
    g: Callable[[Any], Any],
    alg: Callable[[Any], Any],
    value: Any,
    *,
    by: Callable[[Any, Any], Callable[[Any], Any]] = interpret,
    tolerance: float = 0.0,
) -> None:
    """That a map of algebras out of a free one is known from what it does to variables, at every part of a value.

    **Arguments:** `g`: a map of algebras from trees with variables to the carrier of `alg`. `value`: such a tree.

    **Raises:** `LawBroken`, also where `g` is not a map of algebras.

    Examples:
        >>> size = cdl.algebra(
        ...     lambda layer: layer.left + layer.right if isinstance(layer, cdl.Fork) else 1
        ... )
        >>> known = {"x": 3, "y": 4}
        >>> value = cdl.monads.interpret(known.get, size)
        >>> cdl.laws.free(value, size, cdl.Fork(cdl.monads.Pure("x"), cdl.monads.Pure("y")))
    """
    on_variables: Callable[[Any], Any] = lambda a: g(Pure(a))
    extended = by(on_variables, alg)

    def leaf(pure: Any) -> Any:
        hold("`interpret(f, β) ∘ Pure = f`", extended(pure), on_variables(pure.value), tolerance)
        return Done(None)

    def at(frame: Any, _: Any) -> None:
        law = "`g ∘ in = β ∘ F g` (is `g` a map of algebras?)"
        hold(law, g(frame.seed), alg(fmap(g, frame.layer)), tolerance)

    recursion(lambda _, part: leaf(part) if isinstance(part, Pure) else part, at)(0)(value)
    hold("`interpret(g ∘ Pure, β) = g`", extended(value), g(value), tolerance)


@with_usage
def cofree(
    g: Callable[[Any], Any],
    coalg: Callable[[Any], Any],
    seed: Any,
    *,
    by: Callable[[Any, Any], Callable[[Any], Any]] = observe,
    tolerance: float = 0.0,
) -> None:
    """That a map of coalgebras into a cofree one is known from what it shows at the root, from every seed on the way.

    **Arguments:** `g`: a map of coalgebras from the seeds of `coalg` to `Cofree`s. `seed`: one whose tree is finite.

    **Raises:** `LawBroken`, also where `g` is not a map of coalgebras.

    Examples:
        >>> down = lambda n: cdl.functors.Succ(n - 1) if n else cdl.functors.Zero()
        >>> cdl.laws.cofree(cdl.monads.observe(lambda n: n * n, down), down, 3)
    """
    shown: Callable[[Any], Any] = lambda s: the_extract(g(s))
    extended = by(shown, coalg)

    def at(frame: Any, _: Any) -> None:
        law = "`tail ∘ g = F g ∘ γ` (is `g` a map of coalgebras?)"
        hold(law, g(frame.seed).tail, fmap(g, frame.layer), tolerance)
        hold("`extract ∘ observe(f, γ) = f`", extended(frame.seed).head, shown(frame.seed), tolerance)

    recursion(lambda _, s: coalg(s), at)(0)(seed)
    hold("`observe(extract ∘ g, γ) = g`", extended(seed), g(seed), tolerance)


@with_usage
def comonad(
    value: Cofree[Any, Any] | Any,
    *,
    extract: Callable[[Any], Any] = the_extract,
    duplicate: Callable[[Any], Any] = the_duplicate,
    map: Callable[[Callable[[Any], Any], Any], Any] = map_cofree,
    tolerance: float = 0.0,
) -> None:
    """The laws of a comonad at one value: of `Cofree`, or of your own `extract`, `duplicate` and `map`.

    **Arguments:** `value`: the value at which the laws are checked. `extract`, `duplicate`, `map`: those of the
    comonad.

    **Raises:** `LawBroken`.

    Examples:
        >>> below = cdl.monads.Cofree(1, cdl.functors.Zero())
        >>> cdl.laws.comonad(cdl.monads.Cofree(2, cdl.functors.Succ(below)))
    """
    contexts = duplicate(value)
    hold("`extract ∘ duplicate = id`", extract(contexts), value, tolerance)
    hold("`W extract ∘ duplicate = id`", map(extract, contexts), value, tolerance)
    hold("`duplicate ∘ duplicate = W duplicate ∘ duplicate`", duplicate(contexts), map(duplicate, contexts), tolerance)
