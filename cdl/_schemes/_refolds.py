"""Refolds, by definition: grow and read at once, with no tree in between.

| the scheme | its equation                              | in two steps, where functions are absent       |
| ---------- | ----------------------------------------- | ---------------------------------------------- |
| `hylo`     | `h = α ∘ F h ∘ γ`                         | `cata α ∘ ana γ`                               |
| `dyna`     | `hylo` with `histo`'s memory              | `histo α ∘ ana γ`                              |
| `chrono`   | the same, from a `futu`                   | `histo α ∘ futu γ`                             |
| `elgot`    | `h = [id, α ∘ F h] ∘ γ`                   | a coalgebra may answer at once, by `Left`      |
| `coelgot`  | `h = α ∘ ⟨id, F h ∘ γ⟩`                   | the algebra sees the seed too                  |

Of the layers that a coalgebra chooses among, the best is taken. `hylo` computes a seed as often as it meets it; the
others compute it once where seeds hash, and take seeds of one type that are equal for one: so both maps are functions
of what they are given, and nothing else.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from .._functors import Base, Cofree, Free, Pure
from .._functors.described import described
from .._functors.recursion import Done, recursion
from .._functors.usage import with_usage
from ..errors import CdlError
from ._either import Either, Left, Right
from ._folds import remember
from ._share import shared
from .algebras import Algebra, apply
from .expect import expect_algebras, expect_coalgebras, expect_seed_algebra
from .unfolds import ahead, expect_layer


T = TypeVar("T")
A = TypeVar("A")
S = TypeVar("S")


@with_usage
def hylo(alg: Algebra[Base[T, A], A], coalg: Callable[[S], Base[T, S]], /) -> Callable[[S], A]:
    """`hylo α γ = α ∘ F (hylo α γ) ∘ γ`: a recursive function by its call tree (a hylomorphism).

    `cdl.refold` is the same, compiled, for many seeds.

    **Arguments:** `alg`: how to read one layer of values. `coalg`: from a seed to a layer of seeds.

    **Raises:** `CdlError` for anything other than an algebra or a coalgebra; `ForeignLayer` where the coalgebra gives
    anything other than a layer.

    Examples:
        >>> @cdl.algebra
        ... def total(layer):
        ...     return layer.label if isinstance(layer, cdl.Leaf) else layer.left + layer.right
        >>> def halves(n: int):
        ...     return cdl.Leaf(n) if n < 2 else cdl.Fork(n // 2, n - n // 2)
        >>> cdl.hylo(total, halves)(10)
        10
    """
    expect_algebras("hylo", (alg,), several="as `refold` takes them; `hylo` is of one sort")
    expect_coalgebras("hylo", (coalg,), several="as `refold` takes them; `hylo` is of one sort")
    down: Any = lambda _, seed: expect_layer(coalg(seed))
    return recursion(down, lambda frame, go: apply(alg, frame.filled(go)))(0)


@with_usage
def dyna(alg: Algebra[Base[T, Cofree[T, A]], A], coalg: Callable[[S], Base[T, S]], /) -> Callable[[S], A]:
    """Dynamic programming: each step sees every value below it (a dynamorphism).

    Each seed is computed once, and has one entry in the table, a `Cofree`. So edit distance over an `n × m` table makes
    `n·m` calls. Fibonacci's numbers by `A + X²` make `n`, where the tree has `2ⁿ` nodes.

    **Arguments:** `alg`: reads a layer with a `Cofree` at each place: the value there and all those below. `coalg`:
    from a seed to a layer of seeds.

    **Raises:** `CdlError` for anything other than an algebra or a coalgebra; `ForeignLayer` where the coalgebra gives
    anything other than a layer.

    Examples:
        >>> @cdl.algebra
        ... def fibonacci(n):
        ...     if isinstance(n, cdl.functors.Zero):
        ...         return 0
        ...     return cdl.schemes.past(n.pred, (), 0) + cdl.schemes.past(n.pred, (0,), 1)
        >>> def count(n):
        ...     return cdl.functors.Succ(n - 1) if n else cdl.functors.Zero()
        >>> cdl.schemes.dyna(fibonacci, count)(90)
        2880067194370816120
    """
    expect_algebras("dyna", (alg,))
    expect_coalgebras("dyna", (coalg,))
    solved = shared(lambda seed: expect_layer(coalg(seed)), lambda frame, go: remember(alg, frame.filled(go)))
    return lambda seed: solved(seed).head


@with_usage
def chrono(alg: Algebra[Base[T, Cofree[T, A]], A], coalg: Callable[[S], Base[T, Free[T, S]]], /) -> Callable[[S], A]:
    """`histo` after `futu`: several layers ahead, every value behind (a chronomorphism).

    **Arguments:** `alg`: reads a layer with a `Cofree` at each place. `coalg`: from a seed to a layer of `Free`, with
    `Pure(seed)` where it goes on.

    **Raises:** `CdlError` for anything other than an algebra or a coalgebra; `ForeignLayer` where the coalgebra gives
    anything other than a layer.

    Examples:
        >>> twice = lambda n: cdl.Cons(n, cdl.Cons(n, cdl.monads.Pure(n - 1))) if n else cdl.Nil()
        >>> total = cdl.algebra(lambda l: l.head + l.tail.head if isinstance(l, cdl.Cons) else 0)
        >>> cdl.schemes.chrono(total, twice)(3)
        12
    """
    expect_algebras("chrono", (alg,))
    expect_coalgebras("chrono", (coalg,))
    solved = shared(lambda free: ahead(coalg, free), lambda frame, go: remember(alg, frame.filled(go)))
    return lambda seed: solved(Pure(seed)).head


@with_usage
def elgot(alg: Algebra[Base[T, A], A], coalg: Callable[[S], Either[A, Base[T, S]]], /) -> Callable[[S], A]:
    """A refold that may stop early: `Left(value)` answers, `Right(layer)` goes on (an Elgot algebra).

    **Arguments:** `alg`: how to read one layer of values. `coalg`: from a seed to `Left(value)`, or `Right(layer)` of
    seeds.

    **Raises:** `CdlError` for anything other than an algebra or a coalgebra, and where the coalgebra gives neither.

    Examples:
        >>> @cdl.algebra
        ... def product(layer):
        ...     return layer.head * layer.tail if isinstance(layer, cdl.Cons) else 1
        >>> def reads(numbers):
        ...     if numbers and numbers[0] == 0:
        ...         return cdl.schemes.Left(0)
        ...     return cdl.schemes.Right(
        ...         cdl.Cons(numbers[0], numbers[1:]) if numbers else cdl.Nil()
        ...     )
        >>> (
        ...     cdl.schemes.elgot(product, reads)([2, 3, 0, 5]),
        ...     cdl.schemes.elgot(product, reads)([2, 3, 5]),
        ... )
        (0, 30)
    """
    expect_algebras("elgot", (alg,))
    expect_coalgebras("elgot", (coalg,), does="gives `Left(value)` or `Right(layer)` for a seed")

    def down(seed: Any) -> Any:
        given = coalg(seed)
        if not isinstance(given, Left | Right):
            raise CdlError(
                f"the coalgebra of `elgot` gave {described(given)}: write `Left(value)` to answer, `Right(layer)` to "
                "go on."
            )
        return Done(given.value) if isinstance(given, Left) else expect_layer(given.value)

    return shared(down, lambda frame, go: apply(alg, frame.filled(go)))


@with_usage
def coelgot(alg: Callable[[S, Base[T, A]], A], coalg: Callable[[S], Base[T, S]], /) -> Callable[[S], A]:
    """A refold whose algebra sees, beside the layer of values, the seed that it came from.

    **Arguments:** `alg`: a function of a seed and its layer of values. `coalg`: from a seed to a layer of seeds.

    **Raises:** `CdlError` for anything other than an algebra or a coalgebra; `ForeignLayer` where the coalgebra gives
    anything other than a layer.

    Examples:
        >>> from cdl.functors import Succ, Zero
        >>> down = lambda n: Succ(n - 1) if n else Zero()
        >>> cdl.schemes.coelgot(lambda n, layer: n * layer.pred if n else 1, down)(5)
        120
    """
    expect_seed_algebra("coelgot", alg)
    expect_coalgebras("coelgot", (coalg,))
    down: Any = lambda seed: expect_layer(coalg(seed))
    return shared(down, lambda frame, go: alg(frame.seed, frame.filled(go)))
