"""Payloads: every number of a layer is packed as its annotation says, unchanged but by rounding, or refused by name."""

import dataclasses
import enum
import types
from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple, Never, NewType, TypedDict, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import typing_extensions
from jaxtyping import (
    Array,
    BFloat16,
    Bool,
    Float32,
    Float64,
    Inexact,
    Int,
    Int8,
    Integer,
    UInt,
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
        (float, [1.5, 2, float("inf"), float("nan")], "float32"),
        (float, [ml_dtypes.bfloat16(1.5), 1], "bfloat16"),
        (float, [np.float64(1.5), jnp.float32(2), 3], "float32"),
        (int, [1, 2**31 - 1, -(2**31)], "int32"),
        (int, [np.int8(3)], "int8"),
        (int, [np.uint64(3), np.int64(-3)], "int32"),
        (int, [Colour.RED, Colour.BLUE], "int32"),
        (complex, [1 + 2j, 3, 0.5], "complex64"),
        (Any, [1, 2.5], "float32"),
        (A, [jnp.bfloat16(1.5), jnp.bfloat16(2)], "bfloat16"),
        (Float32[Array, ""], [1.5, np.float16(2)], "float32"),
        (Float64[Array, ""], [0.1], "float32"),
        (BFloat16[Array, ""], [1.5, jnp.float32(2)], "bfloat16"),
        (Int8[Array, ""], [-128, 127], "int8"),
        (Int[Array, ""], [np.int16(5)], "int16"),
        (UInt[Array, ""], [5], "uint32"),
        (Bool[Array, "2"], [np.array([True, False])], "bool"),
        (Integer[Array, ""], [5], "int32"),
        (Inexact[Array, ""], [5], "float32"),
        (NDArray[np.int8], [np.array([5, -5])], "int8"),
        (float | None, [1, 2.5], "float32"),
        (int | float, [1, 2.5], "float32"),
        (Literal[1, 2], [2], "int32"),
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
        ({"a": tuple[int, ...], "b": float}, ((BEYOND,) * 3, 3), "int32 int32 int32 float32"),
        ({"a": dict[str, float], "b": int}, ({"x": 1, "y": 2}, BEYOND), "float32 float32 int32"),
        ({"a": Data, "b": float}, (Data(BEYOND, (BEYOND, 1)), 1), "int32 int32 float32 float32"),
        ({"a": Named, "b": float}, (Named(BEYOND, 1), 1), "int32 float32 float32"),
        ({"a": Typed, "b": float}, ({"index": BEYOND, "share": 1}, 1), "int32 float32 float32"),
        ({"a": Module, "b": float}, (Module(np.arange(2), BEYOND, BEYOND), 1), "float32 int32 int32 float32"),
        ({"a": PairOf[int], "b": float}, ((BEYOND, BEYOND), 1), "int32 int32 float32"),
        ({"a": Any, "b": float}, ((BEYOND, [BEYOND]), 1), "int32 int32 float32"),
        ({"a": tuple[int, int] | None, "b": float}, (None, 1), "float32"),
        ({"a": tuple[int | None, int | None], "b": float}, ((None, BEYOND), 1), "int32 float32"),
        ({"a": list[tuple[float, list[int]]], "b": int}, ([(1, [BEYOND])], 1), "float32 int32 int32"),
    ],
    ids=str,
)  # fmt: skip
def test_pack_gives_numbers_in_containers_the_annotated_dtype(annotations, value, dtypes):
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


def test_wide_numbers_are_kept_where_they_are_switched_on():
    with jax.enable_x64(True):
        (layer,) = packed(constructor(a=int, b=float, c=Float32[Array, ""]), [(2**40, 1e300, 0.5)])
        assert [str(x.dtype) for x in (layer.a, layer.b, layer.c)] == ["int64", "float64", "float32"]
        assert (int(layer.a), float(layer.b)) == (2**40, 1e300)
        (layer,) = packed(constructor(a=np.uint64), [(True,)])
        assert (str(layer.a.dtype), int(layer.a)) == ("uint64", 1)


@pytest.mark.parametrize("some", [((None, None), (1, 2), (None, 2), (1, None)), ((1, 2), (None, 2), (1, None))])
def test_pack_of_optional_payloads_fits_the_bucket_of_another(some):
    kind = constructor(a=int | None, b=float | None)
    trees = [kind(*x) for x in some]
    bucket = pack(kind, trees).bucket
    for part in (trees[:1], trees[::-1]):
        assert pack(kind, part, bucket=bucket).bucket == bucket
    with pytest.raises(CdlError, match=r"`Made\(None\)` is not among the variants of the bucket \(Made\)"):
        pack(kind, [kind(None, 1.0)], bucket=pack(kind, [kind(1, 1.0)]).bucket)
    assert Corpus(kind, trees)[[0, 1, 0]].size == 3


def test_fixed_parts_and_keys_of_payloads_are_as_in_jax():
    kind = constructor(field=Any)
    modules = packed(kind, [(Module(np.ones(1, np.float32), 1, 2.0, name),) for name in "aba"])
    assert [layer.field.name for layer in modules] == list("aba")
    (layer,) = packed(kind, [({"b": 1.0, "a": {"d": 2.0, "c": 3.0}},)])
    assert (list(layer.field), list(layer.field["a"]), layer.field["a"]["c"]) == (["a", "b"], ["c", "d"], 3.0)
