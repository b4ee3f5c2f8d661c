"""What a first reader is told: names where words go, maps that do not fit, and what commutes instead."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from alone import run_alone

import cdl
from cdl import CdlError
from cdl.symmetry import (
    Action,
    attributed,
    chain,
    Equivariant,
    flow,
    groups,
    hom,
    hom_defect,
    is_hom,
    lie_error,
    monoid_error,
    monoids,
    moved,
    NormGate,
    Pointwise,
)


RING = groups.cyclic(4)
PLANE = groups.so(2)
COUNTER = monoids.saturating_counter(4)
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
    with pytest.raises(CdlError, match=r"take the elements `exp\(t A\)`, by `flow\(actions, t\)`"):
        moved("turn01", (None, PLANE), (x, jnp.ones(2)))
    assert jnp.allclose(moved("turn01", flow(PLANE, np.pi), jnp.ones(2)), -jnp.ones(2), atol=1e-6)


def test_a_map_that_does_not_fit_is_named_with_the_function_that_was_called():
    with pytest.raises(CdlError, match="`hom_defect` is of two actions, and `tuple` is not one"):
        hom_defect(lambda x: x, (None, PLANE), PLANE, [jnp.ones(2)])
    with pytest.raises(CdlError, match=r"`hom_defect` fails for `f` at an array of shape \(4,\).*error is: \w"):
        hom_defect(lambda x: jnp.ones(3) @ x, RING, RING, [jnp.ones(4)])
    with pytest.raises(CdlError, match=r"`is_hom` fails for `f` at an array of shape \(2,\)"):
        is_hom(lambda x: jnp.ones(3) @ x, PLANE, PLANE, [jnp.ones(2)])


def test_an_action_is_no_element_and_a_measured_map_has_one_argument():
    xs, later = jnp.ones((3, 4)), functools.partial(RING, "shift")
    for measure in (monoid_error, lie_error):
        with pytest.raises(CdlError, match=r'one element of it is measured: give `functools.partial\(X, "shift"\)`'):
            measure(jnp.sin, RING, later, xs)
        with pytest.raises(
            CdlError, match=r"a function of one argument, and does not take one.*`lambda xs: h\(\*xs\)`"
        ):
            measure(lambda x, y: x, later, later, xs)
    with pytest.raises(CdlError, match="a function of one argument"):
        attributed([lambda x, y: x], [later, later], xs)


def test_parameters_are_varied_and_the_message_says_so():
    with pytest.raises(
        CdlError, match=r"^With other values of its parameters, `LayerNorm` does not commute.*use_weight=F"
    ):
        chain(layer(), eqx.nn.LayerNorm((3, 4)))
    chain(layer(), eqx.nn.LayerNorm((3, 4), use_weight=False, use_bias=False))


def test_what_does_commute_is_recommended_where_it_is_taken():
    with pytest.raises(
        CdlError, match=r"commute with actions that pull, and odd ones .*: take `X.transposed`"
    ) as refused:
        Pointwise(jax.nn.relu, COUNTER)
    assert "NormGate" not in str(refused.value)
    Pointwise(jax.nn.relu, COUNTER.transposed)
    with pytest.raises(CdlError, match=r"mixes the numbers of several places.*`NormGate` takes the length"):
        Pointwise(jnp.tanh, PLANE)
    NormGate(PLANE, key=KEY)
    both = Action(2).perm([1, 0]).push([0, 0])
    with pytest.raises(CdlError, match="actions that pull") as refused:
        Pointwise(jnp.tanh, both)
    assert "NormGate" not in str(refused.value)


def test_a_layer_that_fails_at_the_places_is_refused():
    with pytest.raises(CdlError, match=r"`Linear` fails on an array of shape \(3, 4\).*is `Equivariant`. The error is"):
        chain(layer(), eqx.nn.Linear(4, 4, key=KEY))
    with pytest.raises(
        CdlError, match=r"`Dropout` draws random numbers .*requires a key.*leave it out, or apply it outside"
    ):
        chain(layer(), eqx.nn.Dropout(0.5))
    with pytest.raises(CdlError, match="gives tuple: it is not a function at each place"):
        chain(layer(), lambda x: (x, x))


def test_a_function_that_needs_its_channels_is_asked_with_them():
    X, gain = groups.truncated_translations(4), jnp.ones((3, 4))
    with pytest.raises(CdlError, match=r"makes places zero: a function with f\(0\) = 0"):
        Pointwise(lambda x: jnp.einsum("ci,ci->ci", gain, jnp.cos(x)), X, 3)


def test_the_matrix_of_a_word_is_asked_of_element():
    with pytest.raises(CdlError, match=r"is given 'shift', and not a matrix.*`X.element\(word\)`"):
        RING.matrix("shift")
    assert RING.element("shift").toarray().shape == (4, 4)


def test_a_network_is_printed_with_its_actions_in_a_line():
    assert "source=Action(4; shift)" in repr(layer())
    assert "rows=" not in repr(layer())
    assert eqx.tree_pformat(RING.generators[0]) == "shift: 4 × 4, 4 entries"


def test_beyond_the_letters_numbers_have_names():
    X = groups.cyclic(60)
    assert hom(X, X).counts[0].startswith("weights: 60 × n0, 60 × n1, ")


def test_words_of_a_group_are_those_of_its_elements():
    S = groups.permutations(3)
    G = groups.regular(S)
    words = groups.words(G)
    assert len(words) == G.size == 6
    for i, word in enumerate(words):
        assert jnp.argmax(G(word, jnp.eye(6)[0])) == i
    with pytest.raises(CdlError, match="`words` is of what `regular` gives"):
        groups.words(S + S)


def test_a_chain_is_drawn_as_its_layers_and_has_an_untied_copy():
    net = chain(layer(), jax.nn.relu, chain(layer(), jnp.tanh))
    text = cdl.draw(net).text
    assert [text.count(name) for name in ("tying", "dense 4 × 4", "relu", "tanh")] == [2, 2, 1, 1]
    x, (tied, untied) = jr.normal(KEY, (3, 4)), (net.para(), net.dense())
    assert jnp.allclose(tied(x), net(x), atol=1e-6)
    assert jnp.allclose(untied(x), net(x), atol=1e-6)
    count = lambda f: sum(x.size for x in jax.tree.leaves(f.params))
    assert (count(tied), count(untied)) == (2 * (9 * 4 + 3), 2 * (9 * 16 + 3 * 4))


def test_a_page_says_which_layer_a_law_is_of_and_keeps_names_apart():
    net = chain(layer(), jax.nn.relu, chain(jax.tree.map(lambda x: x, layer()), jnp.tanh))
    page = cdl.explain(net)
    assert [law.law.split(",")[0] for law in page.laws[:2]] == ["maps[0]", "maps[2].maps[0]"]
    assert "maps[1], Pointwise: at each place" in page.execution
    X = Action(3).perm([1, 2, 0], "x").perm([0, 1, 2], "f")
    names = [law.law for law in cdl.explain(Equivariant(X, X, key=KEY)).laws]
    assert "f'(x · x') = x · f'(x')" in names


def test_a_map_that_fails_is_said_with_the_value():
    X = Action(3).perm([1, 2, 0])
    for value, said in ((jnp.zeros(3), r"an array of shape \(3,\)"), ("ab", "the value 'ab'")):
        with pytest.raises(CdlError, match=rf"`is_hom` fails for `f` at {said}\. Give values .* no attribute 'none'"):
            is_hom(lambda x: x.none(), X, X, [value])
    with pytest.raises(CdlError, match="`f` is measured as a function of one argument, and does not take one"):
        is_hom(lambda x, y: x, X, X, [jnp.zeros(3)])


def first_calls():
    many: Any = chain
    with pytest.raises(CdlError, match=r"was given a `list` of `Equivariant`: give them one by one, `chain\(\*maps\)`"):
        many([layer(), layer()])
    for make in (lambda: Equivariant(RING, RING, key=0), lambda: NormGate(RING, key=0)):  # type: ignore[arg-type]
        with pytest.raises(CdlError, match=r"write `key=jax.random.key\(0\)`"):
            make()


def test_a_list_of_maps_and_a_number_for_a_key_are_told_what_to_write():
    run_alone(first_calls)
