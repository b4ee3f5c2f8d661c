"""A signature is read from its annotations, however it is spelled."""

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
    Base,
    fmap,
    Fork,
    functor,
    Leaf,
    ListF,
    Many,
    MealyF,
    Nil,
    RoseF,
    Tree,
    TreeF,
)
from cdl.functors import fmap_term, holes, Link, NatF, StreamF, strength
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
        (TreeF, "A + X²"),
        (RoseF, "A × Many(X)"),
        (Link, "A × (1 + X)"),
        (NatF, "1 + X"),
        (StreamF, "O × [1, X]"),
        (MealyF, "[I, O × X]"),
        (Fork, "X²"),
    ],
)
def test_a_signature_prints_as_its_formula(signature, formula):
    assert str(functor(signature)) == formula


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


def test_functor_reads_annotations_that_are_strings(monkeypatch):
    names = module(STRINGS, monkeypatch)
    assert str(functor(names["ExprF"])) == "float + X × Many(X)"


def test_functor_reads_names_of_a_function_around_it():
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
    assert (mapped.pair, mapped.maybe, mapped.other, mapped.ordered) == (
        ("1", "2"),
        "3",
        None,
        ("4", "5"),
    )
    assert mapped.many == Many(["6"])
    assert mapped.lazy(1) == ("1", "8")
    assert mapped.name == "f"


def test_holes_are_in_the_order_of_fields_without_lazy_ones():
    assert holes(layer()) == (1, 2, 3, 4, 5, 6)


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
