"""Types of numbers: the same in the compiled forms as in their definitions, or refused.

In plain Python a number has its own type at each node. JAX's promotion joins them; here are the places where a compiled
form once cast instead.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bushes import Bud, BUSHES, bushes, BushF, SCALES, single, Twig, twig

from cdl import (
    algebra,
    cata,
    fmap,
    fold,
    Fork,
    inherit,
    inherited,
    Leaf,
    Nil,
    pack,
    TreeF,
)
from cdl.errors import CarrierMismatch


def same(alg: Any, trees: list[Any] = BUSHES, signature: Any = BushF, tolerance: float = 1e-6) -> jax.Array:
    """`fold` has the definition's values, and the type that these have together."""
    with jax.numpy_dtype_promotion("standard"):
        forest = pack(signature, trees)
        slow = [cata(alg)(tree) for tree in forest.trees()]
        fast = fold(alg, forest)
    np.testing.assert_allclose(np.asarray(fast, complex), np.asarray(slow, complex), rtol=tolerance, atol=tolerance)
    return fast


def discounted(scale: Any) -> Any:
    return algebra(lambda layer: 0 if isinstance(layer, Nil) else layer.head * scale + 0.5 * layer.tail)


REDUCTIONS = {
    "a sum from 0": lambda kids: jnp.tanh(2.0 * kids.sum(0)),
    "a greatest from 0": lambda kids: 2.0 * kids.max(0),
    "a mean from 0": lambda kids: kids.mean(0),
    "attention from 0": lambda kids: kids.attend(lambda x: 2 * x, 0),
    "a list fold from 0": lambda kids: kids.fold(discounted(1.0)),
    "no value for no child": lambda kids: kids.sum(),
    "whole scores": lambda kids: kids.attend(lambda x: (4 * x).astype(jnp.int32), 0.0),
    "truth values, counted": lambda kids: kids.map(lambda x: x > 0.3).sum(0) * 1.0,
    "truth values, their mean": lambda kids: kids.map(lambda x: x > 0.3).mean(0),
    "truth values, the greatest": lambda kids: kids.map(lambda x: x > 0.3).max(False) * 1.0,
    "a variance": lambda kids: kids.map(lambda x: (x - kids.mean(0.0)) ** 2).mean(0.0),
    "pairs": lambda kids: kids.map(lambda a: kids.map(lambda b: jnp.tanh(a * b)).sum(0.0)).sum(0.0),
    "self-attention": lambda kids: kids.map(lambda a: kids.attend(lambda b: 0.5 * a * b, 0.0)).sum(0.0),
    "attention by a mean": lambda kids: kids.attend(lambda x: x - kids.mean(0.0), 0.0),
    "a list fold in a map": lambda kids: kids.map(
        lambda a: kids.fold(algebra(lambda x: a if isinstance(x, Nil) else jnp.sin(x.head + x.tail)))
    ).sum(0.0),
    "a mean in a list fold": lambda kids: kids.fold(
        algebra(lambda x: 0.0 if isinstance(x, Nil) else jnp.sin(x.head + x.tail) + kids.mean(0.0) * x.head)
    ),
    "attention that is certain": lambda kids: kids.attend(lambda x: 1e10 * x, 0.0),
    "a count": lambda kids: kids.sum() / kids.count,
    "a mean of whole numbers": lambda kids: kids.map(lambda x: (10 * x).astype(jnp.int32)).mean(0),
    "vmap around a sum": lambda kids: jax.vmap(lambda a: kids.map(lambda x: jnp.tanh(a * x)).sum(0.0))(SCALES).sum(),
    "vmap around a list fold": lambda kids: jax.vmap(lambda a: kids.fold(discounted(a)))(SCALES).sum(),
    "vmap around attention": lambda kids: jax.vmap(lambda a: kids.attend(lambda x: a * x, 0.0))(SCALES).sum(),
    "vmap around a choice": lambda kids: jax.vmap(
        lambda a: jax.lax.cond(a > 0.5, lambda: kids.map(lambda x: jnp.sin(a * x)).sum(0.0), lambda: kids.max(0.0))
    )(SCALES).sum(),
}


