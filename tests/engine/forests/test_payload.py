"""Payloads: every number of a layer is packed as its annotation says, unchanged but by rounding, or refused by name."""

import dataclasses
import enum
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, Never, NewType, Optional, TypedDict, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import typing_extensions
from jaxtyping import (
    Array,
    ArrayLike,
    BFloat16,
    Bool,
    Complex,
    Complex64,
    Float,
    Float16,
    Float32,
    Float64,
    Inexact,
    Int,
    Int4,
    Int8,
    Int64,
    Integer,
    Num,
    Real,
    ScalarLike,
    Shaped,
    UInt,
    UInt8,
)
from numpy.typing import NDArray

from cdl import Base, CdlError, Corpus, Many, pack
from cdl.errors import PayloadMismatch


A = TypeVar("A")
X = TypeVar("X", covariant=True)


class Tag:
    """The name of the functors of these tests."""


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 7


class Module(eqx.Module, Generic[A]):
    weight: Float32[Array, " n"]
    count: int
    free: A
    name: Any = eqx.field(static=True, default="m")


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Data:
    index: int
    pair: tuple[int, float]


class Named(NamedTuple):
    index: int
    share: float


class Typed(TypedDict):
    index: int
    share: float


class Incomparable:
    def __eq__(self, other: object) -> bool:
        raise ValueError("neither true nor false")

    def __hash__(self) -> int:
        return 0


Share = NewType("Share", float)
PairOf = typing_extensions.TypeAliasType("PairOf", tuple[A, A], type_params=(A,))


def constructor(**annotations: Any) -> type[Any]:
    body = {"__annotations__": annotations, "__module__": __name__}
    return types.new_class("Made", (Base[Tag, Never],), exec_body=lambda ns: ns.update(body))


def packed(kind: type[Any], values: Sequence[Any]) -> list[Any]:
    """The payload of each value's node as it is in the forest: a layer of arrays."""
    forest = pack(kind, [kind(*value) for value in values])
    found = []
    for i in range(len(values)):
        row = int(forest.row[i])
        variant = forest.bucket.variants[int(forest.variant[row])]
        columns = forest.bucket.columns(forest.bucket.variants.index(variant))
        found.append(variant.layer([forest.payload[c][row] for c in columns], [], []))
    return found


