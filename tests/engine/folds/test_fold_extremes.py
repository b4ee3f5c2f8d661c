"""`fold` at the ends: what stands in the padding, functions with a pole, very wide nodes beside leaves, deep chains."""

from typing import Any, Generic, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import agrees, payload_places
from alone import DEPTH, run_alone

from cdl import (
    algebra,
    Base,
    cata,
    compiled,
    Cons,
    fold,
    Fork,
    Leaf,
    ListF,
    Many,
    Nil,
    Node,
    pack,
    RoseF,
    to_list,
    TreeF,
)
from cdl._engine.jaxprs._slopes import is_tame


X = TypeVar("X", covariant=True)
TREES = [Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(0.5))), Leaf(3.0), Fork(Leaf(4.0), Leaf(5.0))]
WEIGHTS = {"left": jnp.array([0.3, 0.7], jnp.float32), "right": jnp.array([0.9, 0.2], jnp.float32)}


def with_poles(weights: Any) -> Any:
    """An algebra of positive numbers, whose functions have a pole or no slope at 0."""

    @algebra
    def read(layer: Any) -> jax.Array:
        match layer:
            case Leaf(label):
                return jnp.log(label * jnp.exp(weights["left"])) ** 2 + label
            case Fork(left, right):
                norm = jnp.linalg.norm(weights["left"] * left)
                return jnp.sqrt(weights["right"] * right) + 1 / norm + jnp.log(left)
            case Node(label, children):
                total = children.map(lambda x: jnp.sqrt(x) + jnp.log(x) / jnp.linalg.norm(x)).sum(jnp.ones(2))
                return label + jnp.sqrt(jnp.sum(jnp.square(total * weights["left"]))) + weights["right"]

    return read


def value_and_gradients(forest: Any) -> Any:
    def total(inputs: Any) -> Any:
        weights, forest = inputs
        return jnp.sum(jnp.sin(fold(with_poles(weights), forest)))

    return eqx.filter_jit(eqx.filter_value_and_grad(total))((WEIGHTS, forest))


def test_nan_in_the_padding_changes_no_value_and_no_gradient():
    forest = pack(TreeF, TREES)
    rows = [row for _, row in payload_places(forest, TREES).values()]
    column = np.full(forest.payload[0].shape, np.nan, np.float32)
    column[rows] = forest.payload[0][jnp.array(rows)]
    poisoned = eqx.tree_at(lambda f: f.payload, forest, (jnp.asarray(column),))
    clean, dirty = value_and_gradients(forest), value_and_gradients(poisoned)
    assert eqx.tree_equal(clean, dirty)
    assert all(jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(dirty))


def test_functions_with_a_pole_give_the_definition_s_gradient():
    agrees(pack(TreeF, TREES), TREES, WEIGHTS, 1e-4, make=with_poles)


def test_functions_with_a_pole_at_each_child_of_a_many_give_the_definition_s_gradient():
    leaf = lambda label: Node(label, Many())
    trees = [Node(1.0, Many([leaf(2.0), Node(0.5, Many([leaf(3.0)]))])), leaf(0.25)]
    agrees(pack(RoseF, trees), trees, WEIGHTS, 1e-4, make=with_poles)


@pytest.mark.parametrize("many", [False, True])
def test_an_infinite_state_makes_no_nan_of_an_infinite_gradient(many):
    """What fills up a tile has zeros for cotangents, and zero times infinity is NaN."""

    def read(weight: jax.Array) -> Any:
        @algebra
        def alg(layer: Any) -> jax.Array:
            match layer:
                case Leaf(label):
                    return jnp.stack([label, 1.0])
                case Fork(left, right):
                    return weight @ left + right
                case Node(label, children):
                    return jnp.stack([label, 1.0]) + children.map(lambda x: weight @ x).sum(jnp.zeros(2))

        return alg

    def fork(x: float) -> Any:
        return Node(0.0, Many([Node(x, Many())])) if many else Fork(Leaf(x), Leaf(0.5))

    trees = [fork(0.1), fork(float("inf"))]
    forest = pack(RoseF if many else TreeF, trees)
    gradient = eqx.filter_jit(eqx.filter_grad(lambda weight: fold(read(weight), forest)[:, 1].sum()))
    weight = jnp.array([[0.3, 0.2], [0.1, 0.4]])
    defined = jax.grad(lambda weight: sum(cata(read(weight))(tree)[1] for tree in trees))(weight)
    assert jnp.isinf(defined[1, 0])
    np.testing.assert_allclose(gradient(weight), defined, 1e-5)


@pytest.mark.parametrize("how", ["sum", "max", "mean"])
def test_a_leaf_stands_beside_a_node_of_two_thousand_children(how):
    labels = np.random.default_rng(0).normal(size=2_000)
    leaves = [Node(float(x), Many()) for x in labels]
    trees = [Node(0.5, Many()), Node(0.25, Many(leaves)), Node(0.75, Many(leaves[:1]))]

    @algebra
    def read(layer: Any) -> jax.Array:
        match layer:
            case Node(label, children):
                mapped = children.map(lambda x: jnp.sin(x))
                return label + 2 * getattr(mapped, how)(jnp.float32(0))

    forest = pack(RoseF, trees)
    (_, values), gradient = eqx.filter_jit(eqx.filter_value_and_grad(lambda f: second(fold(read, f)), has_aux=True))(
        forest
    )
    reduced = [0.0, getattr(np, how)(np.sin(labels)), np.sin(labels[0])]
    np.testing.assert_allclose(values, np.array([0.5, 0.25, 0.75]) + 2 * np.array(reduced), rtol=1e-4)
    highest = (np.arange(2_000) == np.sin(labels).argmax()).astype(float)
    share = {"sum": np.ones(2_000), "mean": np.full(2_000, 1 / 2_000), "max": highest}[how]
    rows = forest.row[forest.nodes(1)]
    np.testing.assert_allclose(gradient.payload[0][rows], [1, *(2 * np.cos(labels) * share)], rtol=1e-4, atol=1e-7)


