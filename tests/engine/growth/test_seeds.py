"""Refolds that remember: a seed that is met again is not computed again, where nothing tells the two apart."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

from cdl import algebra, Cons, fmap, Fork, hylo, Leaf, List, ListF, Nil, TreeF
from cdl.monads import Cofree, Pure
from cdl.schemes import chrono, coelgot, dyna, Either, elgot, Left, Right


def edit_distance(a: str, b: str) -> tuple[int, int]:
    """By `dyna` over the table's cells in a row, and how often the algebra was called."""
    width, calls = len(b) + 1, 0

    def cell(n: int) -> ListF[int, int]:
        return Nil() if n < 0 else Cons(n, n - 1)

    @algebra
    def distance(layer: ListF[int, Cofree[List[int], int]]) -> int:
        nonlocal calls
        calls += 1
        match layer:
            case Nil():
                return 0
            case Cons(n, behind):
                i, j = divmod(n, width)
                if i == 0 or j == 0:
                    return i + j
                back = [behind]
                while len(back) <= width:
                    back.append(back[-1].tail.tail)
                left, above, diagonal = back[0].head, back[width - 1].head, back[width].head
                return min(left + 1, above + 1, diagonal + (a[i - 1] != b[j - 1]))

    return dyna(distance, cell)((len(a) + 1) * width - 1), calls


def test_dyna_computes_each_entry_of_an_edit_distance_table_once():
    assert edit_distance("kitten", "sitting") == (3, 7 * 8 + 1)
    assert edit_distance("", "abc") == (3, 4 + 1)


def fibonacci(scheme: Any, seed: Any = lambda n: n) -> tuple[int, int]:
    """The tenth number by a refold over `A + X²`, and how often its coalgebra was called."""
    calls = 0

    def down(given: Any) -> Any:
        nonlocal calls
        calls += 1
        n = given[0] if isinstance(given, list) else int(given)
        layer = Leaf(n) if n < 2 else Fork(seed(n - 1), seed(n - 2))
        return Right(layer) if scheme is elgot else fmap(Pure, layer) if scheme is chrono else layer

    def add(layer: Any) -> Any:
        heads = fmap(lambda below: below.head, layer) if scheme in (dyna, chrono) else layer
        return heads.label if isinstance(heads, Leaf) else heads.left + heads.right

    reader: Any = (lambda _, layer: add(layer)) if scheme is coelgot else algebra(add)
    return scheme(reader, down)(seed(10)), calls


@pytest.mark.parametrize("scheme", [dyna, chrono, elgot, coelgot])
def test_a_seed_that_is_met_again_is_not_computed_again(scheme):
    assert fibonacci(scheme) == (55, 11)
    assert fibonacci(scheme, str) == (55, 11)
    assert fibonacci(scheme, lambda n: [n]) == fibonacci(hylo) == (55, 177)  # a list does not hash


def test_a_value_that_elgot_answers_at_once_is_asked_for_once():
    seen = []

    def down(n: int) -> Either[int, TreeF[int, int]]:
        seen.append(n)
        return Left(7) if n == 0 else Right(Fork(0, 0))

    assert elgot(algebra(lambda layer: layer.left + layer.right), down)(1) == 14
    assert seen == [1, 0]


@dataclasses.dataclass(frozen=True)
class Spot:
    x: Any


class Corner(NamedTuple):
    x: Any


TREE: Any = Fork(Leaf(1), Leaf(2))


@pytest.mark.parametrize(
    ("a", "b", "one"),
    [
        (12345, int("12345"), True),
        (1, True, False),
        (0.0, -0.0, False),
        (np.float32(0.0), np.float32(-0.0), False),
        ((1, 2), (1, True), False),
        ((1, 2), Corner((1, 2)), False),
        (Spot(3), Spot(3), True),
        (frozenset([1, 2]), frozenset([2, 1]), True),
        (TREE, Fork(Leaf(1), Leaf(2)), False),
        (Pure(1), Pure(True), False),
    ],
)
def test_seeds_are_one_where_nothing_tells_them_apart(a, b, one):
    """The coalgebra is called for the second of two seeds unless it is one with the first."""
    seen = []

    def down(seed: Any) -> Any:
        seen.append(seed)
        return Fork(a, b) if seed == "root" else Leaf(1)

    assert (
        dyna(algebra(lambda layer: 1 if isinstance(layer, Leaf) else layer.left.head + layer.right.head), down)("root")
        == 2
    )
    assert len(seen) == (2 if one else 3)
