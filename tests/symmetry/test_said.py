"""What a first reader is told: names where words go, maps that do not fit, and what commutes instead."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

import cdl
from cdl.symmetry import (
    chain,
    Equivariant,
    flow,
    groups,
    moved,
)


RING = groups.cyclic(4)
PLANE = groups.so(2)
KEY = jr.key(0)


def layer(channels=3):
    return Equivariant(RING, RING, channels, channels, key=KEY)


def test_a_name_is_a_word_wherever_a_word_is_taken():
    x = jnp.arange(4.0)
    still, turned = moved("shift", (None, RING), (x, x))
    assert jnp.array_equal(still, x)
    assert jnp.array_equal(turned, RING("shift", x))
    cdl.laws.equivariant(jnp.sin, RING, RING, x, "shift")
    cdl.laws.action(RING, x, "shift", ("shift", "shift"))
    law = cdl.symmetry.Distributive(cdl.TreeF, {cdl.Leaf: RING})
    cdl.laws.distributive(law, cdl.Leaf(x), "shift", "shift", lambda x: x)
    assert jnp.allclose(moved("turn01", flow(PLANE, np.pi), jnp.ones(2)), -jnp.ones(2), atol=1e-6)


def test_a_network_is_printed_with_its_actions_in_a_line():
    assert "source=Action(4; shift)" in repr(layer())
    assert "rows=" not in repr(layer())
    assert eqx.tree_pformat(RING.generators[0]) == "shift: 4 × 4, 4 entries"


def test_words_of_a_group_are_those_of_its_elements():
    S = groups.permutations(3)
    G = groups.regular(S)
    words = groups.words(G)
    assert len(words) == G.size == 6
    for i, word in enumerate(words):
        assert jnp.argmax(G(word, jnp.eye(6)[0])) == i


def test_a_chain_is_drawn_as_its_layers_and_has_an_untied_copy():
    net = chain(layer(), jax.nn.relu, chain(layer(), jnp.tanh))
    text = cdl.draw(net).text
    assert [text.count(name) for name in ("tying", "dense 4 × 4", "relu", "tanh")] == [2, 2, 1, 1]
    x, (tied, untied) = jr.normal(KEY, (3, 4)), (net.para(), net.dense())
    assert jnp.allclose(tied(x), net(x), atol=1e-6)
    assert jnp.allclose(untied(x), net(x), atol=1e-6)
    count = lambda f: sum(x.size for x in jax.tree.leaves(f.params))
    assert (count(tied), count(untied)) == (2 * (9 * 4 + 3), 2 * (9 * 16 + 3 * 4))
