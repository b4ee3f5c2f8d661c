"""A signature is read from its annotations, however it is spelled, and what is no functor is refused."""

import sys
import types
from collections.abc import Callable
from typing import Any, Generic, Never, Optional, TypeAlias, TypeVar, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

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
    MealyF,
    MooreF,
    Nil,
    Node,
    pack,
    RoseF,
    Tree,
    TreeF,
)
from cdl.errors import ForeignLayer, PayloadMismatch, SignatureError
from cdl.functors import constructors, fmap_term, holes, Link, NatF, SnocF, StreamF, strength
from cdl.monads import Pure
from cdl.poly import compose, Const, Exp, Id, Inj, ListOf, ManyOf, Maybe, Product, Sum


X = TypeVar("X", covariant=True)
E = TypeVar("E", covariant=True)
S = TypeVar("S", covariant=True)


class Expr:
    pass


class Lit(Base[Expr, Never]):
    value: Float[Array, ""]


class Neg(Base[Expr, X], Generic[X]):
    arg: X


class Call(Base[Expr, X], Generic[X]):
    pair: tuple[X, X]
    maybe: X | None
    other: Optional[X]  # noqa: UP045
    ordered: tuple[X, ...]
    many: Many[X]
    lazy: Callable[[int], tuple[str, X]]
    name: str = "f"


ExprF: TypeAlias = Union[Lit, Neg[X], Call[X]]


def term(field: str) -> Any:
    record = functor(Call).summands[0]
    return dict(zip(record.names, record.factors, strict=True))[field]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("pair", Product((Id(), Id()))),
        ("maybe", Maybe(Id())),
        ("other", Maybe(Id())),
        ("ordered", ListOf(Id())),
        ("many", ManyOf(Id())),
        ("lazy", Exp([int], Product((Const(str), Id())))),
        ("name", Const(str)),
    ],
)
def test_each_annotation_is_read_as_its_term(field, expected):
    assert term(field) == expected


@pytest.mark.parametrize(
    ("signature", "formula"),
    [
        (ListF, "1 + A × X"),
        (ListF[int, X], "1 + A × X"),
        (SnocF, "1 + X × A"),
        (TreeF, "A + X²"),
        (RoseF, "A × Many(X)"),
        (Link, "A × (1 + X)"),
        (NatF, "1 + X"),
        (StreamF, "O × [1, X]"),
        (MooreF, "O × [I, X]"),
        (MealyF, "[I, O × X]"),
        (Neg, "X"),
        (Fork, "X²"),
    ],
)
def test_a_signature_prints_as_its_formula(signature, formula):
    assert str(functor(signature)) == formula


def test_constructors_are_in_the_order_they_were_written():
    assert constructors(ExprF) == (Lit, Neg, Call)
    assert functor(ExprF).constructors == (Lit, Neg, Call)
    assert constructors(Neg | Lit) == (Neg, Lit)
    assert constructors(Union[Neg[int], Neg[str]]) == (Neg,)


PEP_695 = """
from typing import Never
from cdl import Base, Many

class Expr: pass
class Lit(Base[Expr, Never]):
    value: float
class Add[X](Base[Expr, X]):
    left: X
    right: X
class Block[X](Base[Expr, X]):
    body: Many[X]
type ExprF[X] = Lit | Add[X] | Block[X]

def local():
    class Inner: pass
    class Payload: pass
    class Has[X](Base[Inner, X]):
        held: Payload
        next: X | None
    return Has
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the spelling is new in Python 3.12")
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_the_new_spelling_of_type_variables_reads_the_same(future, monkeypatch):
    names = module(future + PEP_695, monkeypatch)
    assert str(functor(names["ExprF"])) == "float + X² + Many(X)"
    assert str(functor(names["ExprF"][int])) == "float + X² + Many(X)"
    assert str(functor(names["local"]())) == "Payload × (1 + X)"
    assert fmap(str, names["Add"](1, 2)) == names["Add"]("1", "2")


STRINGS = """
from __future__ import annotations
from typing import Generic, Never, TypeVar, Union
from cdl import Base, Many

X = TypeVar("X")

class Expr: pass
class Lit(Base[Expr, Never]):
    value: float
class Add(Base[Expr, X], Generic[X]):
    left: X
    rest: Many[X]
