"""What is no functor, constructor, layer, monad or element is refused by name: a table."""

import copy
import operator
import pickle
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import pytest
from jaxtyping import Array, Float
from refused_calls import each, refused, table
from test_signature import E, Expr, Lit, Neg, X

import cdl
from cdl import (
    algebra,
    Base,
    cata,
    CdlError,
    Cons,
    Fix,
    fmap,
    Fork,
    functor,
    Leaf,
    List,
    ListF,
    Many,
    monads,
    monoids,
    pack,
)
from cdl._functors.expected import expect_type
from cdl.errors import PayloadMismatch, SignatureError, TreeTooLarge
from cdl.poly import Const, Id


def made(annotation: Any, *bases: Any, **body: Any) -> Any:
    """A constructor with one field so annotated."""
    body |= {"__annotations__": {"field": annotation}} if annotation else {}
    body |= {"__module__": __name__}
    bases = bases or (Base[Expr, X], Generic[X])
    return types.new_class("Made", bases, exec_body=lambda ns: ns.update(body))


def reads(annotation: Any) -> Any:
    return functor(made(annotation))


def expect(value: Any, hint: Any) -> None:
    expect_type("`x`", value, hint)


class Called(eqx.Module):
    def __call__(self, layer: Any) -> Any:
        return layer


class Reads:
    def __init__(self, zero: int) -> None:
        self.zero = zero

    def __call__(self, layer: Any) -> int:
        return self.zero


class Both(Base[Expr, tuple[X, E]], Generic[X, E]):
    first: X
    second: E


def of_list(annotation: Any) -> Any:
    point = made(annotation, Base[Expr, Never])
    return pack(point, [point([1.0, 2.0])])


Z = TypeVar("Z")
NO_PLACES = [
    Expr,
    Fix[Expr],
    Base[Expr, Any],
    Neg,
    Z,
    Many[Expr],
    tuple[Expr, ...],
    Union[Expr, None],
    Callable[[int], Expr],
]
LINEAR = eqx.nn.Linear(2, 2, key=jax.random.key(0))
SUM = monads.Monoid(0, operator.add)
CYCLIC: Any = Fork(Leaf(1), Leaf(2))
object.__setattr__(CYCLIC, "right", CYCLIC)
three: Any = 3


@table(
    *each(
        (Never, Union[int, str], Base[Expr, X]),
        functor,
        SignatureError,
        "constructor extends `Base",
    ),
    (lambda: made(None, value=3), SignatureError, "value annotation X"),
    *each(
        ((Lit,), (Neg[X], Generic[X]), (Leaf,)),
        lambda x: made(int, *x),
        SignatureError,
        "`Made` extends final",
    ),
    *each((Callable[[X], int], Callable[[list[X]], X]), reads, SignatureError, "field: arrow"),
    *each(
        (list[X], dict[str, X], Union[X, int], List[X]),
        reads,
        SignatureError,
        "`Made.field: functor",
    ),
    *each(NO_PLACES, reads, SignatureError, "`Made.field: place `Many[X]`"),
    (lambda: functor(Union[Neg[X], Cons[int, X]]), SignatureError, "`Neg` `Expr` `Cons` `List`"),
    (lambda: reads("Missing"), SignatureError, "`Made` `Missing`"),
    (lambda: reads("Made"), SignatureError, "`Made` itself variable"),
    (lambda: Base[Expr], SignatureError, "`Base[Expr, X]` `Base[Expr, Never]`"),
    (lambda: Fork(1), TypeError, "missing 'right'"),  # type: ignore[call-arg]
    (lambda: fmap(str, Both(1, "ab")), CdlError, "`fmap` 1 sorts"),
    (lambda: fmap(three, Leaf(1)), CdlError, "`fmap` function"),
    (lambda: algebra(Reads), CdlError, "`Reads` `cdl.Algebra` `@algebra`"),
    (lambda: algebra(LINEAR), CdlError, "arrays `cdl.Algebra`"),
    (lambda: algebra(three), CdlError, "`algebra` `3`"),
    *each((Float[Array, "2"],), of_list, PayloadMismatch, "`Made.field` `list` `jnp.array"),
    (lambda: cdl.poly.compose(three, Id()), CdlError, "`outer` `compose`"),
    *each((hash, pickle.dumps, copy.deepcopy), lambda f: f(CYCLIC), TreeTooLarge, "cyclic `Fork`"),
    # Elements, monads and monoids.
    (lambda: cdl.to_list(three), CdlError, "3"),
    (lambda: monads.extract(three), CdlError, "3"),
    (lambda: monads.Monoid(0, three), CdlError, "3"),
    (lambda: monads.initial_chain(ListF, 2), SignatureError, "`A` elements"),
    (lambda: monads.initial_chain(Id(1), 1), SignatureError, "sorts"),
    (lambda: monoids.check_monoid(three, [1, 2], 1e-5), CdlError, "3"),
    # What a type says of a value.
    (lambda: expect(Called, Callable[[Any], Any]), CdlError, "`Called`"),
    (lambda: cata(Called), CdlError, "algebra `Called`"),
    (lambda: expect(3, Callable[[Any, int], Any]), CdlError, "function 2 arguments."),
    (lambda: expect(lambda model, *more: 0, Callable[[], Any]), CdlError, "0 (model, *more)."),
    (lambda: expect(Leaf, Collection[type[Any]]), CdlError, "`[Leaf]`"),
    (lambda: expect({"u"}, Mapping[str, Any]), CdlError, "`dict` `str` `{'u': …}`"),
    (lambda: expect(3, Mapping[str, int] | None), CdlError, "`dict` `str` `int` `None`."),
)
def test_functors_refuse(call, error, words):
    refused(call, error, words)


@pytest.mark.parametrize(
    "annotation", [Any, List, Base[List, Any], Leaf, tuple[int, ...], Callable[[int], str]], ids=str
)
def test_functor_takes_trees_of_another_type_as_payloads(annotation):
    assert reads(annotation).summands[0].factors == (Const(annotation),)


def test_constructor_may_extend_what_is_no_constructor():
    class Shown:
        def shown(self) -> str:
            return f"<{self}>"

    class Name(Shown, Base[Expr, Never]):
        index: int

    assert Name(3).shown() == "<Name(3)>"


def test_algebra_takes_an_object_that_is_called():
    assert cata(algebra(Reads(0)))(Leaf(1)) == 0
    assert cata(algebra(eqx.nn.Identity()))(Leaf(1)) == Leaf(1)
    assert fmap((str, len), Both(1, "ab")) == Both("1", 2)
