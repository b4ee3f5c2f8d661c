"""Types of numbers: the same in the compiled forms as in their definitions, or refused.

In plain Python a number has its own type at each node. JAX's promotion joins them; here are the places where a compiled
form once cast instead.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bushes import Bud, BUSHES, bushes, BushF, SCALES, single, twig

from cdl import (
    algebra,
    annotate,
    cata,
    CdlError,
    decorate,
    fmap,
    fold,
    Fork,
    inherit,
    inherited,
    Leaf,
    ListF,
    MealyF,
    Nil,
    pack,
    refold,
    run,
    Seq,
    to_list,
    TreeF,
)
from cdl._engine.numbers._types import holds, Own
from cdl.errors import CarrierMismatch


def same(alg: Any, trees: list[Any] = BUSHES, signature: Any = BushF, tolerance: float = 1e-6) -> jax.Array:
    """`fold` has the definition's values, and the type that these have together."""
    with jax.numpy_dtype_promotion("standard"):
        slow = [cata(alg)(tree) for tree in trees]
        fast = fold(alg, pack(signature, trees))
        dtype = jnp.result_type(*slow)
    np.testing.assert_allclose(np.asarray(fast, complex), np.asarray(slow, complex), rtol=tolerance, atol=tolerance)
    assert fast.dtype == dtype
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


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_have_the_types_of_the_definition(name):
    same(bushes(REDUCTIONS[name]))


def test_sums_of_whole_numbers_stay_whole_and_those_of_truth_values_are_counts():
    whole = lambda value: (10 * single(value)).astype(jnp.int32)
    assert same(bushes(lambda kids: kids.sum(0), whole)).dtype == jnp.int32
    assert same(bushes(lambda kids: 1.0 * (kids.map(lambda x: x > 0).sum(0)))).tolist() == [2, 2, 1, 0.25]


def test_the_greatest_of_truth_values_is_one():
    assert same(bushes(lambda kids: kids.max(), lambda value: single(value) > 0.6)).dtype == jnp.bool_


@pytest.mark.parametrize("number", [lambda value: value * 1j, lambda value: jnp.asarray(value * 1j)])
@pytest.mark.parametrize(
    ("reduce", "what"),
    [(lambda kids: kids.max(0j), "they have no order"), (lambda kids: kids.attend(lambda x: x, 0j), "is complex")],
)
def test_complex_numbers_are_in_no_order(number, reduce, what):
    alg = bushes(reduce, number)
    for read in (lambda: cata(alg)(BUSHES[0]), lambda: fold(alg, pack(BushF, BUSHES))):
        with pytest.raises(CarrierMismatch, match=what):
            read()


def test_what_a_python_number_meets_decides_about_its_type():
    weight = jnp.asarray(1.125, jnp.bfloat16)
    alg = bushes(lambda kids: jnp.tanh(kids.sum(0) * weight), lambda value: value * weight)
    assert same(alg, tolerance=2e-2).dtype == jnp.bfloat16
    lone = bushes(lambda kids: jnp.tanh(kids.sum(0) * weight), lambda value: value)
    assert same(lone, tolerance=2e-2).dtype == jnp.bfloat16


def test_values_that_are_python_numbers_by_definition_take_the_type_of_what_they_meet():
    found = fold(bushes(lambda kids: kids.sum(0.0), lambda value: value), pack(BushF, BUSHES))
    assert found.weak_type
    assert (found * jnp.ones((), jnp.bfloat16)).dtype == jnp.bfloat16


def test_numpy_numbers_have_their_own_type_and_python_numbers_beside_them_none():
    weight = jnp.asarray(0.5, jnp.float16)

    @algebra
    def scaled(layer: TreeF[Any, Any]) -> Any:
        match layer:
            case Leaf(value):
                return value * weight
            case Fork(left, right):
                return left - right

    with jax.numpy_dtype_promotion("standard"):
        assert fold(scaled, pack(TreeF, [Fork(Leaf(1.5), Leaf(2.5))])).dtype == jnp.float16
        assert fold(scaled, pack(TreeF, [Fork(Leaf(np.float32(1.5)), Leaf(np.float32(2.5)))])).dtype == jnp.float32
        mixed = pack(TreeF, [Fork(Leaf(1.5), Leaf(np.float32(2.5)))])
        with pytest.raises(
            CarrierMismatch, match=r"is f(16|32)\[\], and at another `Leaf`, whose payload is of another type, f"
        ):
            fold(scaled, mixed)


