"""Unfolds, by definition: every way to grow a whole tree with a coalgebra.

| the scheme | its equation                                    | what a coalgebra puts at a place               |
| ---------- | ----------------------------------------------- | ---------------------------------------------- |
| `ana`      | `u = in ∘ F u ∘ γ`                              | a seed                                         |
| `apo`      | `u = in ∘ F [id, u] ∘ γ`                        | `Left` a finished tree, `Right` a seed         |
| `futu`     | `u = in ∘ F (u at the variables) ∘ γ`           | several layers at once, as a `Free`            |

A coalgebra that is to be learnt scores the layers it might give: `choose(scores, Nil(), Cons(a, s))`. `ana` takes the
best, or draws one when it has a key.

Keys go along the path from the root, so that a subtree is drawn alike whatever stands beside it. A path is
a key and a count:

| of a node                                             | the key                     | the count |
| ----------------------------------------------------- | --------------------------- | --------- |
| the root                                              | the key that was given, `k` | 0         |
| the child at place `i` of a node on `k, 0`            | `fold_in(k, i + 1)`         | 0         |
| what a function gives, of a node without other places | `k`                         | `n + 1`   |
| itself, for its coalgebra                             | `own = fold_in(k, n)`       |           |
| itself, for its draw of a layer                       | `fold_in(own, 2³² − 1)`     |           |

What a coalgebra draws is independent of the layer that is drawn, since no one else folds in the last number. And the
state of a machine or a stream that is numbered `n` meets `fold_in(key, n)`. Of a layer with both kinds of places
those under functions come last; and where the count is not 0, children are numbered from `fold_in(k, n)`.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast, overload, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, PRNGKeyArray

from .._functors import Base, Fix, Fix1of2, Fix2of2, Free, holes, Pure
from .._functors.described import described
from .._functors.mapping import fill
from .._functors.origin import not_a_constructor
from .._functors.read import sorts
from .._functors.recursion import Done, recursion
from .._functors.usage import with_usage
from .._functors.words import an
from ..errors import CdlError, ForeignLayer, SignatureError
from ._either import Either, Left, Right
from .algebras import wants_key
from .expect import expect_coalgebras, expect_key


T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S")
R = TypeVar("R")

LAST = np.uint32(2**32 - 1)  # that can be folded in


@overload
def ana(coalg: Callable[[S], Base[T, S]], /, *, key: PRNGKeyArray | None = None) -> Callable[[S], Fix[T]]: ...
@overload
def ana(
    a: Callable[[S], Base[T, tuple[S, R]]],
    b: Callable[[R], Base[U, tuple[S, R]]],
    /,
    *,
    key: PRNGKeyArray | None = None,
) -> tuple[Callable[[S], Fix1of2[T, U]], Callable[[R], Fix2of2[T, U]]]: ...
@overload
def ana(
    a: Callable[[Any], Any],
    b: Callable[[Any], Any],
    c: Callable[[Any], Any],
    /,
    *more: Callable[[Any], Any],
    key: Any = None,
) -> tuple[Callable[[Any], Any], ...]: ...
@with_usage
def ana(coalg: Any, /, *more: Any, key: PRNGKeyArray | None = None) -> Any:
    """`ana γ = in ∘ F (ana γ) ∘ γ`: grows a tree from a seed (an anamorphism).

    It is strict at the places of data and lazy under functions, so streams and machines, which never end, are values.

    **Arguments:** `coalg`: one layer of seeds for a seed; for several sorts, one coalgebra for each, in order. `key`:
    for coalgebras that take one, and to draw from what `choose` scores. A node gets `fold_in(path, 0)`, where the
    root's `path` is `key`, and that of the child at place `i` of a node is `fold_in(path, i + 1)` of that node's; the
    state numbered `n` of a machine or stream gets `fold_in(key, n)`. The layer is drawn with another key, so that what
    a coalgebra draws itself is independent of it.

    **Returns:** a function from seeds to trees; for several sorts, a tuple of them.

    **Raises:** `SignatureError` for another number of coalgebras than of sorts, `ForeignLayer` where one gives
    anything other than a layer; `CdlError` where a score that `choose` is given is NaN.

    Examples:
        >>> def halves(n: int):
        ...     return cdl.Leaf(n) if n < 2 else cdl.Fork(n // 2, n - n // 2)
        >>> cdl.ana(halves)(3)
        Fork(Leaf(1), Fork(Leaf(1), Leaf(1)))
    """
    coalgs = (coalg, *more)
    expect_coalgebras("ana", coalgs, several="as in `ana(a, b)`", key=key, takes_key=True)
    expect_key(key)

    def down(sort: int, place: Any) -> Any:
        if sort >= len(coalgs):
            raise SignatureError(
                f"there is a place of sort {sort}, and the number of coalgebras is {len(coalgs)}: give one for each "
                "sort, in the order of the tuple in `Base[T, tuple[…]]`."
            )
        if key is None:
            return expect_layer(coalgs[sort](place))
        here = place.own
        given = coalgs[sort](place.seed, key=here) if wants_key(coalgs[sort]) else coalgs[sort](place.seed)
        return place.along(expect_layer(chosen(given, here)))

    solved = recursion(down, lambda frame, go: frame.filled(go))
    begun: Callable[[Any], Any] = lambda grow: grow if key is None else lambda seed: grow(_OnPath(seed, key))
    grow = [begun(solved(sort)) for sort in range(len(coalgs))]
    return grow[0] if len(coalgs) == 1 else tuple(grow)


def own_key(path: Any) -> Any:
    """What the coalgebra is given at the node of a path."""
    return jax.random.fold_in(path, 0)


def drawn(own: Any, scores: Any) -> jax.Array:
    """The number of a layer, drawn by the softmax of its scores. `own`: what the coalgebra is given, and may draw with
    too: it is not used here as it is."""
    return jax.random.categorical(jax.random.fold_in(own, LAST), scores)


def path_below(path: Any, place: int) -> Any:
    """The path of a node's child at a place."""
    return jax.random.fold_in(path, place + 1)


class _OnPath:
    """A seed, and the path that led to it."""

    def __init__(self, seed: Any, path: Any, count: int = 0) -> None:
        self.seed, self.path, self.count = seed, path, count

    @property
    def own(self) -> Any:
        """What the coalgebra is given."""
        return jax.random.fold_in(self.path, self.count)

    def along(self, layer: Any) -> Any:
        """The layer that this seed gave, each of its seeds with a path."""
        seeds = holes(layer)
        path = self.own if self.count else self.path
        below = [_OnPath(seed, path_below(path, i)) for i, seed in enumerate(seeds)]

        def later(seed: Any) -> _OnPath:
            return _OnPath(seed, path_below(path, len(seeds))) if seeds else _OnPath(seed, self.path, self.count + 1)

        return fill(layer, below, [later] * sorts(type(layer)))


@with_usage
def apo(coalg: Callable[[S], Base[T, Either[Fix[T], S]]], /) -> Callable[[S], Fix[T]]:
    """An unfold that may put a finished tree at a place: `Left(tree)` stays, `Right(seed)` grows (an apomorphism).

    **Raises:** `CdlError` for anything other than a coalgebra, and where neither is at a place.

    Examples:
        >>> def inserted(items):
        ...     if isinstance(items, cdl.Cons) and items.head < 3:
        ...         return cdl.Cons(items.head, cdl.schemes.Right(items.tail))
        ...     return cdl.Cons(3, cdl.schemes.Left(items))
        >>> cdl.schemes.apo(inserted)(cdl.to_list([1, 2, 4, 5]))
        Cons(1, Cons(2, Cons(3, Cons(4, Cons(5, Nil())))))
    """
    expect_coalgebras("apo", (coalg,))

    def down(_: int, place: Any) -> Any:
        if not isinstance(place, Left | Right | _Root):
            raise CdlError(
                f"the coalgebra of `apo` gave {described(place)} at a place: write `Left(tree)` for a tree that stays, "
                "`Right(seed)` for a seed that grows."
            )
        return Done(place.value) if isinstance(place, Left) else expect_layer(coalg(place.value))

    solved = recursion(down, lambda frame, go: frame.filled(go))(0)
    return lambda seed: cast("Fix[T]", solved(_Root(seed)))


@with_usage
def futu(coalg: Callable[[S], Base[T, Free[T, S]]], /) -> Callable[[S], Fix[T]]:
    """An unfold that may give several layers at once, with seeds at the variables (a futumorphism).

    **Raises:** `CdlError` for anything other than a coalgebra; `ForeignLayer` where it gives anything other than a
    layer.

    Examples:
        >>> twice = lambda n: cdl.Cons(n, cdl.Cons(n, cdl.monads.Pure(n - 1))) if n else cdl.Nil()
        >>> cdl.schemes.futu(twice)(2) == cdl.to_list([2, 2, 1, 1])
        True
    """
    expect_coalgebras("futu", (coalg,))
    solved = recursion(lambda _, free: ahead(coalg, free), lambda frame, go: frame.filled(go))(0)
    return lambda seed: cast("Fix[T]", solved(Pure(seed)))


def ahead(coalg: Callable[[S], Base[T, Free[T, S]]], free: Any) -> Any:
    """One step of `futu`: the next layer of a free tree, from the coalgebra where it is a variable."""
    return expect_layer(coalg(free.value) if isinstance(free, Pure) else free)


def expect_layer(layer: Any) -> Any:
    """The layer that a coalgebra gave, of several the best. **Raises:** `ForeignLayer` where it gave something else."""
    layer = chosen(layer, None)
    if not isinstance(layer, Base):
        raise ForeignLayer(
            f"a coalgebra gave {an(type(layer).__name__)}, which is not a layer: return a constructor's instance with "
            f"seeds at its places.{not_a_constructor(type(layer))}"
        )
    return layer


class Choice:
    """Layers with a score each; what `choose` gives.

    Its class is told to be that of a layer, so that types checked at run time agree with `choose`'s static one.
    """

    def __init__(self, scores: Array, layers: tuple[Any, ...]) -> None:
        self.scores, self.layers = scores, layers

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self.layers[0])


