"""Laws of unfolds, and of growing and reading at once.

| the law             | the two sides                                                      |
| ------------------- | ------------------------------------------------------------------ |
| a map of coalgebras | `F h ∘ γ = δ ∘ h`                                                  |
| fusion              | `F h ∘ γ = δ ∘ h` implies `ana δ ∘ h = ana γ`                      |
| `apo`               | `apo γ = ana [F Left ∘ out, γ] ∘ Right`                            |
| `futu`              | `futu γ = ana [γ, id] ∘ Pure`                                      |
| `hylo`              | `hylo α γ = cata α ∘ ana γ`                                        |
| `dyna`, `chrono`    | `dyna α γ = histo α ∘ ana γ`, `chrono α γ = histo α ∘ futu γ`      |

For seeds whose trees are finite. Where a law is about a scheme, `by` is the scheme.
"""

from collections.abc import Callable
from typing import Any

from .._functors import fmap, project, Pure
from .._functors.usage import with_usage
from .._schemes import (
    ana,
    apo as the_apo,
    cata,
    chrono as the_chrono,
    dyna as the_dyna,
    futu as the_futu,
    histo,
    hylo as the_hylo,
    Left,
    Right,
)
from ._hold import hold, place
from ._in_place import maps_of_coalgebras


Coalgebra = Callable[[Any], Any]
Grow = Callable[[Any], Callable[[Any], Any]]
Refold = Callable[[Any, Any], Callable[[Any], Any]]


@with_usage
def coalgebra_map(
    h: Callable[[Any], Any], coalg: Coalgebra, other: Coalgebra, seed: Any, *, tolerance: float = 0.0
) -> None:
    """That `h` is a map of coalgebras from `coalg` to `other`, at a seed.

    **Arguments:** `h`: from the seeds of `coalg`, which is `γ`, to those of `other`, which is `δ`.

    **Raises:** `LawBroken`; `CdlError` where one of the three stands in the place of another.

    Examples:
        >>> down = lambda n: cdl.functors.Succ(n - 1) if n else cdl.functors.Zero()
        >>> in_twos = lambda n: cdl.functors.Succ(n - 2) if n else cdl.functors.Zero()
        >>> cdl.laws.coalgebra_map(lambda n: 2 * n, down, in_twos, 3)
    """
    _hold_at(seed, *maps_of_coalgebras("coalgebra_map(h, coalg, other, seed)", h, coalg, other), tolerance)


@with_usage
def unfold_fusion(
    h: Callable[[Any], Any],
    coalg: Coalgebra,
    other: Coalgebra,
    seed: Any,
    *,
    by: Grow = ana,
    tolerance: float = 0.0,
) -> None:
    """That a map of coalgebras slides into an unfold; that it is one is checked at every seed on the way.

    **Arguments:** as for `coalgebra_map`: the map comes first, then the coalgebra before it and the one after it.

    **Raises:** `LawBroken`. Where the premise fails, the error has the premise's formula, and the seed where it fails.
    `CdlError` where one of the three stands in the place of another.

    Examples:
        >>> down = lambda n: cdl.functors.Succ(n - 1) if n else cdl.functors.Zero()
        >>> in_twos = lambda n: cdl.functors.Succ(n - 2) if n else cdl.functors.Zero()
        >>> cdl.laws.unfold_fusion(lambda n: 2 * n, down, in_twos, 3)
    """

    h, coalg, other = maps_of_coalgebras("unfold_fusion(h, coalg, other, seed)", h, coalg, other)

    def checked(at: Any) -> Any:
        _hold_at(at, h, coalg, other, tolerance)
        return coalg(at)

    hold("`ana γ = ana δ ∘ h`", by(checked)(seed), by(other)(h(seed)), tolerance)


@with_usage
def apo(coalg: Coalgebra, seed: Any, *, by: Grow = the_apo, tolerance: float = 0.0) -> None:
    """That `apo` is an `ana` that copies what is finished.

    **Arguments:** `coalg`: as for `cdl.schemes.apo`. `seed`: of a finite tree. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> rest = cdl.to_list([3, 4])
        >>> before = lambda n: cdl.Cons(
        ...     n, cdl.schemes.Right(n + 1) if n < 2 else cdl.schemes.Left(rest)
        ... )
        >>> cdl.laws.apo(before, 0)
    """

    def copying(place: Any) -> Any:
        return fmap(Left, project(place.value)) if isinstance(place, Left) else coalg(place.value)

    hold("`apo γ = ana [F Left ∘ out, γ] ∘ Right`", by(coalg)(seed), ana(copying)(Right(seed)), tolerance)


