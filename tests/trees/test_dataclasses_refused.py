"""Dataclasses, values and trees that have no reading are refused by class and field."""

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar

import pytest
from test_trees_of_dataclasses import Assign, Block, Call, Expr, Lit, MADE, Neg, One, Signed, Stmt
from typing_extensions import TypeAliasType

import cdl
from cdl import CdlError, Many
from cdl.errors import ForeignLayer, SignatureError, TreeTooLarge
from cdl.trees import of_dataclasses


Endless = TypeAliasType("Endless", "int | list[Endless]")
Pairs = TypeAliasType("Pairs", "int | tuple[Pairs, Pairs]")


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()


class Plain:
    pass


T = TypeVar("T")

REFUSED = [
    (dict[str, One], r"`C.x: dict\[str, One\]` is a dictionary, whose entries .* write `list\[tuple\[str, One\]\]`"),
    (dict, r"write `list\[tuple\[A, B\]\]`"),
    (Any, r"`C.x: Any` does not say what the field holds: write a type"),
    (object, r"`C.x: object` does not say what the field holds"),
    (list, r"`C.x: list` does not say what is in the list: write `list\[A\]`"),
    (tuple, r"`C.x: tuple` does not say what is in the tuple: write `tuple\[A, \.\.\.\]`"),
    (set[One], r"`C.x: set\[One\]` is a collection that cannot be given back as it was: write `list\[A\]`"),
    (list[dict[str, int]], r"`C.x: list\[dict\[str, int\]\]` is a dictionary"),
    (Plain, r"`C.x: Plain` is not a type that can be read: `Plain` is not a dataclass, and no dataclass extends it"),
    (Flags, r"`C.x: Flags` is a set of flags: write a `bool` for each"),
    (T, r"`C.x: .?T` is a type variable"),
    (None, r"`C.x: None` is always None, and says nothing: leave the field out"),
    (list[int] | list[str], r"two alternatives whose values are both a `list`"),
    (list[Literal["a"] | str], r"two alternatives whose values are both a `str`"),
    (Endless, r"`C.x: .*Endless.*`: the alias `Endless` is inside itself with no dataclass in between"),
    (Pairs, r"the alias `Pairs` is inside itself"),
    (One | Any, r"does not say what the field holds"),
    ("Missing", r"names `Missing`, which is defined neither in its module nor where the signature is derived"),
]


@pytest.mark.parametrize(("annotation", "message"), REFUSED, ids=lambda x: getattr(x, "__name__", str(x))[:20])
def test_a_field_without_a_reading_is_refused_by_name(annotation, message):
    made = dataclass(type("C", (), {"__annotations__": {"x": annotation}, "__module__": __name__}))
    with pytest.raises(SignatureError, match=message):
        of_dataclasses(made)


class Named(NamedTuple):
    value: int


class Keyed(TypedDict):
    value: int


@pytest.mark.parametrize("kind", [Named, Keyed])
def test_a_class_with_named_fields_is_told_to_be_a_dataclass(kind):
    with pytest.raises(SignatureError, match="has named fields, and is read as a dataclass: write `@dataclass`"):
        of_dataclasses(dataclasses.make_dataclass("C", [("x", kind)]))


def test_an_encoded_tree_is_to_be_decoded_first():
    made, words = of_dataclasses(Call), cdl.trees.Vocabulary(["<unknown>", "f", "lazy"])
    value = Call(name="f", args=[], span=(0, (0, "f")))
    tree = made.to_tree(value)
    with pytest.raises(CdlError, match=r"`Call.name: str` is np.int32\(1\), .* encoded: give `words.decode\(tree\)`"):
        made.to_value(words.encode(tree))
    assert made.to_value(words.decode(words.encode(tree))) == value


def test_what_is_no_dataclass_is_refused():
    with pytest.raises(SignatureError, match=r"`Plain` is not a type that can be read"):
        of_dataclasses(Plain)
    with pytest.raises(CdlError, match=r"has no option `sort`.* Did you mean `sorts`"):
        of_dataclasses(One, sort=False)


def refused(value: Any, message: str, error: type[Exception] = CdlError) -> None:
    with pytest.raises(error, match=message):
        MADE.to_tree(value)


