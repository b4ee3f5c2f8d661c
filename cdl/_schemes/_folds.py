"""Folds, by definition: every way to read a whole tree with an algebra.

| the scheme  | its equation                                                | what an algebra sees at a place      |
| ----------- | ----------------------------------------------------------- | ------------------------------------ |
| `cata`      | `c = α ∘ F c ∘ out`                                         | the value                            |
| `para`      | `c = α ∘ F ⟨id, c⟩ ∘ out`                                   | the subtree and the value            |
| `zygo`      | `⟨b, c⟩ = ⟨β ∘ F π₁, α⟩ ∘ F ⟨b, c⟩ ∘ out`                   | another algebra's value and its own  |
| `mutu`      | `⟨b, c⟩ = ⟨β, α⟩ ∘ F ⟨b, c⟩ ∘ out`                          | both, for both                       |
| `histo`     | `d = ⟨α, id⟩ ∘ F d ∘ out`, then the head                    | every value below, as a `Cofree`     |
| `prepro`    | `c = α ∘ F (c ∘ hoist η) ∘ out`                             | the value, of a tree already changed |
| `decorate`  | the same pass, every value kept                             | the value                            |

Names and argument order are those of Haskell's recursion-schemes. These are definitions, one tree at a time, in plain
Python; `cdl.fold` is `cata` compiled, over many trees at once.
"""

from collections.abc import Callable
from typing import Any, cast, overload, TypeVar

import jax
from jaxtyping import PRNGKeyArray

from .._functors import Base, Cofree, Fix, Fix1of2, Fix2of2, fmap, holes
from .._functors.expected import expect_type
from .._functors.mapping import fill
from .._functors.recursion import Frame, recursion
from .._functors.usage import with_types, with_usage
from .algebras import Algebra, apply, expect, reads
from .expect import expect_algebras, expect_key


T = TypeVar("T")
U = TypeVar("U")
A = TypeVar("A")
B = TypeVar("B")
X = TypeVar("X")


@overload
def cata(alg: Algebra[Base[T, A], A], /, *, key: PRNGKeyArray | None = None) -> Callable[[Fix[T]], A]: ...
@overload
def cata(
    a: Algebra[Base[T, tuple[A, B]], A], b: Algebra[Base[U, tuple[A, B]], B], /, *, key: PRNGKeyArray | None = None
) -> tuple[Callable[[Fix1of2[T, U]], A], Callable[[Fix2of2[T, U]], B]]: ...
@overload
def cata(
    a: Algebra[Any, Any], b: Algebra[Any, Any], c: Algebra[Any, Any], /, *more: Algebra[Any, Any], key: Any = None
) -> tuple[Callable[[Any], Any], ...]: ...
@with_usage
def cata(alg: Any, /, *more: Any, key: PRNGKeyArray | None = None) -> Any:
    """`cata α = α ∘ F (cata α) ∘ out`: reads a whole tree with an algebra (a catamorphism).

    Trees of type `T` are the initial algebra of its functor, so there is exactly one map of algebras out of them;
    this is it. `cdl.fold` is the same map, compiled, over many trees.

    **Arguments:** `alg`: how to read one layer; for a signature of several sorts, one algebra for each, in the order
    of the family's tuple. `key`: for algebras that take one; the node numbered `i` in pre-order gets `fold_in(key, i)`.

    **Returns:** a function from trees to the carrier; for several sorts, a tuple of them.

    **Raises:** `ForeignLayer` at a constructor that the algebra does not read, `CarrierMismatch` where a case gives
    nothing, `TreeTooLarge` for a cyclic value.

    Examples:
        >>> @cdl.algebra
        ... def largest(layer: cdl.TreeF[int, int]) -> int:
        ...     return layer.label if isinstance(layer, cdl.Leaf) else max(layer.left, layer.right)
        >>> cdl.cata(largest)(cdl.Fork(cdl.Leaf(3), cdl.Fork(cdl.Leaf(8), cdl.Leaf(2))))
        8
    """
    algs = (alg, *more)
    expect_key(key)
    up: Any = lambda frame, go: apply(algs[frame.sort], frame.filled(go), _key(key, frame))
    solved = _over_trees("cata", algs, up)
    return solved(0) if len(algs) == 1 else tuple(map(solved, range(len(algs))))


@with_usage
def para(alg: Algebra[Base[T, tuple[Fix[T], A]], A], /) -> Callable[[Fix[T]], A]:
    """`para α = α ∘ F ⟨id, para α⟩ ∘ out`: at each place the subtree and its value (a paramorphism).

    **Raises:** as `cata`.

    Examples:
        >>> @cdl.algebra
        ... def shown(layer):
        ...     return (
        ...         str(layer.label)
        ...         if isinstance(layer, cdl.Leaf)
        ...         else f"{layer.left} | {layer.right}"
        ...     )
        >>> cdl.schemes.para(shown)(cdl.Fork(cdl.Leaf(1), cdl.Leaf(2)))
        "(Leaf(1), '1') | (Leaf(2), '2')"
    """

    def up(frame: Frame, go: Any) -> Any:
        pairs = zip(holes(frame.layer), frame.values, strict=True)
        return apply(alg, fill(frame.layer, pairs, (lambda tree: (tree, go[0](tree)),)))

    return cast("Callable[[Fix[T]], A]", _over_trees("para", (alg,), up)(0))


