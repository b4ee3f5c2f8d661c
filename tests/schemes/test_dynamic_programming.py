"""Dynamic programming on spans: `dyna` beside the textbook's loops, each span computed once.

A span of a word or of a chain is cut in two in every place: one layer is the list of these cuts. The coalgebra gives
spans as seeds, so that `dyna` keeps one value for each, and the algebra is the recurrence that the textbook prints.
(Matrix chains: Cormen, Leiserson, Rivest and Stein, *Introduction to Algorithms*, third edition, section 15.2. CYK:
Younger, *Recognition and Parsing of Context-Free Languages in Time n³*, 1967. `dyna`: Kabanov and Vene, *Recursion
Schemes for Dynamic Programming*, 2006, who put the entries of a table in one list, as the last test here does too.)
"""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

from hypothesis import given, settings, strategies as st

from cdl import algebra, Base, Cons, fmap, hylo, laws, List, ListF, Nil
from cdl.monads import Cofree
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
def test_a_chain_of_matrices_costs_what_the_textbooks_loops_say(sizes):
    n = len(sizes) - 1
    assert chain(dyna, sizes) == (chain_by_loops(sizes), n * (n + 1) // 2)


def test_the_textbooks_example_and_the_calls_without_memory():
    sizes = [30, 35, 15, 5, 10, 20, 25]
    assert chain_by_loops(sizes) == 15125
    assert chain(dyna, sizes) == (15125, 6 * 7 // 2)
    assert chain(hylo, sizes) == (15125, 3**5)


# Grammars in Chomsky's normal form: rules `A → B C` and `A → a`, with letters for nonterminals.
Rules: TypeAlias = frozenset[tuple[str, str, str]]
Words: TypeAlias = frozenset[tuple[str, str]]

SENTENCES: Rules = frozenset(
    [("S", "N", "V"), ("V", "W", "N"), ("V", "V", "P"), ("N", "D", "M"), ("N", "N", "P"), ("P", "Q", "N")]
)
LEXICON: Words = frozenset(
    [("N", "she"), ("V", "eats"), ("W", "eats"), ("D", "a"), ("M", "fish"), ("M", "fork"), ("Q", "with")]
)


def parses(rules: Rules, lexicon: Words, word: list[str]) -> tuple[Counter[str], int]:
    """How many trees of each nonterminal the word has, by `dyna`, and how often the algebra was called."""

    def one(i: int) -> Counter[str]:
        return Counter(a for a, letter in lexicon if letter == word[i])

    def best(halves: list[tuple[Any, Any]]) -> Counter[str]:
        found: Counter[str] = Counter()
        for (left, right), (a, b, c) in itertools.product(halves, rules):
            found[a] += left[b] * right[c]
        return +found

    return by_refold(dyna, len(word), one, best)


def parses_by_loops(rules: Rules, lexicon: Words, word: list[str]) -> set[str]:
    """The algorithm of Cocke, Younger and Kasami: which nonterminals give the word."""
    n = len(word)
    table: dict[tuple[int, int], set[str]] = {(1, i): {a for a, w in lexicon if w == word[i]} for i in range(n)}
    for length in range(2, n + 1):
        for start in range(n - length + 1):
            table[length, start] = set()
            for first in range(1, length):
                for a, b, c in rules:
                    if b in table[first, start] and c in table[length - first, start + first]:
                        table[length, start].add(a)
    return table[n, 0]


letters = st.sampled_from("AB")
grammars = st.frozensets(st.tuples(letters, letters, letters), max_size=6)
lexicons = st.frozensets(st.tuples(letters, st.sampled_from("xy")), max_size=4)
words = st.lists(st.sampled_from("xy"), min_size=1, max_size=7)


@settings(max_examples=50)
@given(grammars, lexicons, words)
def test_a_word_has_the_nonterminals_that_the_loops_find(rules, lexicon, word):
    found, calls = parses(rules, lexicon, word)
    assert set(found) == parses_by_loops(rules, lexicon, word)
    assert calls == len(word) * (len(word) + 1) // 2


def trees(rules: Rules, lexicon: Words, word: list[str], a: str) -> list[Any]:
    """Every parse tree, one by one."""
    leaves = [word[0]] if len(word) == 1 and (a, word[0]) in lexicon else []
    return leaves + [
        (left, right)
        for k in range(1, len(word))
        for head, b, c in rules
        if head == a
        for left in trees(rules, lexicon, word[:k], b)
        for right in trees(rules, lexicon, word[k:], c)
    ]


@settings(max_examples=25)
@given(grammars, lexicons, st.lists(st.sampled_from("xy"), min_size=1, max_size=4))
def test_the_trees_that_are_counted_are_all_there_are(rules, lexicon, word):
    found, _ = parses(rules, lexicon, word)
    assert {a: found[a] for a in "AB"} == {a: len(trees(rules, lexicon, word, a)) for a in "AB"}


def test_who_eats_with_the_fork():
    sentence = "she eats a fish with a fork".split()
    found, calls = parses(SENTENCES, LEXICON, sentence)
    assert found == Counter({"S": 2})
    assert calls == 7 * 8 // 2
    assert parses_by_loops(SENTENCES, LEXICON, sentence) == {"S"}
    assert parses(SENTENCES, LEXICON, sentence[1:])[0] == Counter({"V": 2})
    assert not parses(SENTENCES, LEXICON, sentence[::-1])[0]


def test_dyna_over_spans_is_histo_after_ana():
    cost = lambda layer: 1 if isinstance(layer, One) else min(a.head + 2 * b.head for a, b in layer.halves)
    laws.dyna(algebra(cost), cuts, (0, 5))


# The table in one list, the shortest spans last to be asked for: each step looks back for the two halves.
@settings(max_examples=25)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=7))
def test_a_list_of_spans_that_looks_back_gives_the_same(sizes):
    n = len(sizes) - 1
    order = [(i, i + length) for length in range(1, n + 1) for i in range(n - length + 1)]

    def entry(at: int) -> ListF[Span, int]:
        return Nil() if at < 0 else Cons(order[at], at - 1)

    def value(behind: Cofree[List[Span], int], span: Span) -> int:
        while behind.tail.head != span:
            behind = behind.tail.tail
        return behind.head

    @algebra
    def cost(layer: ListF[Span, Cofree[List[Span], int]]) -> int:
        match layer:
            case Nil():
                return 0
            case Cons((i, j), behind):
                products = [sizes[i] * sizes[k] * sizes[j] for k in range(i + 1, j)]
                halves = [value(behind, (i, k)) + value(behind, (k, j)) for k in range(i + 1, j)]
                return min((a + b for a, b in zip(products, halves, strict=True)), default=0)

    assert dyna(cost, entry)(len(order) - 1) == chain_by_loops(sizes)