def test_a_value_that_is_not_what_its_annotation_says_is_refused_by_class_and_field():
    lit = Lit(1.0)
    refused(One(1), r"the root holds a `One`, and one of Assign, Block, Lit, Signed, Call belongs there")
    refused(
        Assign("x", None), r"`Assign.value: Expr` holds None, and one of Lit, Signed, Call .* annotate it `A \| None`"
    )
    refused(Assign("x", Lit("1")), r"`Lit.value: float` is '1', a `str`, and a `float` belongs there")
    refused(Assign("x", lit, words=("a",)), r"`Assign.words: list\[str\]` is \('a',\), a `tuple`, and a `list` belongs")
    refused(Assign("x", lit, words=[3]), r"`Assign.words: list\[str\]` holds an `int`, and one of str belongs")
    refused(
        Assign("x", Signed("+", lit)), r"`Signed.sign: Sign` holds a `str`, and one of <Sign.PLUS: '\+'>, .* belongs"
    )
    refused(Assign("x", Signed([], lit)), r"`Signed.sign: Sign` holds a `list`, and one of")
    refused(Assign("x", Call(name="f", args=[], mode="slow")), r"is 'slow', a `str`, and one of 'lazy', 'eager', 3")
    refused(
        Assign("x", Call(name="f", args=[], span=(1, 2, 3))),
        r"`Call.span: .*` is \(1, 2, 3\), a `tuple`, and a tuple of 2",
    )
    refused(
        Assign("x", Call(name="f", args=[], span=(1, (2, 3)))), r"`Call.span: .*` is 3, an `int`, and a `str` belongs"
    )
    refused(Stmt(), r"holds a `Stmt`, and one of Assign, Block, .* belongs there")


def test_a_class_that_came_later_is_refused_with_the_reason():
    @dataclass
    class Shape:
        pass

    @dataclass
    class Square(Shape):
        side: float

    made = of_dataclasses(Shape)

    @dataclass
    class Circle(Shape):
        radius: float

    with pytest.raises(CdlError, match=r"`Circle` extends `Shape`, and was not there.*after all classes are defined"):
        made.to_tree(Circle(1.0))
    again = of_dataclasses(Shape)
    assert again.to_value(again.to_tree(Circle(1.0))) == Circle(1.0)


def test_a_value_inside_itself_is_refused():
    loop = Neg(One(1))
    loop.arg = Neg(loop)
    with pytest.raises(TreeTooLarge, match="the value is cyclic: a `Neg` is inside itself"):
        of_dataclasses(Neg).to_tree(loop)


def test_a_value_of_too_many_nodes_is_refused_where_they_are_leaves_too():
    made = of_dataclasses(Call)
    wide = Call(name="f", args=[Lit(float(i)) for i in range(10)])
    size = cdl.pack(made.signature, [cdl.trees.Vocabulary.of([made.to_tree(wide)]).encode(made.to_tree(wide))]).size
    assert made.to_tree(wide, max_nodes=size) == made.to_tree(wide)
    for least in (1, size - 1):
        with pytest.raises(TreeTooLarge, match=f"the value has more than {least} nodes"):
            made.to_tree(wide, max_nodes=least)
    with pytest.raises(CdlError, match="`max_nodes` is 0: give at least 1"):
        made.to_tree(wide, max_nodes=0)


def test_a_tree_that_is_of_no_value_is_refused():
    made = MADE.constructors
    with pytest.raises(
        ForeignLayer, match="the root holds a `Str`, and a tree of Assign, Block, Lit, Signed, Call belongs there"
    ):
        MADE.to_value(made[str]("x"))
    with pytest.raises(ForeignLayer, match=r"`Assign.value: Expr` holds a `Block`, and a tree of Lit, Signed, Call"):
        MADE.to_value(made[Assign](made[str]("x"), made[Block](Many(), None), None, Many(), Many()))
    sign = made[Signed](2, made[Lit](1.0, False))
    with pytest.raises(CdlError, match=r"`Signed.sign: Sign` is 2, an `int`, and a position below 2 belongs there"):
        of_dataclasses(Expr).to_value(of_dataclasses(Expr).constructors[Signed](2, sign))
    with pytest.raises(CdlError, match=r"`str` is 5, an `int`, and a `str` belongs there"):
        MADE.to_value(made[Assign](made[str](5), made[Lit](1.0, False), None, Many(), Many()))


def test_several_classes_and_a_value_are_told_how_to_be_given():
    @dataclass
    class Part:
        mass: float

    @dataclass
    class Whole:
        part: Part

    of: Any = of_dataclasses
    with pytest.raises(CdlError, match=r"give the union: `of_dataclasses\(Part \| Whole\)`"):
        of(Part, Whole)
    with pytest.raises(SignatureError, match=r"of several classes, give the union, `Part \| Whole`"):
        of([Part, Whole])
    with pytest.raises(SignatureError, match=r"a `Part`, a value: give its class, `of_dataclasses\(type\(value\)\)`"):
        of(Part(1.0))
