"""Folds that see more than a value, as plain algebras: compiled beside their definitions, in value and gradient."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from agreement import close, differentiated, QUICKLY

from cdl import Algebra, algebra, choose, fold, Fork, Leaf, Many, Node, pack, refold, RoseF, TreeF
from cdl.functors import NatF, Succ, Zero
from cdl.schemes import (
    dyna,
    histo,
    histo_algebra,
    mutu,
    mutu_algebra,
    past,
    prepro,
    prepro_algebra,
    zygo,
    zygo_algebra,
)


TREES = [
    Fork(Fork(Leaf(1.0), Leaf(-0.4)), Leaf(0.3)),
    Leaf(2.0),
    Fork(Leaf(0.1), Fork(Fork(Leaf(0.2), Leaf(0.9)), Fork(Leaf(0.5), Leaf(0.7)))),
]


class Sizes(Algebra[TreeF[float, Any], Any]):
    w: jax.Array

    def __call__(self, layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(x):
                return self.w[0] * x
            case Fork(a, b):
                return jnp.tanh(self.w[1] * a - self.w[2] * b)


class Pairs(Algebra[TreeF[float, Any], Any]):
    w: jax.Array

    def __call__(self, layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(x):
                return jnp.sin(self.w[3] * x)
            case Fork((n, a), (m, b)):
                return a * m - self.w[4] * b * n


class Remembers(Algebra[TreeF[float, Any], Any]):
    w: jax.Array

    def __call__(self, layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(x):
                return jnp.tanh(self.w[0] * x)
            case Fork(a, b):
                far = past(a, (1,), 0.5) - self.w[1] * past(b, (0, 1), 0.25)
                return jnp.sin(self.w[2] * past(a, (), 0.0) + far + past(b, (), 0.0))


def swap(layer: Any) -> Any:
    return Leaf(layer.label * 2) if isinstance(layer, Leaf) else Fork(layer.right, layer.left)


SCHEMES = {
    "zygo": (
        lambda w: zygo(Sizes(w), Pairs(w)),
        lambda w: zygo_algebra(Sizes(w), Pairs(w)),
        lambda x: x[1],
    ),
    "mutu": (
        lambda w: mutu(Pairs(w), Pairs(2 * w)),
        lambda w: mutu_algebra(Pairs(w), Pairs(2 * w)),
        lambda x: x[1],
    ),
    "histo": (
        lambda w: histo(Remembers(w)),
        lambda w: histo_algebra(Remembers(w), 2),
        lambda x: x.head,
    ),
    "prepro": (
        lambda w: prepro(swap, Sizes(w)),
        lambda w: prepro_algebra(swap, Sizes(w), 4),
        lambda x: x[:, 0],
    ),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_as_algebra_folds_to_what_the_scheme_gives(name):
    scheme, as_algebra, read = SCHEMES[name]
    with jax.enable_x64(True):
        forest, w = pack(TreeF, TREES), jnp.array([0.7, -1.3, 0.4, 1.1, 0.6])
        slow, (slow_w, _) = differentiated(lambda w, _: jnp.stack([scheme(w)(t) for t in TREES]))(w, 0.0)
        compiled = differentiated(lambda w, _: read(fold(as_algebra(w), forest)))
        fast, (fast_w, _) = eqx.filter_jit(compiled, compiler_options=QUICKLY)(w, 0.0)
        close(fast, slow, 1e-10)
        close(fast_w, slow_w, 1e-9)


@algebra
def fibonacci(layer: NatF[Any]) -> Any:
    match layer:
        case Zero():
            return jnp.array(0)
        case Succ(below):
            return past(below, (), 0) + past(below, (0,), 1)


def numeral(n: int) -> Any:
    found: Any = Zero()
    for _ in range(n):
        found = Succ(found)
    return found


def test_histo_algebra_of_fibonacci_has_a_window_of_one():
    wanted = [0, 1, 1, 2, 3, 5, 8, 13, 21]
    assert [int(histo(fibonacci)(numeral(n))) for n in range(9)] == wanted
    assert fold(histo_algebra(fibonacci, 1), pack(NatF, map(numeral, range(9)))).head.tolist() == wanted


def test_dyna_is_a_refold_of_the_same_algebra():
    def down(n: Any) -> Any:
        return choose(jnp.where(n == 0, jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])), Zero(), Succ(n - 1))

    values, undone = refold(histo_algebra(fibonacci, 1), down, jnp.arange(7), 8)
    assert values.head.tolist() == [int(dyna(fibonacci, down)(jnp.array(n))) for n in range(7)]
    assert not undone.any()


def test_zygo_algebra_sees_the_children_of_a_many():
    @algebra
    def count(layer: RoseF[float, Any]) -> Any:
        return 1.0 + layer.kids.sum(jnp.array(0.0))

    @algebra
    def weighed(layer: RoseF[float, Any]) -> Any:
        return layer.label + layer.kids.map(lambda pair: pair[0] * pair[1]).sum(jnp.array(0.0))

    trees = [
        Node(1.0, Many([Node(0.5, Many([])), Node(-0.2, Many([Node(0.3, Many([]))]))])),
        Node(0.1, Many([])),
    ]
    found = fold(zygo_algebra(count, weighed), pack(RoseF[float, Any], trees))[1]
    close(found, jnp.stack([jnp.asarray(zygo(count, weighed)(tree)) for tree in trees]), 1e-6)