ExprF = Union[Lit, Add[X]]
"""


def module(source, monkeypatch, name="a_module_of_a_test"):
    new = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, new)
    exec(compile(source, name, "exec"), vars(new))
    return vars(new)


def test_a_signature_whose_annotations_are_strings_reads_the_same(monkeypatch):
    names = module(STRINGS, monkeypatch)
    assert str(functor(names["ExprF"])) == "float + X × Many(X)"


def test_a_signature_inside_a_function_may_name_what_the_function_defines():
    Y = TypeVar("Y", covariant=True)

    class Tag:
        pass

    class Payload:
        pass

    class Held(Base["Tag", Y], Generic[Y]):
        payload: "Payload"
        next: "Y | None"

    assert functor(Held).summands[0].factors == (Const(Payload), Maybe(Id()))


def test_sorts_are_numbered_by_the_tuple():
    class Stmt(Base[Tree[int], tuple[E, S]], Generic[E, S]):
        test: E
        body: Many[S]

    class Ret(Base[Tree[int], tuple[E, Never]], Generic[E]):
        value: E

    assert functor(Stmt | Ret).summands[0].factors == (Id(0), ManyOf(Id(1)))
    assert fmap((str, len), Stmt(1, Many(["ab"]))) == Stmt("1", Many([2]))
    assert fmap((str, len), Ret(1)) == Ret("1")


def test_a_constructor_of_every_functor_joins_any_signature():
    assert str(functor(Union[Nil, Neg[X]])) == "1 + X"
    assert str(functor(Union[Pure[int], ListF[float, X]])) == "A + 1 + A × X"


def layer():
    return Call((1, 2), 3, None, (4, 5), Many([6]), lambda i: (str(i), 7 + i))


def test_fmap_maps_every_place_and_leaves_payloads():
    mapped = fmap(str, layer())
    assert (mapped.pair, mapped.maybe, mapped.other, mapped.ordered) == (("1", "2"), "3", None, ("4", "5"))
    assert mapped.many == Many(["6"])
    assert mapped.lazy(1) == ("1", "8")
    assert mapped.name == "f"


def test_the_places_of_a_layer_are_in_the_order_of_its_fields_without_the_lazy_ones():
    assert holes(layer()) == (1, 2, 3, 4, 5, 6)


def test_fmap_goes_round_the_checks_of_the_constructor():
    assert fmap(lambda x: x, Lit(jnp.ones(()))).value.shape == ()
    assert fmap(len, Neg("abc")) == Neg(3)


def test_strength_copies_the_parameter_to_every_place():
    assert strength("p", Fork(1, 2)) == Fork(("p", 1), ("p", 2))
    assert strength("p", Leaf(1)) == Leaf(1)


def test_composition_substitutes_one_term_in_the_other():
    lists, trees = functor(ListF), functor(TreeF)
    assert str(compose(lists, trees)) == "1 + A × (A + X²)"
    assert str(compose(trees, lists)) == "A + (1 + A × X)²"
    assert str(compose(functor(MealyF), functor(RoseF))) == "[I, O × A × Many(X)]"


def test_a_value_of_a_composite_is_mapped_in_the_inner_places():
    both = compose(functor(ListF), functor(TreeF))
    assert fmap_term(both, str, Inj(0, ())) == Inj(0, ())
    assert fmap_term(both, str, Inj(1, ("a", Fork(1, 2)))) == Inj(1, ("a", Fork("1", "2")))
    assert fmap_term(compose(Maybe(Id()), ListOf(Id())), str, (1, 2)) == ("1", "2")
    assert fmap_term(Sum((Id(), Const(int))), str, Inj(1, 5)) == Inj(1, 5)


def test_a_constructor_is_a_pytree_of_its_fields():
    doubled = jax.tree.map(lambda x: 2 * x, Fork(Leaf(jnp.arange(2)), Leaf(3)))
    assert doubled == Fork(Leaf(np.array([0, 2])), Leaf(6))
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(Fork(Leaf(1), Leaf(2)))]
    assert paths == [".left.label", ".right.label"]


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


@pytest.mark.parametrize("annotation", [Float[Array, "2"], jax.Array, float])
def test_a_list_is_not_packed_where_one_array_or_number_belongs(annotation: Any):
    class Point(Base[Any, Never]):
        at: annotation

    with pytest.raises(PayloadMismatch, match=r"`Point.at` .* holds a `list` of 2: .*make it one array, `jnp.array"):
        pack(Point, [Point([1.0, 2.0])])
