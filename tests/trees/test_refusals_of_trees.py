"""Values, classes, texts and trees without a reading are refused by field and path: a table."""

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, TypeVar

import numpy as np
import pytest
from refused_calls import each, refused, table
from test_own_classes import Add, made, Num, SUM, tree
from test_trees_of_classes import Bag, Item
from test_trees_of_dataclasses import Assign, Block, Call, Lit, MADE, Neg, One, Signed
from typing_extensions import TypeAliasType

import cdl
from cdl import CdlError, Leaf, Many, MealyF, pack
from cdl.errors import ForeignLayer, PayloadMismatch, SignatureError, TreeTooLarge
from cdl.trees import (
    JSONF,
    Member,
    Null,
    Object,
    of_classes,
    of_dataclasses,
    of_json,
    parse_brackets,
    Phrase,
    String,
    to_brackets,
    to_json,
    Vocabulary,
    Word,
)


Endless = TypeAliasType("Endless", "int | list[Endless]")
T = TypeVar("T")


class Flags(enum.Flag):
    A = enum.auto()


class Plain: ...


class Named(NamedTuple):
    value: int


class Keyed(TypedDict):
    value: int


def of(annotation: Any) -> Any:
    body = {"__annotations__": {"x": annotation}, "__module__": __name__}
    return of_dataclasses(dataclass(type("C", (), body)))


def assigned(value: Any, **fields: Any) -> Any:
    return MADE.to_tree(Assign("x", value, **fields))


LIT: Any = Lit(1.0)
C = MADE.constructors
NEG: Any = Neg(One(1))
NEG.arg = Neg(NEG)
LOOP: list[Any] = [1]
LOOP.append({"again": LOOP})
ITEMS = of_classes([Item], lambda x: x.inner)
WORDS = Vocabulary(("?", "a"))
FEW: Any = Call(name="f", args=[LIT] * 10)
three: Any = 3


def called(**fields: Any) -> Any:
    return Call(name="f", args=[], **fields)


def late() -> None:
    @dataclass
    class Shape: ...

    @dataclass
    class Square(Shape): ...

    derived = of_dataclasses(Shape)

    @dataclass
    class Circle(Shape): ...

    derived.to_tree(Circle())