def test_a_gradient_is_finite_where_every_sum_that_the_trees_have_has_one():
    """Rows and edges past the valid ones have values of the forest: a logarithm of nothing would spoil the sum."""
    alg = lambda w: bushes(lambda kids: jnp.log(w * kids.sum(0.0)), lambda value: 3.0 + abs(single(value)))
    slow = jax.grad(lambda w: sum(cata(alg(w))(tree) for tree in BUSHES))(2.0)
    fast = jax.grad(lambda w: fold(alg(w), pack(BushF, BUSHES)).sum())(2.0)
    np.testing.assert_allclose(fast, slow, rtol=1e-5)
    grow = lambda w: bushes(lambda kids: kids.fold(algebra(lambda x: w if isinstance(x, Nil) else jnp.exp(x.tail))))
    many = [twig(*[Bud(1.0)] * 3), twig(Bud(1.0))]
    assert bool(jnp.isfinite(jax.grad(lambda w: fold(grow(w), pack(BushF, many)).sum())(0.01)))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (lambda value: (10 * single(value)).astype(jnp.int32), r"Give every constructor's case the same structure"),
        (lambda value: single(value).astype(jnp.bfloat16), r"Give every constructor's case the same structure"),
        (lambda value: 16777217, r"write `jnp.asarray\(…, jnp.float32\)`"),
        (lambda value: -1e39, r"the number -1e\+39 at `\w+`, which `float32` does not hold"),
        (lambda value: 2**40, r"the number 1099511627776 at `\w+`, which `int32` does not hold"),
        (lambda value: 10**400, r"the number 10+ at `\w+`, which `int32` does not hold"),
    ],
)
def test_what_would_be_another_number_is_refused(case, words):
    with jax.numpy_dtype_promotion("standard"), pytest.raises(CarrierMismatch, match=words):
        fold(bushes(lambda kids: single(kids.count), case), pack(BushF, BUSHES))


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
        with pytest.raises(
            CarrierMismatch, match=r"the root is given i32\[\], and what is handed to a child is f32\[\]"
        ):
            inherit(halved, forest, jnp.zeros(1, jnp.int32))
        with pytest.raises(CarrierMismatch, match=r"write `jnp.asarray\(…, jnp.float32\)`"):
            inherit(halved, forest, weak)
    assert inherit(halved, forest, jnp.zeros(1))[:5].tolist() == slow


def test_a_number_that_is_handed_down_is_held_by_the_type_of_the_others():
    def torn(value: Any, layer: TreeF[float, None]) -> Any:
        return Fork(16777217, jnp.float32(0.5)) if isinstance(layer, Fork) else layer

    forest = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))])
    with pytest.raises(CarrierMismatch, match=r"i32\[\].*f32\[\]"):
        inherit(torn, forest, jnp.zeros(1))


def cata_like(cofree: Any) -> list[float]:
    below = [] if isinstance(cofree.tail, Leaf) else [cofree.tail.left, cofree.tail.right]
    return [float(cofree.head), *(x for child in below for x in cata_like(child))]


def test_values_that_go_up_and_down_are_python_numbers_where_the_definition_has_such():
    weight = jnp.asarray(0.75, jnp.bfloat16)
    total = algebra(lambda layer: layer.label if isinstance(layer, Leaf) else layer.left - layer.right)

    def shared(value: Any, layer: TreeF[float, Any]) -> Any:
        return fmap(lambda below: value * below, layer)

    tree, forest = (
        Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(3.0))),
        pack(TreeF, [Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(3.0)))]),
    )
    down = inherit(shared, forest, weight[None], values=annotate(total, forest))
    assert down.dtype == jnp.bfloat16
    np.testing.assert_allclose(
        np.asarray(down[:5], float), cata_like(inherited(shared, weight)(decorate(total)(tree))), rtol=1e-2
    )


