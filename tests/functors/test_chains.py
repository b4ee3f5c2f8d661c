"""The chains that a recursive type is the limit of: their sizes, and their elements where there are few."""

import math

import pytest

from cdl import Cons, Fork, Leaf, ListF, MealyF, MooreF, Nil, RoseF, TreeF
from cdl.functors import NatF, StreamF, Succ, Zero
from cdl.monads import final_chain, initial_chain


@pytest.mark.parametrize(
    ("chain", "signature", "constants", "sizes"),
    [
        (initial_chain, ListF, {"A": "ab"}, [0, 1, 3, 7, 15]),
        (initial_chain, TreeF, {"A": "a"}, [0, 1, 2, 5, 26]),
        (initial_chain, StreamF, {"O": "ab"}, [0, 0, 0, 0, 0]),
        (initial_chain, RoseF, {"A": "a"}, [0, 1, math.inf, math.inf, math.inf]),
        (final_chain, NatF, {}, [1, 2, 3, 4, 5]),
        (final_chain, ListF, {"A": "ab"}, [1, 3, 7, 15, 31]),
        (final_chain, MooreF, {"I": "xy", "O": [0, 1]}, [1, 2, 8, 128, 32768]),
        (final_chain, MealyF, {"I": "xy", "O": [0, 1]}, [1, 4, 64, 16384, 2**30]),
    ],
)
def test_chains_of_a_functor_have_the_right_sizes(chain, signature, constants, sizes):
    found = chain(signature, 4, constants)
    assert [step.size for step in found] == sizes
    for step in found:
        assert step.values is None or len(set(map(repr, step.values))) == step.size == len(step.values)


def test_the_chains_write_out_small_sets():
    assert initial_chain(ListF, 2, {"A": "ab"})[2].values == (
        Nil(),
        Cons("a", Nil()),
        Cons("b", Nil()),
    )
    assert final_chain(NatF, 2)[2].values == (Zero(), Succ(Zero()), Succ(Succ(())))
    constant, *_ = final_chain(MealyF, 1, {"I": [1, 2], "O": [0]})[1].values
    assert repr(constant) == "MealyF({1 ↦ (0, ()), 2 ↦ (0, ())})"
    assert constant.step(2) == (0, ())
    assert initial_chain(TreeF, 5, {"A": "a"}, listed=10)[4].values is None


def test_every_tree_of_few_layers_is_in_the_chain():
    trees = initial_chain(TreeF, 3, {"A": "a"})[3].values
    assert Fork(Fork(Leaf("a"), Leaf("a")), Leaf("a")) in trees
    assert Fork(Fork(Fork(Leaf("a"), Leaf("a")), Leaf("a")), Leaf("a")) not in trees
