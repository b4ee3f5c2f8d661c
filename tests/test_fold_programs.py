"""Constructors share a program where their cases are the same but for weights, and only there.

What is counted is programs; that what is merged still means the same is checked by gradients.
"""

from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import agrees

from cdl import Algebra, algebra, Base, pack
from cdl.run.folds._case import read, Reading


X = TypeVar("X", covariant=True)
Cell = Callable[[Any, Any, Any], Any]


class Pair:
    """The name of the functor `1 + X² + X²`."""


class End(Base[Pair, Never]):
    pass


class This(Base[Pair, X], Generic[X]):
    left: X
    right: X


class That(Base[Pair, X], Generic[X]):
    left: X
    right: X


PairF = Union[End, This[X], That[X]]
TREE = That(This(End(), This(End(), End())), That(End(), This(End(), That(End(), End()))))


def reader(weights: tuple[Any, Any], this: Cell, that: Cell) -> Algebra[Any, jax.Array]:
    """One cell for each of the two constructors, each with its weights."""

    @algebra
    def read_layer(layer: Any) -> jax.Array:
        match layer:
            case This(left, right):
                return this(weights[0], left, right)
            case That(left, right):
                return that(weights[1], left, right)
            case _:
                return jnp.linspace(-1, 1, 3)

    return read_layer


def number_of_programs(alg: Any) -> int:
    return len(read(Reading((alg,), pack(PairF, [TREE]).bucket, False))[1])


def cell(activation: Callable[[Any], Any] = jnp.tanh) -> Cell:
    return lambda w, left, right: activation(w @ left + jnp.sin(right))


def swapped(w: Any, left: Any, right: Any) -> Any:
    return jnp.tanh(w @ right + jnp.sin(left))


def with_jvp(slope: float) -> Callable[[Any], Any]:
    @jax.custom_jvp
    def activation(x: Any) -> Any:
        return jnp.maximum(x, 0)

    activation.defjvp(lambda primals, tangents: (activation(*primals), slope * tangents[0]))
    return activation


def with_vjp(slope: float) -> Callable[[Any], Any]:
    @jax.custom_vjp
    def activation(x: Any) -> Any:
        return jnp.maximum(x, 0)

    activation.defvjp(lambda x: (activation(x), None), lambda _, given: (slope * given,))
    return activation


@pytest.fixture
def weights(getkey):
    return jr.normal(getkey(), (3, 3)), jr.normal(getkey(), (3, 3))


@pytest.mark.parametrize(
    "activation", [jnp.tanh, jax.nn.relu, jax.nn.gelu, jax.nn.softplus, with_jvp(2.0), with_vjp(2.0)]
)
def test_constructors_with_weights_of_their_own_share_a_program(weights, activation):
    alg = reader(weights, cell(activation), cell(activation))
    assert number_of_programs(alg) == 2  # the leaf's, and one for both


def test_the_same_cell_with_its_arguments_swapped_is_another_program(weights):
    assert number_of_programs(reader(weights, cell(), swapped)) == 3


@pytest.mark.parametrize("rule", [with_jvp, with_vjp])
def test_cells_that_differ_in_their_derivative_rule_alone_are_different_programs(weights, rule):
    assert number_of_programs(reader(weights, cell(rule(1.0)), cell(rule(3.0)))) == 3


@pytest.mark.parametrize("rule", [with_jvp, with_vjp])
def test_each_of_two_cells_is_differentiated_by_its_own_rule(weights, rule):
    cells = cell(rule(1.0)), cell(rule(3.0))
    agrees(pack(PairF, [TREE]), [TREE], weights, 1e-4, make=lambda weights: reader(weights, *cells))


def test_stacked_weights_get_each_their_own_gradient(weights):
    agrees(pack(PairF, [TREE]), [TREE], weights, 1e-4, make=lambda weights: reader(weights, cell(), cell()))


def test_weights_shared_by_two_constructors_get_the_sum_of_both_gradients(weights):
    shared = lambda w: reader((w, w), cell(), swapped)
    agrees(pack(PairF, [TREE]), [TREE], weights[0], 1e-4, make=shared)
