"""Annotations of trees, layers and algebras mean something at run time: a value of another signature is refused."""

from typing import Any, Generic, Never, TypeVar

import jax
import jax.numpy as jnp
import pytest
import typeguard
from jaxtyping import Array, Float, jaxtyped, TypeCheckError

import cdl
from cdl import Algebra, algebra, Base, Cons, Fix, Fork, Leaf, List, ListF, Nil, Tree, TreeF
from cdl.monads import Free, Pure
from cdl.testing import typechecked


X = TypeVar("X")
T = TypeVar("T")


class Ex:
    pass


class St:
    pass


class Lit(Base[Ex, Never]):
    value: float


class Neg(Base["Ex", X], Generic[X]):
    arg: X


class Say(Base[St, Never]):
    value: float


LIST, TREE = Cons(1, Nil()), Fork(Leaf(1.0), Leaf(2.0))


@algebra
def total(layer: ListF[int, int]) -> int:
    return 0 if isinstance(layer, Nil) else layer.head + layer.tail


class Depth(Algebra[TreeF[float, int], int]):
    def __call__(self, layer: TreeF[float, int]) -> int:
        return 0 if isinstance(layer, Leaf) else 1 + max(layer.left, layer.right)


untold = algebra(lambda layer: 0)

# An annotation, what fits it, what does not, and what is said of that.
CASES: dict[str, tuple[Any, list[Any], list[tuple[Any, str]]]] = {
    "trees": (Fix[List[int]], [LIST], [(TREE, "`Tree`.*`List`"), (3, "not a layer")]),
    "strings": (Fix["List[int]"], [LIST], [(TREE, "`Tree`.*`List`")]),
    "layers": (Base[Tree[float], int], [Fork(1, 2)], [(LIST, "`List`.*`Tree`")]),
    "one's own": (Fix[Ex], [Lit(1.0), Neg(Lit(1.0))], [(Say(1.0), "`St`.*`Ex`")]),
    "any layers": (Base[Any, Any], [LIST, TREE], [(3, "not a layer")]),
    "a variable": (Fix[T], [LIST, TREE], [(3, "Base")]),
    "several": (Fix[List[int]] | Fix[Ex], [LIST, Lit(1.0)], [(TREE, "union")]),
    "inside": (list[Fix[Ex]], [[Lit(1.0)]], [([Lit(1.0), LIST], "item 1.*`List`")]),
    "free trees": (Free[Ex, int], [Pure(1), Lit(1.0)], [(LIST, "`List`.*`Ex`")]),
    "algebras": (Algebra[ListF[int, int], int], [total, untold], [(Depth(), "`Tree`.*`List`"), (len, "cdl.Algebra")]),
    "tagged": (Algebra[Base[Tree[float], int], int], [Depth(), untold], [(total, "`List`.*`Tree`")]),
    "any algebras": (Algebra[Base[T, X], X], [Depth(), total], [(3, "cdl.*Algebra")]),
}  # fmt: skip


def checked(by: str, annotation: Any) -> Any:
    """A function whose argument is checked by typeguard, as a user may call it."""

    def f(x):
        return x

    if by == "check_type":
        everything = typeguard.CollectionCheckStrategy.ALL_ITEMS
        return lambda x: typeguard.check_type(x, annotation, collection_check_strategy=everything)
    f.__annotations__ = {"x": annotation}
    return typechecked(f)


@pytest.mark.parametrize("by", ["check_type", "typechecked"])
@pytest.mark.parametrize(("annotation", "fits", "others"), CASES.values(), ids=CASES)
def test_a_value_of_another_signature_is_refused(by, annotation, fits, others):
    f = checked(by, annotation)
    for value in fits:
        assert f(value) is value
    for value, message in others:
        with pytest.raises(typeguard.TypeCheckError, match=message):
            f(value)


@typeguard.typechecked
def plainly(x: Fix[List[int]], by: Algebra[ListF[int, int], int]) -> int:
    return cdl.cata(by)(x)


def test_typeguard_s_own_decorator_checks_the_same():
    assert plainly(LIST, total) == 1
    for tree, alg in ((TREE, total), (LIST, Depth())):
        with pytest.raises(typeguard.TypeCheckError, match=r"`Tree`.*`List`"):
            plainly(tree, alg)


def test_under_jaxtyping_the_checker_of_cdl_checks_the_same():
    @jaxtyped(typechecker=typechecked)
    def f(x: Fix[List[int]], y: Float[Array, " n"]) -> Float[Array, " n"]:
        return y

    assert f(LIST, jnp.ones(2)).shape == (2,)
    with pytest.raises(TypeCheckError, match=r"checking the parameters of .*<locals>\.f"):
        f(TREE, jnp.ones(2))


def test_layers_of_traced_and_batched_values_fit():
    @typechecked
    def f(layer: Base[List[float], Any]) -> Base[List[float], Any]:
        return layer

    jax.eval_shape(lambda x: f(Cons(x, x)).head, jnp.ones(3))
    assert f(Cons(jnp.ones(3), None)).tail is None


def test_what_is_below_the_outermost_layer_is_not_looked_at():
    f = checked("check_type", Fix[List[int]])
    for unseen in (Cons("a", Nil()), Cons(1, TREE)):
        assert f(unseen) is unseen
