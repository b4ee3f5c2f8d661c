"""Two sides are compared with each other, and not with what the map is applied to: small outputs are looked at too."""

import operator

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import cdl
from cdl.monads import ListMonad, Monoid
from cdl.symmetry import chain, Equivariant, EquivariantMap, groups, hom_defect, is_hom, sides, WORDS


S, SIGNED = groups.permutations(3), groups.signed_permutations(3)
XS = jr.normal(jr.key(0), (4, 3))
UNEQUAL = jnp.asarray([1.0, 2.0, 3.0])
DO_NOT = {
    "a small even map": (lambda x: 1e-4 * jnp.abs(x), SIGNED, SIGNED, XS),
    "a head on pixels": (lambda x: 0.02 * jnp.tanh(x[0] / 255), S, S.trivial(), 127 * (1 + XS)),
    "a weight for each place": (lambda x: 1e-6 * x * UNEQUAL, S, S, XS),
}


@pytest.mark.parametrize("name", DO_NOT)
def test_a_map_with_small_outputs_that_does_not_commute_is_seen(name):
    assert not is_hom(*DO_NOT[name])


DO = {
    "a sum that cancels": (jnp.sum, S, S.trivial(), XS - XS.mean(1, keepdims=True)),
    "what is left of a mean": (lambda x: x - x.mean(), S, S, [jnp.full(3, 0.1)]),
    "a length": (jnp.linalg.norm, groups.so(3), groups.so(3).trivial(), XS),
}


@pytest.mark.parametrize("name", DO)
def test_what_rounding_leaves_is_no_difference(name):
    assert is_hom(*DO[name])


class Scaled(EquivariantMap):
    weights: jax.Array
    source = target = S
    in_channels = out_channels = None

    def _apply(self, x):
        return self.weights * x


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-9])
def test_is_hom_and_explain_agree(size):
    wrong, right = Scaled(size * UNEQUAL), Scaled(size * jnp.ones(3))
    for f, commutes in ((wrong, False), (right, True)):
        assert is_hom(f, S, S, XS) == commutes
        assert cdl.explain(f).holds == commutes
    (both,) = sides(wrong, S, S, UNEQUAL, "swap")
    assert both.apart == pytest.approx(0.25, rel=0.9)


def test_a_chain_whose_function_is_exchanged_is_seen():
    net = chain(Equivariant(S, S, key=jr.key(0)), jnp.tanh)
    other = eqx.tree_at(lambda f: f.maps[1].function, net, lambda x: x * 1e-5 * UNEQUAL)
    assert cdl.explain(net).holds
    assert not cdl.explain(other).holds


def test_whole_numbers_in_arrays_are_compared_exactly():
    jax.config.update("jax_enable_x64", True)
    try:
        X = groups.cyclic(2)
        xs = jnp.asarray([[2**60, 2**60]])
        assert is_hom(lambda x: x + 1, X, X, xs)
        assert hom_defect(lambda x: x + jnp.asarray([0, 1]), X, X, xs) == 1
        assert not is_hom(lambda x: x + jnp.asarray([0, 1]), X, X, xs)
    finally:
        jax.config.update("jax_enable_x64", False)


def test_words_and_strings_are_equal_or_not():
    strings = ListMonad().algebra(Monoid("", operator.add))
    assert is_hom(str.upper, strings, strings, [("a", "b"), ()])
    assert not is_hom(lambda s: s[:1], strings, strings, [("a", "b")])
    spelt = ListMonad().algebra(WORDS)
    assert is_hom(lambda w: tuple(map(str.upper, w)), spelt, spelt, [(("a",), ("b", "c"))])
    assert not is_hom(lambda w: w[:1], spelt, spelt, [(("a",), ("b", "c"))])


@pytest.mark.parametrize("h", [jnp.argmax, lambda x: x > 0, lambda x: jnp.sign(x).astype(int)])
def test_outputs_without_a_derivative_are_compared_after_a_time(h):
    X = groups.so(3)
    Y = X.trivial(np.shape(h(XS[0])))
    assert not is_hom(h, X, Y, XS)
    assert is_hom(lambda x: h(jnp.full(3, x @ x)), X, Y, XS)