@with_usage
def zygo(helper: Algebra[Base[T, B], B], alg: Algebra[Base[T, tuple[B, A]], A], /) -> Callable[[Fix[T]], A]:
    """A fold with a helper: the first algebra runs by itself, and the second sees the values of both (a zygomorphism).

    **Arguments:** `helper`: an algebra that reads by itself. `alg`: an algebra that sees at each place the pair of the
    helper's value and its own.

    **Raises:** as `cata`.

    Examples:
        >>> @cdl.algebra
        ... def depth(layer):
        ...     return 0 if isinstance(layer, cdl.Leaf) else 1 + max(layer.left, layer.right)
        >>> @cdl.algebra
        ... def balanced(layer):
        ...     if isinstance(layer, cdl.Leaf):
        ...         return True
        ...     (left, below), (right, beside) = layer.left, layer.right
        ...     return below and beside and abs(left - right) <= 1
        >>> cdl.schemes.zygo(depth, balanced)(
        ...     cdl.Fork(cdl.Leaf(3), cdl.Fork(cdl.Leaf(8), cdl.Leaf(2)))
        ... )
        True
    """

    expect_algebras("zygo", (helper,))

    def up(frame: Frame, go: Any) -> Any:
        layer = frame.filled(go)
        return apply(helper, fmap(_first, layer)), apply(alg, layer)

    return _then(_second, _over_trees("zygo", (alg,), up)(0))


@with_usage
def mutu(other: Algebra[Base[T, tuple[B, A]], B], alg: Algebra[Base[T, tuple[B, A]], A], /) -> Callable[[Fix[T]], A]:
    """Two folds, each seeing the values of both; gives the second's (a mutumorphism).

    **Arguments:** `other`, `alg`: algebras that both see at each place the pair of the value of `other` and of `alg`;
    the value of `alg` is the answer.

    **Raises:** as `cata`.

    Examples:
        >>> @cdl.algebra
        ... def even(n):
        ...     return True if isinstance(n, cdl.functors.Zero) else n.pred[1]
        >>> @cdl.algebra
        ... def odd(n):
        ...     return False if isinstance(n, cdl.functors.Zero) else n.pred[0]
        >>> three = cdl.functors.Succ(cdl.functors.Succ(cdl.functors.Succ(cdl.functors.Zero())))
        >>> cdl.schemes.mutu(even, odd)(three)
        True
    """

    expect_algebras("mutu", (other,))

    def up(frame: Frame, go: Any) -> Any:
        layer = frame.filled(go)
        return apply(other, layer), apply(alg, layer)

    return _then(_second, _over_trees("mutu", (alg,), up)(0))


@with_usage
def histo(alg: Algebra[Base[T, Cofree[T, A]], A], /) -> Callable[[Fix[T]], A]:
    """A fold that sees at each place every value below it, as a `Cofree` (a histomorphism).

    Each node is read once: the history is shared, not recomputed.

    **Raises:** as `cata`.

    Examples:
        >>> @cdl.algebra
        ... def fibonacci(n):
        ...     if isinstance(n, cdl.functors.Zero):
        ...         return 0
        ...     return cdl.schemes.past(n.pred, (), 0) + cdl.schemes.past(n.pred, (0,), 1)
        >>> five = cdl.ana(lambda n: cdl.functors.Succ(n - 1) if n else cdl.functors.Zero())(5)
        >>> cdl.schemes.histo(fibonacci)(five)
        5
    """
    up: Any = lambda frame, go: remember(alg, frame.filled(go))
    return _then(_head, _over_trees("histo", (alg,), up)(0))


