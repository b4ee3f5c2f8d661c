"""What cannot be packed or folded is refused with a message that says where it stands and what to do."""

import inspect
import types
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import (
    algebra,
    Base,
    cata,
    CdlError,
    Corpus,
    fold,
    Fork,
    functor,
    Leaf,
    likelihood,
    Many,
    MooreF,
    Nil,
    Node,
    pack,
    RoseF,
    TreeF,
    unfold,
)
from cdl.errors import CarrierMismatch, ForeignLayer, PayloadMismatch, SignatureError, TreeTooLarge
from cdl.functors import StreamF


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


class Block:
    """Rows in rows, in a list that the constructor does not check."""


class Row(Base[Block, X], Generic[X]):
    rows: Many[X]


class Endless:
    """The name of a functor without a finite tree."""


class Once(Base[Endless, X], Generic[X]):
    rest: X


class Twice(Base[Endless, X], Generic[X]):
    rest: tuple[X, X]


EndlessF = Union[Once[X], Twice[X]]


def test_a_foreign_subtree_is_found_with_the_way_to_it():
    tree = Fork(Leaf(1.0), Fork(Fork(Nil(), Leaf(2.0)), Leaf(3.0)))
    with pytest.raises(
        ForeignLayer, match=r"`Nil` of .* is not a constructor of .* in tree 1, in Fork in Fork in Fork"
    ):
        pack(TreeF, [Leaf(0.0), tree])


def test_a_value_that_is_no_tree_is_found_at_the_root():
    with pytest.raises(ForeignLayer, match=r"an `int` stands where a constructor .*Leaf, Fork.* tree 0, at the root"):
        pack(TreeF, [3])


def test_a_list_of_children_is_refused_by_one_error_alone():
    with pytest.raises(ForeignLayer, match=r"is a `list` where a `Many` belongs: write `Many\(\[…\]\)`") as found:
        pack(Row, [Row([Row([])])])
    assert found.value.__context__ is None


class Few(Base[Numbered, X], Generic[X]):
    items: tuple[X, ...]


@pytest.mark.parametrize("items", [[], [Few(())], Few(()), Many([Few(())])], ids=["none", "list", "one", "many"])
def test_what_stands_where_a_tuple_belongs_is_told_how_it_is_written(items: Any):
    words = r"is an? `(list|Few|Many)` where a tuple belongs: write `\(x, y\)`, with one child `\(x,\)`, or annotate"
    for read in (lambda tree: pack(Few, [tree]), cata(algebra(lambda layer: len(layer.items)))):
        with pytest.raises(ForeignLayer, match=words):
            read(Few(items))


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
    with pytest.raises(TreeTooLarge, match=r"tree 1 is cyclic: a `Fork` is inside itself, 1 node below the root"):
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


class Alone(Base[Numbered, X], Generic[X]):
    """Written as if the family had one sort."""

    s: X


def test_a_constructor_of_one_sort_in_a_family_of_two_is_told_how_it_is_written():
    words = r"`Alone` has one sort, .* If trees have 2 sorts, write `Base\[T, tuple\[X, …\]\]`, with `Never` for a sort"
    with pytest.raises(SignatureError, match=words):
        pack((Alone, Do), [])


@pytest.mark.parametrize("signature", [(Number, Next), (Number, Next[X]), [Number, Next]])
def test_the_constructors_of_one_signature_are_not_those_of_several_sorts(signature):
    words = r"constructors of one signature, `Numbered`.*give their union, `pack\(Union\[Number, Next\[X\]\], trees\)`"
    with pytest.raises(SignatureError, match=words):
        inspect.unwrap(pack)(signature, [Number(1)])


def test_constructors_one_by_one_are_told_to_be_a_union():
    with pytest.raises(CdlError, match=r"Of several classes, give the union: `pack\(Number \| Next, …\)`"):
        pack(Number, Next, [Number(1)])  # type: ignore[call-overload]


