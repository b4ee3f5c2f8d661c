"""Each recursion scheme is what it says, on small trees by a direct meaning, and at any depth without the stack."""

import gc
import sys
import weakref
from typing import Any

from alone import run_alone

from cdl import (
    algebra,
    ana,
    cata,
    Cons,
    decorate,
    Fix,
    Fork,
    hylo,
    Leaf,
    List,
    ListF,
    Many,
    Mealy,
    MealyF,
    Nil,
    Node,
    RoseF,
    to_list,
    TreeF,
)
from cdl.functors import Link, NatF, StreamF, Succ, take, Zero
from cdl.machines import respond
from cdl.monads import Cofree, Free, Pure
from cdl.schemes import (
    apo,
    chrono,
    coelgot,
    dyna,
    Either,
    elgot,
    futu,
    histo,
    hoist,
    Left,
    mutu,
    para,
    prepro,
    product,
    Right,
    zygo,
)


# Lists, and their plain meaning in Python.
@algebra
def total(layer: ListF[int, int]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(head, rest):
            return head + rest


@algebra
def backwards(layer: ListF[int, tuple[int, ...]]) -> tuple[int, ...]:
    match layer:
        case Nil():
            return ()
        case Cons(head, rest):
            return (*rest, head)


@algebra
def suffixes(layer: ListF[int, tuple[Fix[List[int]], tuple[Any, ...]]]) -> tuple[Any, ...]:
    match layer:
        case Nil():
            return ()
        case Cons(_, (tail, later)):
            return (tail, *later)


@algebra
def alternating(layer: ListF[int, tuple[int, int]]) -> int:
    """The elements minus, plus, minus … by how many are left."""
    match layer:
        case Nil():
            return 0
        case Cons(head, (length, rest)):
            return rest + (head if length % 2 else -head)


@algebra
def length(layer: ListF[int, int]) -> int:
    match layer:
        case Nil():
            return 0
        case Cons(_, rest):
            return 1 + rest


@algebra
def every_other(layer: ListF[int, Cofree[List[int], int]]) -> int:
    """The first, third, fifth … element, by looking two places back."""
    match layer:
        case Cons(head, Cofree(_, Cons(_, Cofree(two_back, _)))):
            return head + two_back
        case Cons(head, _):
            return head
        case Nil():
            return 0


def countdown(n: int) -> ListF[int, int]:
    return Nil() if n == 0 else Cons(n, n - 1)


NUMBERS = [3, 1, 4, 1, 5, 9, 2, 6]


def test_cata_reads_a_list_from_its_end():
    assert cata(backwards)(to_list(NUMBERS)) == tuple(reversed(NUMBERS))
    assert cata(total)(to_list(NUMBERS)) == sum(NUMBERS)


def test_cata_takes_every_kind_of_place():
    @algebra
    def size(layer: RoseF[str, int] | Link[str, int]) -> int:
        match layer:
            case Node(_, kids):
                return 1 + kids.sum(0)
            case Link(_, tail):
                return 1 + (tail or 0)

    assert cata(size)(Node("a", Many([Node("b", Many()), Node("c", Many([Node("d", Many())]))]))) == 4
    assert cata(size)(Link("a", Link("b"))) == 2


def test_para_has_the_subtree_and_its_value():
    assert para(suffixes)(to_list([1, 2, 3])) == (to_list([2, 3]), to_list([3]), to_list([]))


def test_zygo_is_helped_by_the_other_algebra():
    expected = sum(x if (len(NUMBERS) - 1 - i) % 2 else -x for i, x in enumerate(NUMBERS))
    assert zygo(length, alternating)(to_list(NUMBERS)) == expected


def test_mutu_is_two_functions_that_call_each_other():
    @algebra
    def even(layer: NatF[tuple[bool, bool]]) -> bool:
        match layer:
            case Zero():
                return True
            case Succ((_, odd)):
                return odd

    @algebra
    def odd(layer: NatF[tuple[bool, bool]]) -> bool:
        match layer:
            case Zero():
                return False
            case Succ((even, _)):
                return even

    number = Zero()
    for n in range(6):
        assert mutu(even, odd)(number) == (n % 2 == 1)
        number = Succ(number)


def test_histo_looks_further_back():
    assert histo(every_other)(to_list(NUMBERS)) == sum(NUMBERS[::2])
    assert histo(every_other)(to_list([5])) == 5


def test_prepro_changes_the_layer_at_depth_d_d_times():
    double = lambda layer: Cons(2 * layer.head, layer.tail) if isinstance(layer, Cons) else layer
    assert prepro(double, total)(to_list([1, 1, 1, 1])) == 1 + 2 + 4 + 8
    stop = lambda layer: Nil() if isinstance(layer, Cons) and layer.head > 2 else layer
    assert prepro(stop, total)(to_list([5, 1, 2, 9, 1])) == 5 + 1 + 2


def test_decorate_keeps_the_value_at_every_node():
    decorated = decorate(total)(to_list([1, 2]))
    assert decorated == Cofree(3, Cons(1, Cofree(2, Cons(2, Cofree(0, Nil())))))


def test_hoist_changes_the_signature_layer_by_layer():
    numbered = lambda layer: Zero() if isinstance(layer, Nil) else Succ(layer.tail)
    assert hoist(numbered)(to_list("abc")) == Succ(Succ(Succ(Zero())))


def test_the_product_of_two_algebras_is_one_pass_of_both():
    assert cata(product(total, length))(to_list(NUMBERS)) == (sum(NUMBERS), len(NUMBERS))


def test_ana_grows_a_tree_from_a_seed():
    assert ana(countdown)(4) == to_list([4, 3, 2, 1])
    halves = lambda n: Leaf(n) if n < 2 else Fork(n // 2, n - n // 2)
    assert ana(halves)(3) == Fork(Leaf(1), Fork(Leaf(1), Leaf(1)))


def test_ana_is_lazy_under_functions():
    assert take(4, ana(lambda n: StreamF(n, lambda: n + 1))(7)) == [7, 8, 9, 10]
    running: Fix[Mealy[int, int]] = ana(lambda s: MealyF(lambda i: (s + i, s + i)))(0)
    assert respond(running, [1, 2, 3]) == [1, 3, 6]
    assert respond(running, [10, 1]) == [10, 11]


def insert(
    seed: tuple[int, Fix[List[int]]],
) -> ListF[int, Either[Fix[List[int]], tuple[int, Fix[List[int]]]]]:
    """An element into a sorted list: once it is in place, the rest is copied as it is."""
    new, rest = seed
    match rest:
        case Cons(head, tail) if head < new:
            return Cons(head, Right((new, tail)))
        case _:
            return Cons(new, Left(rest))


def test_apo_leaves_a_finished_tree_as_it_is():
    rest = to_list([4, 9])
    inserted: Any = apo(insert)((3, Cons(1, rest)))
    assert inserted == to_list([1, 3, 4, 9])
    assert inserted.tail.tail is rest


def in_pairs(n: int) -> ListF[int, Free[List[int], int]]:
    return Nil() if n <= 0 else Cons(n, Cons(-n, Pure(n - 1)))


def test_futu_gives_several_layers_at_once():
    assert futu(in_pairs)(2) == to_list([2, -2, 1, -1])


def test_hylo_is_a_recursive_function_by_its_call_tree():
    @algebra
    def merge(layer: TreeF[list[int], list[int]]) -> list[int]:
        match layer:
            case Leaf(one):
                return one
            case Fork(left, right):
                return sorted([*left, *right])

    split = lambda xs: Leaf(xs) if len(xs) < 2 else Fork(xs[::2], xs[1::2])
    assert hylo(merge, split)(NUMBERS) == sorted(NUMBERS)


def test_chrono_goes_ahead_by_layers_and_looks_back():
    assert chrono(every_other, in_pairs)(3) == 3 + 2 + 1
    assert chrono(every_other, in_pairs)(3) == histo(every_other)(futu(in_pairs)(3))


def test_elgot_may_answer_at_once():
    seen = []

    def collatz(n: int) -> Either[int, ListF[int, int]]:
        seen.append(n)
        return Left(100) if n == 4 else Right(Cons(n, n // 2 if n % 2 == 0 else 3 * n + 1))

    assert elgot(total, collatz)(3) == 3 + 10 + 5 + 16 + 8 + 100
    assert seen == [3, 10, 5, 16, 8, 4]


def test_coelgot_shows_the_seed_beside_the_layer():
    assert coelgot(lambda n, layer: (n, layer), countdown)(1) == (1, Cons(1, (0, Nil())))


def test_a_lazy_place_of_a_refold_is_solved_when_it_is_called():
    """A stream that never ends, whose heads are halves of what the seed says."""
    halves: Any = coelgot(lambda n, layer: StreamF(n / 2, layer.tail), lambda n: StreamF(n, lambda: n + 1))
    assert take(3, halves(1)) == [0.5, 1.0, 1.5]


# Depth.
def deep_schemes(n=10_000):
    gc.disable()  # it would go through all layers again and again
    limit = sys.getrecursionlimit()
    numbers = to_list([1] * n)
    step = lambda k: Nil() if k == 0 else Cons(1, k - 1)
    assert cata(total)(numbers) == n
    assert ana(step)(n) == numbers
    assert hylo(total, step)(n) == n
    assert para(algebra(lambda layer: 0 if isinstance(layer, Nil) else layer.tail[1] + 1))(numbers) == n
    assert zygo(length, alternating)(numbers) == 0
    paired = algebra(lambda layer: 0 if isinstance(layer, Nil) else layer.tail[0] + 1)
    assert mutu(paired, alternating)(Cons(5, numbers)) == -5
    assert histo(every_other)(numbers) == n // 2
    assert decorate(total)(numbers).tail.tail.head == n - 1
    assert apo(insert)((2, numbers)) == to_list([1] * n + [2])
    assert futu(lambda k: Nil() if k == 0 else Cons(1, Cons(1, Pure(k - 2))))(n) == numbers
    assert dyna(every_other, step)(n) == n // 2
    assert chrono(every_other, lambda k: Nil() if k == 0 else Cons(1, Pure(k - 1)))(n) == n // 2
    assert elgot(total, lambda k: Left(7) if k == 0 else Right(Cons(1, k - 1)))(n) == n + 7
    comb = Leaf(0)
    for _ in range(n):
        comb = Fork(comb, Leaf(0))
    height = algebra(lambda layer: 0 if isinstance(layer, Leaf) else 1 + max(layer.left, layer.right))
    assert cata(height)(comb) == n
    assert sys.getrecursionlimit() == limit


def test_every_scheme_goes_deeper_than_python_recurses():
    run_alone(deep_schemes)


def test_cata_does_not_keep_an_algebra_that_was_used():
    """Nor what it closes over, which may be large, or traced."""

    def used() -> weakref.ref[Any]:
        alg = algebra(lambda layer: layer.head + layer.tail if isinstance(layer, Cons) else 0.0)
        assert cata(alg)(to_list([1.0])) == 1.0
        return weakref.ref(alg.fn)

    found = used()
    gc.collect()
    assert found() is None