@with_usage
def prepro(transform: Callable[[Base[T, Any]], Base[T, Any]], alg: Algebra[Base[T, A], A], /) -> Callable[[Fix[T]], A]:
    """A fold of a tree whose layer at depth `d` has been through `transform` `d` times (Fokkinga's prepromorphism).

    `transform` is a natural transformation of the functor. It may change a layer's constructor and payloads, and drop,
    repeat or swap its places. It may not look at what stands there. The time grows with the square of the depth.

    **Arguments:** `transform`: a natural transformation, from a layer to a layer. `alg`: how to read one layer of
    values.

    **Raises:** as `cata`; `ForeignLayer` where `transform` gives anything other than a layer.

    Examples:
        >>> def doubled(layer):
        ...     return (
        ...         cdl.Cons(2 * layer.head, layer.tail) if isinstance(layer, cdl.Cons) else layer
        ...     )
        >>> @cdl.algebra
        ... def total(layer):
        ...     return layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0
        >>> cdl.schemes.prepro(doubled, total)(cdl.to_list([1, 1, 1]))
        7
    """

    expect_type("`transform` of `prepro`", transform, Callable[[Any], Any])
    expect_algebras("prepro", (alg,))

    def down(_: int, seed: tuple[int, Any]) -> Any:
        depth, layer = seed
        for _ in range(depth):
            layer = transform(layer)
        return fmap(lambda tree: (depth + 1, tree), layer)

    solved = recursion(down, lambda frame, go: apply(alg, frame.filled(go)))(0)
    return lambda tree: solved((0, tree))


@overload
def decorate(
    alg: Algebra[Base[T, A], A], /, *, key: PRNGKeyArray | None = None
) -> Callable[[Fix[T]], Cofree[T, A]]: ...
@overload
def decorate(
    a: Algebra[Base[T, tuple[A, B]], A], b: Algebra[Base[U, tuple[A, B]], B], /, *, key: PRNGKeyArray | None = None
) -> tuple[Callable[[Fix1of2[T, U]], Cofree[Any, A]], Callable[[Fix2of2[T, U]], Cofree[Any, B]]]: ...
@overload
def decorate(
    a: Algebra[Any, Any], b: Algebra[Any, Any], c: Algebra[Any, Any], /, *more: Algebra[Any, Any], key: Any = None
) -> tuple[Callable[[Any], Any], ...]: ...
@with_usage
def decorate(alg: Any, /, *more: Any, key: PRNGKeyArray | None = None) -> Any:
    """The value at every node, as a tree of them: `cata` with nothing thrown away.

    **Arguments, Raises:** as of `cata`.

    **Returns:** a function from trees to trees of values; for several sorts, a tuple of them.

    Examples:
        >>> @cdl.algebra
        ... def size(layer):
        ...     return 1 if isinstance(layer, cdl.Leaf) else layer.left + layer.right
        >>> cdl.schemes.decorate(size)(cdl.Fork(cdl.Leaf("a"), cdl.Leaf("b")))
        Cofree(2, Fork(Cofree(1, Leaf('a')), Cofree(1, Leaf('b'))))
    """
    algs = (alg, *more)
    expect_key(key)

    def up(frame: Frame, go: Any) -> Any:
        layer = frame.filled(go)
        return Cofree(apply(algs[frame.sort], fmap((_head,) * len(algs), layer), _key(key, frame)), layer)

    solved = _over_trees("decorate", algs, up)
    return solved(0) if len(algs) == 1 else tuple(map(solved, range(len(algs))))


@with_types
def hoist(transform: Callable[[Base[T, Any]], Base[U, Any]], /) -> Callable[[Fix[T]], Fix[U]]:
    """A natural transformation at every layer of a tree: a change of signature.

    **Arguments:** `transform`: from a layer to a layer. It may not look at what stands at the places.

    **Raises:** `ForeignLayer` where it gives anything other than a layer.

    Examples:
        >>> def mirrored(layer):
        ...     return cdl.Fork(layer.right, layer.left) if isinstance(layer, cdl.Fork) else layer
        >>> cdl.schemes.hoist(mirrored)(cdl.Fork(cdl.Leaf(3), cdl.Fork(cdl.Leaf(8), cdl.Leaf(2))))
        Fork(Fork(Leaf(2), Leaf(8)), Leaf(3))
    """

    def up(frame: Frame, go: Any) -> Any:
        changed = transform(frame.filled(go))
        holes(changed)  # refuses what is not a layer
        return changed

    return cast("Callable[[Fix[T]], Fix[U]]", recursion(lambda _, tree: tree, up, finite=True)(0))


def remember(alg: Algebra[Any, A], layer: Base[T, Cofree[T, A]]) -> Cofree[T, A]:
    """One step of `histo`: the value at a node, kept above all those below it."""
    return Cofree(apply(alg, layer), layer)


def _over_trees(of: str, algs: tuple[Any, ...], up: Any) -> Any:
    expect_algebras(of, algs, several=f"as in `{of}(a, b)`")
    readers = tuple(map(reads, algs))
    return recursion(lambda sort, tree: expect(tree, readers, sort), up, finite=True)


def _key(key: Any, frame: Frame) -> Any:
    return None if key is None else jax.random.fold_in(key, frame.index)


def _then(last: Callable[[Any], Any], solved: Callable[[Any], Any]) -> Any:
    return lambda tree: last(solved(tree))


def _first(pair: Any) -> Any:
    return pair[0]


def _second(pair: Any) -> Any:
    return pair[1]


def _head(cofree: Any) -> Any:
    return cofree.head