@pytest.mark.parametrize(
    ("annotation", "values", "dtype"),
    [
        (float, [1.5, 2], "float32"),
        (float, [np.float64(1.5), jnp.float32(2), 3], "float32"),
        (float, [np.float16(1.5)], "float16"),
        (float, [float("inf"), float("nan"), -float("inf")], "float32"),
        (float, [2**70], "float32"),
        (int, [1, 2**31 - 1, -(2**31)], "int32"),
        (int, [True, 2], "int32"),
        (int, [True], "int32"),
        (int, [np.int8(3)], "int8"),
        (int, [np.uint8(3)], "uint8"),
        (int, [np.uint64(3), np.int64(-3)], "int32"),
        (int, [Colour.RED, Colour.BLUE], "int32"),
        (bool, [True, False], "bool"),
        (bool, [np.True_, False], "bool"),
        (complex, [1 + 2j, 3, 0.5], "complex64"),
        (Any, [1, 2.5], "float32"),
        (Any, [16777217], "int32"),
        (A, [ml_dtypes.bfloat16(1.5)], "bfloat16"),
        (A, [jnp.bfloat16(1.5), jnp.bfloat16(2)], "bfloat16"),
        (float, [jnp.bfloat16(1.5), ml_dtypes.bfloat16(2)], "bfloat16"),
        (float, [ml_dtypes.bfloat16(1.5), 1], "bfloat16 float32"),
        (float, [ml_dtypes.bfloat16(1.5), 0.1], "bfloat16 float32"),
        (Any, [np.True_, 2], "bool int32"),
        (Float32[Array, ""], [1.5, np.float16(2)], "float32"),
        (Float32[Array, "3"], [np.arange(3)], "float32"),
        (Float64[Array, ""], [0.1], "float32"),
        (Float16[Array, ""], [1.5], "float16"),
        (BFloat16[Array, ""], [1.5, jnp.float32(2)], "bfloat16"),
        (Float[Array, "2"], [np.array([1, 2])], "float32"),
        (Int8[Array, ""], [-128, 127], "int8"),
        (Int4[Array, ""], [-8, 7], "int4"),
        (Int64[Array, ""], [5], "int32"),
        (Int[Array, ""], [np.int16(5)], "int16"),
        (UInt8[Array, "2"], [np.array([0, 255])], "uint8"),
        (UInt8[Array, "0"], [np.zeros(0, np.int64)], "uint8"),
        (UInt[Array, ""], [5], "uint32"),
        (Bool[Array, "2"], [np.array([True, False])], "bool"),
        (Complex64[Array, ""], [1], "complex64"),
        (Complex[Array, ""], [1.5], "complex64"),
        (Integer[Array, ""], [5], "int32"),
        (Integer[Array, ""], [np.uint8(5)], "uint8"),
        (Inexact[Array, ""], [5], "float32"),
        (Inexact[Array, ""], [5j], "complex64"),
        (Real[Array, ""], [5, 2.5], "float32"),
        (Num[Array, ""], [5], "int32"),
        (Shaped[Array, ""], [True], "bool"),
        (ArrayLike, [5], "int32"),
        (ScalarLike, [5.5], "float32"),
        (np.float32, [5], "float32"),
        (np.integer, [np.uint8(5)], "uint8"),
        (jnp.bfloat16, [5], "bfloat16"),
        (NDArray[np.int8], [np.array([5, -5])], "int8"),
        (NDArray[Any], [np.array([5, -5], np.int16)], "int16"),
        (float | None, [1, 2.5], "float32"),
        (Optional[int], [1], "int32"),  # noqa: UP045
        (int | float, [1, 2], "int32"),
        (int | float, [1, 2.5], "float32"),
        (Annotated[float, "a note"], [1], "float32"),
        (Share, [1], "float32"),
        (float | A, [1], "int32"),
        (Literal[1, 2], [2], "int32"),
        (Colour, [Colour.BLUE], "int32"),
        (Sequence[int], [np.array([1, 2])], "int32"),
    ],
    ids=str,
)  # fmt: skip
def test_a_number_has_the_type_that_is_annotated_and_its_value(annotation, values, dtype):
    found = [layer.field for layer in packed(constructor(field=annotation), [(x,) for x in values])]
    assert {str(x.dtype) for x in found} == set(dtype.split())
    for x, value in zip(found, values, strict=True):
        assert np.array_equal(np.asarray(x), np.asarray(jnp.asarray(value, x.dtype)), equal_nan=x.dtype.kind == "f")


BEYOND = 16777217  # the first integer that is not a `float32`


@pytest.mark.parametrize(
    ("annotations", "value", "dtypes"),
    [
        ({"a": tuple[int, int], "b": float}, ((BEYOND, 2), 3), "int32 int32 float32"),
        ({"a": tuple[float, int], "b": int}, ((1, BEYOND), BEYOND), "float32 int32 int32"),
        ({"a": tuple[int, ...], "b": float}, ((BEYOND,) * 3, 3), "int32 int32 int32 float32"),
        ({"a": list[float], "b": int}, ([1, 2], BEYOND), "float32 float32 int32"),
        ({"a": dict[str, float], "b": int}, ({"x": 1, "y": 2}, BEYOND), "float32 float32 int32"),
        ({"a": Mapping[str, tuple[int, float]], "b": int}, ({"x": (BEYOND, 2)}, 1), "int32 float32 int32"),
        ({"a": Data, "b": float}, (Data(BEYOND, (BEYOND, 1)), 1), "int32 int32 float32 float32"),
        ({"a": Named, "b": float}, (Named(BEYOND, 1), 1), "int32 float32 float32"),
        ({"a": Typed, "b": float}, ({"index": BEYOND, "share": 1}, 1), "int32 float32 float32"),
        ({"a": Module[float], "b": float}, (Module(np.arange(2), BEYOND, 5), 1), "float32 int32 float32 float32"),
        ({"a": Module[Any], "b": float}, (Module(np.arange(2), BEYOND, BEYOND), 1), "float32 int32 int32 float32"),
        ({"a": Module, "b": float}, (Module(np.arange(2), BEYOND, BEYOND), 1), "float32 int32 int32 float32"),
        ({"a": PairOf[int], "b": float}, ((BEYOND, BEYOND), 1), "int32 int32 float32"),
        ({"a": Any, "b": float}, ((BEYOND, [BEYOND]), 1), "int32 int32 float32"),
        ({"a": tuple[int, int] | None, "b": float}, ((BEYOND, 1), 1), "int32 int32 float32"),
        ({"a": tuple[int, int] | None, "b": float}, (None, 1), "float32"),
        ({"a": tuple[int | None, int | None], "b": float}, ((None, BEYOND), 1), "int32 float32"),
        ({"a": tuple[()], "b": float}, ((), 1), "float32"),
        ({"a": list[tuple[float, list[int]]], "b": int}, ([(1, [BEYOND])], 1), "float32 int32 int32"),
        ({"a": dict[str, int] | float, "b": float}, ({"x": BEYOND}, 1), "int32 float32"),
    ],
    ids=str,
)  # fmt: skip
def test_each_number_inside_a_payload_has_the_type_that_is_annotated_there(annotations, value, dtypes):
    (layer,) = packed(constructor(**annotations), [value])
    given, found = (
        jax.tree.leaves(tuple(getattr(x, n) for n in annotations)) for x in (constructor(**annotations)(*value), layer)
    )
    assert [str(x.dtype) for x in found] == dtypes.split()
    assert all(np.array_equal(np.asarray(x), np.asarray(y)) for x, y in zip(found, given, strict=True))


