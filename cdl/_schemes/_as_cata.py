"""The folds that see more than a value at each place, as plain folds with another carrier.

| the scheme            | is `cata` of                       | whose carrier is                                  |
| --------------------- | ---------------------------------- | ------------------------------------------------- |
| `zygo(helper, alg)`   | `zygo_algebra(helper, alg)`        | the pair of both values: take the second          |
| `mutu(other, alg)`    | `mutu_algebra(other, alg)`         | the same                                          |
| `histo(alg)`          | `histo_algebra(alg, depth)`        | a `Window` of the values below: take its `head`   |
| `prepro(η, alg)`      | `prepro_algebra(η, alg, depth)`    | a value for each depth: take the first            |

So `fold` compiles them, as it does any algebra. The last two are bounded: a carrier is of one size.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

from .._functors import Base, Cofree, fmap, holes
from .._functors.expected import expect_type
from .._functors.poly import Id, ListOf, ManyOf, Poly, walk
from .._functors.read import layout
from .._functors.usage import whole, with_types, with_usage
from ..errors import CdlError, SignatureError
from .algebras import Algebra, apply, name_of, reads
from .expect import expect_algebras


T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")


class Window(eqx.Module):
    """The values at a node and a few levels below it. `there`: whether the tree has the node, or only a place for it.

    Examples:
        >>> from cdl.functors import NatF, Succ, Zero
        >>> from cdl.schemes import histo_algebra, past
        >>> @cdl.algebra
        ... def fibonacci(layer: NatF[object]):
        ...     return (
        ...         past(layer.pred, (), 1) + past(layer.pred, (0,), 0)
        ...         if isinstance(layer, Succ)
        ...         else 1
        ...     )
        >>> window = cdl.cata(histo_algebra(fibonacci, 1))(Succ(Succ(Succ(Zero()))))
        >>> int(window.head), [int(below.head) for below in window.below]
        (3, [2])
    """

    head: Any
    there: Any
    below: tuple["Window", ...]


class _Zygo(Algebra[Any, tuple[Any, Any]]):
    helper: Algebra[Any, Any]
    alg: Algebra[Any, Any]

    def __call__(self, layer: Any, /, *, key: Any = None) -> tuple[Any, Any]:
        return apply(self.helper, fmap(lambda pair: pair[0], layer), key), apply(self.alg, layer, key)


class _Mutu(Algebra[Any, tuple[Any, Any]]):
    other: Algebra[Any, Any]
    alg: Algebra[Any, Any]

    def __call__(self, layer: Any, /, *, key: Any = None) -> tuple[Any, Any]:
        return apply(self.other, layer, key), apply(self.alg, layer, key)


class _Histo(Algebra[Any, Window]):
    alg: Algebra[Any, Any]
    depth: int = eqx.field(static=True)
    arity: int = eqx.field(static=True)

    def __call__(self, layer: Any, /, *, key: Any = None) -> Window:
        value = jax.tree.map(jnp.asarray, apply(self.alg, layer, key))
        here = jnp.ones((), bool)
        if not self.depth:
            return Window(value, here, ())
        below = [_cut(child, self.depth - 1) for child in holes(layer)]
        none = _empty(jax.tree.map(jnp.zeros_like, value), self.depth - 1, self.arity)
        return Window(value, here, (*below, *[none] * (self.arity - len(below))))


class _Prepro(Algebra[Any, Any]):
    transform: Callable[[Any], Any]
    alg: Algebra[Any, Any]
    depth: int = eqx.field(static=True)

    def __call__(self, layer: Any, /, *, key: Any = None) -> Any:
        values = []
        for at in range(self.depth):
            below = fmap(functools.partial(_row, min(at + 1, self.depth - 1)), layer)
            for _ in range(at):
                below = self.transform(below)
            values.append(jax.tree.map(jnp.asarray, apply(self.alg, below, key)))
        return jax.tree.map(lambda *xs: jnp.stack(xs), *values)


@with_usage
def zygo_algebra(
    helper: Algebra[Base[T, B], B], alg: Algebra[Base[T, tuple[B, A]], A], /
) -> Algebra[Base[T, tuple[B, A]], tuple[B, A]]:
    """`zygo` as a plain algebra: `cata(zygo_algebra(helper, alg))(tree)[1] == zygo(helper, alg)(tree)`.

    **Arguments:** `helper`: an algebra that reads by itself. `alg`: an algebra that sees at each place the pair of the
    helper's value and its own.

    Examples:
        >>> height = cdl.algebra(
        ...     lambda t: 1 + max(t.left, t.right) if isinstance(t, cdl.Fork) else 0
        ... )
        >>> @cdl.algebra
        ... def balanced(layer):
        ...     if isinstance(layer, cdl.Leaf):
        ...         return True
        ...     (a, left), (b, right) = layer.left, layer.right
        ...     return left and right and abs(a - b) <= 1
        >>> cdl.cata(cdl.schemes.zygo_algebra(height, balanced))(cdl.Fork(cdl.Leaf(1), cdl.Leaf(2)))
        (1, True)
    """
    expect_algebras("zygo_algebra", (helper, alg))
    return _Zygo(helper, alg)


@with_usage
def mutu_algebra(
    other: Algebra[Base[T, tuple[B, A]], B], alg: Algebra[Base[T, tuple[B, A]], A], /
) -> Algebra[Base[T, tuple[B, A]], tuple[B, A]]:
    """`mutu` as a plain algebra: `cata(mutu_algebra(other, alg))(tree)[1] == mutu(other, alg)(tree)`.

    **Arguments:** `other`, `alg`: algebras that both see at each place the pair of the value of `other` and of `alg`.

    Examples:
        >>> from cdl.functors import Succ, Zero
        >>> odd = cdl.algebra(lambda n: isinstance(n, Succ) and n.pred[1])
        >>> even = cdl.algebra(lambda n: isinstance(n, Zero) or n.pred[0])
        >>> cdl.cata(cdl.schemes.mutu_algebra(odd, even))(Succ(Succ(Succ(Zero()))))
        (True, False)
    """
    expect_algebras("mutu_algebra", (other, alg))
    return _Mutu(other, alg)


@with_usage
def histo_algebra(alg: Algebra[Base[T, Cofree[T, A]], A], depth: int, /) -> Algebra[Base[T, Window], Window]:
    """`histo` as a plain algebra that remembers `depth` levels below each child.

    `cata(histo_algebra(alg, depth))(tree).head == histo(alg)(tree)`, for an algebra that looks at its history by `past`
    alone, and no further.

    **Arguments:** `alg`: an algebra of histories, as `histo` takes it. `depth`: how many levels below a child it may
    read.

    **Raises:** `SignatureError` where the algebra does not say what it reads, or a constructor may have any number of
    children.

    Examples:
        >>> from cdl.functors import NatF, Succ, Zero
        >>> from cdl.schemes import histo_algebra, past
        >>> @cdl.algebra
        ... def fibonacci(layer: NatF[object]):
        ...     return (
        ...         past(layer.pred, (), 1) + past(layer.pred, (0,), 0)
        ...         if isinstance(layer, Succ)
        ...         else 1
        ...     )
        >>> int(cdl.cata(histo_algebra(fibonacci, 1))(Succ(Succ(Succ(Succ(Zero()))))).head)
        5
    """
    expect_algebras("histo_algebra", (alg,))
    kinds = reads(alg)
    if kinds is None:
        raise SignatureError(
            f"`{name_of(alg)}` does not say what it reads, and how many places there are: annotate its `layer`."
        )
    return _Histo(alg, whole("depth", depth, 0), max(_places(kind) for kind in kinds))


@with_usage
def prepro_algebra(
    transform: Callable[[Base[T, Any]], Base[T, Any]], alg: Algebra[Base[T, A], A], depth: int, /
) -> Algebra[Base[T, A], A]:
    """`prepro` as a plain algebra, of trees of at most `depth` levels.

    `cata(prepro_algebra(η, alg, depth))(tree)[0] == prepro(η, alg)(tree)`: the value has a leading axis, of how often
    the tree has been transformed already.

    **Arguments:** `transform`: `η`, from a layer to one of the same signature. `alg`: the algebra. `depth`: the most
    levels of a tree.

    Examples:
        >>> total = cdl.algebra(lambda l: l.head + l.tail if isinstance(l, cdl.Cons) else 0)
        >>> tenfold = lambda l: cdl.Cons(10 * l.head, l.tail) if isinstance(l, cdl.Cons) else l
        >>> int(cdl.cata(cdl.schemes.prepro_algebra(tenfold, total, 4))(cdl.to_list([1, 2, 3]))[0])
        321
    """
    expect_type("`transform` of `prepro_algebra`", transform, Callable[[Any], Any])
    expect_algebras("prepro_algebra", (alg,))
    if depth < 1:
        raise CdlError(f"`depth` is {depth}, and a tree has one level at least: give the number of levels.")
    return _Prepro(transform, alg, depth)


@with_types
def past(history: Cofree[Any, Any] | Window, way: Sequence[int], default: A, /) -> A:
    """What a `histo` algebra sees below a child: the value on the way from it, by the numbers of the places.

    **Arguments:** `history`: what stands at a place: a `Cofree` in `histo`, a `Window` in its compiled form. `way`:
    `()` for the child's own value. `default`: what to answer for a node that does not exist.

    **Raises:** `CdlError` for a way that is longer than the window is deep.

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
    if isinstance(history, Cofree):
        now: Any = history
        for place in way:
            children = holes(now.tail)
            if place >= len(children):
                return default
            now = children[place]
        value: A = now.head
        return value
    for place in way:
        if not history.below:
            raise CdlError(f"the way {tuple(way)} leads past the history: give `histo_algebra` more depth.")
        if place >= len(history.below):
            return default
        history = history.below[place]
    found: A = jax.tree.map(lambda x, d: jnp.where(history.there, x, d), history.head, default)
    return found


def _row(i: int, values: Any) -> Any:
    return jax.tree.map(lambda x: x[i], values)


def _cut(window: Window, depth: int) -> Window:
    """A window of less depth."""
    return Window(window.head, window.there, tuple(_cut(w, depth - 1) for w in window.below) if depth else ())


def _empty(value: Any, depth: int, arity: int) -> Window:
    below = (_empty(value, depth - 1, arity),) * arity if depth else ()
    return Window(value, jnp.zeros((), bool), below)


def _places(kind: type[Any]) -> int:
    terms: list[Poly] = list(walk(layout(kind)))
    if any(isinstance(t, ManyOf | ListOf) for t in terms):
        raise SignatureError(
            f"`{kind.__name__}` may have any number of children, and a window is of one size: write them as `X | None`."
        )
    return sum(isinstance(t, Id) for t in terms)
