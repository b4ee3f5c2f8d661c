"""Types of numbers: the same in the compiled forms as in their definitions, or refused.

In plain Python a number has its own type at each node. JAX's promotion joins them; here are the places where a compiled
form once cast instead.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import (
    algebra,
    annotate,
    Base,
    CarrierMismatch,
    cata,
    CdlError,
    choose,
    decorate,
    fmap,
    fold,
    Fork,
    inherit,
    inherited,
    Leaf,
    ListF,
    Many,
    MealyF,
    MooreF,
    Nil,
    pack,
    refold,
    run,
    Seq,
    start,
    to_list,
    TreeF,
    unfold,
)
from cdl.run._types import holds, Own


X = TypeVar("X")


class Bush:
    """The name of the functor `R + Many X`."""


class Bud(Base[Bush, X], Generic[X]):
    value: float


class Twig(Base[Bush, X], Generic[X]):
    kids: Many[X]


BushF = Union[Bud[X], Twig[X]]


def twig(*kids: Any) -> Any:
    return Twig(Many(kids))


BUSHES = [twig(Bud(0.5), Bud(0.75)), twig(twig(Bud(0.1), Bud(-0.3), Bud(2.0)), Bud(0.4)), twig(Bud(1.5)), Bud(0.25)]
SCALES = jnp.arange(3.0)


def single(value: Any) -> jax.Array:
    return jnp.asarray(value, jnp.float32)


def bushes(reduce: Callable[[Any], Any], leaf: Callable[[Any], Any] = single) -> Any:
    """The algebra that reads children by one reduction, and a leaf by a function."""

    @algebra
    def read(layer: BushF[Any]) -> Any:
        match layer:
            case Bud(value):
                return leaf(value)
            case Twig(kids):
                return reduce(kids)

    return read


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
        (lambda value: -1e39, r"the number -1e\+39, which `float32` does not hold"),
        (lambda value: 2**40, r"the number 1099511627776, which `int32` does not hold"),
        (lambda value: 10**400, r"the number 10+, which `int32` does not hold"),
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


def test_the_score_of_attention_is_one_number():
    wide = bushes(lambda kids: kids.attend(lambda x: x[None], 0.0))
    for form in (lambda: cata(wide)(BUSHES[0]), lambda: fold(wide, pack(BushF, BUSHES))):
        with pytest.raises(CarrierMismatch, match=r"the score of `attend` has shape \(1,\), and it is one number"):
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
    assert not holds(jnp.float32, jax.ShapeDtypeStruct((), jnp.bfloat16))
    assert holds(jnp.bfloat16, jax.ShapeDtypeStruct((), jnp.float32, weak_type=True))


def test_the_greatest_of_what_is_no_number_is_none_in_both_forms():
    alg = bushes(lambda kids: kids.max(0.0), lambda value: value)
    trees = [twig(Bud(float("nan")), Bud(1.0)), twig(Bud(1.0), Bud(float("nan")))]
    slow = [cata(alg)(tree) for tree in trees]
    np.testing.assert_array_equal(np.asarray(slow), np.asarray(fold(alg, pack(BushF, trees))))
    assert np.isnan(slow).all()


@pytest.mark.parametrize(
    ("sign", "reckon"),
    [
        (r"`\+` meets truth values in `count`, at `Fork`", lambda a, b: a + b),
        (r"`\*` meets truth values in `count`, at `Fork`", lambda a, b: a * b),
        (r"`~` meets truth values in `count`, at `Fork`", lambda a, b: ~a),
        (r"`count` reckons with truth values at `Fork`", lambda a, b: a - b),
    ],
)
def test_arithmetic_on_truth_values_is_refused_where_python_and_arrays_differ(sign, reckon):
    @algebra
    def count(layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(label):
                return label > 0
            case Fork(left, right):
                return reckon(left, right)

    tree = Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(-1.0)))
    with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=sign):
        fold(count, pack(TreeF, [tree]))
    labels = algebra(lambda layer: layer.label if isinstance(layer, Leaf) else layer.left + layer.right)
    with pytest.raises(CdlError, match=r"`\+` meets truth values"):
        fold(labels, pack(TreeF, [Fork(Leaf(True), Leaf(True))]))


def test_arithmetic_on_truth_values_is_seen_inside_branches_in_passes_down_and_in_refolds():
    forest = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))])
    inside = lambda x, y: jax.lax.cond(True, lambda: 1.0 * ((x > 0) + (y > 0)), lambda: 0.0)
    branch = algebra(lambda x: x.label if isinstance(x, Leaf) else inside(x.left, x.right))
    down = lambda x, layer: fmap(lambda value: x + 1.0 * ((value > 0) + (value > 1)), layer)
    halves = algebra(lambda x: x.label > 0 if isinstance(x, Leaf) else x.left + x.right)
    split = lambda xs: Leaf(0.5) if len(xs) == 1 else Fork(xs[: len(xs) // 2], xs[len(xs) // 2 :])
    for form in (
        lambda: fold(branch, forest),
        lambda: inherit(down, forest, jnp.zeros(1), values=jnp.broadcast_to(0.5, (forest.bucket.nodes,))),
        lambda: refold(halves, split, jnp.ones((1, 4))),
    ):
        with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=r"`\+` meets truth values"):
            form()


def test_logic_on_truth_values_and_sums_of_them_as_numbers_are_as_in_the_definition():
    def counting(leaf: Any, both: Any) -> Any:
        return algebra(lambda x: leaf(x.label) if isinstance(x, Leaf) else both(x.left, x.right))

    trees = [Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(-1.0))), Leaf(3.0)]
    with jax.numpy_dtype_promotion("standard"):
        for leaf, both in [
            (lambda x: x > 0, lambda a, b: (a | b) ^ (a & b)),
            (lambda x: x > 0, jnp.logical_xor),
            (lambda x: 1 * (x > 0), lambda a, b: 2 * a + b),
            (lambda x: (x > 0) + 1, lambda a, b: a - b),
        ]:
            alg = counting(leaf, both)
            assert fold(alg, pack(TreeF, trees)).tolist() == [cata(alg)(tree) for tree in trees]


def half_to_the(n: Any) -> Any:
    return 2**-n


POWERS = {
    "of two": half_to_the,
    "of itself": lambda n: n**n,
    "of a power": lambda n: 3 ** (2 * n),
    "of a truth value": lambda n: (n > 0) ** n,
    "under jit": jax.jit(half_to_the),
    "in a branch": lambda n: jax.lax.cond(True, lambda: 1.0 * 2**-n, lambda: 0.0),
    "in a loop": lambda n: jax.lax.fori_loop(0, 3, lambda i, x: x + 2**-n, 0.0),
    "under vmap": lambda n: jax.vmap(lambda a: a * 2**-n)(SCALES).sum(),
}


@pytest.mark.parametrize("name", POWERS)
def test_powers_of_whole_numbers_of_python_are_refused(name):
    alg = algebra(lambda x: POWERS[name](x.label) if isinstance(x, Leaf) else x.left + x.right)
    with (
        jax.numpy_dtype_promotion("standard"),
        pytest.raises(CdlError, match=r"`\*\*` raises a whole number of Python"),
    ):
        fold(alg, pack(TreeF, [Leaf(2)]))


def test_powers_that_python_and_arrays_give_alike_are_as_in_the_definition():
    trees = [Fork(Leaf(-3), Fork(Leaf(2), Leaf(1)))]
    with jax.numpy_dtype_promotion("standard"):
        for power in (
            lambda n: 2.0**-n,
            lambda n: n**2 + n**0,
            lambda n: jnp.asarray(2, jnp.int32) ** abs(n),
            lambda n: jnp.power(jnp.asarray(n, jnp.int32), 2),
            lambda n: (n >> 1) + (n // 2) + n % 2,
        ):
            alg = algebra(lambda x, power=power: power(x.label) if isinstance(x, Leaf) else x.left - x.right)
            assert fold(alg, pack(TreeF, trees)).tolist() == [cata(alg)(tree) for tree in trees]


def both(x: Any) -> Any:
    """A sum of truth values, as a real number."""
    return 1.0 * ((x > 0) + (x > 1))


def every_form(reckon: Callable[[Any], Any], one: Any) -> dict[str, Callable[[], Any]]:
    """Compiled forms in which a number of Python's is reckoned with. `one`: that number."""
    leaf = algebra(lambda x: reckon(x.label) if isinstance(x, Leaf) else x.left + x.right)
    alg = algebra(lambda layer: 0.0 if isinstance(layer, Nil) else 1.0 * reckon(layer.head) + layer.tail)
    alg.fn.__annotations__ = {"layer": ListF[Any, Any]}
    forest, seq, twigs = pack(TreeF, [Leaf(one)]), Seq(jnp.full((1, 2), one), jnp.array([2])), pack(BushF, BUSHES)
    ones, xs = jnp.broadcast_to(jnp.asarray(one), (1,)), jnp.zeros(2)
    moore = lambda s: MooreF(reckon(s), lambda i: s)
    return {
        "fold": lambda: fold(leaf, forest),
        "annotate": lambda: annotate(leaf, forest),
        "a fold of a Seq": lambda: fold(alg, seq),
        "a fold of children": lambda: fold(bushes(lambda kids: kids.fold(alg), lambda value: one), twigs),
        "a map of children": lambda: fold(bushes(lambda kids: kids.map(reckon).sum(0.0), lambda value: one), twigs),
        "inherit": lambda: inherit(
            lambda x, layer: fmap(lambda _: x * reckon(layer.left), layer),
            pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))]),
            jnp.ones(1),
            values=jnp.broadcast_to(jnp.asarray(one), (forest.bucket.nodes,)),
        ),
        "refold": lambda: refold(leaf, lambda n: Leaf(one), jnp.ones(1), nodes=1),
        "a refold by shape": lambda: refold(leaf, lambda n: Leaf(one), jnp.ones(1)),
        "an output": lambda: run(lambda s: MealyF(lambda i: (reckon(s), s)), one, xs),
        "a state": lambda: run(lambda s: MealyF(lambda i: (i, 1.0 * reckon(s + 0))), one, xs),
        "many states": lambda: run(moore, ones, Seq(jnp.zeros((1, 2)), jnp.array([2]))),
        "a step": lambda: start(moore, one).step(0.0),
        "what is shown": lambda: start(moore, one).out,
    }