def test_payloads_beside_places_have_their_own_types():
    annotations = {"pairs": tuple[tuple[int, X], ...], "maybe": tuple[float, X] | None, "many": Many[X], "last": int}
    bases = Base[Tag, X], Generic[X]
    kind = types.new_class("Made", bases, exec_body=lambda ns: ns.update(__annotations__=annotations))
    leaf = lambda i: kind((), None, Many(), i)
    tree = kind(((BEYOND, leaf(1)), (2, leaf(2))), (3, leaf(3)), Many([leaf(4)]), BEYOND)
    forest = pack(kind, [tree])
    index = next(i for i, v in enumerate(forest.bucket.variants) if v.shape)
    assert [str(dtype) for _, dtype in forest.bucket.payload[index]] == ["int32", "int32", "float32", "int32"]
    with pytest.raises(PayloadMismatch, match=r"`Made.pairs\[1\]\[0\]` is annotated as integers and holds 0.5"):
        pack(kind, [kind(((1, leaf(1)), (0.5, leaf(2))), None, Many(), 1)])
    with pytest.raises(PayloadMismatch, match=r"`Made.maybe\[0\]` is annotated as floats and holds 1j"):
        pack(kind, [kind((), (1j, leaf(2)), Many(), 1)])


REFUSED = [
    (float, [1e300], r"`Made.field` holds 1e\+300, and `float32` ends at 3.4.*e\+38: the number would become infinite"),
    (float, [1.0, -1e39], r"holds -1e\+39, and `float32` ends"),
    (float, [np.array([1.0, 1e39])], r"holds 1e\+39, and `float32` ends"),
    (Float16[Array, ""], [70000.0], r"holds 70000.0, and `float16` ends at 65504"),
    (Float16[Array, ""], [2049], r"holds the integer 2049, which is not a `float16`: the number would be changed"),
    (BFloat16[Array, ""], [3.4e38], r"holds 3.4e\+38, and `bfloat16` ends"),
    (complex, [1e300j], r"holds 1e\+300j, and `complex64` ends"),
    (Any, [1e300], r"holds 1e\+300, and `float32` ends"),
    (float, [BEYOND], r"holds the integer 16777217, which is not a `float32`: .* changed. Write a float"),
    (float, [np.array([1, BEYOND])], r"holds the integer 16777217, which is not a `float32`"),
    (float, [10**400], r"holds the integer 10+, which is not a `float32`"),
    (complex, [BEYOND], r"holds the integer 16777217, which is not a `complex64`"),
    (Any, [0.5, BEYOND], r"holds the integer 16777217, which is not a `float32`"),
    (int, [2**63], r"holds 9223372036854775808, and `int32` ends at 2147483647"),
    (int, [2**63, -1], r"holds 9223372036854775808, and `int32` ends"),
    (int, [np.uint64(2**63), np.int64(-1)], r"holds 9223372036854775808, and `int32` ends"),
    (Any, [2**64], r"holds 18446744073709551616, and `int32` ends"),
    (Int64[Array, ""], [2**40], r"holds 1099511627776, and `int32` ends"),
    (Int8[Array, ""], [128], r"holds 128, and `int8` ends at 127"),
    (UInt8[Array, ""], [-1], r"holds -1, and `uint8` ends at 0"),
    (UInt[Array, ""], [np.int8(-1)], r"holds -1, and `uint32` ends at 0"),
    (
        int,
        [0.5],
        r"is annotated as integers and holds 0.5 \(of type `float`\): round the values "
        r"\(`round\(x\)`, of an array `x\.astype\(int\)`\), or annotate `float`",
    ),
    (int, [1, 2.0], r"is annotated as integers and holds 2.0 \(of type `float`\)"),
    (int, [np.array([1.0])], r"is annotated as integers and holds `float64`"),
    (int, [np.True_], r"is annotated as integers and holds True \(of type `bool`\): give integers"),
    (float, [1j], r"is annotated as floats and holds 1j \(of type `complex`\): take the real part"),
    (float, [np.True_], r"is annotated as floats and holds True"),
    (bool, [7], r"is annotated as booleans and holds 7 \(of type `int`\): write `value != 0`, or annotate `int`"),
    (bool, [True, 0], r"is annotated as booleans and holds 0"),
    (int, [np.uint8(3), np.int8(-3)], r"holds `uint8` in one node and `int8` in another"),
    (Any, [np.int8(100), np.int32(1000)], r"holds `int8` in one node and `int32` in another: give every node"),
    (float, [np.float16(1), np.float32(1)], r"holds `float16` in one node and `float32` in another"),
    (bool, [np.uint8(1)], r"is annotated as booleans and holds 1 \(of type `uint8`\)"),
    (Bool[Array, ""], [1.0], r"is annotated as booleans and holds 1.0"),
    (Inexact[Array, ""], [np.True_], r"is annotated as floats or complex numbers and holds True"),
    (Literal[1, 2], [1.5], r"is annotated as integers and holds 1.5"),
    (Int[Array, "0"], [np.zeros(0)], r"is annotated as integers and holds `float64`"),
    (float, [None], r"`Made.field` is annotated `float` and holds `None`: give it a value, or .*`float \| None`"),
    (int | float, [None], r"is annotated `int \| float` and holds `None`"),
    (Float[Array, "3"], [None], r"is annotated `Float\[.*Array, '3'\]` and holds `None`"),
    (tuple[int, int], [None], r"is annotated `tuple\[int, int\]` and holds `None`"),
    (tuple[float, float], [(1.0, None)], r"`Made.field\[1\]` is annotated `float` and holds `None`"),
    (dict[str, int], [{"x": 1, "y": None}], r"`Made.field\['y'\]` is annotated `int` and holds `None`"),
    (Data, [Data(1, (2, 0.5)), Data(1, (2.5, 0.5))], r"`Made.field.pair\[0\]` is annotated as integers and holds 2.5"),
    (Module[bool], [Module(np.zeros(2), 1, 7)], r"`Made.field.free` is annotated as booleans and holds 7"),
    (Data, [Data(1, (None, 0.5))], r"`Made.field.pair\[0\]` is annotated `int` and holds `None`"),
    (Module, [Module(np.zeros(2), 1, "x")], r"`Made.field.free` holds a `str`, and .*: number the values"),
    (float, [(1.0, 2.0)], r"is annotated `float` and holds a `tuple` of 2: annotate what it holds, or make it one arr"),
    (float, [{"x": 1.0}], r"`Made.field` is annotated `float` and holds a `dict`: annotate what it holds\.$"),
    (tuple[int, int], [(1, 2, 3)], r"is annotated `tuple\[int, int\]` and holds a `tuple` of 3: annotate what it"),
    (Array, [[1.0, 2.0]], r"`Made.field` is annotated `Array` and holds a `list` of 2: make it one array, `jnp.array"),
    (Float[Array, "2"], [[1.0, 2.0]], r"is annotated `Float\[Array, '2'\]` and holds a `list` of 2: make it one array"),
    (np.ndarray, [{"x": 1.0}], r"`Made.field` is annotated `ndarray` and holds a `dict`: give one array, or annotate"),
    (dict[str, Array], [{"x": [1.0]}], r"`Made.field\['x'\]` is annotated `Array` and holds a `list` of 1: make it"),
    (Any, [np.array(["a"])], r"holds an? `ndarray` of type `<U1`, and a packed payload is a number or an array"),
    (Any, [np.array([None])], r"holds an? `ndarray` of type `object`"),
    (Any, [np.datetime64("2024-01-01")], r"holds a `datetime64` of type"),
    (Any, [jax.random.key(0)], r"holds a random key: give `jax.random.key_data` of it"),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "values", "message"), REFUSED, ids=str)