def not_a_score(among: Iterable[str]) -> str:
    """What is said of a score that is NaN. `among`: the names of the layers to choose from."""
    return (
        f"a coalgebra gives `choose` a score that is NaN, for one of {', '.join(among)}: none of these is the best. "
        "Look for a division by zero, a logarithm of 0 or `inf - inf` in the scores."
    )


def chosen(given: Any, key: Any) -> Any:
    """The best of a choice, or one drawn from the softmax of its scores; any other layer as it is. `key`: that which
    the coalgebra was given.

    **Raises:** `CdlError` where a score is NaN.
    """
    if not isinstance(given, Choice):
        return given
    if not isinstance(given.scores, Tracer) and bool(jnp.any(jnp.isnan(given.scores))):
        raise CdlError(not_a_score(type(layer).__name__ for layer in given.layers))
    scores = real(given.scores)
    index = jnp.argmax(scores) if key is None else drawn(key, scores)
    return given.layers[int(index)]


def real(scores: Any) -> jax.Array:
    """Scores as real numbers, which a softmax is of."""
    found = jnp.asarray(scores)
    return found if jnp.issubdtype(found.dtype, jnp.inexact) else found.astype(jnp.result_type(float))


class _Root:
    """A seed at the root, which has no place yet."""

    def __init__(self, value: Any) -> None:
        self.value = value