def test_reductions_are_those_of_the_definition():
    """All in one program: the value of a node has a number for each."""

    @algebra
    def every(layer: Any) -> Any:
        match layer:
            case Bud(value):
                return {name: single(value) for name in REDUCTIONS}
            case Twig(kids):
                return {name: 1.0 * of(kids.map(lambda x, name=name: x[name])) for name, of in REDUCTIONS.items()}

    with jax.numpy_dtype_promotion("standard"):
        forest = pack(BushF, BUSHES)
        fast = fold(every, forest)
        for t, tree in enumerate(forest.trees()):
            slow = cata(every)(tree)
            for name in REDUCTIONS:
                np.testing.assert_allclose(fast[name][t], slow[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_sums_of_integers_are_integers_and_those_of_booleans_are_counts():
    whole = lambda value: (10 * single(value)).astype(jnp.int32)
    assert same(bushes(lambda kids: kids.sum(0), whole)).dtype == jnp.int32
    assert same(bushes(lambda kids: 1.0 * (kids.map(lambda x: x > 0).sum(0)))).tolist() == [2, 2, 1, 0.25]
    assert same(bushes(lambda kids: kids.max(), lambda value: single(value) > 0.6)).dtype == jnp.bool_


def test_pack_makes_half_precision_of_every_payload():
    forest = pack(BushF, BUSHES, dtype=jnp.bfloat16)
    alg = bushes(lambda kids: jnp.tanh(kids.sum(0)), lambda value: value)
    found = fold(alg, forest)
    assert found.dtype == jnp.bfloat16
    slow = [cata(alg)(tree) for tree in forest.trees()]
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(slow, float), rtol=2e-2)


@pytest.mark.parametrize("dtype", [jnp.int32, jnp.bfloat16])
def test_fold_rejects_cases_of_two_dtypes(dtype):
    with jax.numpy_dtype_promotion("standard"), pytest.raises(CarrierMismatch, match="f32"):
        fold(bushes(lambda kids: single(kids.sum()), lambda value: single(value).astype(dtype)), pack(BushF, BUSHES))


def test_a_derivative_inside_of_a_case_does_not_go_through_a_many():
    alg = bushes(lambda kids: jax.grad(lambda s: kids.map(lambda x: jnp.sin(s * x)).sum(0.0))(2.0))
    with pytest.raises(Exception) as caught:  # noqa: PT011
        fold(alg, pack(BushF, BUSHES))
    assert any("cdl called `read` for `Twig" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("reduce", "what"),
    [(lambda kids: kids.max(0j), "they have no order"), (lambda kids: kids.attend(lambda x: x, 0j), "is complex")],
)
def test_complex_numbers_are_in_no_order(reduce, what):
    alg = bushes(reduce, lambda value: jnp.asarray(value, complex))
    for read in (lambda: cata(alg)(BUSHES[0]), lambda: fold(alg, pack(BushF, BUSHES))):
        with pytest.raises(CarrierMismatch, match=what):
            read()


def test_a_gradient_is_finite_where_every_sum_that_the_trees_have_has_one():
    """Rows and edges past the valid ones have values of the forest: a logarithm of nothing would spoil the sum."""
    alg = lambda w: bushes(lambda kids: jnp.log(w * kids.sum(0.0)), lambda value: 3.0 + abs(single(value)))
    slow = jax.grad(lambda w: sum(cata(alg(w))(tree) for tree in BUSHES))(2.0)
    fast = jax.grad(lambda w: fold(alg(w), pack(BushF, BUSHES)).sum())(2.0)
    np.testing.assert_allclose(fast, slow, rtol=1e-5)
    grow = lambda w: bushes(lambda kids: kids.fold(algebra(lambda x: w if isinstance(x, Nil) else jnp.exp(x.tail))))
    many = [twig(*[Bud(1.0)] * 3), twig(Bud(1.0))]
    assert bool(jnp.isfinite(jax.grad(lambda w: fold(grow(w), pack(BushF, many)).sum())(0.01)))


def test_zero_has_the_form_of_a_child_in_both_forms_and_is_needed_where_a_node_has_none():
    wide = bushes(lambda kids: kids.sum(jnp.zeros(2)))
    for form in (lambda: cata(wide)(BUSHES[0]), lambda: fold(wide, pack(BushF, BUSHES))):
        with pytest.raises(CarrierMismatch, match=r"a `Many` of f32\[\] is reduced by `sum` with `zero=f32\[2\]`"):
            form()
    none, open_sum = twig(Bud(1.0), twig()), bushes(lambda kids: kids.sum())
    for form in (lambda: cata(open_sum)(none), lambda: fold(open_sum, pack(BushF, [none]))):
        with pytest.raises(CarrierMismatch, match=r"without children is reduced by `sum`.*write `sum\(zero\)`"):
            form()


def test_the_score_of_attention_is_one_number_for_each_head():
    wide = bushes(lambda kids: kids.attend(lambda x: x[None], 0.0))
    for form in (lambda: cata(wide)(BUSHES[0]), lambda: fold(wide, pack(BushF, BUSHES))):
        with pytest.raises(CarrierMismatch, match=r"the score of `attend` has shape \(1,\), one number for each head"):
            form()


def test_a_gradient_through_a_reduction_inside_another_is_that_of_the_definition():
    within = lambda w: bushes(
        lambda kids: kids.map(lambda a: kids.attend(lambda b: w * a * b, 0.0)).sum(0.0), lambda x: w * single(x)
    )
    slow = jax.grad(lambda w: sum(cata(within(w))(tree) for tree in BUSHES))(1.3)
    np.testing.assert_allclose(jax.grad(lambda w: fold(within(w), pack(BushF, BUSHES)).sum())(1.3), slow, rtol=1e-4)


def test_a_list_fold_of_children_that_changes_its_carrier_is_refused():
    wider = bushes(lambda kids: kids.fold(algebra(lambda x: 0.0 if isinstance(x, Nil) else jnp.zeros(2))))
    with pytest.raises(
        CarrierMismatch, match=r"is not an algebra of lists: at `Nil` its value is f32\[\], and at `Con"
    ):
        fold(wider, pack(BushF, BUSHES))


@pytest.mark.parametrize("other", [0.5, jnp.float32(0.5)])
def test_what_is_inherited_has_the_type_that_is_handed_on(other):
    def halved(value: Any, layer: TreeF[float, None]) -> Any:
        return fmap(lambda _: value + other, layer)

    trees = [Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(3.0)))]
    slow = [0.0, 0.5, 0.5, 1.0, 1.0]
    weak = jnp.broadcast_to(jnp.asarray(0), (1,))
    assert weak.weak_type
    forest = pack(TreeF, trees)
    with jax.numpy_dtype_promotion("standard"):
        assert cata_like(inherited(halved, 0)(trees[0])) == slow
        with pytest.raises(CarrierMismatch, match="i32"):
            inherit(halved, forest, jnp.zeros(1, jnp.int32))
        assert inherit(halved, forest, weak)[:5].tolist() == slow
    assert inherit(halved, forest, jnp.zeros(1))[:5].tolist() == slow


def cata_like(cofree: Any) -> list[float]:
    below = [] if isinstance(cofree.tail, Leaf) else [cofree.tail.left, cofree.tail.right]
    return [float(cofree.head), *(x for child in below for x in cata_like(child))]


def test_the_greatest_of_what_is_no_number_is_none_in_both_forms():
    alg = bushes(lambda kids: kids.max(0.0), lambda value: value)
    trees = [twig(Bud(float("nan")), Bud(1.0)), twig(Bud(1.0), Bud(float("nan")))]
    slow = [cata(alg)(tree) for tree in trees]
    np.testing.assert_array_equal(np.asarray(slow), np.asarray(fold(alg, pack(BushF, trees))))
    assert np.isnan(slow).all()
