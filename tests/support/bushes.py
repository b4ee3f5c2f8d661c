"""Trees whose nodes have any number of children, and algebras that reduce these."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, Union

import jax
import jax.numpy as jnp

from cdl import algebra, Base, Many


X = TypeVar("X")


class Bush:
    """The name of the functor `R + Many X`."""


class Bud(Base[Bush, X], Generic[X]):
    value: float


class Twig(Base[Bush, X], Generic[X]):
    kids: Many[X]


BushF = Union[Bud[X], Twig[X]]


def twig(*kids: Any) -> Any:
    return Twig(Many(kids))


BUSHES = [twig(Bud(0.5), Bud(0.75)), twig(twig(Bud(0.1), Bud(-0.3), Bud(2.0)), Bud(0.4)), twig(Bud(1.5)), Bud(0.25)]
SCALES = jnp.arange(3.0)


def single(value: Any) -> jax.Array:
    return jnp.asarray(value, jnp.float32)


def bushes(reduce: Callable[[Any], Any], leaf: Callable[[Any], Any] = single) -> Any:
    """The algebra that reads children by one reduction, and a leaf by a function."""

    @algebra
    def read(layer: BushF[Any]) -> Any:
        match layer:
            case Bud(value):
                return leaf(value)
            case Twig(kids):
                return reduce(kids)

    return read
