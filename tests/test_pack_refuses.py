"""What cannot be packed or folded is refused with a message that says where it stands and what to do."""

from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import (
    algebra,
    Base,
    CarrierMismatch,
    Corpus,
    fold,
    ForeignLayer,
    Fork,
    Leaf,
    Many,
    MooreF,
    Nil,
    Node,
    pack,
    PayloadMismatch,
    RoseF,
    SignatureError,
    StreamF,
    TreeF,
    TreeTooLarge,
)


X = TypeVar("X", covariant=True)
S = TypeVar("S", covariant=True)
E = TypeVar("E", covariant=True)


class Numbered:
    """The name of a functor with integers in its leaves."""


class Number(Base[Numbered, Never]):
    value: int


class Next(Base[Numbered, X], Generic[X]):
    rest: X


NumberedF = Union[Number, Next[X]]


class Program:
    """The name of a family of two sorts."""


class Do(Base[Program, tuple[S, E]], Generic[S, E]):
    what: E
    after: S


class Endless:
    """The name of a functor without a finite tree."""


class Once(Base[Endless, X], Generic[X]):
    rest: X


class Twice(Base[Endless, X], Generic[X]):
    rest: tuple[X, X]


EndlessF = Union[Once[X], Twice[X]]


def test_a_foreign_subtree_is_found_with_the_way_to_it():
    tree = Fork(Leaf(1.0), Fork(Fork(Nil(), Leaf(2.0)), Leaf(3.0)))
    with pytest.raises(ForeignLayer, match=r"`Nil` of .* is no constructor of .* in tree 1, in Fork in Fork in Fork"):
        pack(TreeF, [Leaf(0.0), tree])


def test_a_value_that_is_no_tree_is_found_at_the_root():
    with pytest.raises(ForeignLayer, match=r"a `int` stands where a constructor .*Leaf, Fork.* in tree 0, at the root"):
        pack(TreeF, [3])


@pytest.mark.parametrize(
    ("signature", "trees", "message"),
    [
        (TreeF, [Leaf(np.zeros(2)), Leaf(np.zeros(3))], r"`Leaf.label` has shape \(2,\) in one node .* and \(3,\)"),
        (TreeF, [Leaf("one"), Leaf("two")], r"`Leaf.label` holds a `str`, and .*: number the values"),
        (NumberedF, [Number(2**40)], r"`Number.value` holds 1099511627776, and `int32` ends at 2147483647"),
        (NumberedF, [Number(-(2**40))], r"`Number.value` holds -1099511627776, and `int32` ends at -2147483648"),
        (NumberedF, [Number(1), Number(2**70)], r"`Number.value` holds 1180591620717411303424, and `int32` ends at"),
    ],
)
def test_payloads_that_make_no_array_are_refused(signature, trees, message):
    with pytest.raises(PayloadMismatch, match=message):
        pack(signature, trees)


def test_floats_where_integers_are_annotated_are_refused():
    with pytest.raises(
        PayloadMismatch, match=r"`Number.value` is annotated as integers and holds 0.5 .*`float`.*: round"
    ):
        pack(NumberedF, [Number(0.5)])


def test_a_traced_payload_is_refused():
    with pytest.raises(PayloadMismatch, match=r"`Leaf.label` holds a traced value: `pack` runs on the host"):
        jax.jit(lambda x: pack(TreeF, [Leaf(x)]).payload)(1.0)


def test_a_cyclic_value_is_refused():
    tree = Fork(Leaf(1.0), Leaf(2.0))
    object.__setattr__(tree, "right", tree)
    with pytest.raises(TreeTooLarge, match=r"tree 1 is cyclic: a `Fork` is inside itself, 1 nodes below the root"):
        pack(TreeF, [Leaf(0.0), tree], max_nodes=1_000)


def test_shared_subtrees_count_each_time_they_are_met():
    tree: Any = Leaf(1.0)
    for _ in range(6):
        tree = Fork(tree, tree)
    assert pack(TreeF, [tree], max_nodes=127).size == 127
    with pytest.raises(TreeTooLarge, match=r"more than 126 nodes once shared subtrees are written out"):
        pack(TreeF, [tree], max_nodes=126)


@pytest.mark.parametrize("wrong", [lambda x: jnp.zeros(3), lambda x: jnp.int32(1), lambda x: (x, x)])
def test_a_carrier_that_changes_between_constructors_is_refused(wrong):
    @algebra
    def changes(layer: Any) -> Any:
        match layer:
            case Leaf(label):
                return jnp.asarray(label)
            case Fork(left, _):
                return wrong(left)

    with pytest.raises(
        CarrierMismatch, match=r"(?s)at `Leaf` its value is .*f32\[\].* and at `Fork` .*the same structure"
    ):
        fold(changes, pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))]))


def test_a_constructor_that_the_algebra_does_not_handle_is_named():
    @algebra
    def leaves_alone(layer: Any) -> Any:
        match layer:
            case Leaf(label):
                return jnp.asarray(label)

    with pytest.raises(CarrierMismatch, match=r"(?s)`leaves_alone` .*`Fork`"):
        fold(leaves_alone, pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))]))


def test_a_signature_without_a_finite_tree_is_refused():
    with pytest.raises(SignatureError, match=r"every constructor of .* needs an `X`, .* no finite value: give it"):
        pack(EndlessF, [])


@pytest.mark.parametrize("signature", [MooreF, StreamF])
def test_a_machine_is_refused(signature):
    with pytest.raises(ForeignLayer, match=rf"`{signature.__name__}` has a function in it: a machine is run"):
        pack(signature, [])


def test_one_signature_of_a_family_of_two_is_refused():
    with pytest.raises(
        SignatureError, match=r"`Do` is of a family of 2 sorts, and `pack` was given one signature: give one for each"
    ):
        pack(Do, [])


@pytest.mark.parametrize("which", [[2], [-1], [0, 5]])
def test_a_tree_that_a_corpus_does_not_have_is_refused(which):
    with pytest.raises(IndexError, match=r"trees are numbered from 0 to 1; -?\d to \d were asked for|-1 to -1"):
        Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])[which]


@pytest.mark.parametrize("which", [np.array(x) for x in ([True, False], [0.0, 1.0], 1, [[0], [1]])], ids=str)
def test_a_corpus_is_indexed_by_a_list_of_numbers(which):
    with pytest.raises(IndexError, match=r"indexed by a list of numbers of trees, and got `\w+` of shape"):
        Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])[which]


def test_a_many_reduced_to_another_shape_than_its_zero_is_refused():
    @algebra
    def sums(layer: Any) -> Any:
        match layer:
            case Node(label, children):
                return jnp.asarray(label) + children.map(lambda x: jnp.ones(2) * x).sum(jnp.float32(0))

    tree = Node(1.0, Many([Node(2.0, Many())]))
    with pytest.raises(CarrierMismatch, match=r"a `Many` is reduced by `sum` from f32\[2\] to f32\[\]: give `zero`"):
        eqx.filter_jit(fold)(sums, pack(RoseF, [tree]))