def test_a_number_that_is_not_what_is_annotated_is_refused_by_name(annotation, values, message):
    kind = constructor(before=tuple[int, int], field=annotation, after=float)
    with pytest.raises(PayloadMismatch, match=message):
        pack(kind, [kind((1, 2), value, 0.5) for value in values])


def test_wide_numbers_are_kept_where_they_are_switched_on():
    with jax.enable_x64(True):
        (layer,) = packed(constructor(a=int, b=float, c=Float32[Array, ""]), [(2**40, 1e300, 0.5)])
        assert [str(x.dtype) for x in (layer.a, layer.b, layer.c)] == ["int64", "float64", "float32"]
        assert (int(layer.a), float(layer.b)) == (2**40, 1e300)
        (layer,) = packed(constructor(a=np.uint64), [(True,)])
        assert (str(layer.a.dtype), int(layer.a)) == ("uint64", 1)
        kind = constructor(a=int, b=float)
        with pytest.raises(PayloadMismatch, match=r"`Made.a` holds 9223372036854775808, and `int64` ends at"):
            pack(kind, [kind(2**63, 1.0)])
        with pytest.raises(
            PayloadMismatch, match=r"`Made.b` holds the integer 9007199254740993, which is not a `float64`"
        ):
            pack(kind, [kind(1, 2**53 + 1)])


