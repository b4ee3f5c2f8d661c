"""Dynamic programming on spans: `dyna` beside the textbook's loops, each span computed once.

A span of a word or of a chain is cut in two in every place: one layer is the list of these cuts. The coalgebra gives
spans as seeds, so that `dyna` keeps one value for each, and the algebra is the recurrence that the textbook prints.
(Matrix chains: Cormen, Leiserson, Rivest and Stein, *Introduction to Algorithms*, third edition, section 15.2. `dyna`:
Kabanov and Vene, *Recursion Schemes for Dynamic Programming*, 2006, who put the entries of a table in one list, as the
last test here does too.)
"""

from collections.abc import Callable
from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

from hypothesis import given, strategies as st

from cdl import algebra, Base, fmap, hylo, laws
from cdl.schemes import dyna


X = TypeVar("X", covariant=True)
Span: TypeAlias = tuple[int, int]


class Spans:
    """The name of the functor `ℕ + List (X × X)`."""


class One(Base[Spans, Never]):
    """A span of length 1, and where it is."""

    at: int


class Cuts(Base[Spans, X], Generic[X]):
    """Every way to cut a longer span in two."""

    halves: tuple[tuple[X, X], ...]


SpansF: TypeAlias = Union[One, Cuts[X]]


def cuts(span: Span) -> SpansF[Span]:
    i, j = span
    return One(i) if j - i == 1 else Cuts(tuple(((i, k), (k, j)) for k in range(i + 1, j)))


def by_refold(
    scheme: Any, n: int, one: Callable[[int], Any], best: Callable[[list[tuple[Any, Any]]], Any]
) -> tuple[Any, int]:
    """The value of the whole span of length `n`, and how often the algebra was called."""
    calls = 0

    def solve(layer: Any) -> Any:
        nonlocal calls
        calls += 1
        values = fmap(lambda below: below.head, layer) if scheme is dyna else layer
        return one(values.at) if isinstance(values, One) else best(list(values.halves))

    return scheme(algebra(solve), cuts)((0, n)), calls


# The least number of multiplications, with the rows and the columns of the product.
def chain(scheme: Any, sizes: list[int]) -> tuple[int, int]:
    def one(i: int) -> tuple[int, int, int]:
        return 0, sizes[i], sizes[i + 1]

    def best(halves: list[tuple[Any, Any]]) -> tuple[int, int, int]:
        (_, rows, _), (_, _, columns) = halves[0]
        return min(a[0] + b[0] + rows * a[2] * columns for a, b in halves), rows, columns

    value, calls = by_refold(scheme, len(sizes) - 1, one, best)
    return value[0], calls


def chain_by_loops(sizes: list[int]) -> int:
    """`MATRIX-CHAIN-ORDER` of the textbook, with matrices numbered from 1."""
    n = len(sizes) - 1
    m = [[0] * (n + 1) for _ in range(n + 1)]
    for length in range(2, n + 1):
        for i in range(1, n - length + 2):
            j = i + length - 1
            m[i][j] = min(m[i][k] + m[k + 1][j] + sizes[i - 1] * sizes[k] * sizes[j] for k in range(i, j))
    return m[1][n]


@given(st.lists(st.integers(1, 50), min_size=2, max_size=8))
def test_dyna_of_matrix_chains_costs_what_loops_say(sizes):
    n = len(sizes) - 1
    assert chain(dyna, sizes) == (chain_by_loops(sizes), n * (n + 1) // 2)


def test_dyna_of_the_textbooks_example_calls_once_a_span():
    sizes = [30, 35, 15, 5, 10, 20, 25]
    assert chain_by_loops(sizes) == 15125
    assert chain(dyna, sizes) == (15125, 6 * 7 // 2)
    assert chain(hylo, sizes) == (15125, 3**5)


def test_dyna_over_spans_is_histo_after_ana():
    cost = lambda layer: 1 if isinstance(layer, One) else min(a.head + 2 * b.head for a, b in layer.halves)
    laws.dyna(algebra(cost), cuts, (0, 5))
