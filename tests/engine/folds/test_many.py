"""Every reduction of `Many`: what the words say, and the same in `fold` as in `cata`, in value and gradient."""

import math
from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import agrees
from bushes import Bud, bushes, BushF, twig

from cdl import algebra, Base, cata, CdlError, fold, Many, Node, pack, RoseF
from cdl.errors import CarrierMismatch


X = TypeVar("X", covariant=True)


def rose(label: Any, *kids: Any) -> Any:
    return Node(label, Many(kids))


LABELS = (0.5, -1.5, 2.0, 0.25, -0.75, 1.25, 3.0)
TREES = [
    rose(LABELS[0], rose(LABELS[1]), rose(LABELS[2], rose(LABELS[3])), rose(LABELS[4])),
    rose(LABELS[5]),
    rose(LABELS[6], rose(LABELS[1]), rose(LABELS[1]), rose(LABELS[3], rose(LABELS[0]), rose(LABELS[2]))),
]

WAYS: dict[str, Callable[[Any], Any]] = {
    "min": lambda kids: kids.min(0.0),
    "prod": lambda kids: kids.prod(1.0),
    "var": lambda kids: kids.var(0.0),
    "std": lambda kids: kids.std(0.0),
    "any": lambda kids: jnp.asarray(kids.map(lambda x: x > 1).any()).astype(float),
    "all": lambda kids: jnp.asarray(kids.map(lambda x: x > -1).all()).astype(float),
    "argmax": lambda kids: jnp.asarray(kids.argmax(jnp.int32(-1))).astype(float),
    "top": lambda kids: (kids.top(3, 0.0) * jnp.array([1.0, 0.5, 0.25])).sum(),
    "softmax": lambda kids: kids.softmax(lambda x: 2 * x).map(lambda pair: pair[0] * pair[1] ** 2).sum(0.0),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_reduction_is_the_same_compiled(name):
    class Net(eqx.Module):
        scale: jax.Array

        def __call__(self, layer: Node[Any, Any]) -> Any:
            return jnp.tanh(layer.label * self.scale + WAYS[name](layer.kids.map(lambda x: x * self.scale)))

    with jax.enable_x64(True):
        make = lambda scale: algebra(Net(scale).__call__)
        agrees(pack(RoseF, TREES), TREES, jnp.float64(1.5), 1e-10, make=make)


VALUES = (3.0, -1.0, 3.0, 2.0)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda m: m.min(), -1.0),
        (lambda m: m.prod(), -18.0),
        (lambda m: m.var(), 2.6875),
        (lambda m: m.std(), math.sqrt(2.6875)),
        (lambda m: m.any(), True),
        (lambda m: m.map(lambda x: x > 5).any(), False),
        (lambda m: m.map(lambda x: x > -2).all(), True),
        (lambda m: m.all(), True),
        (lambda m: m.argmax(), 0),
        (lambda m: m.map(lambda x: -x).argmax(), 1),
        (lambda m: m.top(2).tolist(), [3.0, 3.0]),
        (lambda m: m.top(5, 0.0).tolist(), [3.0, 3.0, 2.0, -1.0, 0.0]),
        (lambda m: m.softmax(lambda x: 0.0).map(lambda p: p[0] * p[1]).sum().item(), 1.75),
    ],
)
def test_each_is_what_its_name_says(found, wanted):
    assert found(Many(VALUES)) == wanted


def test_numbers_of_python_stay_and_whole_numbers_are_exact():
    many = Many([2**20, 3, -(2**30)])
    assert (many.min(), many.prod()) == (-(2**30), -(2**50) * 3)
    assert type(many.min()) is int
    assert Many([True, False]).min() is False
    assert Many([np.int32(-(2**31)), np.int32(2**31 - 1)]).min() == -(2**31)
    unsigned = Many([jnp.uint8(255), jnp.uint8(1)])
    assert (unsigned.min(), unsigned.min().dtype) == (1, jnp.uint8)