def test_a_scan_and_a_machine_keep_what_is_no_number_of_their_state():
    @algebra
    def total(layer: ListF[Any, Any]) -> Any:
        return 16777217 if isinstance(layer, Nil) else layer.head + layer.tail

    xs = jnp.ones((1, 2))
    with pytest.raises(CarrierMismatch, match=r"at `Nil` its value is i32\[\], and at `Cons` f32\[\]. A Python number"):
        fold(total, Seq(xs, jnp.array([2])))
    adder = lambda s: MealyF(lambda x: (s, s + x))
    with pytest.raises(
        CarrierMismatch, match=r"its state goes in as i32\[\] and comes out as f32\[\]. A Python number"
    ):
        run(adder, 16777217, jnp.ones(3))
    assert run(adder, 16777216, jnp.zeros(3))[1] == 16777216


def test_elements_of_a_seq_that_stand_for_python_numbers_do_so_in_its_fold():
    weight = jnp.asarray(0.5, jnp.bfloat16)
    alg = algebra(lambda layer: 0 if isinstance(layer, Nil) else weight * layer.head + layer.tail)
    alg.fn.__annotations__ = {"layer": ListF[Any, Any]}
    weak = jnp.full((1, 3), 1.5)
    assert fold(alg, Seq(weak, jnp.array([3]))).dtype == cata(alg)(to_list(list(weak[0]))).dtype


def test_a_refold_sees_the_payloads_that_a_hylomorphism_sees():
    weight = jnp.asarray(0.5, jnp.bfloat16)

    def grow(n: Any) -> Any:
        return Leaf(0.1)

    scaled = algebra(lambda layer: layer.label * weight if isinstance(layer, Leaf) else layer.left)
    assert refold(scaled, grow, jnp.arange(3), nodes=1)[0].dtype == jnp.bfloat16


def test_a_type_holds_a_number_or_not():
    of = lambda value: (Own.of(value).leaves[0], value)
    for dtype, value, fits in [
        (jnp.float32, 3, True),
        (jnp.float32, 2**24 + 1, False),
        (jnp.float16, 1e5, False),
        (jnp.float16, float("inf"), True),
        (jnp.float16, float("nan"), True),
        (jnp.bfloat16, 0.1, True),
        (jnp.int8, 127, True),
        (jnp.int8, 128, False),
        (jnp.uint8, -1, False),
        (jnp.int32, 0.5, False),
        (jnp.complex64, 0.5, True),
    ]:
        assert holds(dtype, *of(value)) is fits, (dtype, value)
    assert not holds(jnp.float32, jax.ShapeDtypeStruct((), jnp.int32, weak_type=True))
    kinds = jnp.int32, jnp.float32, jnp.complex64
    for i, weak in enumerate(kinds[1:], 1):
        fits = [holds(dtype, jax.ShapeDtypeStruct((), weak, weak_type=True)) for dtype in kinds]
        assert fits == [at >= i for at in range(3)]
    assert not holds(jnp.float32, jax.ShapeDtypeStruct((), jnp.bfloat16))
    assert holds(jnp.bfloat16, jax.ShapeDtypeStruct((), jnp.float32, weak_type=True))


def test_the_greatest_of_what_is_no_number_is_none_in_both_forms():
    alg = bushes(lambda kids: kids.max(0.0), lambda value: value)
    trees = [twig(Bud(float("nan")), Bud(1.0)), twig(Bud(1.0), Bud(float("nan")))]
    slow = [cata(alg)(tree) for tree in trees]
    np.testing.assert_array_equal(np.asarray(slow), np.asarray(fold(alg, pack(BushF, trees))))
    assert np.isnan(slow).all()


def test_a_gradient_taken_inside_a_case_through_a_many_is_refused_by_name():
    alg = bushes(lambda kids: jax.grad(lambda s: kids.map(lambda x: jnp.sin(s * x)).sum(0.0))(2.0))
    with pytest.raises(CdlError, match=r"`read` takes a derivative at `Twig` through a `Many`"):
        fold(alg, pack(BushF, BUSHES))
