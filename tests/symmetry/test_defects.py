"""Maps of algebras of any monad, and equivariant maps: one predicate."""

import jax
import jax.numpy as jnp
import numpy as np
from returns.maybe import Nothing, Some

from cdl import Fork, Leaf, TreeF
from cdl.monads import FreeMonad, ListMonad, MaybeMonad, Monoid, Pure
from cdl.symmetry import hom, hom_defect, is_hom
from cdl.symmetry.groups import cyclic, signed_permutations
from cdl.symmetry.monoids import saturating_counter, transformations


ACTIONS = [cyclic(4), signed_permutations(3), saturating_counter(4), transformations(3)]


def test_to_be_equivariant_is_to_be_a_map_of_algebras():
    rng = np.random.default_rng(0)
    found = []
    for trial in range(16):
        X = ACTIONS[trial // 2 % len(ACTIONS)]
        tying = hom(X, X)
        W = np.tensordot(rng.integers(-3, 4, tying.dimension).astype(float), tying.basis, 1)
        if trial % 2:
            W[rng.integers(X.size), rng.integers(X.size)] += 1
        commutes = all(np.abs(W @ g.dense - g.dense @ W).max() < 1e-9 for g in X.generators)
        f = lambda x, W=W: jnp.asarray(W, jnp.float32) @ x
        xs = jnp.asarray(rng.integers(-9, 10, (6, X.size)), jnp.float32)
        pairs = [((name,), x) for name in X.names for x in xs]
        assert is_hom(f, X, X, xs, tolerance=1e-3) == commutes
        assert is_hom(f, X.algebra, X.algebra, pairs, tolerance=1e-3) == commutes
        found.append(commutes)
    assert 5 < sum(found) < 12


def test_relu_is_a_map_of_lists_for_maxima_and_not_for_sums():
    relu = lambda v: max(v, 0.0)
    monad = ListMonad()
    largest, total = (monad.algebra(Monoid(0.0, f)) for f in (max, lambda a, b: a + b))
    lists = [(1.0, -2.0, 0.5), (-1.0,), ()]
    assert hom_defect(relu, largest, largest, lists) == 0
    assert hom_defect(relu, total, total, lists) == 1.5
    doubled = lambda v: 2 * v
    assert is_hom(doubled, total, total, lists)


def test_points_and_terms_have_maps_too():
    point = MaybeMonad().algebra(3.0), MaybeMonad().algebra(6.0)
    assert is_hom(lambda v: 2 * v, *point, [Nothing, Some(1.0)])
    assert not is_hom(lambda v: v + 1, *point, [Nothing, Some(1.0)])

    def size(layer):
        return layer.value if isinstance(layer, Leaf) else layer.left + layer.right

    free = FreeMonad(TreeF[float, float])
    algebra = free.algebra(size)
    terms = [Pure(2.0), Fork(Pure(1.0), Pure(4.0))]
    assert is_hom(lambda v: 3 * v, algebra, algebra, terms)
    assert not is_hom(lambda v: v * v, algebra, algebra, terms)


def test_infinity_on_both_sides_and_complex_numbers():
    least = ListMonad().algebra(Monoid(jnp.inf, jnp.minimum))
    assert is_hom(lambda v: v, least, least, [()])
    X = cyclic(3)
    xs = jnp.asarray([[1.0, 2.0, 4.0]])
    assert hom_defect(lambda x: jax.lax.complex(0 * x, x * jnp.arange(3.0)), X, X, xs) > 1


def test_trees_of_another_form_are_not_equal():
    free = ListMonad().algebra(Monoid(Leaf(0.0), Fork))
    assert not is_hom(lambda t: Fork(t, t), free, free, [(Leaf(1.0), Leaf(2.0))])
    assert hom_defect(lambda t: t, free, free, [(Leaf(1.0), Leaf(2.0))]) == 0
