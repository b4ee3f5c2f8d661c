"""Into how many loops a fold and its gradient are compiled."""

from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from cdl import Base, fold, Forest, Many, pack


X = TypeVar("X", covariant=True)


class Some:
    """The name of the functor `1 + List X + List X × List X`."""


class End(Base[Some, Never]):
    pass


class One(Base[Some, X], Generic[X]):
    some: Many[X]


class Two(Base[Some, X], Generic[X]):
    some: Many[X]
    more: Many[X]


SomeF = Union[End, One[X], Two[X]]


class Net(eqx.Module):
    """Two cases that are not one program; in each, products of one shape with weights of its own."""

    weights: jax.Array

    def __call__(self, layer: SomeF[jax.Array]) -> jax.Array:
        none = jnp.zeros(4)
        each = lambda many, i: many.map(lambda child: self.weights[i] @ child).sum(none)
        match layer:
            case One(some):
                return jnp.tanh(each(some, 0))
            case Two(some, more):
                return jnp.sin(each(some, 1)) + jnp.cos(each(more, 2))
            case _:
                return jnp.ones(4)


def loops(jaxpr: Any) -> int:
    """The loops in a jaxpr, and in those inside it."""
    found = 0
    for eqn in jaxpr.eqns:
        found += eqn.primitive.name == "while"
        for inner in jax.tree.leaves(eqn.params, is_leaf=lambda x: hasattr(x, "eqns") or hasattr(x, "jaxpr")):
            found += loops(getattr(inner, "jaxpr", inner)) if hasattr(getattr(inner, "jaxpr", inner), "eqns") else 0
    return found


def loops_of_gradient(forest: Forest) -> int:
    loss = lambda net: fold(net, forest).sum()
    return loops(jax.make_jaxpr(jax.grad(loss))(Net(jnp.ones((3, 4, 4)))).jaxpr)


@pytest.mark.parametrize("more", [[], [Two(Many([End()]), Many([End(), End()]))]], ids=["one program", "and another"])
def test_the_sums_of_all_programs_and_manys_are_one_loop(more):
    forest = pack(SomeF, [One(Many([End(), End()])), *more])
    kinds = (1 + len(more)) * len(forest.bucket.sizes)
    passes = 2 * (1 + kinds)  # up and down: over turns, and for each program and size
    assert loops_of_gradient(forest) == passes + 3  # over constructors, and over their tiles of two sizes
