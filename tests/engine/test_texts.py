"""A payload is a number: a case that compares it with a text, or with a member of an `Enum`, is refused."""

import enum
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from cdl import algebra, Base, CdlError, fold, Fork, Leaf, pack, TreeF
from cdl.trees import Vocabulary


X = TypeVar("X", covariant=True)
SO = "so"
WORDS = ["so", "no"]
TABLE = {"so": 1.0, "no": 2.0}


class Op(enum.Enum):
    SO = "so"
    NO = "no"


class Mood(enum.StrEnum):
    SO = "so"


class Number(enum.IntEnum):
    ONE = 1


class Marked(eqx.Module):
    """A carrier with a text in it that is not data."""

    mark: str = eqx.field(static=True)
    value: Any


def a_text_in_a_pattern(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf("so"):
            return 1.0
        case Leaf():
            return 0.0
        case Fork(left, right):
            return left + right


def a_text_in_a_keyword(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Fork(left, right):
            return left + right
        case Leaf(label="so"):
            return 1.0
    return 0.0


def a_text_beside_a_name(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Fork(left, right):
            return left + right
        case Leaf(label):
            return 1.0 if label == "so" else 0.0


def a_text_that_is_asked_first(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return 1.0 if "so" == label else 0.0
    return layer.left + layer.right


def a_text_of_an_attribute(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf():
            return 1.0 if layer.label == "so" else 0.0
        case Fork(left, right):
            return left + right


def a_text_of_an_attribute_of_an_instance(layer: Any) -> Any:
    if isinstance(layer, Leaf):
        return 1.0 if "so" != layer.label else 0.0
    return layer.left + layer.right


def a_text_of_an_attribute_of_another_constructor(layer: Any) -> Any:
    if isinstance(layer, Fork):
        return layer.left + layer.right
    return 1.0 if layer.label == "so" else 0.0


def a_text_of_an_attribute_with_a_name(layer: Any) -> Any:
    if isinstance(layer, Fork | int):
        return layer.left + layer.right
    word = layer.label
    return 1.0 if word == "so" else 0.0


def a_text_in_an_inner_function(layer: Any) -> Any:
    if isinstance(layer, Fork):
        return layer.left + layer.right
    return sum(1.0 for _ in range(2) if layer.label == "so")


def is_so(layer: TreeF[Any, Any]) -> bool:
    return layer.label == "so"  # type: ignore[union-attr]


def a_text_in_another_function(layer: Any) -> Any:
    return layer.left + layer.right if isinstance(layer, Fork) else 1.0 * is_so(layer)


def a_text_that_has_a_name(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return 1.0 if label == SO else 0.0
        case Fork(left, right):
            return left + right


def a_text_of_an_enum(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(Mood.SO):
            return 1.0
        case Fork(left, right):
            return left + right
    return 0.0


@pytest.mark.parametrize(
    "case",
    [
        *(a_text_in_a_pattern, a_text_in_a_keyword, a_text_beside_a_name, a_text_that_is_asked_first),
        *(a_text_of_an_attribute, a_text_of_an_attribute_of_an_instance, a_text_of_an_attribute_with_a_name),
        *(a_text_of_an_attribute_of_another_constructor, a_text_in_an_inner_function, a_text_in_another_function),
        *(a_text_that_has_a_name, a_text_of_an_enum),
    ],
)
def test_a_text_that_a_payload_is_compared_with_is_refused(case: Callable[..., Any]):
    with pytest.raises(
        CdlError, match=r"asks whether a payload is the text 'so', .*`.*word == words.id\('so'\), a, b\)`"
    ):
        fold(algebra(case), pack(TreeF, [Fork(Leaf(1), Leaf(2))]))


def one_of_a_tuple(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return 1.0 if label in ("no", "so") else 0.0
        case Fork(left, right):
            return left + right


def an_attribute_of_a_tuple(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf():
            return 1.0 if layer.label in ("no", "so") else 0.0
        case Fork(left, right):
            return left + right


def none_of_a_list(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return 1.0 if label not in ["no", "so"] else 0.0
        case Fork(left, right):
            return left + right


def one_of_a_set(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return 1.0 if label in {"no", "so"} else 0.0
        case Fork(left, right):
            return left + right


def one_of_a_list_with_a_name(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf():
            return 1.0 if layer.label in WORDS else 0.0
        case Fork(left, right):
            return left + right


def a_key_of_a_table(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf():
            return 1.0 if layer.label in TABLE else 0.0
        case Fork(left, right):
            return left + right


@pytest.mark.parametrize(
    "case",
    [
        *(one_of_a_tuple, an_attribute_of_a_tuple, none_of_a_list, one_of_a_set, one_of_a_list_with_a_name),
        a_key_of_a_table,
    ],
)
def test_texts_that_a_payload_is_compared_with_are_refused(case: Callable[..., Any]):
    with pytest.raises(
        CdlError, match=r"one of the texts \('no', 'so'\), .*words.id\(x\) for x in \(.no., .so.\)\]\)\), a, b\)`"
    ):
        fold(algebra(case), pack(TreeF, [Fork(Leaf(1), Leaf(2))]))


def test_what_is_written_instead_of_texts_counts_them():
    words = Vocabulary.of([Leaf("so"), Leaf("no"), Leaf("or")])

    def counts(layer: TreeF[Any, Any]) -> Any:
        match layer:
            case Leaf(word):
                return jnp.where(jnp.isin(word, jnp.array([words.id(x) for x in ("no", "so")])), 1.0, 0.0)
            case Fork(left, right):
                return left + right

    trees = [words.encode(Fork(Leaf(a), Leaf(b))) for a, b in [("so", "no"), ("so", "or"), ("or", "or")]]
    assert fold(algebra(counts), pack(TreeF, trees)).tolist() == [2.0, 1.0, 0.0]


def a_member(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return 1.0 if label == Op.SO else 0.0
        case Fork(left, right):
            return left + right


def a_member_in_a_pattern(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(Op.SO):
            return 1.0
        case Leaf():
            return 0.0
        case Fork(left, right):
            return left + right


@pytest.mark.parametrize("case", [a_member, a_member_in_a_pattern])
def test_a_member_of_an_enum_that_a_payload_is_compared_with_is_refused(case: Callable[..., Any]):
    with pytest.raises(
        CdlError,
        match=r"whether a payload is the member `Op.SO`, .*x == list\(Op\).index\(Op.SO\), a, b\)`",
    ):
        fold(algebra(case), pack(TreeF, [Fork(Leaf(1), Leaf(2))]))


def a_text_beside_the_layer(layer: TreeF[Any, Any], mode: str = "sum") -> Any:
    match layer, mode:
        case Leaf(label), "sum":
            return 1.0 * label
        case Fork(left, right), "sum":
            return left + right
    return 0.0


def a_text_of_a_type(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            kind = label.dtype.kind
            return 1.0 * label if kind == "i" else 0.0
        case Fork(left, right):
            return left + right


def a_text_of_a_class(layer: TreeF[Any, Any]) -> Any:
    return 1.0 * layer.label if layer.__class__.__name__ == "Leaf" else layer.left + layer.right


def a_text_in_the_carrier(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return Marked("m", 1.0 * label)
        case Fork(Marked("m", left), Marked(mark="m", value=right)):
            return Marked("m", left + right)


def a_text_of_a_setting(layer: TreeF[Any, Any], mode: str = "sum") -> Any:
    if isinstance(layer, Fork):
        return layer.left + layer.right
    return 1.0 * layer.label if mode in ("sum", "so") else 0.0


def a_text_of_another_argument(layer: TreeF[Any, Any], given: Any = Mood) -> Any:
    if isinstance(layer, Fork):
        return layer.left + layer.right
    return 1.0 * layer.label if given.__name__ == "Mood" and given.SO in WORDS else 0.0


def a_name_of_a_layer(layer: Any) -> Any:
    if isinstance(layer, Fork):
        return layer.left + layer.right
    return 1.0 * layer.label if layer.__doc__ != "so" else 0.0


def a_number_of_an_enum(layer: TreeF[Any, Any]) -> Any:
    match layer:
        case Leaf(label):
            return jnp.where(label == Number.ONE, 1.0, 2.0)
        case Fork(left, right):
            return left + right


@pytest.mark.parametrize(
    "case",
    [
        *(a_text_beside_the_layer, a_text_of_a_type, a_text_of_a_class, a_text_in_the_carrier, a_text_of_a_setting),
        *(a_text_of_another_argument, a_name_of_a_layer, a_number_of_an_enum),
    ],
)
def test_a_text_of_anything_else_may_be_asked_for(case: Callable[..., Any]):
    found = fold(algebra(case), pack(TreeF, [Fork(Leaf(1), Leaf(2))]))
    assert jax.tree.leaves(found)[0].tolist() == [3.0]


class Signs:
    """The name of a functor whose constructors have a sign that is not a field."""


class One(Base[Signs, Never]):
    sign: ClassVar[str] = "1"
    value: float


class Minus(Base[Signs, X], Generic[X]):
    sign: ClassVar[str] = "-"
    of: X


def test_a_text_of_a_class_variable_may_be_asked_for():
    def signed(layer: Any) -> Any:
        return 1.0 * layer.value if isinstance(layer, One) and layer.sign == "1" else -layer.of

    assert fold(algebra(signed), pack(Union[One, Minus[X]], [Minus(One(2.0))])).tolist() == [-2.0]