def test_none_has_the_value_for_none():
    none = Many([])
    assert (none.min(7), none.prod(1), none.var(0.0), none.std(0.0), none.argmax(-1)) == (7, 1, 0.0, 0.0, -1)
    assert (none.any(), none.all(), none.top(2, 5.0).tolist()) == (False, True, [5.0, 5.0])
    for name in ("min", "prod", "argmax"):
        with pytest.raises(CarrierMismatch, match=f"is reduced by `{name}`, which was not given a value for no child"):
            getattr(none, name)()
    with pytest.raises(CarrierMismatch, match="is reduced by `top`, which was not given a value for no child"):
        none.top(2)


def test_equal_children_have_no_infinite_slope():
    slope = jax.grad(lambda x: Many([x, x]).std())(jnp.float32(2.0))
    assert slope == 0


class Heads(eqx.Module):
    """Two heads: a child's state is `(2, 3)`, and its score `(2,)`."""

    query: jax.Array

    def __call__(self, layer: Node[Any, Any]) -> Any:
        seen = layer.kids.attend(lambda x: jnp.sum(x * self.query, 1), jnp.zeros((2, 3), jnp.float32))
        return jnp.tanh(layer.label * self.query + seen)


def test_several_heads_attend_each_with_its_own_weights():
    query = jnp.arange(6, dtype=jnp.float32).reshape(2, 3) / 5
    children = [jnp.float32(i) + query for i in range(3)]
    scores = jnp.stack([jnp.sum(x * query, 1) for x in children])
    wanted = jnp.einsum("nh,nhd->hd", jax.nn.softmax(scores, 0), jnp.stack(children))
    found = Many(children).attend(lambda x: jnp.sum(x * query, 1))
    assert jnp.allclose(found, wanted, rtol=1e-5)
    agrees(pack(RoseF, TREES), TREES, query, 1e-5, make=lambda q: algebra(Heads(q).__call__))


def test_weights_of_several_heads_add_up_to_one_and_those_of_no_child_are_none():
    weights = Many(VALUES).softmax(lambda x: jnp.array([x, -x])).map(lambda pair: pair[0])
    assert jnp.allclose(weights.sum(), 1)
    assert Many([]).softmax(lambda x: x) == Many([])


def test_heads_that_a_child_does_not_have_are_refused():
    wrong = algebra(lambda layer: layer.label + layer.kids.attend(lambda x: jnp.zeros(2), jnp.zeros(3)).sum() * 0)
    vectors = lambda f: f(Many([jnp.zeros(3), jnp.ones(3)]))
    with pytest.raises(CarrierMismatch, match=r"the score of `attend` has shape \(2,\), .* an array of shape \(3,\)"):
        vectors(lambda m: m.attend(lambda x: jnp.zeros(2)))
    tree = rose(np.zeros(3, np.float32), rose(np.ones(3, np.float32)))
    with pytest.raises(CdlError, match=r"the score of `attend` has shape \(2,\)"):
        fold(wrong, pack(RoseF, [tree]))


@pytest.mark.parametrize("name", ["min", "argmax"])
def test_complex_numbers_have_no_order(name):
    with pytest.raises(CarrierMismatch, match=f"reduced by `{name}`, and they have no order"):
        getattr(Many([1j, 2j]), name)()


def test_a_zero_of_another_shape_is_refused_by_the_name_that_was_written():
    with pytest.raises(CarrierMismatch, match="is reduced by `prod` with `zero="):
        Many([jnp.ones(2)]).prod(jnp.ones(3))


SINGLE = ("sum", "mean", "max", "min", "prod", "var", "std", "argmax")
NAMED = {name: (lambda m, *zero, name=name: getattr(m, name)(*zero), "zero", f"{name}(zero)") for name in SINGLE}
NAMED["top"] = lambda m, *fill: m.top(2, *fill), "fill", "top(k, fill)"
NAMED["attend"] = lambda m, *zero: m.attend(jnp.sum, *zero), "zero", "attend(score, zero)"


