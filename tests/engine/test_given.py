"""Whole numbers that JAX's types have no room for: at every entrance they are refused, and not wrapped around."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl import CdlError, choose, Fork, Leaf, MealyF, TreeF
from cdl.errors import PayloadMismatch


WIDE = np.array([2**40 + 3, 5])
TREES = cdl.pack(TreeF, [Leaf(1.0), Fork(Leaf(1.0), Leaf(2.0))])
delay = lambda state: MealyF(lambda x: (x, state))
leaf = lambda seed: choose(jnp.array([1.0, 0.0]), Leaf(seed), Fork(seed, seed))
padded = lambda x: np.resize(x, TREES.bucket.nodes)
hand = lambda top, layer: cdl.fmap(lambda _: top, layer)


@cdl.algebra
def total(layer: TreeF[float, Any]) -> Any:
    return layer.label if isinstance(layer, Leaf) else layer.left + layer.right


class Holds(cdl.Algebra[TreeF[float, Any], Any]):
    by: Any

    def __call__(self, layer: TreeF[float, Any]) -> Any:
        return jnp.asarray(self.by).sum() if isinstance(layer, Leaf) else layer.left + layer.right


ENTRANCES = {
    "unfold": ("a seed", lambda x: cdl.unfold(leaf, x, 3)),
    "refold": ("a seed", lambda x: cdl.refold(total, leaf, x, 3)),
    "refold in levels": ("a seed", lambda x: cdl.refold(total, Leaf, x)),
    "run": ("an input", lambda x: cdl.run(delay, 0, x)),
    "run from a state": ("a state", lambda x: cdl.run(delay, x[0], np.array([1]))),
    "start": ("a state", lambda x: cdl.machines.start(delay, x[0])),
    "step": ("an input", lambda x: cdl.machines.start(delay, 0).step(x[0])),
    "inherit": ("`at_root`", lambda x: cdl.inherit(hand, TREES, x)),
    "inherit, seen below": ("`values`", lambda x: cdl.inherit(hand, TREES, jnp.ones(2), values=padded(x))),
    "a sequence": ("`values`", lambda x: cdl.Seq(x[None], [2])),
    "sequences end to end": ("`values`", lambda x: cdl.Packed.of([x])),
    "follow": ("`seeds`", lambda x: cdl.follow(leaf, TREES, x)),
}


@pytest.mark.parametrize(("what", "enter"), ENTRANCES.values(), ids=ENTRANCES)
def test_a_number_that_is_given_stays_the_same_or_is_refused(what, enter):
    found = f"{what} holds 1099511627779, and `int32`, the type that JAX gives it, ends at 2147483647"
    with pytest.raises(PayloadMismatch, match=found):
        enter(WIDE)
    with pytest.raises(PayloadMismatch, match=r"ends at -2147483648: the number would be changed"):
        enter(-WIDE)
    with pytest.raises(PayloadMismatch, match=r"holds 1e\+300, and `float32`.*would become infinite"):
        enter(np.array([1e300, 1.0]))
    enter(np.array([2**31 - 1, -(2**31)]))
    with np.errstate(over="ignore"):
        enter(np.array([1 / 3, np.inf]))
    with jax.enable_x64(True):
        enter(WIDE)


def test_python_s_whole_numbers_too():
    for enter in (lambda: cdl.run(delay, 2**40, np.ones(2)), lambda: cdl.machines.start(delay, 2**70)):
        with pytest.raises(PayloadMismatch, match="a state holds 1"):
            enter()
    written = cdl.algebra(lambda layer: layer.label * 2**40 if isinstance(layer, Leaf) else layer.left)
    with pytest.raises(CdlError, match="gives JAX a whole number at `Leaf` that its type has no room for"):
        cdl.fold(written, TREES)


def test_values_of_another_forest_are_refused():
    roots = cdl.fold(total, TREES)
    with pytest.raises(cdl.errors.CarrierMismatch, match=r"of shape .2,., and this forest has 64 rows"):
        cdl.inherit(hand, TREES, jnp.ones(2), values=roots)


def test_a_unit_that_is_another_number_among_the_elements_is_refused():
    whole = cdl.Seq(jnp.ones((1, 4), jnp.int32), [4])
    for unit in (0.5, jnp.array(0.5), jnp.inf, 2**40):
        with pytest.raises(cdl.errors.CarrierMismatch, match="the monoid's unit is"):
            cdl.fold(cdl.monads.Monoid(unit, jnp.add), whole)
    matrices = cdl.Seq(jnp.ones((1, 4, 3, 3), jnp.int32), [4])
    with pytest.raises(cdl.errors.CarrierMismatch, match="the monoid's unit is"):
        cdl.fold(cdl.monoids.min_plus(3), matrices)
    assert cdl.fold(cdl.monads.Monoid(0, jnp.add), whole)[0] == 4


def reads_outside(by: Any) -> Any:
    return cdl.algebra(lambda layer: jnp.asarray(by).sum() if isinstance(layer, Leaf) else layer.left + layer.right)


@pytest.mark.parametrize("make", [Holds, reads_outside, lambda x: reads_outside(x[0]), lambda x: reads_outside([x])])
def test_numbers_that_a_case_reads_from_outside_are_refused(make):
    with pytest.raises(CdlError, match=r"whole numbers that do not fit `int32`, the type that JAX gives them"):
        cdl.fold(make(WIDE), TREES)
    with jax.enable_x64(True):
        forest = cdl.pack(TreeF, [Leaf(1.0)])
        wanted = cdl.cata(make(WIDE))(Leaf(1.0))
        assert cdl.fold(make(WIDE), forest)[0] == wanted
    assert cdl.fold(make(np.array([3, 5])), TREES)[0] == cdl.cata(make(np.array([3, 5])))(Leaf(1.0))


def test_more_nodes_than_a_table_has_rows():
    with pytest.raises(CdlError, match="1 trees of 2147483648 nodes each are more than the 2147483647 rows"):
        cdl.unfold(leaf, jnp.ones(1), 2**31)


def test_a_corpus_is_not_cut_under_jit():
    corpus = cdl.Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])
    with pytest.raises(CdlError, match="packs its trees on the host, outside of `jit`"):
        jax.jit(lambda i: cdl.fold(total, corpus[i]))(jnp.array([0, 1]))


def test_what_only_python_s_numbers_have_is_refused_by_name():
    asks = cdl.algebra(lambda layer: layer.label.is_integer() if isinstance(layer, Leaf) else layer.left)
    with pytest.raises(CdlError, match="uses `\\.is_integer` of a number at `Leaf`"):
        cdl.fold(asks, TREES)


def test_scores_may_be_whole_numbers_where_one_is_drawn():
    whole = lambda seed: choose(jnp.array([2, 1]), Leaf(seed), Leaf(seed + 1))
    real = lambda seed: choose(jnp.array([2.0, 1.0]), Leaf(seed), Leaf(seed + 1))
    keys = [jax.random.key(i) for i in range(8)]
    drawn = [[float(cdl.ana(g, key=k)(jnp.array(0.0)).label) for k in keys] for g in (whole, real)]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {0.0, 1.0}
