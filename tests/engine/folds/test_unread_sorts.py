"""What nothing reads has no gradient where trees are of two sorts, some of whose constructors are one program."""

from typing import Any, Generic, Never, TypeVar, Union

import jax
import jax.numpy as jnp
import pytest

from cdl import algebra, annotate, Base, cata, fold, pack


pytestmark = pytest.mark.slow


E = TypeVar("E", covariant=True)
S = TypeVar("S", covariant=True)


class Expr: ...


class Stmt: ...


class Calm(Base[Expr, tuple[E, S]], Generic[E, S]):
    of: S


class Half(Base[Expr, tuple[E, S]], Generic[E, S]):
    of: S


class Start(Base[Stmt, Never]):
    value: float


class Same(Base[Stmt, tuple[E, S]], Generic[E, S]):
    """Computed as `Calm`, of the other sort."""

    of: S


class Other(Base[Stmt, tuple[E, S]], Generic[E, S]):
    """The same, of a child of the other sort."""

    of: E


FAMILY = (Union[Calm[E, S], Half[E, S]], Union[Start, Same[E, S], Other[E, S]])


def algebras(w: Any) -> Any:
    """Pairs. The slope of the second number of `Start` is infinite where it goes through a root."""

    def case(layer: Any) -> Any:
        match layer:
            case Start(value):
                return jnp.asarray(value), jnp.zeros(())
            case Half(of):
                return of[0] * w, of[0] + 1
            case _:
                return jnp.tanh(layer.of[0]), jnp.sqrt(layer.of[1] * w)

    return algebra(case), algebra(case)


@pytest.mark.parametrize(
    ("tree", "others"),
    [
        (Half(Same(Start(0.5))), []),
        (Half(Same(Start(0.5))), [Calm(Same(Start(0.5)))]),
        (Half(Other(Half(Same(Start(0.3))))), [Calm(Start(0.5))]),
        (Half(Other(Calm(Same(Start(0.3))))), [Calm(Other(Half(Start(0.5))))]),
    ],
    ids=["alone", "beside one that is read", "through both", "all"],
)
def test_one_program_has_constructors_of_two_sorts(tree: Any, others: list[Any]):
    bucket = pack(FAMILY, [tree, *others]).bucket
    forest = pack(FAMILY, [tree], bucket=bucket)
    slow = jax.grad(lambda w: sum(cata(*algebras(w))[0](tree)))(1.3)
    fast = jax.grad(lambda w: sum(x.sum() for x in fold(algebras(w), forest)[0]))(1.3)
    assert jnp.isfinite(slow)
    assert jnp.allclose(fast, slow)


class Lone(Base[Expr, Never]):
    value: float


class Plain(Base[Stmt, Never]):
    value: float


LONE = (Lone, Plain)


@pytest.mark.parametrize("read", [fold, annotate], ids=["fold", "annotate"])
def test_what_one_sort_gives_is_read_and_not_the_other(read: Any):
    """Both have their values in one column, and the slope of the one that is not read is infinite."""
    forest, w = pack(LONE, [Lone(4.0), Plain(0.0), Lone(1.0)]), jnp.array(1.3)
    algebras = lambda w: (algebra(lambda layer: jnp.sqrt(w * layer.value)),) * 2
    wanted = jax.grad(lambda w: jnp.sqrt(w * 4.0) + jnp.sqrt(w))(w)
    assert jnp.allclose(jax.grad(lambda w: read(algebras(w), forest)[0].sum())(w), wanted)
