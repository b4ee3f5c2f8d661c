"""Every axiom of reverse derivative categories fails where one operation has one mistake, and it alone."""

from typing import Any, Self

import pytest
from planted import breaks
from polynomial_maps import Wrapped

from cdl import laws
from cdl.optics import D, R, z2, Z2Map


class Planted(Wrapped):
    """Polynomial maps over the field of two elements, with another answer of an operation at some arguments.

    `instead` has these answers by the operation, which is `R`, `>>` or `+`, and its arguments.
    """

    instead: dict[tuple[Any, ...], Z2Map] = {}  # noqa: RUF012

    @classmethod
    def of(cls, map: Z2Map, *how: Any) -> Self:
        return cls(cls.instead.get(how) or map)


def pick(*places: int, of: int) -> Z2Map:
    return Z2Map.pick(of, places)


def changed(map: Z2Map) -> Z2Map:
    """Another map of the same type: one is added to each of its values."""
    return map + Z2Map(map.source, (frozenset([(0,) * map.source]),) * map.target)


X, Y = z2.variables(2)
(Z,) = z2.variables(1)
F, G, H = X * Y, X + Y * Y, Z * Z * Z  # `A² → A`, `A² → A` and `A → A`
N, M = F.source, F.target
ZERO = Z2Map.zero(N, M)


def instance(instead: dict[tuple[Any, ...], Z2Map]) -> list[Planted]:
    kind = type("Planted", (Planted,), {"instead": instead})
    return [kind(map) for map in (F, G, H)]


def not_additive(extra: Z2Map, *, sums: bool = False) -> dict[tuple[Any, ...], Z2Map]:
    """`R[f]` with this added to its first value, and all that the other axioms make of `R[f]`, made of that.

    Over a field `R[f](a, 0) = 0` follows from `R[f](a, b + c) = …`: to break it alone a sum has to be another, too.
    """
    wrong = R(F) + (extra & Z2Map.zero(N + M, 1))
    a, b, c = pick(0, 1, of=4), pick(2, of=4), pick(3, of=4)
    x, dz = pick(0, 1, of=3), pick(2, of=3)
    by_b, by_c = (a & b) >> wrong, (a & c) >> wrong
    answers = {
        ("R", F): wrong,
        ("R", F + G): wrong + R(G),
        ("R", F & G): by_b + ((a & c) >> R(G)),
        ("R", F >> H): (x & (((x >> F) & dz) >> R(H))) >> wrong,
        ("R", R(wrong)): Z2Map.zero(8, N + M) & ((pick(0, 1, of=8) & pick(7, of=8)) >> wrong),
    }
    return answers | {("+", by_b, by_c): (a & (b + c)) >> wrong} if sums else answers


W = pick(2, of=N + M)  # the second argument of `R[f]`
AXIOMS = {
    "RD.1, `R[f + g] = R[f] + R[g]`": {("R", F + G): changed(R(F + G))},
    "RD.1, `R[0] = 0`": {("R", ZERO): changed(R(ZERO))},
    "RD.2, `R[f](a, b + c)`": not_additive(W * W * W),
    "RD.2, `R[f](a, 0)`": not_additive(W + z2.one(N + M), sums=True),
    "RD.3, `R[id]`": {("R", Z2Map.identity(N)): changed(R(Z2Map.identity(N)))},
    "RD.3, `R[π₀]`": {("R", pick(0, 1, of=3)): changed(R(pick(0, 1, of=3)))},
    "RD.3, `R[π₁]`": {("R", pick(2, of=3)): changed(R(pick(2, of=3)))},
    "RD.4, `R[⟨f, g⟩]`": {("R", F & G): changed(R(F & G))},
    "RD.4, `R[!]`": {("R", pick(of=N)): changed(R(pick(of=N)))},
    "RD.5, `R[f >> h]`": {("R", F >> H): changed(R(F >> H))},
    "RD.6, `R[f]` is linear in its second argument": {("R", R(R(F))): changed(R(R(R(F))))},
    # Of `(a, b, c, d)` the derivative of the derivative has the first of `b` in it, and not that of `c`.
    "RD.7, `D[D[f]]` is symmetric": {("R", R(D(F))): R(R(D(F))) + (Z2Map.zero(9, 4) & pick(2, of=9))},
}


@pytest.mark.parametrize("law", AXIOMS)
def test_one_other_answer_breaks_one_axiom_and_no_other(law):
    breaks(law, lambda: laws.reverse_derivative(*instance(AXIOMS[law])))


COPY, ADD = pick(0, 1, 0, 1, of=N), pick(0, 1, of=2 * N) + pick(2, 3, of=2 * N)
STRUCTURE = {
    "`f + g = g + f`": {("+", G, F): changed(G + F), ("+", F, changed(G + F)): F + (G + F)},
    "`(f + g) + f = f + (g + f)`": {("+", F + G, F): changed(G)},
    "`f + 0 = f`": {("+", F, ZERO): changed(F)},
    "`k >> (f + g)`": {(">>", pick(0, 1, of=3), F + G): changed(pick(0, 1, of=3) >> (F + G))},
    "`f >> 0 = 0`": {(">>", F, Z2Map.zero(M, N)): changed(Z2Map.zero(N, N))},
    "`R[copy]` adds": {("R", COPY): changed(R(COPY))},
    "`R[add]` copies": {("R", ADD): changed(R(ADD))},
    "`R[discard]` is zero": {("R", pick(of=N)): changed(R(pick(of=N)))},
    # There is one map from each object to `A⁰`: only the object can be another.
    "`R[zero]` discards": {("R", Z2Map.zero(0, N)): pick(of=N + 1)},
    "`D[f >> h](a, v) = D[h](f(a), D[f](a, v))`": {("R", R(F >> H)): changed(R(R(F >> H)))},
}


@pytest.mark.parametrize("law", STRUCTURE)
def test_one_other_answer_breaks_one_law_of_the_left_additive_structure_and_no_other(law):
    breaks(law, lambda: laws.left_additive(*instance(STRUCTURE[law])))


def test_the_same_without_another_answer_break_none():
    laws.reverse_derivative(*instance({}))
    laws.left_additive(*instance({}))
    others = [Planted(map) for map in (Z & (Z * Z), (Z * Z) & Z, X * Y)]  # `A → A²`, `A → A²` and `A² → A`
    laws.reverse_derivative(*others)
    laws.left_additive(*others)
