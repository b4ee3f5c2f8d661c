"""Signatures of dataclasses, and the ways there and back: exact, at any depth, or refused by class and field."""

import dataclasses
import enum
import gc
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NewType, Optional, Union

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from typing_extensions import TypeAliasType

import cdl
from cdl import CdlError, Many
from cdl.trees import of_dataclasses


class Sign(enum.Enum):
    PLUS = "+"
    MINUS = "-"


class Expr(ABC):
    @abstractmethod
    def show(self) -> str: ...


@dataclass
class Lit(Expr):
    value: float
    exact: bool = False

    def show(self):
        return str(self.value)


@dataclass(frozen=True)
class Signed(Expr):
    sign: Sign
    arg: Expr

    def show(self):
        return self.sign.value + self.arg.show()


@dataclass(slots=True, kw_only=True)
class Call(Expr):
    name: str
    args: list[Expr]
    named: tuple[tuple[str, Expr], ...] = ()
    mode: Literal["lazy", "eager", 3] = "lazy"
    span: tuple[int, tuple[int, str]] = (0, (0, ""))

    def show(self):
        return self.name


@dataclass
class Stmt:
    """Without fields, and with classes below it: abstract."""


@dataclass
class Assign(Stmt):
    target: Union["Assign", str]
    value: Expr
    comment: Optional[str] = None  # noqa: UP045
    words: list[str] = field(default_factory=list)
    rows: list[list[int | None]] = field(default_factory=list)


@dataclass
class Block(Stmt):
    body: tuple[Stmt, ...]
    otherwise: Stmt | None = None


MADE = of_dataclasses(Stmt)


def expressions() -> st.SearchStrategy[Expr]:
    return st.recursive(
        st.builds(Lit, st.floats(allow_nan=False) | st.integers() | st.booleans(), st.booleans()),
        lambda inner: (
            st.builds(Signed, st.sampled_from(Sign), inner)
            | st.builds(
                Call,
                name=st.text(max_size=3),
                args=st.lists(inner, max_size=3),
                named=st.lists(st.tuples(st.text(max_size=2), inner), max_size=2).map(tuple),
                mode=st.sampled_from(["lazy", "eager", 3]),
                span=st.tuples(st.integers(), st.tuples(st.integers(), st.text(max_size=2))),
            )
        ),
        max_leaves=6,
    )


def statements() -> st.SearchStrategy[Stmt]:
    """Statements of up to some twenty nodes, with every kind of field: a child of any class below a base, an option, a
    union with a payload, lists and tuples of children, of payloads and of pairs, lists in lists, an enum, a literal."""
    numbers = st.lists(st.lists(st.none() | st.integers(0, 9), max_size=2), max_size=2)
    assign = lambda target: st.builds(
        Assign,
        target,
        expressions(),
        st.none() | st.text(max_size=3),
        st.lists(st.text(max_size=3), max_size=3),
        numbers,
    )
    return st.recursive(
        assign(st.text(max_size=3)),
        lambda inner: (
            st.builds(Block, st.lists(inner, max_size=3).map(tuple), st.none() | inner)
            | assign(assign(st.text(max_size=2)))
        ),
        max_leaves=4,
    )


def by_definition(value: Any) -> Any:
    """The tree of a statement, written out for each class."""
    made, again = MADE.constructors, by_definition
    match value:
        case Lit(number, exact):
            return made[Lit](number, exact)
        case Signed(sign, arg):
            return made[Signed]([Sign.PLUS, Sign.MINUS].index(sign), again(arg))
        case Call():
            pairs = Many([made[tuple](key, again(x)) for key, x in value.named])
            mode = ["lazy", "eager", 3].index(value.mode)
            line, (column, file) = value.span
            return made[Call](value.name, Many(map(again, value.args)), pairs, mode, line, column, file)
        case Assign(target, of, comment, words, rows):
            texts, comment = (
                Many(map(made[str], words)),
                None if comment is None else made[str](comment),
            )
            target = made[str](target) if isinstance(target, str) else again(target)
            inner = [made[list](Many([made[None]() if n is None else made[int](n) for n in row])) for row in rows]
            return made[Assign](target, again(of), comment, texts, Many(inner))
        case Block(body, otherwise):
            return made[Block](Many(map(again, body)), None if otherwise is None else again(otherwise))


@settings(max_examples=30)
@given(statements())
def test_to_tree_and_to_value_are_inverse_by_definition(value):
    tree = MADE.to_tree(value)
    assert tree == by_definition(value)
    back = MADE.to_value(tree)
    assert back == value
    assert repr(back) == repr(value)  # `True` is `1`, and has another text


