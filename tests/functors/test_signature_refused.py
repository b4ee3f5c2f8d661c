"""What is no functor, no constructor or no layer is refused by name, and told what to write."""

import types
from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array, Float
from test_signature import E, Expr, Lit, Neg, X

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
    Node,
    pack,
)
from cdl.errors import ForeignLayer, PayloadMismatch, SignatureError
from cdl.functors import fmap_term, holes, Link
from cdl.poly import Const


@pytest.mark.parametrize("nothing", [Never, int, Union[int, str], Base, Base[Expr, X]])
def test_what_has_no_constructors_is_refused(nothing):
    with pytest.raises(
        SignatureError, match="is not a constructor: each summand of a signature is a class that extends"
    ):
        functor(nothing)


def test_a_field_without_annotation_is_refused():
    with pytest.raises(SignatureError, match=r"`Bad.value = 3` has no annotation.*Write `value: X`"):

        class Bad(Base[Expr, X], Generic[X]):
            value = 3


@pytest.mark.parametrize(
    "bases", [(Lit,), (Neg,), (Neg[X],), (Neg[X], Generic[X]), (Neg[X], Base[Expr, X]), (Leaf,)], ids=str
)
def test_a_constructor_that_extends_another_is_refused(bases):
    name = bases[0].__name__
    with pytest.raises(SignatureError, match=rf"`Sub` extends {name}, .*constructors are final. Write it as another"):
        types.new_class(
            "Sub", bases, exec_body=lambda ns: ns.update(__annotations__={"more": int}, __module__=__name__)
        )


def test_a_constructor_may_extend_what_is_no_constructor():
    class Shown:
        def shown(self) -> str:
            return f"<{self}>"

    class Name(Shown, Base[Expr, Never]):
        index: int

    assert Name(3).shown() == "<Name(3)>"


def reads(annotation: Any) -> Any:
    """The term of a constructor with one field so annotated."""
    body = {"__annotations__": {"field": annotation}, "__module__": __name__}
    return functor(types.new_class("Made", (Base[Expr, X], Generic[X]), exec_body=lambda ns: ns.update(body)))


@pytest.mark.parametrize("annotation", [Callable[[X], int], Callable[[list[X]], X], Callable[[int, X], X]])
def test_a_negative_occurrence_is_refused(annotation):
    with pytest.raises(SignatureError, match=r"`Made.field: .*` has a recursive variable to the left of an arrow"):
        reads(annotation)


@pytest.mark.parametrize("annotation", [list[X], dict[str, X], set[X], Union[X, int], List[X]])
def test_a_container_that_has_no_reading_is_refused(annotation):
    with pytest.raises(SignatureError, match=r"`Made.field: .*` cannot be read as a functor. A recursive place is"):
        reads(annotation)


def test_a_many_of_anything_but_a_place_is_refused():
    with pytest.raises(SignatureError, match=r"`Made.field` is a `Many` of `X²`: `Many` holds recursive places alone"):
        reads(Many[tuple[X, X]])


Z = TypeVar("Z")


NO_PLACES = [Expr, Fix[Expr], Fix, Base, Base[Expr, Any], Neg, Neg[Any], Z, Many, Many[Expr], Many[int]]
PAYLOADS = [Any, List, Base[List, Any], Leaf, tuple[int, ...], Callable[[int], str]]


@pytest.mark.parametrize(
    "annotation", [*NO_PLACES, tuple[Expr, ...], Union[Expr, None], Callable[[int], Expr]], ids=str
)
def test_a_child_that_is_not_annotated_as_a_place_is_not_taken_for_a_payload(annotation):
    words = r"`Made.field: .*` is not a recursive place.* For a child write `X`, `Many\[X\]` or `tuple\[X, ...\]`"
    with pytest.raises(SignatureError, match=words):
        reads(annotation)


def test_a_constructor_without_places_says_what_to_extend():
    class Odd(Base[Expr, Never]):
        arg: Expr

    with pytest.raises(SignatureError, match=r"`Odd.arg: Expr` is .*, and let `Odd` extend `Base\[T, X\]`"):
        functor(Odd)


