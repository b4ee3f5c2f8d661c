"""What networks on nodes and vectors say of their parts, and the words of a monoid."""

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest

import cdl
from cdl import CdlError
from cdl.symmetry import groups, monoids
from cdl_arch.symmetry import Convolution, deep_sets, futures, GraphNetwork, GroupConvolution, VectorLayer


KEY = jr.key(0)
PARTS = {
    "sets": (lambda: deep_sets((2, 3), 1, key=KEY), "….at(n)", lambda net: net.at(3)),
    "vectors": (lambda: VectorLayer(groups.so(2), (1, 1), (1, 1), 2, key=KEY), "….into", lambda net: net.into),
    "graphs": (
        lambda: GraphNetwork((2, 3, 1), key=KEY),
        "….layers[0].at(n)[0]",
        lambda net: net.layers[0].at(3)[0],
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_what_of_a_network_can_be_drawn_and_explained_is_named(name):
    build, part, of = PARTS[name]
    net = build()
    for see in (cdl.draw, cdl.explain):
        with pytest.raises(CdlError) as refused:
            see(net)
        assert f"`{see.__name__}({part})`" in str(refused.value)
        assert str(see(of(net)))


@pytest.mark.parametrize("X", [monoids.saturating_counter(5), monoids.flip_flop(), groups.permutations(3)], ids=str)
def test_words_and_numbers_of_futures_are_inverse(X):
    F = futures.futures(X)
    words = futures.words(F)
    assert [futures.number(F, word) for word in words] == list(range(F.size))
    assert words[0] == ()
    assert futures.number(F, X.names[0]) == futures.number(F, (X.names[0],))


CONVOLUTIONS = {
    "periodic": lambda: (Convolution((5,), 1, 2, (3,), key=KEY), (1, 5)),
    "on a group": lambda: (GroupConvolution(3, 1, 1, 3, lifting=True, key=KEY), (1, 3, 3)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_dense_is_untied_wherever_it_is_and_equivariant_is_tied(name):
    made, shape = CONVOLUTIONS[name]()
    x = jr.normal(KEY, shape)
    for same in (made.equivariant, made.dense(), made.para()):
        assert jnp.allclose(same(x), made(x), atol=1e-5)
    assert made.dense().params[0].shape == made.equivariant.weight.shape
    assert jax.tree.leaves(made.para().params)[0].shape == made.kernel.shape
    assert type(made).__name__ in cdl.draw(made).text
