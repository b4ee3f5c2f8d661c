"""Laws of folds: trees are the initial algebra, and every scheme is a `cata`.

| the law          | the two sides                                                     |
| ---------------- | ----------------------------------------------------------------- |
| a map of algebras | `h ∘ α = β ∘ F h`                                                |
| Lambek           | `out ∘ in = id`, and `out = cata (F in)`                          |
| reflection       | `cata in = id`                                                    |
| fusion           | `h ∘ α = β ∘ F h` implies `h ∘ cata α = cata β`                   |
| banana-split     | `cata (α × β) = ⟨cata α, cata β⟩`                                 |
| `para`           | `para α = π₂ ∘ cata ⟨in ∘ F π₁, α⟩`                               |
| `zygo`           | `zygo β α = π₂ ∘ cata ⟨β ∘ F π₁, α⟩`                              |
| `mutu`           | `mutu β α = π₂ ∘ cata ⟨β, α⟩`                                     |
| `histo`          | `histo α = head ∘ cata ⟨α, id⟩`                                   |
| `decorate`       | `decorate α = cata ⟨α ∘ F head, id⟩`                              |

Where a law is about a fold, `by` is the fold: `cata` unless you give another.
"""

from collections.abc import Callable
from typing import Any

from .._functors import Cofree, embed as the_embed, fmap, project as the_project
from .._functors.usage import with_usage
from .._schemes import (
    Algebra,
    algebra,
    cata,
    decorate as the_decorate,
    histo as the_histo,
    hylo,
    mutu as the_mutu,
    para as the_para,
    product,
    zygo as the_zygo,
)
from ._hold import hold, place
from ._in_place import maps_of_algebras


Map = Callable[[Any], Any]
Fold = Callable[[Any], Callable[[Any], Any]]


@with_usage
def algebra_map(
    h: Callable[[Any], Any],
    alg: Callable[[Any], Any],
    other: Callable[[Any], Any],
    layer: Any,
    *,
    tolerance: float = 0.0,
) -> None:
    """That `h` is a map of algebras from `alg` to `other`, at a layer of `alg`'s carrier.

    **Arguments:** `h`: from the values of `alg`, which is `α`, to those of `other`, which is `β`.

    **Raises:** `LawBroken`; `CdlError` where one of the three stands in the place of another.

    Examples:
        >>> size = cdl.algebra(
        ...     lambda layer: layer.left + layer.right if isinstance(layer, cdl.Fork) else 1
        ... )
        >>> odd = cdl.algebra(
        ...     lambda layer: layer.left ^ layer.right if isinstance(layer, cdl.Fork) else True
        ... )
        >>> cdl.laws.algebra_map(lambda n: n % 2 == 1, size, odd, cdl.Fork(2, 3))
        >>> cdl.laws.algebra_map(lambda n: n > 1, size, odd, cdl.Fork(2, 3))
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `h ∘ α = β ∘ F h`, at the layer `Fork(2, 3)`: the left side gives
        `True` where the right gives `False`.
    """
    _hold_at(layer, *maps_of_algebras("algebra_map(h, alg, other, layer)", h, alg, other), tolerance)


@with_usage
def lambek(
    layer: Any,
    *,
    embed: Callable[[Any], Any] = the_embed,
    project: Callable[[Any], Any] = the_project,
    tolerance: float = 0.0,
) -> None:
    """That the structure map of an initial algebra is an isomorphism, whose inverse is a fold.

    **Arguments:** `layer`: a layer of elements of the algebra (any tree is one). `embed`, `project`: the structure map
    and its inverse; for trees of another kind (lists as tuples, say), give yours.

    **Raises:** `LawBroken`.

    Examples:
        >>> cdl.laws.lambek(cdl.Fork(cdl.Leaf("a"), cdl.Leaf("b")))
    """
    tree = embed(layer)
    hold("`out ∘ in = id`", project(tree), layer, tolerance)
    opened = hylo(_reader(lambda below: fmap(embed, below)), project)
    hold("`out = cata (F in)`", project(tree), opened(tree), tolerance)


