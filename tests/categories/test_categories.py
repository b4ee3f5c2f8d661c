"""Categories, functors and natural transformations as values, and the ones that are given."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from chains import CHAINS, slices, smooth

import cdl
from cdl import laws, optics
from cdl.categories import (
    Arrow,
    BACKPROPAGATION,
    DAGGER,
    Functor,
    GRADIENT,
    MAT,
    NatIso,
    NatTrans,
    OPTIC,
    Over,
    PARA,
    POINTED,
    Pointed,
    product_category,
    SETS,
    SLICE,
    SMOOTH,
)
from cdl.errors import CdlError, LawBroken, PortMismatch


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", CHAINS)
def test_each_is_a_symmetric_monoidal_category(name):
    category, chain = CHAINS[name]
    laws.symmetric_monoidal(category, *chain(), tolerance=0.0 if name == "SETS" else 1e-12)


def test_an_exchange_of_equal_factors_is_not_the_identity():
    """So not every diagram of the structure maps commutes, and those that do move the factors alike."""
    scalar = jax.ShapeDtypeStruct((), jnp.float64)
    pair = jnp.array(1.0), jnp.array(2.0)
    assert SMOOTH.σ(scalar, scalar).body(pair) == (2.0, 1.0)
    assert cdl.Optic.swap().get((1, 2)) == (2, 1)
    assert np.array_equal(MAT.σ(2, 2).body, np.eye(4)[[0, 2, 1, 3]])
    assert SETS.σ(2, 3).body.tolist() == [0, 2, 4, 1, 3, 5]


def test_kronecker_and_the_transpose_make_matrices_a_dagger_category():
    rng = np.random.default_rng(0)
    f, g = MAT.arrow(rng.normal(size=(3, 2))), MAT.arrow(rng.normal(size=(4, 3)))
    laws.functor_of_categories(DAGGER, f, g, tolerance=1e-12)
    laws.functor_of_categories(DAGGER.then(DAGGER), f, g, tolerance=1e-12)
    assert np.array_equal(DAGGER(DAGGER(f)).body, f.body)
    assert np.array_equal(DAGGER(MAT.tensor(f, g)).body, MAT.tensor(DAGGER(f), DAGGER(g)).body)
    swap = MAT.σ(2, 3)
    assert np.array_equal(MAT.compose(swap, DAGGER(swap)).body, np.eye(6))  # structure maps are unitary
    doubled = Functor(MAT, MAT, lambda n: n, lambda f: 2 * f.body.T, contravariant=True)
    with pytest.raises(LawBroken, match=r"`F\(id\) = id`"):
        laws.functor_of_categories(doubled, f, g)
    ahead = Functor(MAT, MAT, lambda n: n, lambda f: f.body.T)
    with pytest.raises(LawBroken, match=r"`F\(f >> g\)`"):
        laws.functor_of_categories(ahead, *(MAT.arrow(rng.normal(size=(2, 2))) for _ in range(2)))


def test_functions_are_matrices_of_zeros_and_ones_and_their_tensor_is_the_same():
    ones = Functor(SETS, MAT, lambda n: n, lambda f: np.eye(f.target)[:, f.body])
    f, g = SETS.arrow([1, 2], 3), SETS.arrow([0, 0, 3], 4)
    laws.functor_of_categories(ones, f, g)
    assert np.array_equal(ones(SETS.tensor(f, g)).body, MAT.tensor(ones(f), ones(g)).body)
    assert np.array_equal(ones(SETS.σ(2, 3)).body, MAT.σ(2, 3).body)


def test_the_diagonal_is_natural_and_a_scaling_of_one_side_is_not():
    square = Functor(SMOOTH, SMOOTH, lambda x: (x, x), lambda f: SMOOTH.tensor(f, f).body)
    here = Functor.identity(SMOOTH)
    f = smooth()[1]
    laws.natural_transformation(NatTrans(here, square, lambda _: lambda x: (x, x)), f, tolerance=1e-12)
    scaled = NatTrans(here, square, lambda _: lambda x: (x, 2 * x))
    laws.natural_transformation(scaled, f, tolerance=1e-12)  # `f` is linear
    with pytest.raises(LawBroken, match="`τ` is natural: the left side gives"):
        laws.natural_transformation(scaled, smooth()[0], tolerance=1e-12)


def test_a_natural_isomorphism_has_its_inverse_on_both_sides():
    here = Functor.identity(MAT)
    f = MAT.arrow([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
    laws.natural_isomorphism(NatIso(here, here, lambda n: 2 * np.eye(n), lambda n: np.eye(n) / 2), f)
    with pytest.raises(LawBroken, match="`τ >> τ⁻¹ = id`"):
        laws.natural_isomorphism(NatIso(here, here, lambda n: 2 * np.eye(n), lambda n: np.eye(n)), f)


def test_two_bracketings_of_parameters_differ_and_are_the_same_up_to_moving_them():
    f, g, h = CHAINS["PARA"][1]()
    left, right = PARA.compose(PARA.compose(f, g), h), PARA.compose(f, PARA.compose(g, h))
    assert jax.tree.structure(left.body.params) != jax.tree.structure(right.body.params)
    laws.category(PARA, f, g, h)


def test_backpropagation_is_a_covariant_functor_that_keeps_tensors():
    f, g, h = smooth()
    laws.functor_of_categories(BACKPROPAGATION, f, g, tolerance=1e-12)
    apart = OPTIC.tensor(BACKPROPAGATION(f), BACKPROPAGATION(g))
    together = BACKPROPAGATION(SMOOTH.tensor(f, g))
    assert (apart.source, apart.target) == (together.source, together.target)
    assert str(OPTIC.observed(apart)) == str(OPTIC.observed(together))
    back = BACKPROPAGATION(SMOOTH.compose(f, g, h)).body
    x, dz = jnp.array([0.1, 0.2, 0.3]), jnp.array([1.0, -2.0])
    whole = jax.vjp(lambda x: h.body(g.body(f.body(x))), x)[1](dz)[0]
    assert jnp.allclose(back.put(x, dz), whole, atol=1e-12, rtol=0)


def test_at_a_point_gradients_are_contravariant_and_not_covariant():
    f, g, _ = smooth()
    x = jnp.array([0.1, 0.2, 0.3])
    at_x = POINTED.arrow(f.body, x)
    at_y = POINTED.arrow(g.body, f.body(x))
    third = POINTED.arrow(jnp.tanh, g.body(f.body(x)))
    laws.category(POINTED, at_x, at_y, third, tolerance=1e-12)
    laws.functor_of_categories(GRADIENT, at_x, at_y, tolerance=1e-12)
    assert (GRADIENT(at_y).source, GRADIENT(at_y).target) == (2, 3)
    covariant = Functor(POINTED, MAT, GRADIENT.on_objects, GRADIENT.on_maps)
    square = POINTED.arrow(lambda x: jnp.stack([x[1], x[0] * x[2], x[2]]), x)
    sine = POINTED.arrow(jnp.sin, square.target.point)
    with pytest.raises(LawBroken, match=r"`F\(f >> g\)`"):
        laws.functor_of_categories(covariant, square, sine)
    elsewhere = POINTED.arrow(g.body, f.body(x) + 1)
    with pytest.raises(PortMismatch, match="pointed spaces"):
        POINTED.compose(at_x, elsewhere)


def test_maps_over_the_reals_keep_their_loss():
    f, g, h = slices()
    composite = SLICE.compose(f, g, h)
    x = jnp.array([0.1, 0.2, 0.3])
    assert jnp.allclose(composite.target.loss(composite.body(x)), composite.source.loss(x), atol=1e-12, rtol=0)
    lossy = Arrow(f.source, f.target, lambda x: f.body(x) + 1)
    with pytest.raises(LawBroken, match="`f` is a map of the category"):
        laws.category(SLICE, lossy, g, h, tolerance=1e-12)
    pair = SLICE.pair(f.source, g.source)
    y = f.body(x)
    assert jnp.allclose(pair.loss((x, y)), f.source.loss(x) + g.source.loss(y))


def test_where_there_is_no_derivative_the_convention_is_that_of_the_function_that_was_written():
    zero = jnp.zeros(())
    kinked = [SMOOTH.arrow(f, zero) for f in (jax.nn.relu, lambda x: jnp.maximum(x, 0.0))]
    back = [BACKPROPAGATION(f).body for f in kinked]
    assert [float(b.get(zero)) for b in back] == [0, 0]
    assert [float(b.put(zero, jnp.ones(()))) for b in back] == [0, 0.5]


TWO, BOTH = product_category(MAT, 2), (np.eye(2)[:1], np.ones((1, 3)))
ROWS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: MAT.arrow(np.ones(3)), PortMismatch, "Mat (target, source)"),
    (lambda: MAT.arrow([["one"]]), PortMismatch, "Mat matrix"),
    (lambda: SETS.arrow([0, 2], 2), PortMismatch, "2 indices"),
    (lambda: SMOOTH.arrow(jnp.sin, jnp.arange(3)), PortMismatch, "floating int"),
    (lambda: POINTED.arrow(jnp.sin, jnp.ones(2, complex)), PortMismatch, "real"),
    (lambda: MAT.compose(), CdlError, "compose"),
    (lambda: MAT.tensor(), CdlError, "tensor"),
    (lambda: DAGGER.then(BACKPROPAGATION), PortMismatch, "Mat Smooth"),
    (lambda: NatTrans(DAGGER, DAGGER, np.eye), PortMismatch, "covariant"),
    (lambda: product_category(MAT, -1), CdlError, "n -1"),
    (lambda: TWO.compose(TWO.arrow(BOTH), TWO.arrow(BOTH)), PortMismatch, "Mat 2 (1, 1) (2, 3)"),
    (lambda: TWO.identity((1, 2, 3)), CdlError, "Mat tuple 2"),
    (lambda: TWO.identity(2), CdlError, "Mat tuple 2"),
    (lambda: TWO.arrow((np.eye(2),) * 3), CdlError, "Mat tuple 2"),
]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for *_, words in ROWS])
def test_categories_refuse(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as told:
        call()
    assert [word for word in words.split() if word not in str(told.value)] == []


def test_maps_of_a_power_are_tuples_of_maps_and_there_may_be_none():
    two = product_category(SMOOTH, 2)
    f = two.arrow((jnp.sin, jnp.sum), (jnp.ones(2), jnp.ones(3)))
    assert [x.shape for x in (*f.source, *f.target)] == [(2,), (3,), (2,), ()]
    none = product_category(MAT, 0)
    assert none.arrow(()).source == ()
    assert none.compose(none.arrow(()), none.arrow(())).body == ()
    both = TWO.arrow(BOTH)
    assert (both.source, both.target) == ((2, 3), (1, 1))
    after = TWO.compose(both, TWO.arrow((2 * np.eye(1), 3 * np.eye(1))))
    assert all(map(np.array_equal, after.body, (2 * BOTH[0], 3 * BOTH[1])))


def test_the_reverse_derivative_category_of_vectors_is_another_presentation():
    """There a product is a sum of sizes, and all structure maps are identities or exchanges."""
    f = optics.SmoothMap(2, 2, jnp.sin)
    a = SMOOTH.arrow(f.fn, jnp.ones(2))
    x = jnp.array([0.2, 0.3, 0.4, 0.5])
    assert jnp.array_equal((f @ f)(x), jnp.concatenate(SMOOTH.tensor(a, a).body((x[:2], x[2:]))))


def test_objects_are_the_same_where_their_losses_and_their_points_are():
    f, g, _ = slices()
    assert Over(g.source.kind, g.source.loss) == g.source
    with pytest.raises(PortMismatch, match="Smooth / R"):
        SLICE.compose(f, Arrow(Over(g.source.kind, jnp.sum), g.target, g.body))
    x = jnp.ones(2)
    at = Arrow(Pointed(x), Pointed(jnp.sin(x)), jnp.sin)
    assert POINTED.compose(at, Arrow(Pointed(jnp.sin(x)), Pointed(x), jnp.arcsin)).target.point is x
    for elsewhere in (x + 1, x[:1], (x,)):
        with pytest.raises(PortMismatch, match="pointed spaces"):
            POINTED.compose(at, Arrow(Pointed(elsewhere), Pointed(x), jnp.arcsin))


def test_the_dagger_of_a_complex_matrix_is_its_conjugate_transpose():
    rng = np.random.default_rng(1)
    f, g, h = (MAT.arrow(rng.normal(size=s) + 1j * rng.normal(size=s)) for s in ((3, 2), (2, 3), (1, 2)))
    laws.symmetric_monoidal(MAT, f, g, h, tolerance=1e-12)
    laws.functor_of_categories(DAGGER, f, g, tolerance=1e-12)
    assert np.array_equal(DAGGER(f).body, f.body.conj().T)
    turned = Arrow(2, 3, 1j * f.body)
    assert not np.array_equal(MAT.observed(turned), MAT.observed(f))


def test_a_map_of_complex_numbers_and_its_conjugate_differ():
    at = jax.ShapeDtypeStruct((2,), jnp.complex128)
    one, other = (SMOOTH.observed(SMOOTH.arrow(f, at)) for f in (lambda z: z, jnp.conj))
    assert not any(np.allclose(a, b) for a, b in zip(one, other, strict=True))