@pytest.mark.parametrize(("reckon", "sign"), [(both, r"`\+` meets truth values"), (half_to_the, r"`\*\*` raises")])
def test_every_compiled_form_refuses_what_python_reckons_otherwise(reckon, sign):
    with jax.numpy_dtype_promotion("standard"):
        for name, form in every_form(reckon, 1).items():
            with pytest.raises(CdlError, match=sign):
                pytest.fail(f"{name} gives {form()}")


TWICE = {"`+`": lambda s: s + s, "`*`": lambda s: s * s, "`~`": lambda s: ~s}


@pytest.mark.parametrize("sign", TWICE)
def test_a_machine_that_begins_in_or_goes_to_a_truth_value_of_python_reckons_with_none(sign):
    mealy = lambda s: MealyF(lambda i: (TWICE[sign](s), s))
    moore = lambda s: MooreF(TWICE[sign](s), lambda i: True)
    for form in (
        lambda: run(mealy, True, jnp.zeros(2)),
        lambda: run(moore, jnp.asarray(True), jnp.zeros(2)),
        lambda: start(mealy, True).step(0.0),
        lambda: start(moore, True).out,
    ):
        with pytest.raises(CdlError, match=f"`[{sign[1]}]` meets truth values"):
            form()
    of_arrays = run(mealy, np.bool_(True), jnp.zeros(2))
    assert of_arrays[0].tolist() == [bool(TWICE[sign](jnp.asarray(True)))] * 2