@pytest.mark.parametrize(
    "annotation", [Any, List, Base[List, Any], Leaf, tuple[int, ...], Callable[[int], str]], ids=str
)
def test_trees_of_another_type_may_be_payloads(annotation):
    assert reads(annotation).summands[0].factors == (Const(annotation),)


def test_constructors_of_two_functors_are_refused():
    with pytest.raises(SignatureError, match="`Neg` is a constructor of `Expr` and `Cons` of `List`"):
        functor(Union[Neg[X], Cons[int, X]])


def test_an_annotation_that_names_nothing_is_refused():
    with pytest.raises(SignatureError, match="an annotation of `Made` names `Missing`, which is not defined"):
        reads("Missing")


def test_a_base_whose_second_argument_is_no_variable_is_refused():
    class Odd(Base[Expr, int]):
        value: int

    with pytest.raises(SignatureError, match=r"`Odd` extends `Base\[T, <class 'int'>\]`: the second argument is"):
        functor(Odd)


def test_the_wrong_number_of_fields_is_refused():
    with pytest.raises(TypeError, match=r"missing .* required .*argument: 'right'"):
        Fork(1)
    with pytest.raises(TypeError, match=r"takes 2 positional arguments but 3 were given|too many positional arguments"):
        Neg(1, 2)


def test_what_is_no_layer_is_refused():
    with pytest.raises(ForeignLayer, match="`3` is not a layer: it is an `int`, not an instance of `Base`"):
        holes(3)
    with pytest.raises(ForeignLayer, match="`Leaf\\(1\\)` is not a value of `1 \\+ A × X`"):
        fmap_term(functor(ListF), str, Leaf(1))
    assert issubclass(ForeignLayer, CdlError)


def test_a_node_may_hold_no_child_at_all():
    assert holes(Node("a", Many())) == ()
    assert holes(Link(1)) == ()


def test_an_annotation_that_names_its_own_class_says_what_a_recursive_place_is():
    class Loop(Base[Any, X], Generic[X]):
        arg: "Loop"  # type: ignore[type-arg]

    with pytest.raises(
        SignatureError, match=r"`Loop` names the class itself: at a recursive place, write the type variab"
    ):
        functor(Loop[X])


def test_a_base_of_one_argument_says_what_the_second_is():
    class Expr: ...

    with pytest.raises(SignatureError, match=r"write `Base\[Expr, X\]`, or `Base\[Expr, Never\]`"):
        Base[Expr]  # type: ignore[misc]


def test_a_class_is_not_made_an_algebra_by_the_decorator():
    class Reads:
        def __init__(self, zero: int) -> None:
            self.zero = zero

        def __call__(self, layer: Any) -> int:
            return self.zero

    with pytest.raises(
        CdlError, match=r"was given the class `Reads`.*let it extend `cdl.Algebra`, and leave `@algebra`"
    ):
        algebra(Reads)
    assert cata(algebra(Reads(0)))(Leaf(1)) == 0


def test_a_module_with_arrays_is_not_made_an_algebra_by_the_decorator():
    """Its arrays would be fixed: no gradient would reach them."""
    for module in (eqx.nn.Linear(2, 2, key=jax.random.key(0)), jax.tree_util.Partial(jnp.add, jnp.ones(2))):
        with pytest.raises(CdlError, match=r"`\w+` holds arrays, .*let its class extend `cdl.Algebra`"):
            algebra(module)
    assert cata(algebra(eqx.nn.Identity()))(Leaf(1)) == Leaf(1)


@pytest.mark.parametrize("annotation", [Float[Array, "2"], jax.Array, float])
def test_a_list_is_not_packed_where_one_array_or_number_belongs(annotation: Any):
    class Point(Base[Any, Never]):
        at: annotation

    with pytest.raises(PayloadMismatch, match=r"`Point.at` .* holds a `list` of 2: .*make it one array, `jnp.array"):
        pack(Point, [Point([1.0, 2.0])])


def test_one_function_for_children_of_several_sorts_is_refused():
    class Both(Base[Expr, tuple[X, E]], Generic[X, E]):
        first: X
        second: E

    assert fmap((str, len), Both(1, "ab")) == Both("1", 2)
    with pytest.raises(CdlError, match="`fmap` was given 1 function, and the layer has children of more sorts"):
        fmap(str, Both(1, "ab"))