def test_a_result_is_told_to_be_unwrapped():
    results: Any = unfold(lambda s: Leaf(s), jnp.zeros(2), 1).results()
    with pytest.raises(ForeignLayer, match=r"a `Success` stands where .* `result.unwrap\(\)`.*`grown.trees\(\)`"):
        pack(TreeF, results)
    with pytest.raises(ForeignLayer, match=r"stands where a tree belongs.*`result.unwrap\(\)`"):
        cata(algebra(lambda layer: 0.0))(results[0])


def test_numbers_of_trees_and_truth_values_are_not_mixed():
    with pytest.raises(IndexError, match="numbers of trees and truth values are not mixed"):
        Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])[[True, 0]]


@pytest.mark.parametrize("which", [[2], [-1], [0, 5]])
def test_a_tree_that_a_corpus_does_not_have_is_refused(which):
    with pytest.raises(IndexError, match=r"trees are numbered from 0 to 1, and -?\d was asked for"):
        Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])[which]


@pytest.mark.parametrize("which", [np.array(x) for x in ([[True, False]], [0.0, 1.0], 1, [[0], [1]])], ids=str)
def test_a_corpus_is_indexed_by_a_list_of_numbers(which):
    with pytest.raises(IndexError, match=r"by a slice, a list of numbers of trees or a mask, and got `\w+` of shape"):
        Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])[which]


# The hook of the tests would refuse these by their types: users do not have it.
plainly = inspect.unwrap(pack)


@pytest.mark.parametrize("make", [plainly, inspect.unwrap(Corpus.__init__).__get__(object.__new__(Corpus))])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (TreeF, Leaf(1.0)),
            r"takes a list of trees, and was given one tree, a `Leaf`: write `(pack|Corpus)\(signature, \[tree\]\)`",
        ),
        (
            (Leaf(1.0), TreeF),
            r"` takes the signature first, and was given a tree of `Tree`: write `(pack|Corpus)\(signature, trees\)`",
        ),
        (
            ([TreeF], [Leaf(1.0)]),
            r"takes the signatures of a family in a tuple, and was given a `list`: write `.*\(\(",
        ),
        (
            ([Leaf(1.0)] * 99, TreeF),
            r"takes the signature first, and was given a `list` of trees: write `.*\(sig",
        ),
        ((TreeF, 3), r"`(pack|Corpus)` takes a list of trees, and was given an `int`: write"),
        ((TreeF, None), r"`(pack|Corpus)` takes a list of trees, and was given a `NoneType`"),
        ((TreeF, Many([Leaf(1.0)])), r"takes a list of trees, and was given a `Many`|a `Many` is not a sequence"),
        (
            (TreeF, pack(TreeF, [])),
            r"takes a list of trees, and was given a `Forest`: it is packed, and `fold` reads it",
        ),
        ((TreeF, Corpus(TreeF, [Leaf(1.0)])), r"a corpus is not a list of trees: `corpus\[\[0, 1\]\]` is the forest"),
        ((TreeF, "ab"), r"a `str` stands where a constructor of"),
    ],
)
def test_what_is_no_list_of_trees_is_refused(make, arguments, message):
    with pytest.raises(CdlError, match=message):
        make(*arguments)


def test_trees_may_come_from_a_generator():
    assert len(pack(TreeF, (Leaf(float(i)) for i in range(3)))) == 3
    with pytest.raises(TypeError, match="unsupported operand"):
        pack(TreeF, (Leaf(i + "1") for i in range(3)))


@pytest.mark.parametrize("bucket", [64, pack(TreeF, []), Corpus(TreeF, [])], ids=lambda x: type(x).__name__)
def test_what_is_no_bucket_is_refused(bucket):
    message = rf"`bucket` is the bucket of another forest, .*`{type(bucket).__name__}` was given: write `bucket=fo"
    with pytest.raises(CdlError, match=message):
        plainly(TreeF, [Leaf(1.0)], bucket=bucket)
    with pytest.raises(CdlError, match=message):
        inspect.unwrap(Corpus.pack)(Corpus(TreeF, [Leaf(1.0)]), [0], bucket=bucket)


