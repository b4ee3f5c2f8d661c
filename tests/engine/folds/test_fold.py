"""`fold` is `cata` at every tree, in value and in gradient, for every built-in signature.

The algebras have weights of their own at each place and do not commute; the forests have several constructors, and
trees of many sizes.
"""

import random
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from agreement import agrees
from any_algebra import any_algebra
from few import few

from cdl import algebra, Fork, Leaf, ListF, Many, Node, pack, RoseF, to_list, TreeF
from cdl.compiled import Levels
from cdl.functors import Branch, LabelledTreeF, Link, NatF, SnocF, Succ, Tip, to_snoc, Zero


def numbers(rng: random.Random, count: int) -> list[float]:
    return [rng.gauss(0, 1) for _ in range(count)]


def chain(rng: random.Random, size: int) -> Any:
    link = Link(rng.gauss(0, 1))
    for _ in range(size - 1):
        link = Link(rng.gauss(0, 1), link)
    return link


def binary(rng: random.Random, size: int) -> Any:
    if size < 2:
        return Leaf(rng.gauss(0, 1))
    left = rng.randint(1, size - 1)
    return Fork(binary(rng, left), binary(rng, size - left))


def labelled(rng: random.Random, size: int) -> Any:
    if size < 2:
        return Tip()
    left = rng.randint(1, size - 1)
    return Branch(rng.gauss(0, 1), labelled(rng, left), labelled(rng, size - left))


def rose(rng: random.Random, size: int) -> Any:
    kids = []
    while size > 1:
        kids.append(rng.randint(size // 2, size - 1))
        size -= kids[-1]
    return Node(rng.gauss(0, 1), Many(rose(rng, k) for k in kids))


def natural(_: random.Random, size: int) -> Any:
    tree: Any = Zero()
    for _ in range(size):
        tree = Succ(tree)
    return tree


BUILT_IN = {
    "ListF": (ListF, lambda rng, size: to_list(numbers(rng, size))),
    "SnocF": (SnocF, lambda rng, size: to_snoc(numbers(rng, size))),
    "Link": (Link, chain),
    "TreeF": (TreeF, binary),
    "LabelledTreeF": (LabelledTreeF, labelled),
    "RoseF": (RoseF, rose),
    "NatF": (NatF, natural),
}


def built_in_case(name: str, x64: bool, tolerance: float, key: Any, ways: tuple[str, ...]) -> None:
    signature, grow = BUILT_IN[name]
    rng = random.Random(name)
    trees = [grow(rng, size) for size in (1, 9, 2, 14, 5, 5)]
    with jax.enable_x64(x64):
        alg = any_algebra(signature, key, jnp.float64 if x64 else jnp.float32, ways=ways)
        agrees(pack(signature, trees), trees, alg, tolerance)


@pytest.mark.parametrize("name", [n for n in BUILT_IN if n != "RoseF"])
def test_folding_a_forest_is_folding_each_tree_by_definition(name, getkey):
    built_in_case(name, True, 1e-10, getkey(), ("sum", "max"))


@pytest.mark.parametrize("name", ["LabelledTreeF", "RoseF"])
def test_folding_a_forest_is_folding_each_tree_in_single_precision(name, getkey):
    built_in_case(name, False, 1e-4, getkey(), ("mean",))


@pytest.mark.parametrize("ways", [("mean", "fold"), ("attend", "sum")], ids=" ".join)
def test_a_forest_of_nodes_of_many_children_is_folded_as_each_tree_is(ways, getkey):
    built_in_case("RoseF", True, 1e-10, getkey(), ways)


@pytest.mark.parametrize("name", ["TreeF", pytest.param("RoseF", marks=pytest.mark.slow)])
def test_a_tree_alone_and_in_a_forest_is_given_the_same_keys(name, getkey):
    signature, grow = BUILT_IN[name]
    trees = [grow(random.Random(size), size) for size in (7, 1, 12)]
    alg = any_algebra(signature, getkey(), jnp.float32, noisy=True, ways=("mean", "fold"))
    agrees(pack(signature, trees), trees, alg, 1e-4, key=getkey())


def test_arrays_that_a_function_closes_over_get_their_gradient(getkey):
    trees = [binary(random.Random(size), size) for size in (3, 8)]
    weights = {name: jr.normal(getkey(), (3, 3)) for name in ("label", "left", "right")}

    def make(weights: dict[str, jax.Array]) -> Any:
        @algebra
        def read(layer: Any) -> jax.Array:
            match layer:
                case Leaf(label):
                    return jnp.tanh(weights["label"] @ jnp.full(3, label))
                case Fork(left, right):
                    return jnp.tanh(weights["left"] @ left + weights["right"] @ jnp.tanh(right))

        return read

    agrees(pack(TreeF, trees), trees, weights, 1e-4, make=make)


@pytest.mark.parametrize(("name", "remat"), few([("TreeF", "cheap"), ("TreeF", "all"), ("RoseF", "all")], 0, 2))
def test_what_is_kept_for_the_reverse_pass_changes_no_gradient(name, remat, getkey):
    signature, grow = BUILT_IN[name]
    trees = [grow(random.Random(size), size) for size in (1, 9, 2, 14)]
    alg = any_algebra(signature, getkey(), jnp.float32, ways=("attend",))
    agrees(pack(signature, trees), trees, alg, 1e-4, how=Levels(remat=remat))
