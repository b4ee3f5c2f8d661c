"""Maps that jump, arrays of very different sizes, and numbers of every type: what is measured, and what is allowed."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from few import few
from scipy.linalg import expm

from cdl import algebra, Cons, Fork, laws, Leaf, ListF, Nil, to_list, TreeF
from cdl.errors import CdlError, LawBroken
from cdl.symmetry import (
    Action,
    Distributive,
    generated,
    groups,
    hom_defect,
    is_hom,
    lie_derivative,
    monoid_error,
    NormGate,
    sides,
)


TURN = groups.so(2)
STEPS = {
    "a sign": (lambda x: jnp.sign(x[:1]), TURN.trivial(1)),
    "a rounded number": (lambda x: jnp.round(x), TURN.trivial(2)),
    "a choice": (lambda x: jnp.where(x[0] > 0, 1.0, 0.0), TURN.trivial()),
    "the greatest": (lambda x: jnp.argmax(x).astype(jnp.float32), TURN.trivial()),
    "on one side": (lambda x: jnp.where(x[0] > 0, x, 0.0), TURN),
}
POINTS = jr.normal(jr.key(0), (6, 2))


@pytest.mark.parametrize("name", STEPS)
def test_a_map_that_jumps_is_not_equivariant_under_rotations(name):
    h, Y = STEPS[name]
    assert not is_hom(h, TURN, Y, POINTS)
    assert hom_defect(h, TURN, Y, POINTS) > 0.5
    jumps = max(POINTS, key=lambda x: hom_defect(h, TURN, Y, [x]))
    with pytest.raises(LawBroken, match=r"h\(exp\([13] A\) x\) = exp"):
        laws.equivariant(h, TURN, Y, jumps, ("turn01",), tolerance=1e-4)


def test_the_length_is_equivariant_and_so_is_a_step_of_it():
    assert is_hom(jnp.linalg.norm, TURN, TURN.trivial(), POINTS)
    assert is_hom(lambda x: jnp.sign(x @ x - 1), TURN, TURN.trivial(), POINTS)


def test_a_finite_time_is_that_of_the_exponential():
    A = np.random.default_rng(0).normal(size=(3, 3))
    X = Action((1, 3)).lie(A, "flow")
    x = jnp.asarray([[1.0, -2.0, 0.5]])
    for both, t in zip(sides(lambda v: v, X, X, x, "flow")[1:], (1.0, 3.0), strict=True):
        exact = expm(t / X["flow"].bound * A) @ np.asarray(x[0])
        assert np.allclose(both.left[0], exact, atol=1e-5)
        assert jnp.array_equal(both.left, both.right)
    still = Action(2).lie(np.zeros((2, 2)), "flow")
    assert len(sides(jnp.sign, still, still, jnp.ones(2), "flow")) == 1
    large = Action(2).lie(1e6 * TURN["turn01"].dense, "turn01")
    assert is_hom(lambda x: x * (x @ x), large, large, POINTS)


def of_lists(state):
    return algebra(lambda l: state(None, None) if isinstance(l, Nil) else state(l.head, l.tail))


def test_a_small_array_beside_a_great_one_is_looked_at():
    flip = Action().signed([0], [-1], "flip")
    wrong = of_lists(lambda x, s: (jnp.zeros(()), jnp.full((), 1e7)) if x is None else (s[0] + jnp.abs(x), s[1]))
    law = Distributive(ListF, {Cons: flip})
    layers = law.layers(wrong, [to_list([jnp.asarray(0.5), jnp.asarray(-0.25)])])
    with pytest.raises(CdlError, match=r"`Cons` .* `flip`.* by 2 of"):
        law.check(wrong, (flip, None), layers)


def test_a_small_layer_beside_a_great_one_is_looked_at():
    flip = Action().signed([0], [-1], "flip")
    law = Distributive(TreeF, {Leaf: flip})
    step = algebra(lambda l: jnp.where(jnp.abs(l.label) < 1, jnp.abs(l.label), l.label) if isinstance(l, Leaf) else 0)
    with pytest.raises(CdlError, match=r"`Leaf` .* `flip`"):
        law.check(step, flip, [Leaf(jnp.asarray(1e6)), Leaf(jnp.asarray(0.1))])


@pytest.mark.parametrize("dtype", few([jnp.float32, jnp.bfloat16, jnp.float16, jnp.complex64], 1, 3))
def test_rounding_is_allowed_by_the_type_where_no_tolerance_is_given(dtype):
    X = groups.permutations(50)
    xs = jr.normal(jr.key(0), (4, 50)).astype(dtype)
    total = lambda x: jax.lax.scan(lambda s, v: (s + v, None), jnp.zeros((), x.dtype), x)[0]
    assert is_hom(total, X, X.trivial(), xs)
    assert not is_hom(lambda x: x[0], X, X.trivial(), xs)
    assert hom_defect(total, X, X.trivial(), xs) > 0


def test_whole_numbers_and_truth_values_have_to_be_equal():
    X = groups.cyclic(3)
    whole = jnp.asarray([[10**6, 2, 3]])
    assert is_hom(lambda x: x + 1, X, X, whole)
    assert not is_hom(lambda x: x + jnp.asarray([1, 0, 0]), X, X, whole)
    assert is_hom(lambda x: x > 2, X, X, whole)
    assert not is_hom(lambda x: x[1] > 2, X, X.trivial(), whole)


def test_a_tolerance_is_one_of_the_difference():
    X = groups.cyclic(2)
    off = lambda x: x + jnp.asarray([0.0, 1e-3])
    assert is_hom(off, X, X, [jnp.ones(2)], tolerance=2e-3)
    assert not is_hom(off, X, X, [jnp.ones(2)], tolerance=5e-4)


def test_errors_of_complex_maps_are_positive():
    act = lambda x: jnp.roll(x, 1)
    xs = jnp.asarray([[1.0, 2.0, 4.0]])
    found = monoid_error(lambda x: jax.lax.complex(0 * x, x * jnp.arange(3.0)), act, act, xs)
    real = monoid_error(lambda x: x * jnp.arange(3.0), act, act, xs)
    assert float(found.mean) == float(real.mean) > 0
    assert float(found.relative) == pytest.approx(float(real.relative))
    assert float(monoid_error(lambda x: jax.lax.complex(0 * x, x), act, act, xs).mean) == 0


def test_whole_numbers_have_a_lie_derivative():
    turn = lambda x: jnp.stack([-x[1], x[0]])
    whole, real = jnp.asarray([[3, 4]]), jnp.asarray([[3.0, 4.0]])
    h = lambda x: x * x
    assert jnp.array_equal(lie_derivative(h, turn, turn)(whole[0]), lie_derivative(h, turn, turn)(real[0]))
    assert hom_defect(h, TURN, TURN, whole) == hom_defect(h, TURN, TURN, real) > 1
    assert is_hom(lambda x: 2 * x, TURN, TURN, whole)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float16, jnp.complex64])
def test_a_gate_keeps_the_type_of_what_comes_in(dtype):
    gate = NormGate(groups.so(3), 2, key=jr.key(0))
    x = jnp.asarray([[300.0, 0.0, 400.0], [0.0, 0.0, 0.0]])
    found = gate(x.astype(dtype))
    assert found.dtype == dtype
    assert jnp.allclose(found.real.astype(jnp.float32), gate(x), rtol=0.02)
    assert gate(jnp.ones((2, 3), int)).dtype == jnp.float32


def test_inside_vmap_a_law_is_checked_by_shapes():
    law = Distributive(TreeF, {Leaf: TURN})

    def made(w):
        step = algebra(lambda l: w * l.label if isinstance(l, Leaf) else l.left + l.right)
        assert np.isnan(law.check(step, TURN, [Leaf(jnp.ones(2)), Fork(jnp.ones(2), jnp.ones(2))]))
        return w

    assert jax.vmap(made)(jnp.ones(3)).shape == (3,)


def test_products_of_letters_are_numbered_as_they_are_found():
    found, targets = generated(1, 2, lambda letter, x: (3 * x, x + 1)[letter] % 7, 20, "three and one")
    assert found == [1, 3, 2, 4, 6, 5, 0]
    assert all(found[targets[0][i]] == 3 * x % 7 for i, x in enumerate(found))


def test_whole_numbers_as_payloads_have_a_derivative():
    step = algebra(lambda l: l.label if isinstance(l, Leaf) else l.left + l.right)
    assert Distributive(TreeF, {Leaf: TURN}).check(step, TURN, [Leaf(jnp.asarray([1, 2]))]) < 1e-6