@table(
    # Annotations.
    (lambda: of(dict[str, One]), SignatureError, "`C.x: `list[tuple[str, One]]`"),
    (lambda: of(dict), SignatureError, "`list[tuple[A, B]]`"),
    *each((Any, object, One | Any), of, SignatureError, "`C.x: holds"),
    *each((list, set[One]), of, SignatureError, "`C.x: `list[A]`"),
    (lambda: of(tuple), SignatureError, "`tuple[A, ...]`"),
    (lambda: of(Plain), SignatureError, "`C.x: `Plain`"),
    (lambda: of(Flags), SignatureError, "`C.x: `bool`"),
    (lambda: of(T), SignatureError, "`C.x: variable"),
    (lambda: of(Endless), SignatureError, "`C.x: `Endless` itself"),
    (lambda: of("Missing"), SignatureError, "`Missing`"),
    *each((Named, Keyed), of, SignatureError, "`@dataclass`"),
    (lambda: of_dataclasses(One, sort=False), CdlError, "`sort` `sorts`"),
    (lambda: of_dataclasses(Lit, One), CdlError, "`of_dataclasses(Lit | One)`"),
    (lambda: of_dataclasses(LIT), SignatureError, "`Lit` type(value)"),
    # Values.
    (lambda: MADE.to_tree(One(1)), CdlError, "`One` Assign, Block,"),
    (lambda: assigned(None), CdlError, "`Assign.value: None"),
    (lambda: assigned(Lit("1")), CdlError, "`Lit.value: '1' `str` `float`"),
    *each(("+", []), lambda sign: assigned(Signed(sign, LIT)), CdlError, "`Signed.sign: Sign.PLUS"),
    (lambda: assigned(called(span=(1, 2, 3))), CdlError, "`Call.span: `tuple` 2"),
    (late, CdlError, "`Circle` `Shape`"),
    (lambda: of_dataclasses(Neg).to_tree(NEG), TreeTooLarge, "cyclic `Neg`"),
    (lambda: MADE.to_tree(FEW, max_nodes=9), TreeTooLarge, "9 nodes"),
    # Trees of no value.
    (
        lambda: MADE.to_value(C[Assign](C[str]("x"), C[Block](Many(), None), None, Many(), Many())),
        ForeignLayer,
        "`Block`",
    ),
    (
        lambda: MADE.to_value(C[Assign](C[str](5), C[Lit](1.0, False), None, Many(), Many())),
        CdlError,
        "`str` 5 `int`",
    ),
    # Classes.
    (lambda: ITEMS.to_tree(Item(Bag())), CdlError, "`Bag` Item"),
    (lambda: ITEMS.to_value(ITEMS.to_tree(Item())), CdlError, "`build`"),
    # One's own classes.
    (lambda: made.constructors.Mul, AttributeError, "`Mul` Num, Add"),
    (lambda: pack(made.signature, [SUM]), ForeignLayer, "`Add` `made.to_tree(value)`"),
    (lambda: Vocabulary.of([tree], only=[Num]), CdlError, "`Num` `made.constructors.Num`"),
    (lambda: cdl.ana(lambda seed: Num(1.0))(0), ForeignLayer, "`made.constructors.Num`"),
    *each(
        (Add, Num),
        lambda own: pack(own, [tree]),
        SignatureError,
        "of_dataclasses( `made.signature`",
    ),
    (lambda: pack(JSONF, [{"a": 1}]), ForeignLayer, "`dict` cdl.trees.of_json"),
    # JSON.
    (lambda: of_json({"a": [1, {3}]}), CdlError, "`$.a[1]` `set`"),
    (lambda: of_json([{"a": {1: 2}}]), CdlError, "`$[0].a` 1 `int` `str`"),
    (lambda: of_json([[[[[[[[[[[[1j]]]]]]]]]]]]), CdlError, "`$… 1j"),
    (lambda: of_json(LOOP), TreeTooLarge, "`list` itself"),
    (lambda: to_json(Object(Many([Member("a", Null())] * 2))), CdlError, "`Object` 'a' twice"),
    (lambda: to_json(String(3)), CdlError, "3 `str`"),
    # Brackets.
    (lambda: parse_brackets("(S\n (NP x)"), CdlError, "line 2, column 8: 1, column 1,"),
    (lambda: parse_brackets("(S)\n\n(T) x (U)"), CdlError, "3, column 5: 'x'"),
    *each(("a b", "("), lambda label: to_brackets(Phrase(label, Many())), CdlError, "label"),
    *each(
        ("", "b)", "-LRB-", "b\u2003"),
        lambda word: to_brackets(Phrase("a", Many([Word(word)]))),
        CdlError,
        "word",
    ),
    (lambda: to_brackets(Phrase("a", Many([Word(3)]))), CdlError, "3 `decode`"),
    (lambda: to_brackets(Phrase("", Many([Word("a")]))), CdlError, "label 'a'"),
    (lambda: to_brackets(Phrase("a", Many([Leaf(1)]))), ForeignLayer, "`Leaf`"),
    # Vocabularies.
    *each(
        (of_json({"a": "b"}), String(np.array("b"))),
        lambda x: pack(JSONF, [x]),
        PayloadMismatch,
        "Vocabulary.of",
    ),
    *each(("abc", {"a", "b"}, three), Vocabulary, CdlError, "words order"),
    (lambda: Vocabulary(("?", three)), CdlError, "`3` `str`"),
    (lambda: Vocabulary(("?",), Word), CdlError, "`only` `Word`"),  # type: ignore[arg-type]
    (lambda: Vocabulary(("?", "a", "b", "a")), CdlError, "'a' twice"),
    (lambda: Vocabulary.of([Null()], only=[Null]), CdlError, "`only` `Null`"),
    (lambda: WORDS.decode(String(5)), CdlError, "5 0 1"),
    (lambda: WORDS.encode(MealyF(lambda i: (i, i))), CdlError, "`MealyF` machine"),
)
def test_trees_refuse(call, error, words):
    refused(call, error, words)


def test_to_value_tells_an_encoded_tree_to_be_decoded():
    derived, words = of_dataclasses(Call), Vocabulary(["<unknown>", "f", "lazy"])
    value = called(span=(0, (0, "f")))
    encoded = words.encode(derived.to_tree(value))
    with pytest.raises(CdlError, match=r"`Call.name: str`.*`words.decode\(tree\)`"):
        derived.to_value(encoded)
    assert derived.to_value(words.decode(encoded)) == value
