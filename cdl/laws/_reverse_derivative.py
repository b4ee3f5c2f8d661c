"""The seven axioms of a reverse derivative category, for maps `f, g : A → B` and `h : B → C`.

| the law            | the two sides                                                                            |
| ------------------ | ---------------------------------------------------------------------------------------- |
| left additive      | `k >> (f + g) = (k >> f) + (k >> g)`, `k >> 0 = 0`; `+` is commutative, with unit `0`    |
| RD.1               | `R[f + g] = R[f] + R[g]`, `R[0] = 0`                                                     |
| RD.2               | `R[f](a, b + c) = R[f](a, b) + R[f](a, c)`, `R[f](a, 0) = 0`                             |
| RD.3               | `R[id](a, w) = w`, `R[π₀](a, b, w) = (w, 0)`, `R[π₁](a, b, w) = (0, w)`                  |
| RD.4               | `R[⟨f, g⟩](a, b, c) = R[f](a, b) + R[g](a, c)`, `R[!](a) = 0`                            |
| RD.5, the chain rule | `R[f >> h](a, c) = R[f](a, R[h](f(a), c))`                                             |
| RD.6, linearity    | `R[R[R[f]]]` at `(a, b, 0)` and `(0, b')`, in its last `A`, `= R[f](a, b')`              |
| RD.7, symmetry     | `D[D[f]]((a, b), (c, d)) = D[D[f]]((a, c), (b, d))`                                      |
| the structure      | `R[copy]` adds, `R[add]` copies, `R[discard] = 0`, `R[0]` discards                       |

Equality is `observed`: of polynomials over `Z₂` exact, of smooth maps at some points.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from .._functors.usage import with_types
from .._optics import D, DifferentiableMap, R
from ._hold import hold


AnyMap = DifferentiableMap[Any]


@with_types
def reverse_derivative(f: AnyMap, g: AnyMap, h: AnyMap, *, tolerance: float = 0.0) -> None:
    """The seven axioms, at two parallel maps and one that follows them.

    **Arguments:** `f`, `g`: maps with one source and one target. `h`: a map from their target.

    **Raises:** `LawBroken`, which names the axiom.

    Examples:
        >>> x, y = cdl.optics.z2.variables(2)
        >>> (u,) = cdl.optics.z2.variables(1)
        >>> cdl.laws.reverse_derivative(x * y, x + y, u * u + u)
    """
    same = _comparison(tolerance)
    kind, n, m = type(f), f.source, f.target
    zero, pick = kind.zero, kind.pick
    same("RD.1, `R[f + g] = R[f] + R[g]`", R(f + g), R(f) + R(g))
    same("RD.1, `R[0] = 0`", R(zero(n, m)), zero(n + m, n))

    a, b, c = _parts(kind, n, m, m)
    same("RD.2, `R[f](a, b + c)`", (a & (b + c)) >> R(f), ((a & b) >> R(f)) + ((a & c) >> R(f)))
    same("RD.2, `R[f](a, 0)`", (a & zero(n + 2 * m, m)) >> R(f), zero(n + 2 * m, n))

    same("RD.3, `R[id]`", R(kind.identity(n)), pick(2 * n, range(n, 2 * n)))
    _, _, w = _parts(kind, n, m, n)
    same("RD.3, `R[π₀]`", R(pick(n + m, range(n))), w & zero(2 * n + m, m))
    _, _, w = _parts(kind, n, m, m)
    same("RD.3, `R[π₁]`", R(pick(n + m, range(n, n + m))), zero(n + 2 * m, n) & w)

    same("RD.4, `R[⟨f, g⟩]`", R(f & g), ((a & b) >> R(f)) + ((a & c) >> R(g)))
    same("RD.4, `R[!]`", R(pick(n, ())), zero(n, n))

    a, dz = _parts(kind, n, h.target)
    same("RD.5, `R[f >> h]`", R(f >> h), (a & (((a >> f) & dz) >> R(h))) >> R(f))

    a, b, other = _parts(kind, n, m, m)
    nothing = zero(n + 2 * m, n)
    third = (a & b & nothing & nothing & other) >> R(R(R(f))) >> pick(2 * n + m, range(n + m, 2 * n + m))
    same("RD.6, `R[f]` is linear in its second argument", third, (a & other) >> R(f))

    twice = D(D(f))
    a, b, c, d = _parts(kind, n, n, n, n)
    same("RD.7, `D[D[f]]` is symmetric", (a & b & c & d) >> twice, (a & c & b & d) >> twice)


@with_types
def left_additive(f: AnyMap, g: AnyMap, h: AnyMap, *, tolerance: float = 0.0) -> None:
    """That `f + g` and `0` are a left-additive structure, with the reverse derivatives of copy, discard, add and zero.

    **Arguments:** `f`, `g`: maps with one source and one target. `h`: a map from their target.

    **Raises:** `LawBroken`.

    Examples:
        >>> x, y = cdl.optics.z2.variables(2)
        >>> (u,) = cdl.optics.z2.variables(1)
        >>> cdl.laws.left_additive(x * y, x + y, u * u + u)
    """
    same = _comparison(tolerance)
    kind, n, m = type(f), f.source, f.target
    same("`f + g = g + f`", f + g, g + f)
    same("`(f + g) + f = f + (g + f)`", (f + g) + f, f + (g + f))
    same("`f + 0 = f`", f + kind.zero(n, m), f)
    k = kind.pick(n + 1, range(n))
    same("`k >> (f + g)`", k >> (f + g), (k >> f) + (k >> g))
    same("`f >> 0 = 0`", f >> kind.zero(m, n), kind.zero(n, n))
    _, d, e = _parts(kind, n, n, n)
    copy, add = kind.pick(n, [*range(n)] * 2), kind.pick(2 * n, range(n)) + kind.pick(2 * n, range(n, 2 * n))
    same("`R[copy]` adds", R(copy), d + e)
    same("`R[add]` copies", R(add), kind.pick(3 * n, [*range(2 * n, 3 * n)] * 2))
    same("`R[discard]` is zero", R(kind.pick(n, ())), kind.zero(n, n))
    same("`R[zero]` discards", R(kind.zero(0, n)), kind.pick(n, ()))
    a, _ = _parts(kind, n, n)
    chain = (a >> f) & D(f)
    same("`D[f >> h](a, v) = D[h](f(a), D[f](a, v))`", D(f >> h), chain >> D(h))


def _parts(kind: Any, *sizes: int) -> list[Any]:
    """The projections out of a product."""
    ends = list(accumulate(sizes))
    return [kind.pick(ends[-1], range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]


def _comparison(tolerance: float) -> Callable[[str, Any, Any], None]:
    return lambda law, left, right: hold(law, left.observed(), right.observed(), tolerance)