@pytest.mark.parametrize("name", NAMED)
def test_a_reduction_is_told_by_the_name_and_the_arguments_that_one_writes(name):
    reduce, given, usage = NAMED[name]
    with pytest.raises(CarrierMismatch) as none:
        reduce(Many([]))
    assert f"is reduced by `{name}`, which" in str(none.value)
    assert f"write `{usage}`, with a `{given}` of the shape of one child" in str(none.value)
    for many in (
        lambda wrong: reduce(Many([jnp.ones(3)]), wrong),
        lambda wrong: fold(
            algebra(lambda layer: layer.label + reduce(layer.kids, wrong).sum() * 0), pack(RoseF, TREES)
        ),
    ):
        with pytest.raises(CarrierMismatch, match=rf"is reduced by `{name}` with `{given}=f32\[2\]`: give `{given}`"):
            many(jnp.zeros(2, jnp.float32))


@pytest.mark.parametrize(
    ("child", "zero", "said"),
    [
        (jnp.ones(3), 0.0, r", such as `jnp.zeros\(3\)`\.$"),
        (jnp.ones((2, 3)), 0, r", such as `jnp.zeros\(\(2, 3\)\)`\.$"),
        (jnp.ones(3), 1.5, r", such as `jnp.full\(3, 1\.5\)`\.$"),
        (jnp.ones(3), jnp.zeros(2), r"of one mapped child\.$"),
        ((1.0, 2.0), 0.0, r"of one mapped child\.$"),
    ],
)
def test_a_number_as_the_zero_of_vectors_is_told_how_to_be_one(child, zero, said):
    with pytest.raises(CarrierMismatch, match=f"is reduced by `sum` with `zero=.*: give `zero` the structure.*{said}"):
        Many([child]).sum(zero)


@pytest.mark.parametrize("name", ["any", "all"])
def test_truth_values_of_arrays_are_reduced_element_by_element(name):
    rows = jnp.array([[True, False, True], [True, False, False]])
    assert getattr(Many(list(rows)), name)().tolist() == getattr(rows, name)(0).tolist()
    with pytest.raises(CarrierMismatch, match=rf"is reduced by `{name}` with `zero=bool\[2\]`"):
        getattr(Many(list(rows)), name)(jnp.zeros(2, bool))


class Either:
    """The name of the functor `float + Many(X)`."""


class Value(Base[Either, Never]):
    """A number."""

    number: float


class Some(Base[Either, X], Generic[X]):
    """Any number of children."""

    children: Many[X]


@pytest.mark.parametrize(
    "reduced", [lambda m: m.all(), lambda m: m.any(), lambda m: m.min(True), lambda m: m.max(False)]
)
def test_truth_values_of_children_are_reduced_as_by_definition(reduced):
    def alg(layer):
        match layer:
            case Value(number):
                return number > 1
            case Some(children):
                return reduced(children)

    trees: list[Any] = [Some(Many([Value(x), Value(2.0)])) for x in (3.0, 0.0)]
    whole = [bool(cata(algebra(alg))(tree)) for tree in trees]
    assert fold(alg, pack(Union[Value, Some[Any]], trees)).tolist() == whole


@pytest.mark.parametrize("least", [False, True])
def test_children_that_are_equally_great_share_the_gradient_equally_in_the_definition_too(least):
    alg = bushes(lambda kids: kids.min(0.0) if least else kids.max(0.0), lambda value: value * jnp.float32(1))
    tree = lambda xs: twig(*map(Bud, xs))
    slow = jax.grad(lambda xs: cata(alg)(tree(list(xs))))(jnp.ones(4))
    forest = pack(BushF, [tree([1.0] * 4)])
    fast = jax.grad(lambda p: fold(alg, eqx.tree_at(lambda f: f.payload, forest, p)).sum())(forest.payload)
    assert slow.tolist() == [x for x in fast[0].tolist() if x] == [0.25] * 4