def second(values: Any) -> tuple[Any, Any]:
    return values[1], values


def deep_folds() -> None:
    @algebra
    def alternating(layer: Any) -> jax.Array:
        match layer:
            case Nil():
                return jnp.float32(1)
            case Cons(head, tail):
                return head - 0.5 * tail

    trees = [to_list(np.cos(np.arange(DEPTH)).tolist()), to_list([1.0, 2.0])]
    forest = pack(ListF, trees)
    assert forest.depth == DEPTH + 1

    def first(forest: Any) -> Any:
        return fold(alternating, forest)[0]

    value, gradient = eqx.filter_jit(eqx.filter_value_and_grad(first))(forest)
    powers = (-0.5) ** np.arange(60)
    np.testing.assert_allclose(value, (np.cos(np.arange(60)) * powers).sum(), rtol=1e-5)
    rows = forest.row[forest.nodes(0)]
    np.testing.assert_allclose(gradient.payload[0][rows[:60]], powers, rtol=1e-5)
    assert len(rows) == DEPTH + 1


def test_chains_a_hundred_thousand_deep_pack_and_fold_forwards_and_backwards():
    run_alone(deep_folds)


@pytest.mark.parametrize("where", ["value", "derivative"])
def test_a_function_that_is_called_back_sees_none_of_the_padding(where):
    seen: list[float] = []

    def noted(x: Any) -> Any:
        seen.append(float(x))
        return np.float32(1) / np.float32(x)

    def called(x: jax.Array) -> jax.Array:
        return jax.pure_callback(noted, jax.ShapeDtypeStruct((), jnp.float32), x, vmap_method="sequential")

    ruled = jax.custom_vjp(jnp.tanh)
    ruled.defvjp(lambda x: (jnp.tanh(x), x), lambda x, given: (given * called(x),))

    def read(weight: jax.Array) -> Any:
        inner = called if where == "value" else ruled
        return algebra(lambda layer: weight * inner(layer.label + layer.kids.sum(0.0)))

    found = lambda run: run(jnp.ones(())) if where == "value" else jax.grad(run)(jnp.ones(()))
    leaf = [Node(1.0 + i / 16, Many([])) for i in range(3)]
    trees = [Node(2.3 + 1.7 * i, Many(leaf[: 1 + i % 3])) for i in range(5)]
    expected = found(lambda w: jnp.stack([cata(read(w))(tree) for tree in trees]).sum())
    known, seen = seen, []
    assert found(lambda w: fold(read(w), pack(RoseF, trees)).sum()) == pytest.approx(expected)
    assert seen
    assert all(np.isclose(x, known).any() for x in seen)


class Two:
    """Two constructors of many children."""


class One(Base[Two, X], Generic[X]):
    label: float
    kids: Many[X]


class Other(Base[Two, X], Generic[X]):
    label: float
    kids: Many[X]


TwoF = Union[One[X], Other[X]]


@pytest.mark.parametrize("remat", ["cheap", "all"])
def test_what_is_infinite_of_a_product_of_zeros_alone_reaches_no_gradient(remat):
    def read(weights: Any) -> Any:
        def case(layer: TwoF[jax.Array]) -> jax.Array:
            w = weights[int(isinstance(layer, Other))]
            scale = layer.label * w[0, 0]
            step = lambda x: scale * jnp.max(jnp.where(w @ x > 0.5, w @ x, -jnp.inf)) * jnp.ones(2)
            return layer.kids.map(step).sum(jnp.ones(2)) + layer.label * w[0]

        return algebra(case)

    leaves = [kind(0.5 + i / 8, Many([])) for i, kind in enumerate((One, Other, One))]
    trees = [(One, Other)[i % 2](0.7, Many(leaves[: 1 + i % 3])) for i in range(14)]
    weights = jnp.array([[1.1, 1.3], [0.9, 1.2]]), jnp.array([[1.4, 0.9], [1.0, 1.3]])
    forest = pack(TwoF, trees)
    how = compiled.Levels(remat=remat)
    found = jax.grad(lambda ws: jnp.log(fold(read(ws), forest, how=how)).sum())(weights)
    expected = jax.grad(lambda ws: sum(jnp.log(cata(read(ws))(tree)).sum() for tree in trees))(weights)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)


def _tame(case: Any, *like: Any) -> bool:
    return is_tame(jax.make_jaxpr(case)(*like).jaxpr)


def test_what_may_make_nan_of_zeros_or_not_end_is_not_tame():
    x = jnp.ones((3, 3))
    for tame in (lambda x: jax.nn.sigmoid(x @ x) + jnp.tanh(x), lambda x: x * jnp.max(x), jax.jit(jnp.sin)):
        assert _tame(tame, x)
    for wild in (
        lambda x: x / x.sum(), jax.nn.softmax, jnp.linalg.norm, jnp.log, jax.jit(jnp.sqrt), lambda x: x**-1,
        lambda x: jax.lax.while_loop(lambda x: x.sum() < 1, lambda x: 2 * x, x),
        lambda x: jax.pure_callback(np.sin, x, x, vmap_method="sequential"),
        lambda x: jax.lax.cond(x.sum() > 0, jnp.log, jnp.sin, x), jnp.linalg.inv, jax.nn.relu,  # a rule may do anything
        lambda x: jnp.where(x > 0, x, -jnp.inf), lambda x: jnp.take(x, (3 * x).astype(int), mode="fill"),
    ):  # fmt: skip
        assert not _tame(wild, x)