def test_truth_values_of_which_some_are_pythons_are_reckoned_with_as_pythons():
    """At a `Bud` an array's, and without children one that is written out: two of these are 2 in the definition."""

    @algebra
    def mixed(layer: BushF[Any]) -> Any:
        match layer:
            case Bud(value):
                return single(value) > 0
            case Twig(kids):
                return kids.fold(algebra(lambda x: True if isinstance(x, Nil) else (x.head + x.tail) * 1 > 1))

    with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=r"`\+` meets truth values"):
        fold(mixed, pack(BushF, BUSHES))


def test_a_gradient_taken_inside_a_case_through_a_many_is_refused_by_name():
    alg = bushes(lambda kids: jax.grad(lambda s: kids.map(lambda x: jnp.sin(s * x)).sum(0.0))(2.0))
    with pytest.raises(CdlError, match=r"`read` takes a derivative at `Twig` through a `Many`"):
        fold(alg, pack(BushF, BUSHES))


def test_a_whole_number_to_a_negative_power_is_told():
    with pytest.raises(CdlError, match=r"raises a whole number to a negative power at `Leaf`.* write `1.0 / n`"):
        fold(algebra(lambda x: x.label**-1 if isinstance(x, Leaf) else x.left), pack(TreeF, [Leaf(2)]))


def test_coalgebras_reckon_as_arrays_do_or_are_refused():
    grow = lambda s: choose(jnp.stack([s, -s]).astype(jnp.float32), Leaf(2**-s), Fork(1, 1))
    label = algebra(lambda x: x.label if isinstance(x, Leaf) else x.left + x.right)
    for form in (lambda: unfold(grow, jnp.array([-1]), 3), lambda: refold(label, grow, jnp.array([-1]), 3)):
        with pytest.raises(CdlError, match="power"):
            form()
