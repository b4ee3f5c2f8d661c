"""What is no action, no word, no time and no payload is refused by a `CdlError` that says what to give."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import unchecked

from cdl import algebra, Leaf, TreeF
from cdl.errors import CdlError
from cdl.symmetry import Action, chain, Distributive, Equivariant, flow, hom, NormGate, Pointwise
from cdl.symmetry.groups import permutations, so, truncated_translations
from cdl.symmetry.monoids import idempotent


S, TURN, SHIFT = permutations(3), so(2), truncated_translations(5)
KEY = jr.key(0)
STEP = algebra(lambda l: l.label if isinstance(l, Leaf) else l.left + l.right)
REFUSED = {
    "a product": (lambda: S * 3, r"X \* Y is of actions, and 3 is not one"),
    "both": (lambda: S & 3, "X & Y is of actions, and 3 is not one"),
    "a number as a word": (lambda: S(3, jnp.ones(3)), "3 is not a word: give a name of a generator, or a tuple"),
    "numbers as a word": (lambda: S((1,), jnp.ones(3)), "is not a word"),
    "numbers as names": (lambda: S.named(1, 2), "is not a word"),
    "a function's action": (lambda: Pointwise(jnp.tanh, 3), "Pointwise is of actions"),
    "a gate's action": (lambda: NormGate(3, key=KEY), "NormGate is of actions"),
    "negative channels": (lambda: NormGate(so(3), -1, key=KEY), "-1 channels are asked for"),
    "real channels": (lambda: NormGate(so(3), 2.0, key=KEY), "2.0 channels are asked for"),
    "named channels": (lambda: NormGate(so(3), "a", key=KEY), "'a' channels are asked for"),
    "a ragged projection": (lambda: idempotent([[1, 2], [3]]), "`idempotent` takes a matrix"),
    "an order": (lambda: S.power(2.0), "an order of 0 or more, not 2.0"),
    "a traced time": (
        lambda: jax.jit(lambda t: flow(TURN, t)("turn01", jnp.ones(2)))(1.0),
        "`flow` takes a time that is known before the program runs",
    ),
    "a word as a time": (lambda: flow(TURN, "a"), "`flow` takes a time"),
    "an infinite time": (lambda: flow(TURN, np.inf), "`flow` takes one finite number as its time, not inf"),
    "no layer": (lambda: Distributive(TreeF, {Leaf: S})("cycle", 3), "`int` is not a constructor of the law's"),
    "a string as a payload": (lambda: Distributive(TreeF, {Leaf: S})("cycle", Leaf("abc")), "not an array of numbers"),
    "a list of actions": (lambda: Distributive(TreeF, [S]), "takes a dictionary from constructors to actions"),
    "a function of channels": (
        lambda: chain(Equivariant(SHIFT, SHIFT, 4, 4, key=KEY), lambda x: x + 1 - x.mean(axis=1, keepdims=True)),
        r"makes places zero: a function with f\(0\) = 0",
    ),
    "a function of all places": (
        lambda: chain(Equivariant(SHIFT, SHIFT, bias=False, key=KEY), eqx.nn.LayerNorm(5)),
        "`LayerNorm` does not commute with the generator `shift0`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_asked_for_is_refused(case):
    make, message = REFUSED[case]
    with unchecked(), pytest.raises(CdlError, match=message):
        make()


def test_words_orders_and_times_of_other_kinds_are_taken():
    with unchecked():
        assert S(["cycle", "swap"], jnp.arange(3)).tolist() == S(("cycle", "swap"), jnp.arange(3)).tolist()
        assert S.power(np.int64(2)) == S.power(2)
        assert flow(TURN, np.float32(0.5)) == flow(TURN, jnp.asarray(0.5)) == flow(TURN, 0.5)


def test_a_carrier_without_numbers_has_actions_and_functions():
    empty = Action(0).perm([])
    assert empty("g1", []).shape == (0,)
    assert Pointwise(jnp.tanh, empty)(jnp.zeros(0)).shape == (0,)


def test_whole_numbers_as_payloads_have_a_derivative():
    law = Distributive(TreeF, {Leaf: TURN})
    assert law.check(STEP, TURN, [Leaf(jnp.asarray([1, 2]))]) < 1e-6
    assert law.check(STEP, TURN, [Leaf(np.asarray([1, 2]))]) < 1e-6
    jumps = algebra(lambda l: jnp.round(l.label / 7) if isinstance(l, Leaf) else l.left + l.right)
    with pytest.raises(CdlError, match="`Leaf` does not commute with the generator `turn01`"):
        law.check(jumps, TURN, [Leaf(jnp.asarray([10, 20]))])


def test_after_a_long_time_lengths_are_known_as_rounding_leaves_them():
    """The exponential of a great matrix rounds by its size."""
    long = flow(so(3), 1e4)
    assert NormGate(long, key=KEY).source == long
    assert hom(long, long.trivial()).dimension == 0
    with pytest.raises(CdlError, match="not orthogonal"):
        NormGate(flow(Action(2).lie(np.eye(2)), 1e-3), key=KEY)