def test_classes_that_may_stand_at_one_place_are_of_one_sort():
    assert [str(cdl.functor(s)) for s in MADE.signature] == [
        "Stmt × Expr × (1 + Stmt) × Many(Stmt) × Many(List) + Many(Stmt) × (1 + Stmt) + str",
        "float × bool + int × Expr + str × Many(Expr) × Many(Tuple) × int³ × str",
        "Many(Int|Nothing)",
        "str × Expr",
        "int + 1",
    ]
    assert repr(MADE) == "Derived(Assign, Block, Str; Lit, Signed, Call; List; Tuple; Int, Nothing)"


def test_all_may_be_of_one_sort():
    one = of_dataclasses(Stmt, sorts=False)
    assert str(cdl.functor(one.signature)).startswith("X² × (1 + X) × Many(X)² + Many(X) × (1 + X) + ")
    value = Block((Assign("x", Lit(1.0)),))
    assert one.to_value(one.to_tree(value)) == value
    assert set(one.constructors) == set(MADE.constructors)


def test_the_same_classes_give_the_same_signature():
    assert of_dataclasses(Stmt) is MADE
    assert of_dataclasses(Assign | Block) is MADE
    assert of_dataclasses(Expr).constructors[Lit] is not MADE.constructors[Lit]


@dataclass
class One:
    number: int


@dataclass
class Neg:
    arg: "Neg | One"


def test_no_depth_is_too_deep():
    made, value = of_dataclasses(Neg), One(7)
    for _ in range(100_000):
        value = Neg(value)
    tree = made.to_tree(value)
    back, depth = made.to_value(tree), 0
    while isinstance(back, Neg):
        back, depth = back.arg, depth + 1
    assert (back, depth) == (One(7), 100_000)


@dataclass
class Checked:
    """What `__post_init__` does is done once."""

    number: int
    twice: int = field(init=False)
    seen: dataclasses.InitVar[bool] = True

    def __post_init__(self, seen):
        self.twice = 2 * self.number
        self.number += 1


def test_fields_are_set_as_they_were_and_nothing_is_run_again():
    made, value = of_dataclasses(Checked), Checked(1)
    assert made.to_value(made.to_tree(value)) == value
    assert (value.number, value.twice) == (2, 2)


@dataclass
class Vector:
    values: np.ndarray
    scale: int | float


def test_arrays_and_numbers_are_payloads_as_they_are():
    made, value = of_dataclasses(Vector), Vector(np.arange(3.0), 2)
    assert str(cdl.functor(made.signature)) == "ndarray × int | float"
    tree = made.to_tree(value)
    assert tree.values is value.values
    assert made.to_value(tree).scale is value.scale
    assert cdl.pack(made.signature, [tree]).size == 1


@dataclass
class Row:
    numbers: list[float]


def test_a_whole_number_may_stand_for_a_float_in_a_list_too():
    made, value = of_dataclasses(Row), Row([1, 2.5, True])
    assert str(made.to_tree(value)) == "Row(Many([Float(1), Float(2.5), Float(True)]))"
    assert str(made.to_value(made.to_tree(value))) == str(value)


def test_a_name_that_is_taken_gets_another():
    @dataclass
    class Span:
        at: tuple[int, int]
        at_0: str

    @dataclass
    class Int:
        inner: list[Union[int, "Int"]]

    made = of_dataclasses(Span)
    assert made.to_tree(Span((1, 2), "x")) == made.constructors[Span](1, 2, "x")
    assert [f.name for f in dataclasses.fields(made.constructors[Span])] == [
        "at_0",
        "at_1",
        "at_0_",
    ]
    assert repr(of_dataclasses(Int)) == "Derived(Int, Int_)"
    assert of_dataclasses(Int).to_value(of_dataclasses(Int).to_tree(Int([3, Int([])]))) == Int([3, Int([])])


Either = TypeAliasType("Either", "One | Neg")
Number = NewType("Number", int)


@dataclass
class Named:
    """Other ways to write a type."""

    either: Either
    number: Number
    noted: Annotated[list[Annotated[One, "one"]], "some"]


def test_a_type_may_go_by_another_name():
    made, value = of_dataclasses(Named), Named(Neg(One(1)), Number(2), [One(3)])
    assert str(cdl.functor(made.constructors[Named])) == "One|Neg × int × Many(One|Neg)"
    assert made.to_value(made.to_tree(value)) == value
    assert of_dataclasses(Union["One", "Neg"]) is of_dataclasses(Either)


def test_the_garbage_collector_goes_on_afterwards():
    with pytest.raises(CdlError):
        MADE.to_tree(One(1))
    assert gc.isenabled()
    gc.disable()
    try:
        MADE.to_tree(Lit(1.0))
        assert not gc.isenabled()
    finally:
        gc.enable()
