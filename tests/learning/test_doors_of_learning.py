"""What is not a model, a loss, an optimiser or a size is refused at the door."""

import jax.numpy as jnp
import jax.random as jr
import optax
import pytest
from alone import run_alone
from doors import a_machine, an_algebra, refused

from cdl.learning import (
    autoencoder,
    circuits,
    dream,
    gan,
    layers,
    Learner,
    losses,
    Optimiser,
    optimisers,
    supervised,
)  # fmt: skip


KEY = jr.key(0)
MODEL = layers.dense(2, 2, key=KEY)
HOW = optimisers.descent(0.1)
RATE = losses.rate(1.0)
NUMBERS = ("None", "a text", "a list", "a negative number")


def doors() -> list[str]:
    learner = supervised(MODEL, losses.mse(), HOW, rate=RATE)
    critic = layers.linear(2, 1, key=KEY)
    return [
        *refused(layers.linear, 2, 2, key=KEY, wrong={0: NUMBERS}),
        *refused(layers.bias, 2, jnp.ones(2), wrong={0: NUMBERS}),
        *refused(layers.activation, jnp.tanh),
        *refused(layers.dense, 2, 2, key=KEY, wrong={0: NUMBERS}),
        *refused(layers.fold, an_algebra, wrong={0: ("None", "a text", "a tree", "the class of a module", "an array")}),
        *refused(layers.run, a_machine, 0.0, wrong={0: ("None", "a text", "an algebra", "an array")}),
        *refused(losses.mse, reduction="sum"),
        *refused(losses.rate, 0.1),
        *refused(Optimiser, HOW.start, HOW.optic),
        *refused(optimisers.descent, 0.1),
        *refused(optimisers.ascent, 0.1),
        *refused(optimisers.momentum, 0.1, 0.9),
        *refused(optimisers.nesterov, 0.1, 0.9),
        *refused(optimisers.adagrad, 0.1, 0.1, 0.0),
        *refused(optimisers.adam, 0.1, 0.9, 0.9, 0.1),
        *refused(optimisers.from_optax, optax.sgd(0.1)),
        *refused(Learner, *(getattr(learner, name) for name in ("optic", "rate", "reader", "state"))),
        *refused(supervised, MODEL, losses.mse(), HOW, rate=RATE),
        *refused(dream, MODEL, jnp.ones(2), losses.dot(), HOW, rate=RATE),
        *refused(autoencoder, MODEL, MODEL, losses.mse(), HOW, rate=RATE),
        *refused(gan, MODEL, critic, HOW, HOW, rate=RATE),
        *refused(circuits.table, 2, 1, wrong={0: NUMBERS, 1: NUMBERS}),
        *refused(circuits.parity, 2, wrong={0: NUMBERS}),
        *refused(circuits.ascend, circuits.parity(2)),
        *refused(circuits.majority, circuits.parity(2)),
    ]


def every_wrong_kind_of_argument():
    found = doors()
    assert found == [], "\n".join(found)


@pytest.mark.slow
def test_every_wrong_kind_of_argument_is_refused_at_the_door():
    run_alone(every_wrong_kind_of_argument)