@with_usage
def futu(coalg: Coalgebra, seed: Any, *, by: Grow = the_futu, tolerance: float = 0.0) -> None:
    """That `futu` is an `ana` of trees with seeds for variables.

    **Arguments:** `coalg`: as for `cdl.schemes.futu`. `seed`: of a finite tree. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> twice = lambda n: cdl.Cons(n, cdl.Cons(n, cdl.monads.Pure(n - 1))) if n else cdl.Nil()
        >>> cdl.laws.futu(twice, 2)
    """
    next_layer: Coalgebra = lambda free: coalg(free.value) if isinstance(free, Pure) else free
    hold("`futu γ = ana [γ, id] ∘ Pure`", by(coalg)(seed), ana(next_layer)(Pure(seed)), tolerance)


@with_usage
def hylo(alg: Any, coalg: Coalgebra, seed: Any, *, by: Refold = the_hylo, tolerance: float = 0.0) -> None:
    """That growing and reading at once is growing, then reading.

    **Arguments:** `alg`, `coalg`: as for `cdl.hylo`. `seed`: of a finite tree. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> down = lambda n: cdl.Cons(n, n - 1) if n else cdl.Nil()
        >>> multiply = cdl.algebra(
        ...     lambda layer: layer.head * layer.tail if isinstance(layer, cdl.Cons) else 1
        ... )
        >>> cdl.laws.hylo(multiply, down, 5)
    """
    hold("`hylo α γ = cata α ∘ ana γ`", by(alg, coalg)(seed), cata(alg)(ana(coalg)(seed)), tolerance)


@with_usage
def dyna(alg: Any, coalg: Coalgebra, seed: Any, *, by: Refold = the_dyna, tolerance: float = 0.0) -> None:
    """That `dyna` is `histo` after `ana`: growing and reading at once, with memory.

    **Arguments:** `alg`, `coalg`: as for `cdl.schemes.dyna`. `seed`: of a finite tree. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> down = lambda n: cdl.Cons(n, n - 1) if n else cdl.Nil()
        >>> before = lambda child: (
        ...     child.head,
        ...     child.tail.tail.head if isinstance(child.tail, cdl.Cons) else 0,
        ... )
        >>> fibonacci = cdl.algebra(
        ...     lambda layer: sum(before(layer.tail)) if isinstance(layer, cdl.Cons) else 1
        ... )
        >>> cdl.laws.dyna(fibonacci, down, 8)
    """
    hold("`dyna α γ = histo α ∘ ana γ`", by(alg, coalg)(seed), histo(alg)(ana(coalg)(seed)), tolerance)


@with_usage
def chrono(alg: Any, coalg: Coalgebra, seed: Any, *, by: Refold = the_chrono, tolerance: float = 0.0) -> None:
    """That `chrono` is `histo` after `futu`: the same, and several layers at a time.

    **Arguments:** `alg`, `coalg`: as for `cdl.schemes.chrono`. `seed`: of a finite tree. `by`: the scheme to check.

    **Raises:** `LawBroken`.

    Examples:
        >>> twice = lambda n: cdl.Cons(n, cdl.Cons(n, cdl.monads.Pure(n - 1))) if n else cdl.Nil()
        >>> before = lambda child: (
        ...     child.head,
        ...     child.tail.tail.head if isinstance(child.tail, cdl.Cons) else 0,
        ... )
        >>> fibonacci = cdl.algebra(
        ...     lambda layer: sum(before(layer.tail)) if isinstance(layer, cdl.Cons) else 1
        ... )
        >>> cdl.laws.chrono(fibonacci, twice, 4)
    """
    in_two = histo(alg)(the_futu(coalg)(seed))
    hold("`chrono α γ = histo α ∘ futu γ`", by(alg, coalg)(seed), in_two, tolerance)


def _hold_at(seed: Any, h: Coalgebra, coalg: Coalgebra, other: Coalgebra, tolerance: float) -> None:
    """That `h` is a map of coalgebras at one seed."""
    hold("`F h ∘ γ = δ ∘ h`", fmap(h, coalg(seed)), other(h(seed)), tolerance, at=f"the seed `{place(seed)}`")