@with_usage
def reflection(tree: Any, *, by: Fold = cata, tolerance: float = 0.0) -> None:
    """That a tree folded with its own constructors is itself.

    **Arguments:** `tree`: the tree to fold. `by`: the fold to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> cdl.laws.reflection(cdl.to_list("abc"))
    """
    hold("`cata in = id`", by(_reader(the_embed))(tree), tree, tolerance)


@with_usage
def fusion(
    h: Callable[[Any], Any],
    alg: Callable[[Any], Any],
    other: Callable[[Any], Any],
    tree: Any,
    *,
    by: Fold = cata,
    tolerance: float = 0.0,
) -> None:
    """That a map of algebras slides out of a fold; that it is one is checked at every node of the tree.

    **Arguments:** as for `algebra_map`: the map comes first, then the algebra before it and the one after it.

    **Raises:** `LawBroken`. Where the premise fails, the error has the premise's formula, and the layer where it fails.
    `CdlError` where one of the three stands in the place of another.

    Examples:
        >>> total = cdl.algebra(
        ...     lambda layer: layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0
        ... )
        >>> minus = cdl.algebra(
        ...     lambda layer: layer.tail - layer.head if isinstance(layer, cdl.Cons) else 0
        ... )
        >>> cdl.laws.fusion(lambda x: -x, total, minus, cdl.to_list([1, 2, 3]))
        >>> cdl.laws.fusion(abs, total, minus, cdl.to_list([1, 2, 3]))
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `h ∘ α = β ∘ F h`, at the layer `Cons(3, 0)`: the left side gives
        `3` where the right gives `-3`.
    """

    h, alg, other = maps_of_algebras("fusion(h, alg, other, tree)", h, alg, other)

    def checked(layer: Any) -> Any:
        _hold_at(layer, h, alg, other, tolerance)
        return alg(layer)

    hold("`h ∘ cata α = cata β`", h(by(_reader(checked))(tree)), by(_reader(other))(tree), tolerance)


@with_usage
def banana_split(first: Any, second: Any, tree: Any, *, by: Fold = cata, tolerance: float = 0.0) -> None:
    """That two folds are one, of the product of their algebras.

    **Arguments:** `first`, `second`: algebras. `tree`: the tree to fold. `by`: the fold to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> total = cdl.algebra(
        ...     lambda layer: layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0
        ... )
        >>> length = cdl.algebra(lambda layer: 1 + layer.tail if isinstance(layer, cdl.Cons) else 0)
        >>> cdl.laws.banana_split(total, length, cdl.to_list([1, 2, 3]))
    """
    apart = by(first)(tree), by(second)(tree)
    hold("`cata (α × β) = ⟨cata α, cata β⟩`", by(product(first, second))(tree), apart, tolerance)


@with_usage
def para(alg: Any, tree: Any, *, by: Fold = the_para, tolerance: float = 0.0) -> None:
    """That `para` is a `cata` that builds the tree again as it goes.

    **Arguments:** `alg`: sees at each place the subtree and its value. `tree`: the tree to fold. `by`: the scheme to
    check.

    **Raises:** `LawBroken`.

    Examples:
        >>> @cdl.algebra
        ... def tails(layer):
        ...     return (layer.tail[0],) + layer.tail[1] if isinstance(layer, cdl.Cons) else ()
        >>> cdl.laws.para(tails, cdl.to_list("ab"))
    """
    paired = _reader(lambda layer: (the_embed(fmap(_first, layer)), alg(layer)))
    hold("`para α = π₂ ∘ cata ⟨in ∘ F π₁, α⟩`", by(alg)(tree), cata(paired)(tree)[1], tolerance)


