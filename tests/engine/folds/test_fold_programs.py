"""Constructors share a program where their cases are the same but for weights, and only there.

What is counted is programs; that what is merged still means the same is checked by gradients.
"""

from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from agreement import agrees

from cdl import Algebra, algebra, Base, cata, fold, pack
from cdl._engine.folds.case import read, Reading


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
    return len(read(Reading((alg,), pack(PairF, [TREE]).bucket, None))[1])


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


def jitted(scale: Any) -> Callable[[Any], Any]:
    return jax.jit(lambda x: x * scale)


def called_back(scale: Any) -> Callable[[Any], Any]:
    return lambda x: jax.pure_callback(lambda x: x * np.float32(scale), x, x, vmap_method="sequential")


def through_vjp(scale: Any) -> Callable[[Any], Any]:
    return jax.jit(lambda x: with_vjp(scale)(x) * jnp.asarray(scale))


def checkpointed(scale: Any) -> Callable[[Any], Any]:
    table = jnp.full(3, scale)
    return jax.checkpoint(lambda x: x * jax.jit(lambda y: y + table)(x))


def scanned(scale: Any) -> Callable[[Any], Any]:
    steps = np.full((2, 3), scale, np.float32)
    return lambda x: jax.lax.scan(lambda carry, step: (carry * step, None), x, steps)[0]


CLOSED = [jitted, called_back, through_vjp, checkpointed, scanned]


@pytest.mark.parametrize("close", CLOSED)
def test_cells_that_differ_in_what_a_function_inside_them_closes_over_are_different(close):
    """Two programs may look the same in print, and close over other numbers or call other functions."""
    scale = {"this": jnp.asarray([3.0]), "that": jnp.asarray([70.0])}
    if close is called_back:
        scale = {"this": np.asarray(3.0), "that": np.asarray(70.0)}
    this, that = (cell(close(value[0] if value.ndim else value)) for value in scale.values())
    alg = reader((jnp.eye(3), jnp.eye(3)), this, that)
    np.testing.assert_allclose(fold(alg, pack(PairF, [TREE]))[0], cata(alg)(TREE), rtol=1e-4)


@pytest.mark.parametrize("close", [jitted, checkpointed, scanned])
def test_cells_that_close_over_equal_numbers_share_a_program(close):
    this, that = cell(close(jnp.asarray(3.0))), cell(close(jnp.asarray(3.0)))
    assert number_of_programs(reader((jnp.eye(3), 2 * jnp.eye(3)), this, that)) == 2


def test_numbers_that_compare_equal_and_are_not_the_same_keep_cells_apart():
    negative = lambda x: 1 / (0 * x + jax.jit(lambda: jnp.asarray(-0.0))())
    positive = lambda x: 1 / (0 * x + jax.jit(lambda: jnp.asarray(0.0))())
    alg = reader((jnp.zeros((3, 3)), jnp.zeros((3, 3))), cell(positive), cell(negative))
    np.testing.assert_array_equal(fold(alg, pack(PairF, [TREE]))[0], cata(alg)(TREE))


def test_a_rule_that_wants_symbolic_zeros_or_fails_keeps_cells_apart(weights):
    def odd(slope: float) -> Callable[[Any], Any]:
        activation = jax.custom_jvp(lambda x: jnp.maximum(x, 0))
        activation.defjvp(
            lambda primals, tangents: (activation(*primals), slope * tangents[0]), symbolic_zeros=slope > 0
        )
        return activation

    assert number_of_programs(reader(weights, cell(odd(1.0)), cell(odd(1.0)))) == 3


def test_cells_whose_second_derivatives_differ_alone_are_different_programs(weights):
    def curved(curve: float) -> Callable[[Any], Any]:
        slope = jax.custom_jvp(lambda x: jnp.cos(x))
        slope.defjvp(lambda primals, tangents: (jnp.cos(*primals), -curve * jnp.sin(*primals) * tangents[0]))
        activation = jax.custom_jvp(lambda x: jnp.sin(x))
        activation.defjvp(lambda primals, tangents: (jnp.sin(*primals), slope(*primals) * tangents[0]))
        return activation

    assert number_of_programs(reader(weights, cell(curved(1.0)), cell(curved(2.0)))) == 3


@pytest.mark.parametrize("wanted", [0, 1])
def test_one_of_two_weights_is_differentiated_and_the_other_is_an_array_of_numpy(wanted):
    held = np.array([0.5, -1.0, 2.0], np.float32)
    cell = lambda w, left, right: jnp.tanh(w * left - right)

    def of(how, weight):
        net = reader((held, weight) if wanted else (weight, held), cell, cell)
        return (fold(net, pack(PairF, [TREE]))[0] if how == "fold" else cata(net)(TREE)).sum()

    found, expected = (
        jax.grad(lambda w, how=how: of(how, w))(jnp.asarray([1.5, 0.25, -0.5])) for how in ("fold", "cata")
    )
    assert jnp.allclose(found, expected, atol=1e-6)
