"""Losses and learners refuse what does not fit: when they are built, where that can be known."""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
import pytest
from equivariant import unchecked
from test_learners_told import noisy, SEARCH

from cdl import CdlError, Optic, ParaOptic, supervised
from cdl.errors import PortMismatch
from cdl.learning import autoencoder, dream, gan, layers, losses, Optimiser, optimisers
from cdl.optics import z2


KEY, ONES, SCORES = jr.key(0), jnp.ones, jnp.zeros((4, 3))
DESCENT, MSE, ENTROPY = optimisers.descent(0.1), losses.mse(), losses.cross_entropy()
DATA = ONES((4, 2)), ONES((4, 3))


def dense(n: int, m: int) -> Any:
    return layers.dense(n, m, key=KEY)


MODEL, ROWS_OF, MODULE = dense(2, 3), dense(2, 3).batched(), eqx.nn.Linear(2, 3, key=KEY)


def loss_of(fn: Callable[[Any, Any], Any]) -> Any:
    return Optic.of(lambda pair: (fn(*pair), pair), lambda pair, _: pair)


EACH, APART = loss_of(lambda t, y: jnp.sum((t - y) ** 2, axis=-1)), loss_of(lambda t, y: t - y)
WEIGHTED = loss_of(lambda t, y: -jnp.sum(t[1] * jax.nn.log_softmax(y)[jnp.arange(4), t[0]]))


def learn(model: Any = MODEL, loss: Any = MSE, optimiser: Any = DESCENT, **how: Any) -> Any:
    return supervised(model, loss, optimiser, **how)


def step(data: Any, model: Any = MODEL, rule: Any = DESCENT, loss: Any = MSE, **how: Any) -> Any:
    learner = learn(model, loss, rule)
    return learner.step(learner.state, data, **how)


def paced() -> Optimiser:
    update = lambda grads, state, params=None, *, pace, **_: (grads, state)
    rule = optax.GradientTransformationExtraArgs(lambda _: jnp.zeros(()), update)
    return optimisers.from_optax(rule)


def searching() -> Any:
    rule = optimisers.from_optax(SEARCH)
    made = gan(dense(2, 3).batched(), dense(3, 1).batched(), rule, DESCENT)
    return made.step(made.state, DATA)


LABELS = jnp.array([0, 1, -1, 2]), SCORES
BEYOND = jnp.array([0, 1, 3, 2]), SCORES
ROWS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: dense(2, 4) >> dense(3, 2), PortMismatch, "dense f32[4] f32[3]"),
    (lambda: MSE.get((ONES(4), ONES((4, 1)))), PortMismatch, "f32[4] f32[4,1]"),
    (lambda: MSE.get((SCORES[:0], SCORES[:0])), PortMismatch, "mse f32[0,3]"),
    (lambda: ENTROPY.get((jnp.zeros(3, int), SCORES)), PortMismatch, "cross_entropy i32[3] f32[4]"),
    (lambda: ENTROPY.get((jnp.array(0), jnp.array(1.0))), PortMismatch, "each class"),
    (lambda: ENTROPY.get(LABELS), CdlError, "0 2 -1"),
    (lambda: ENTROPY.get(BEYOND), CdlError, "0 2 3"),
    (lambda: eqx.filter_jit(ENTROPY.get)(LABELS), RuntimeError, "0 2"),
    (lambda: eqx.filter_jit(step)((DATA[0], LABELS[0]), ROWS_OF, loss=ENTROPY), RuntimeError,
     "label"),
    (lambda: losses.mse(reduction="max"), CdlError, "'max' mean sum"),
    (lambda: learn(dense(2, 3).batched(4), EACH), PortMismatch, "f32[4]"),
    (lambda: learn(dense(2, 3).batched(4), WEIGHTED), PortMismatch, "f32[4,3] target="),
    (lambda: dream(MODEL, ONES(2), APART, DESCENT), PortMismatch, "f32[3]"),
    (lambda: dream(MODEL, ONES(5), losses.dot(), DESCENT), PortMismatch, "dense f32[5]"),
    (lambda: autoencoder(dense(6, 2), dense(3, 6), MSE, DESCENT), PortMismatch,
     "decoder encoder f32[2]"),
    (lambda: autoencoder(dense(6, 2), dense(2, 5), MSE, DESCENT), PortMismatch, "f32[6] f32[5]"),
    (lambda: gan(dense(3, 2).batched(), dense(4, 1).batched(), DESCENT, DESCENT), PortMismatch,
     "critic row"),
    (lambda: learn(MODULE), CdlError, "Linear ParaOptic.of"),
    (lambda: dream(MODEL, ONES(2), lambda pair: pair[0], DESCENT), CdlError, "reverse(f)"),
    (lambda: autoencoder(MODEL, MODEL, MSE, optax.sgd(0.1)), CdlError,
     "optimisers.from_optax(rule)"),
    (lambda: learn(loss=losses.mse), CdlError, "mse()"),
    (lambda: learn(optimiser=optax.adam), CdlError, "optimisers.from_optax(adam(…))"),
    (lambda: learn(MSE, MODEL), CdlError, "supervised(model, loss, optimiser)"),
    (lambda: step(DATA), TypeError, "dot_general"),
    (lambda: step(DATA[0]), CdlError, "f32[4,2] pair"),
    (lambda: learn(ParaOptic.of(MODULE)).step(DATA, MODULE), CdlError, "learner.state,"),
    (lambda: step((DATA[1], DATA[0]), ParaOptic.of(noisy()).batched()),
     CdlError, "Dropout key=key"),
    (lambda: step(DATA, ROWS_OF, paced()), CdlError, "'pace'"),
    (searching, CdlError, "'value_fn'"),
    (lambda: z2.reverse(jnp.sin).get(ONES(2)), CdlError, "sin"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _unchecked() -> Iterator[None]:
    """Without the suite's check of types, as users call it."""
    with unchecked():
        yield


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for *_, words in ROWS])
def test_learning_refuses(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as told:
        call()
    assert [word for word in words.split() if word not in str(told.value)] == []
