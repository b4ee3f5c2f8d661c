"""Truth values and powers of whole numbers: what Python reckons otherwise than arrays is refused."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bushes import Bud, BUSHES, bushes, BushF, SCALES, single, Twig

from cdl import (
    algebra,
    annotate,
    cata,
    CdlError,
    choose,
    fmap,
    fold,
    Fork,
    inherit,
    Leaf,
    ListF,
    MealyF,
    MooreF,
    Nil,
    pack,
    refold,
    run,
    Seq,
    TreeF,
    unfold,
)
from cdl.machines import start


@pytest.mark.parametrize(
    ("sign", "reckon"),
    [
        (r"`count` has truth values of Python's in `\+` at `Fork`", lambda a, b: a + b),
        (r"`count` has truth values of Python's in `\*` at `Fork`", lambda a, b: a * b),
        (r"`count` has truth values of Python's in `~` at `Fork`", lambda a, b: ~a),
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
    with pytest.raises(CdlError, match=r"truth values of Python's in `\+`"):
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
        with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=r"truth values of Python's in `\+`"):
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
    "in a branch": lambda n: jax.lax.cond(True, lambda: 1.0 * 2**-n, lambda: 0.0),
    "in a loop": lambda n: jax.lax.fori_loop(0, 3, lambda i, x: x + 2**-n, 0.0),
    "under vmap": lambda n: jax.vmap(lambda a: a * 2**-n)(SCALES).sum(),
}


@pytest.mark.parametrize("name", POWERS)
def test_powers_of_whole_numbers_of_python_are_refused(name):
    alg = algebra(lambda x: POWERS[name](x.label) if isinstance(x, Leaf) else x.left + x.right)
    with (
        jax.numpy_dtype_promotion("standard"),
        pytest.raises(CdlError, match=r"raises a whole number of Python"),
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


OF_ARRAYS = {
    "not, of a test": lambda v: ~jnp.isnan(v),
    "not, of a comparison": lambda v: ~(jnp.asarray(v, jnp.float32) > 0),
    "a sum of tests": lambda v: jnp.isfinite(v) + jnp.isnan(v) + True,
    "a product of tests": lambda v: jnp.isfinite(v) * jnp.greater(v, 0) * (v > 1),
    "under jit": jax.jit(lambda v: ((v > 0) + (v > -1)) * ~(v > 2)),
    "under vmap": lambda v: jax.vmap(lambda a: (v * a > 0) + jnp.isnan(a))(SCALES),
    "an operand of a branch": lambda v: jax.lax.cond(True, lambda a: (a > 0) + (a > -1), lambda a: ~(a > 0), v),
    "a power under jit": jax.jit(lambda v: 2 ** -(v > 1).astype(int)),
    "of a row": lambda v: ~jnp.any(jnp.stack([v, v]) > 0),
}


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_logic_on_truth_values_of_arrays_is_as_in_the_definition(name):
    """Also where these are made of a number of Python's, so that their type is weak."""
    many = lambda kids: kids.map(lambda v: OF_ARRAYS[name](v)).any()
    few = algebra(lambda x: OF_ARRAYS[name](x.label) if isinstance(x, Leaf) else jnp.logical_and(x.left, x.right))
    with jax.numpy_dtype_promotion("standard"):
        leaves = [Leaf(2.5), Leaf(-1.0), Leaf(float("nan")), Leaf(0.5)]
        for leaf, given in zip(leaves, fold(few, pack(TreeF, leaves)), strict=True):
            np.testing.assert_array_equal(cata(few)(leaf), given)
        one = lambda value: 1.0 * single(value)
        twigs = bushes(lambda kids: jnp.where(many(kids), 1.0, 2.0), one)
        if np.shape(OF_ARRAYS[name](1.0)) == ():
            assert fold(twigs, pack(BushF, BUSHES)).tolist() == [float(cata(twigs)(bush)) for bush in BUSHES]


OF_MANY = {
    "`+`": lambda kids: (kids.count > 1) + (kids.count > 2),
    "`~`": lambda kids: 1.0 * ~kids.map(lambda v: v > 0).any(),
    "`*`": lambda kids: kids.map(lambda v: v > 0).all() * (kids.count > 1),
    "to the power of another": lambda kids: 2**-kids.count,
    "to a power that may not be whole": lambda kids: kids.sum(0.0) ** kids.max(1.0),
    "`+` .of a mapped child": lambda kids: kids.map(lambda v: (v > 0) + (v > 1)).sum(0) + kids.sum(0.0),
    "`~` .of a score": lambda kids: kids.attend(lambda v: 1.0 * ~(v > 0), 0.0),
}


@pytest.mark.parametrize("name", OF_MANY)
def test_numbers_of_a_many_that_are_pythons_are_reckoned_with_as_such(name):
    alg = bushes(lambda kids: 1.0 * OF_MANY[name](kids), lambda value: 1.0)
    with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=re.escape(name.split(".")[0].strip())):
        fold(alg, pack(BushF, BUSHES))


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


@pytest.mark.parametrize(
    ("reckon", "sign"), [(both, r"truth values of Python's in `\+`"), (half_to_the, r"raises a whole number of Python")]
)
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
        with pytest.raises(CdlError, match=f"truth values of Python's in `[{sign[1]}]`"):
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

    with jax.numpy_dtype_promotion("standard"), pytest.raises(CdlError, match=r"truth values of Python's in `\+`"):
        fold(mixed, pack(BushF, BUSHES))


def test_a_whole_number_to_a_negative_power_is_told():
    with pytest.raises(CdlError, match=r"raises a whole number to a negative power at `Leaf`.* write `1.0 / n`"):
        fold(algebra(lambda x: x.label**-1 if isinstance(x, Leaf) else x.left), pack(TreeF, [Leaf(2)]))


def test_coalgebras_reckon_as_arrays_do_or_are_refused():
    grow = lambda s: choose(jnp.stack([s, -s]).astype(jnp.float32), Leaf(2**-s), Fork(1, 1))
    label = algebra(lambda x: x.label if isinstance(x, Leaf) else x.left + x.right)
    for form in (lambda: unfold(grow, jnp.array([-1]), 3), lambda: refold(label, grow, jnp.array([-1]), 3)):
        with pytest.raises(CdlError, match="power"):
            form()
