"""What a user has on the first day: signatures, algebras, a forest, a `Seq`; and `refused`, which checks a message."""

import inspect
from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import Algebra, algebra, Base, CdlError, choose, Cons, Corpus, ListF, Many, MooreF, Nil, pack, Packed, Seq
from cdl.monads import Monoid


X = TypeVar("X", covariant=True)
Y = TypeVar("Y", covariant=True)


class Expr: ...


class Lit(Base[Expr, Never]):
    value: float


class Add(Base[Expr, X], Generic[X]):
    left: X
    right: X


ExprF: TypeAlias = Union[Lit, Add[X]]


class Bag: ...


class Box(Base[Bag, X], Generic[X]):
    label: float
    kids: Many[X]


class Bush: ...


class Twig: ...


class Branch(Base[Bush, tuple[X, Y]], Generic[X, Y]):
    twigs: Many[Y]


class Leaf(Base[Twig, Never]):
    value: float


BushF: TypeAlias = Branch[X, Y]


class Net(Algebra[ExprF[Any], Any]):
    weight: Any

    def __call__(self, layer: ExprF[Any]) -> Any:
        match layer:
            case Lit(value):
                return self.weight * value
            case Add(left, right):
                return left + right


@algebra
def total(layer: ListF[Any, Any]) -> Any:
    match layer:
        case Nil():
            return 0.0
        case Cons(head, tail):
            return head + tail


def sprout(n: Any) -> Any:
    return choose(jnp.stack([-n, n]), Lit(n), Add(n - 1, n - 1))


def spoilt(n: Any) -> Any:
    return choose(jnp.stack([jnp.log(n), n]), Lit(n), Add(n - 2, n - 2))


def listed(n: Any) -> Any:
    return choose(jnp.stack([-jnp.log(n), n]), Nil(), Cons(n, n - 2))


def handed(value: Any, layer: Any) -> Any:
    return layer if isinstance(layer, Lit) else Add(value, value)


def shown(state: Any) -> Any:
    return MooreF(state, lambda i: state + i)


def bare(fn: Any) -> Any:
    """The function without the test suite's check of types, as a user has it."""
    return inspect.unwrap(fn)


net = Net(np.ones(2, np.float32))
tree = Add(Lit(1.0), Lit(2.0))
forest = pack(ExprF, [tree, Lit(3.0)])
corpus = Corpus(ExprF, [tree])
seq = Seq.of([np.ones(2, np.float32), np.ones(1, np.float32)])
packed = Packed.of([np.ones(2, np.float32)])
product = Monoid(1.0, lambda x, y: x * y)
seeds = jnp.ones(2)
KEY = jax.random.key(0)


def refused(words: str, call: Any) -> None:
    with pytest.raises(CdlError, match=words):
        call()