def test_a_tree_where_a_signature_belongs_is_refused_without_being_written_out():
    with pytest.raises(SignatureError, match=r"a `Fork` was given where a signature belongs: .* and not a tree"):
        functor(Fork(Leaf(1.0), Leaf(2.0)))


CELL = """
class Ex: pass
class Li(Base[Ex, Never]):
    value: float
class Ad(Base[Ex, X], Generic[X]):
    left: X
    right: X
ExF = Union[Li, Ad[X]]
"""
READ = """
@algebra
def {name}(layer: {annotation}) -> Any:
    match layer:
        case Li(value):
            return jnp.asarray(value)
        case Ad(left, right):
            return left + right
"""


@pytest.fixture(scope="module")
def cells():
    """A notebook: the names that its cells define, and the cell of the classes run twice, with what was made before."""
    names = {**globals(), "__name__": "a_notebook"}
    exec(CELL + READ.format(name="said", annotation="ExF") + READ.format(name="silent", annotation="Any"), names)
    cata(names["said"])(names["Li"](1.0))
    before = types.SimpleNamespace(**names)
    before.tree = before.Ad(before.Li(1.0), before.Li(2.0))
    before.forest = pack(before.ExF, [before.tree])
    exec(CELL + READ.format(name="said", annotation="ExF") + READ.format(name="silent", annotation="Any"), names)
    return before, types.SimpleNamespace(**names)


@pytest.mark.parametrize(
    "run",
    [
        lambda a, b: pack(b.ExF, [a.tree]),
        lambda a, b: pack(a.ExF, [b.Li(1.0)]),
        lambda a, b: pack(b.ExF, [b.Ad(a.Li(1.0), b.Li(1.0))]),
        lambda a, b: cata(b.said)(a.tree),
        lambda a, b: cata(a.said)(b.Li(1.0)),
        lambda a, b: cata(b.silent)(a.tree),
        lambda a, b: fold(b.said, a.forest),
        lambda a, b: fold(b.silent, a.forest),
        lambda a, b: fold(a.said, pack(b.ExF, [b.Li(1.0)])),
        lambda a, b: functor(Union[a.Li, b.Ad]),
        lambda a, b: likelihood(lambda seed: b.Li(seed), 1.0)(a.tree),
    ],
)
def test_a_cell_that_was_run_again_is_told_of(cells, run):
    with pytest.raises(CdlError, match=r"(?s)There are two classes `\w+`: it was defined anew, .*: make them again"):
        run(*cells)


def test_a_constructor_that_an_algebra_does_not_read_is_refused_as_by_its_definition():
    @algebra
    def lazy(layer: Number) -> Any:
        return jnp.asarray(layer.value) if isinstance(layer, Number) else jnp.int32(99)

    tree, message = (
        Next(Number(1)),
        r"`Next` of `Numbered` is not a constructor of the signature of `Numbered` \(Number\)",
    )
    with pytest.raises(ForeignLayer, match=message):
        cata(lazy)(tree)
    with pytest.raises(ForeignLayer, match=message):
        fold(lazy, pack(NumberedF, [tree]))


def test_what_is_made_after_is_read_as_ever(cells):
    _, after = cells
    assert fold(after.said, pack(after.ExF, [after.Ad(after.Li(1.0), after.Li(2.0))])).tolist() == [3.0]
    with pytest.raises(CarrierMismatch) as error:
        cata(after.silent)(Leaf(1.0))
    assert "anew" not in str(error.value)


def test_a_many_reduced_to_another_shape_than_its_zero_is_refused():
    @algebra
    def sums(layer: Any) -> Any:
        match layer:
            case Node(label, children):
                return jnp.asarray(label) + children.map(lambda x: jnp.ones(2) * x).sum(jnp.float32(0))

    tree = Node(1.0, Many([Node(2.0, Many())]))
    with pytest.raises(
        CarrierMismatch, match=r"a `Many` of f32\[2\] is reduced by `sum` with `zero=f32\[\]`: give `zero`"
    ):
        eqx.filter_jit(fold)(sums, pack(RoseF, [tree]))