@pytest.mark.parametrize("some", [((None, None), (1, 2), (None, 2), (1, None)), ((1, 2), (None, 2), (1, None))])
def test_payloads_that_may_be_missing_are_packed_into_the_bucket_of_another_forest(some):
    kind = constructor(a=int | None, b=float | None)
    trees = [kind(*x) for x in some]
    bucket = pack(kind, trees).bucket
    for part in (trees[:1], trees[::-1]):
        assert pack(kind, part, bucket=bucket).bucket == bucket
    with pytest.raises(CdlError, match=r"`Made\(None\)` is not among the variants of the bucket \(Made\)"):
        pack(kind, [kind(None, 1.0)], bucket=pack(kind, [kind(1, 1.0)]).bucket)
    assert Corpus(kind, trees)[[0, 1, 0]].size == 3


def test_payloads_whose_fixed_parts_cannot_be_compared_are_refused():
    kind = constructor(field=Any)
    some = [kind(Module(np.zeros(2), 1, 2.0, Incomparable())) for _ in range(2)]
    with pytest.raises(PayloadMismatch, match="cannot be compared: keep arrays in fields that are not static"):
        pack(kind, some)


def test_a_dictionary_keeps_the_order_of_its_keys():
    kind = constructor(field=dict[str, Any])
    given = {"b": 1.0, "a": {"d": (2.0, {"z": 3.0, "y": 4.0}), "c": 5.0}}
    sorts = {"a": {"c": 5.0, "d": (2.0, {"y": 4.0, "z": 3.0})}, "b": 1.0}
    first, second = (layer.field for layer in packed(kind, [(given,), (sorts,)]))
    assert str(jax.tree_util.tree_map(float, first)) == str(jax.tree_util.tree_map(float, second))
    assert (list(first), list(first["a"]), list(first["a"]["d"][1])) == (["b", "a"], ["d", "c"], ["z", "y"])
    assert (list(second), list(second["a"]), list(second["a"]["d"][1])) == (["a", "b"], ["c", "d"], ["y", "z"])
    assert first["a"]["d"][1]["z"] == 3.0


def test_fixed_parts_that_are_equal_and_not_the_same_are_told_apart():
    kind = constructor(field=Any)
    fixed = [0.0, -0.0, 1, True, 1.0]
    found = [
        layer.field.name
        for (layer,) in zip(packed(kind, [(Module(np.ones(1, np.float32), 1, 2.0, x),) for x in fixed]), strict=True)
    ]
    assert list(map(repr, found)) == list(map(repr, fixed))
    assert [list(layer.field) for layer in packed(kind, [({1: 2.0},), ({True: 2.0},)])] == [[1], [True]]
    assert [type(*layer.field) for layer in packed(kind, [({1: 2.0},), ({True: 2.0},)])] == [int, bool]


@pytest.mark.parametrize("held", [Many(), [Many()]], ids=str)
def test_a_tree_in_a_payload_is_told_from_a_number(held):
    kind = constructor(field=Any)
    with pytest.raises(PayloadMismatch, match="a payload holds a `Many`, which is a tree: annotate its field `X`"):
        pack(kind, [kind(held)])
    with pytest.raises(PayloadMismatch, match="a payload holds a `Made`, which is a tree"):
        pack(kind, [kind([kind(1.0)])])