@with_usage
def zygo(helper: Any, alg: Any, tree: Any, *, by: Callable[[Any, Any], Any] = the_zygo, tolerance: float = 0.0) -> None:
    """That `zygo` is a `cata` of pairs, the first of which needs no second.

    **Arguments:** `helper`, `alg`: as for `cdl.schemes.zygo`. `tree`: the tree to fold. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> even = cdl.algebra(
        ...     lambda layer: not layer.tail if isinstance(layer, cdl.Cons) else True
        ... )
        >>> @cdl.algebra
        ... def every_second(layer):
        ...     return (
        ...         layer.tail[1] + layer.head * layer.tail[0] if isinstance(layer, cdl.Cons) else 0
        ...     )
        >>> cdl.laws.zygo(even, every_second, cdl.to_list([1, 2, 3]))
    """
    paired = _reader(lambda layer: (helper(fmap(_first, layer)), alg(layer)))
    hold("`zygo β α = π₂ ∘ cata ⟨β ∘ F π₁, α⟩`", by(helper, alg)(tree), cata(paired)(tree)[1], tolerance)


@with_usage
def mutu(other: Any, alg: Any, tree: Any, *, by: Callable[[Any, Any], Any] = the_mutu, tolerance: float = 0.0) -> None:
    """That `mutu` is a `cata` of pairs.

    **Arguments:** `other`, `alg`: as for `cdl.schemes.mutu`. `tree`: the tree to fold. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> odd = cdl.algebra(lambda layer: isinstance(layer, cdl.functors.Succ) and layer.pred[1])
        >>> even = cdl.algebra(lambda layer: isinstance(layer, cdl.functors.Zero) or layer.pred[0])
        >>> cdl.laws.mutu(odd, even, cdl.functors.Succ(cdl.functors.Succ(cdl.functors.Zero())))
    """
    paired = _reader(lambda layer: (other(layer), alg(layer)))
    hold("`mutu β α = π₂ ∘ cata ⟨β, α⟩`", by(other, alg)(tree), cata(paired)(tree)[1], tolerance)


@with_usage
def histo(alg: Any, tree: Any, *, by: Fold = the_histo, tolerance: float = 0.0) -> None:
    """That `histo` is a `cata` that keeps every value.

    **Arguments:** `alg`: sees a `Cofree` at each place. `tree`: the tree to fold. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> before = lambda child: (
        ...     child.head,
        ...     child.tail.tail.head if isinstance(child.tail, cdl.Cons) else 0,
        ... )
        >>> fibonacci = cdl.algebra(
        ...     lambda layer: sum(before(layer.tail)) if isinstance(layer, cdl.Cons) else 1
        ... )
        >>> cdl.laws.histo(fibonacci, cdl.to_list("abcd"))
    """
    kept = _reader(lambda layer: Cofree(alg(layer), layer))
    hold("`histo α = head ∘ cata ⟨α, id⟩`", by(alg)(tree), cata(kept)(tree).head, tolerance)


@with_usage
def decorate(alg: Any, tree: Any, *, by: Fold = the_decorate, tolerance: float = 0.0) -> None:
    """That `decorate` keeps at each node the fold of the tree below it.

    **Arguments:** `alg`: an algebra. `tree`: the tree to decorate. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> length = cdl.algebra(lambda layer: 1 + layer.tail if isinstance(layer, cdl.Cons) else 0)
        >>> cdl.laws.decorate(length, cdl.to_list("abc"))
    """
    kept = _reader(lambda layer: Cofree(alg(fmap(_head, layer)), layer))
    hold("`decorate α = cata ⟨α ∘ F head, id⟩`", by(alg)(tree), cata(kept)(tree), tolerance)


def _hold_at(layer: Any, h: Map, alg: Map, other: Map, tolerance: float) -> None:
    """That `h` is a map of algebras at one layer."""
    hold("`h ∘ α = β ∘ F h`", h(alg(layer)), other(fmap(h, layer)), tolerance, at=f"the layer `{place(layer)}`")


def _reader(read: Callable[[Any], Any]) -> Algebra[Any, Any]:
    return algebra(read)


def _first(pair: Any) -> Any:
    return pair[0]


def _head(cofree: Any) -> Any:
    return cofree.head
