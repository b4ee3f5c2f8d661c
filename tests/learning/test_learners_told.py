"""What a learner tells its parts: a key for layers that draw, and the loss for optimisers that ask for it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
import pytest
from agreement import close

from cdl import Algebra, fold, Fork, Leaf, MealyF, Optic, pack, ParaOptic, run, supervised, TreeF
from cdl.learning import dream, gan, layers, losses, optimisers


KEYS = jr.split(jr.key(0), 4)
XS, YS = jr.normal(KEYS[0], (5, 3)), jr.normal(KEYS[1], (5, 2))
DESCENT = optimisers.descent(0.1)


def noisy() -> eqx.nn.Sequential:
    return eqx.nn.Sequential(
        [
            eqx.nn.Linear(3, 8, key=KEYS[2]),
            eqx.nn.Lambda(jnp.tanh),
            eqx.nn.Dropout(0.5),
            eqx.nn.Linear(8, 2, key=KEYS[3]),
        ]
    )


def test_a_sequence_with_dropout_learns_as_by_hand_with_a_key_for_each_row():
    """Built without a warning, which in this suite would be an error."""
    learner = supervised(ParaOptic.of(noisy(), source=(3,)).batched(5), losses.mse(), DESCENT)
    step, key = jax.jit(learner.step), jr.key(7)
    after, loss = step(learner.state, (XS, YS), key=key)

    @eqx.filter_value_and_grad
    def by_hand(module):
        keys = jr.split(jr.fold_in(key, 0), 5)
        return jnp.mean((jax.vmap(lambda x, k: module(x, key=k))(XS, keys) - YS) ** 2) / 2

    value, slope = by_hand(noisy())
    close(loss, value, 1e-6)
    expected = jax.tree.map(lambda p, g: p - 0.1 * g, eqx.filter(noisy(), eqx.is_inexact_array), slope)
    close(jax.tree.leaves(after), jax.tree.leaves(expected), 1e-6)
    assert loss != step(learner.state, (XS, YS), key=jr.key(8))[1]
    assert loss == step(learner.state, (XS, YS), key=key)[1]


def test_layers_that_draw_have_a_key_each_and_so_have_rows():
    """As an activation, in a layer, and in an optic that is opaque to a batch."""
    drop = layers.activation(eqx.nn.Dropout(0.5))
    ones = jnp.ones(64)
    twice = (drop >> drop)(ones, key=jr.key(0))
    assert sorted(set(twice.tolist())) == [0.0, 4.0]
    assert 4 < int(jnp.sum(twice > 0)) < 28  # a quarter is left of them; of two with one key, a half
    opaque: Any = ParaOptic(drop.params, Optic.identity() >> drop.optic)
    for model in (drop, opaque):
        first, second = model.batched()(jnp.ones((2, 64)), key=jr.key(0))
        assert (first != second).any()


class Shaken(Algebra[TreeF[float, Any], Any]):
    weight: Any

    def __call__(self, layer: TreeF[float, Any], *, key: Any = None) -> Any:
        match layer:
            case Leaf(label):
                return self.weight * label + jr.normal(key)
            case Fork(left, right):
                return left + right


class Shaky(eqx.Module):
    weight: Any

    def __call__(self, state, *, key=None):
        return MealyF(lambda i: (self.weight * state + i, state + jr.normal(key)))


def test_a_fold_and_a_machine_that_draw_are_layers_too():
    forest, key = pack(TreeF, [Fork(Leaf(0.5), Leaf(1.0))]), jr.key(3)
    algebra, machine = Shaken(jnp.array(2.0)), Shaky(jnp.array(2.0))
    close(layers.fold(algebra)(forest, key=key), fold(algebra, forest, key=jr.fold_in(key, 0)), 1e-6)
    start, inputs = jnp.array(1.0), jnp.arange(3.0)
    expected = run(machine, start, inputs, key=jr.fold_in(key, 0))[0]
    close(layers.run(machine, start)(inputs, key=key), expected, 1e-6)


def test_para_optic_draws_nothing_in_inference_mode():
    still = eqx.nn.inference_mode(noisy())
    close(ParaOptic.of(still).batched()(XS), jax.vmap(still)(XS), 1e-6)


PLATEAU = optax.chain(optax.sgd(0.5), optax.contrib.reduce_on_plateau(factor=0.5, patience=1, rtol=0.9))
SEARCH = optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(max_backtracking_steps=8))


@pytest.mark.parametrize(("rule", "rate"), [(PLATEAU, 1.0), (SEARCH, 1.0), (SEARCH, 0.5)])
def test_a_rule_of_optax_that_asks_for_the_loss_is_told_it(rule, rate):
    """Four steps, beside optax by hand on the loss times the rate."""
    model = layers.dense(3, 2, key=KEYS[2])
    optimiser = optimisers.from_optax(rule)
    learner = supervised(model.batched(5), losses.mse(), optimiser, rate=losses.rate(rate))

    def value(params):
        weight, bias = params
        return rate * jnp.mean((XS @ weight.T + bias[None] - YS) ** 2) / 2

    @jax.jit
    def by_hand(state):
        kept, params = state
        loss, grad = jax.value_and_grad(value)(params)
        with jax.numpy_dtype_promotion("standard"):
            updates, kept = rule.update(grad, kept, params, value=loss, grad=grad, value_fn=value)
        return (kept, optax.apply_updates(params, updates)), loss / rate

    step = jax.jit(learner.step)
    state = other = learner.state
    for _ in range(4):
        (state, loss), (other, expected) = step(state, (XS, YS)), by_hand(other)
        close((state, loss), (other, expected), 1e-5)
    close(learner.params(state), state[1], 0)
    assert value(learner.params(state)) < value(model.params)


def test_a_search_climbs_where_the_rate_is_below_zero():
    model, target = layers.dense(3, 2, jnp.tanh, key=KEYS[2]), jnp.array([1.0, 0.0])
    learner = dream(model, XS[0], losses.dot(), optimisers.from_optax(SEARCH), rate=losses.rate(-1.0))
    (_, x), before = jax.jit(learner.step)(learner.state, (model.params, target))
    assert model(x)[0] > before


def test_a_rule_is_told_what_step_is_given_by_name_and_the_key_of_the_step():
    def update(updates, state, params=None, *, pace, value_fn, value, **_):
        return jax.tree.map(lambda g: pace * g, updates), value_fn(params) - value

    rule = optax.GradientTransformationExtraArgs(lambda _: jnp.zeros(()), update)
    model = ParaOptic.of(noisy()).batched()
    learner = supervised(model, losses.mse(), optimisers.from_optax(rule))
    step = jax.jit(learner.step)
    (difference, after), _ = step(learner.state, (XS, YS), key=jr.key(1), pace=jnp.array(0.0))
    assert difference == 0  # the same numbers were drawn for the value at the same parameters
    assert eqx.tree_equal(after, model.params)


def test_of_two_optimisers_each_is_told_the_payoff():
    rule = optimisers.from_optax(PLATEAU)
    generator, critic = layers.dense(3, 2, key=KEYS[2]).batched(), layers.dense(2, 1, key=KEYS[3]).batched()
    learner = gan(generator, critic, rule, optimisers.ascent(0.1))
    (((_, plateau), _), _), payoff = jax.jit(learner.step)(learner.state, (XS, YS))
    close(plateau.best_value, payoff, 1e-6)
