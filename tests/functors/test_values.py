"""Trees are values: they compare, hash, print, pickle and copy, at any depth, and sharing is kept."""

import copy
import gc
import pickle
import sys

import jax.numpy as jnp
import numpy as np
from alone import run_alone

from cdl import Fork, Leaf, Many, Nil, Node, to_list
from cdl.functors import Link, Succ, Tip, to_snoc, Zero


def comb(depth, last=0):
    """A tree whose every right child is a leaf: as deep as it is big."""
    tree = Leaf(last)
    for i in range(depth):
        tree = Fork(tree, Leaf(i))
    return tree


def rose(depth):
    tree = Node("end", Many())
    for _ in range(depth):
        tree = Node("on", Many([tree]))
    return tree


def linked(depth):
    link = Link(0)
    for i in range(depth):
        link = Link(i, link)
    return link


def deep_values(n=20_000):
    gc.disable()  # it would go through all layers again and again
    limit = sys.getrecursionlimit()
    for build in (
        lambda: to_list(range(n)),
        lambda: comb(n),
        lambda: rose(n // 5),
        lambda: linked(n // 5),
    ):
        value, again = build(), build()
        assert value == again
        assert hash(value) == hash(again)
        assert len(repr(value)) > 4_000
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.copy(value) is value
        copied = copy.deepcopy(value)
        assert copied == value
        assert copied is not value
    one, other = to_list([0] * n), to_list([*[0] * (n - 1), 1])
    assert one != other
    assert hash(one) != hash(other)
    assert sys.getrecursionlimit() == limit


def test_values_deeper_than_python_recurses_are_values():
    run_alone(deep_values)


def test_values_with_other_constructors_or_fields_differ():
    assert Zero() != Nil()
    assert Succ(Zero()) != Zero()
    assert Leaf(1) != Leaf(2)
    assert Leaf(1) != 1
    assert Node("a", Many([Tip()])) != Node("a", Many([Tip(), Tip()]))
    assert Many([1, 2]) != (1, 2)
    assert Leaf((1, 2)) != Leaf((1, 2, 3))
    assert Leaf(None) != Leaf(Nil())


def test_payloads_compare_by_value_whatever_library_holds_them():
    ours, numpys = Leaf(jnp.arange(3)), Leaf(np.arange(3))
    assert ours == numpys
    assert hash(ours) == hash(numpys)
    equal = [Leaf(x) for x in (2.0, np.float32(2.0), jnp.asarray(2.0))]
    assert len(set(equal)) == 1
    assert Leaf(np.arange(3)) != Leaf(np.arange(4))
    assert Leaf(np.zeros(1)) != Leaf(0.0)
    assert Leaf(np.zeros(2)) != Leaf("text")


def test_what_is_printed_is_the_code_that_makes_it():
    value = Node("a", Many([Node("b", Many()), Node("c", Many([Node((1,), Many())]))]))
    assert eval(repr(value)) == value
    assert repr(value) == "Node('a', Many([Node('b', Many([])), Node('c', Many([Node((1,), Many([]))]))]))"
    assert repr(Link(1, Link(2))) == "Link(1, Link(2, None))"
    assert repr(to_snoc([1, np.float64(2.5)])) == "Snoc(Snoc(Lin(), 1), 2.5)"


def test_a_long_print_leaves_out_what_is_past_a_thousand_layers():
    text = repr(to_list([0] * 2_000))
    assert text.count("Cons") == 1_000
    assert text.endswith("…" + ")" * 1_000)


def doubled(times):
    """A tree of `2 ** times` leaves that takes the room of `times` forks."""
    tree = Leaf(1)
    for _ in range(times):
        tree = Fork(tree, tree)
    return tree


def test_pickle_and_deepcopy_keep_sharing_at_no_cost():
    value, again = doubled(200), doubled(200)
    assert value == again
    assert hash(value) == hash(again)
    for new in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert new == value
        assert new.left is new.right
    assert value != doubled(199)


def test_deepcopy_copies_payloads_and_copy_does_not():
    value = Leaf(np.zeros(2))
    copied = copy.deepcopy(value)
    copied.label[0] = 1.0
    assert value.label[0] == 0.0
    assert copy.copy(value).label is value.label


def cyclic():
    value = Fork(Leaf(1), Leaf(2))
    object.__setattr__(value, "right", value)
    return value


def test_a_cyclic_value_still_compares_and_prints():
    assert cyclic() == cyclic()
    assert cyclic() != Fork(Leaf(1), Leaf(2))
    assert repr(cyclic()).startswith("Fork(Leaf(1), Fork(Leaf(1), ")


def test_a_mapped_many_holds_what_the_map_gave():
    calls = []
    mapped = Many([1, 2, 3]).map(lambda x: calls.append(x) or x * x)
    assert mapped == Many([1, 4, 9])
    assert hash(mapped) == hash(Many([1, 4, 9]))
    assert (mapped.sum(0), mapped.max(0), mapped.mean(0.0), mapped.count) == (14, 9, 14 / 3, 3)
    assert calls == [1, 2, 3]
