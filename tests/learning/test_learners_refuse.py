"""Losses and learners refuse what does not fit: when they are built, where that can be known."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
import pytest
from alone import run_alone

from cdl import CdlError, Optic, ParaOptic, supervised
from cdl.errors import PortMismatch
from cdl.learning import autoencoder, dream, gan, layers, losses, optimisers


DESCENT = optimisers.descent(0.1)
SCORES = jnp.zeros((4, 3))
# For each row a loss of its own: a vector.
EACH = Optic.of(lambda pair: (jnp.sum((pair[0] - pair[1]) ** 2, axis=-1), pair), lambda pair, _: pair)


def dense(n: int, m: int) -> ParaOptic:
    return layers.dense(n, m, key=jr.key(0))


@pytest.mark.parametrize("label", [-1, 3, 2**31 - 1])
def test_a_label_that_is_not_a_class_is_refused(label):
    """JAX takes −1 for the last class, and has NaN for one that is too large."""
    loss, labels = losses.cross_entropy(), jnp.array([0, 1, label, 2])
    expected = "the labels of 3 classes are the whole numbers 0 to 2, and a label is "
    with pytest.raises(CdlError, match=f"{expected}{label}"):
        loss.get((labels, SCORES))
    with pytest.raises(CdlError, match=f"{expected}{label}"):
        loss.put((labels, SCORES), jnp.array(1.0))
    with pytest.raises(RuntimeError, match=f"{expected}another number"):
        eqx.filter_jit(loss.get)((labels, SCORES))


def test_a_learner_refuses_a_label_eagerly_and_compiled():
    learner = supervised(dense(2, 3).batched(), losses.cross_entropy(), DESCENT)
    data = jnp.ones((2, 2)), jnp.array([0, -1])
    with pytest.raises(CdlError, match="a label is -1"):
        learner.step(learner.state, data)
    with pytest.raises(RuntimeError, match="a label is another number"):
        eqx.filter_jit(learner.step)(learner.state, data)


def test_labels_of_a_small_type_are_labels_of_more_classes_than_it_has_numbers():
    scores, labels = jr.normal(jr.key(0), (2, 300)), jnp.array([0, 255], jnp.uint8)
    expected = optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()
    assert jnp.allclose(eqx.filter_jit(losses.cross_entropy().get)((labels, scores)), expected)


def test_a_class_that_cannot_be_adds_nothing_where_its_probability_is_zero():
    """`0 log 0 = 0`, and on the way back as well."""
    scores, target = jnp.array([[1.0, 2.0, -jnp.inf]]), jnp.array([[0.5, 0.5, 0.0]])
    loss = losses.cross_entropy()
    assert jnp.allclose(loss.get((target, scores)), loss.get((target[:, :2], scores[:, :2])))
    change = loss.put((target, scores), jnp.array(1.0))
    assert jnp.allclose(change[1][:, :2], loss.put((target[:, :2], scores[:, :2]), jnp.array(1.0))[1])
    assert all(jnp.isfinite(x).all() for x in change)
    assert loss.get((jnp.array([[0.5, 0.0, 0.5]]), scores)) == jnp.inf


def test_a_mean_of_no_numbers_is_refused():
    none = jnp.zeros((0, 3))
    with pytest.raises(PortMismatch, match=r"`mse` of f32\[0,3\] is a mean of no numbers"):
        losses.mse().get((none, none))
    assert losses.mse(reduction="sum").get((none, none)) == 0
    with pytest.raises(PortMismatch, match=r"`cross_entropy` of f32\[0,3\] is a mean of no numbers"):
        losses.cross_entropy().get((jnp.zeros(0, jnp.int32), none))
    with pytest.raises(PortMismatch, match="takes a score for each class, along the last axis, and not one number"):
        losses.cross_entropy().get((jnp.array(0), jnp.array(1.0)))


def test_a_whole_number_is_not_a_loss():
    """A rate of 0.1 would be rounded to 0."""
    with pytest.raises(PortMismatch, match=r"a loss is a floating number, and this one is i32\[\]"):
        losses.rate(0.1).put(jnp.array(3, jnp.int32), ())


def test_dreaming_refuses_when_it_is_built():
    model, x = dense(2, 3), jnp.ones(2)
    with pytest.raises(PortMismatch, match=r"a loss is one number, and this one is f32\[3\]"):
        dream(model, x, Optic.of(lambda pair: (pair[0] * pair[1], pair), lambda pair, _: pair), DESCENT)
    with pytest.raises(PortMismatch, match=r"`dense`, whose parameters are .*, does not take f32\[5\]"):
        dream(model, jnp.ones(5), losses.dot(), DESCENT)
    with pytest.raises(PortMismatch, match=r"the target is f32\[4\], and what it is held against is f32\[3\]"):
        dream(model, x, losses.mse(), DESCENT, target=(4,))
    labelled = dream(model, x, losses.cross_entropy(), DESCENT, target=jnp.array(0))
    assert labelled.step(labelled.state, (model.params, jnp.array(2)))[1] > 0


@pytest.mark.parametrize(
    "batched", [lambda model: model, lambda model: model.batched(4), lambda model: model.batched()]
)
def test_an_autoencoder_refuses_parts_that_do_not_fit_when_it_is_built(batched):
    made = lambda *sizes: [batched(dense(n, m)) for n, m in sizes]
    with pytest.raises(PortMismatch, match=r"`decoder` cannot follow `encoder`: what comes is f32\[.*2\].*f32\[.*3\]"):
        autoencoder(*made((6, 2), (3, 6)), losses.mse(), DESCENT)
    with pytest.raises(PortMismatch, match=r"the target is f32\[.*6\], and what it is held against is f32\[.*5\]"):
        autoencoder(*made((6, 2), (2, 5)), losses.mse(), DESCENT)
    several = Optic.of(lambda pair: (pair[0] - pair[1], pair), lambda pair, _: pair)
    with pytest.raises(PortMismatch, match=r"a loss is one number, and this one is f32\[.*6\]"):
        autoencoder(*made((6, 2), (2, 6)), several, DESCENT)


def test_rows_of_any_number_are_checked_against_a_target_of_some_number():
    model = dense(2, 3).batched()
    with pytest.raises(PortMismatch, match=r"the target is f32\[4,5\], and what it is held against is f32\[4,3\]"):
        supervised(model, losses.mse(), DESCENT, target=(4, 5))
    with pytest.raises(PortMismatch, match=r"a loss is one number, and this one is f32\[2\]"):
        supervised(model, EACH, DESCENT)
    weights = jnp.arange(5.0)
    weighted = Optic.of(lambda pair: (weights @ EACH.get(pair), pair), lambda pair, _: pair)
    assert supervised(model, weighted, DESCENT).step(model.params, (jnp.ones((5, 2)), jnp.ones((5, 3))))[1] > 0


def test_an_adversarial_pair_refuses_when_it_is_built():
    with pytest.raises(PortMismatch, match=r"`critic` cannot follow `generator`: what comes is f32\[2\].*row by row"):
        gan(dense(3, 2).batched(), dense(4, 1).batched(), DESCENT, DESCENT)
    apart = Optic.of(lambda pair: (pair[0] - pair[1], ()), lambda _, d: (d, -d))
    for made in ((dense(3, 2), dense(2, 5)), (dense(3, 2).batched(), dense(2, 5).batched())):
        with pytest.raises(PortMismatch, match=r"a loss is one number, and this one is f32\[.*5\]"):
            gan(*made, DESCENT, DESCENT, payoff=apart)


def test_a_loss_of_another_target_asks_for_the_target():
    """A loss of pairs of labels and weights, which nobody can guess."""
    model = dense(2, 3).batched(4)

    def weighted(pair):
        (labels, weights), scores = pair
        picked = jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1)[:, 0]
        return -jnp.sum(weights * picked), pair

    loss = Optic.of(weighted, lambda pair, _: pair)
    message = r"does not take a target f32\[4,3\] and a prediction f32\[4,3\]: .*Nobody said what.*`target=`"
    with pytest.raises(PortMismatch, match=message):
        supervised(model, loss, DESCENT)
    with pytest.raises(PortMismatch, match=r"does not take a target \(i32\[4\], f32\[3\]\) .* Give it what it takes"):
        supervised(model, loss, DESCENT, target=(jnp.zeros(4, jnp.int32), jnp.ones(3)))
    supervised(model, loss, DESCENT, target=(jnp.zeros(4, jnp.int32), jnp.ones(4)))


def at_the_front_door():
    module, fitting = eqx.nn.Linear(2, 3, key=jr.key(0)), losses.mse()
    model = ParaOptic.of(module)
    with pytest.raises(CdlError, match=r"is of type `ParaOptic`, and this is of type `Linear`: write `ParaOptic\.of"):
        supervised(module, fitting, DESCENT)
    with pytest.raises(CdlError, match=r"is of type `Optic`, and this is of type `function`: write `reverse\(f\)`"):
        dream(model, jnp.ones(2), lambda pair: pair[0], DESCENT)
    message = r"optimiser of a learner is of type `Optimiser`, and this is .*: write `optimisers\.from_optax\(rule\)`"
    with pytest.raises(CdlError, match=message):
        autoencoder(model, model, fitting, optax.sgd(0.1))
    learner = supervised(model, fitting, DESCENT)
    with pytest.raises(CdlError, match=r"`key` is `0`, and a key comes from JAX"):
        learner.step(learner.state, (jnp.ones(2), jnp.ones(3)), key=0)
    whole: Any = {"supervised": supervised, "dream": dream}
    for call, arguments, words in (
        ("supervised", (model, losses.mse, DESCENT), r"call `mse`, which makes one, `mse\(\)`"),
        ("supervised", (model, fitting, optimisers.adam), r"call `adam`, which makes one, `adam\(…\)`"),
        ("supervised", (model, fitting, optax.adam), r"call it, `optimisers\.from_optax\(adam\(…\)\)`"),
        ("supervised", (layers.dense, fitting, DESCENT), r"call `dense`, which makes one, `dense\(…\)`"),
        ("supervised", (fitting, model, DESCENT), r"the order is `supervised\(model, loss, optimiser\)`"),
        ("dream", (model, jnp.ones(2), DESCENT, fitting), r"the order is `dream\(model, x, loss, optimiser\)`"),
    ):
        with pytest.raises(CdlError, match=words):
            whole[call](*arguments)
    with pytest.raises(CdlError, match="model of a learner is of type `ParaOptic`"):
        gan(model, module, DESCENT, DESCENT)
    with pytest.raises(CdlError, match='`reduction` is \'max\', and must be one of "mean", "sum"'):
        losses.mse(reduction="max")


def test_what_is_not_a_model_a_loss_or_an_optimiser_is_told_how_to_become_one():
    run_alone(at_the_front_door)


XS, YS = jnp.ones((4, 2)), jnp.ones((4, 3))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda one, state: one.step(state, (XS, YS)), r"data of \(f32\[4,2\], f32\[4,3\]\) .*`model.batched\(n\)`"),
        (lambda one, state: one.step(state, XS), r"data of f32\[4,2\] .*give a pair, `step\(state, \(inputs, targets"),
        (lambda one, state: one.step((XS, YS), state), r"comes first, as in `learner.step\(learner.state, data\)`"),
        (lambda one, state: one.step(state, ([1.0, 2.0], [1.0] * 3)), r"a list is not an array: write `jnp.array"),
    ],
)
def test_a_step_on_what_it_does_not_take_is_told(step, words):
    one = supervised(ParaOptic.of(eqx.nn.Linear(2, 3, key=jr.key(0))), losses.mse(), DESCENT)
    with pytest.raises(CdlError, match=words):
        step(one, one.state)


def test_a_batch_of_another_size_runs_and_mse_is_half_of_the_mean_squared_error():
    model = ParaOptic.of(eqx.nn.Linear(2, 3, key=jr.key(0)), source=(2,))
    learner = supervised(model.batched(9), losses.mse(), DESCENT)
    _, loss = learner.step(learner.state, (XS, YS))
    assert jnp.allclose(loss, jnp.mean((model.batched()(XS) - YS) ** 2) / 2, atol=1e-6)
