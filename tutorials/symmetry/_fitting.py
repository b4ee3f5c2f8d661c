"""Training for the programs: so many steps of Adam on batches that a seed draws."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from cdl_arch.train import train


M = TypeVar("M")


def fitted(
    model: M, loss: Callable[..., Any], data: Sequence[Any], *, steps: int, batch: int, rate: float, seed: int
) -> M:
    """The model after so many steps. `loss` is of a model, a batch and a key; `data` are arrays with a leading axis."""
    arrays = [jnp.asarray(x) for x in data]

    def batches(epoch: int) -> Iterator[list[jax.Array]]:
        rng = np.random.default_rng(seed)
        number = len(arrays[0])
        for _ in range(steps):
            rows = rng.choice(number, batch, replace=False) if batch < number else np.arange(number)
            yield [x[rows] for x in arrays]

    run = train(
        model,
        batches,
        loss,
        lambda model: 0.0,
        optimiser=_adam(rate),
        epochs=1,
        key=jr.key(seed),
        progress=False,
        cache=False,
    )
    return run.model


@functools.cache
def _adam(rate: float) -> optax.GradientTransformation:
    """One optimiser for a rate: runs that share it share their programs."""
    return optax.adam(rate)


def parameters(model: Any) -> int:
    """How many numbers a model learns."""
    return sum(x.size for x in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)))


def cross_entropy(model: Any, batch: Sequence[jax.Array], key: jax.Array) -> jax.Array:
    """Of a network that gives logits for one input."""
    inputs, labels = batch
    logits = jax.vmap(model)(inputs)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@eqx.filter_jit
def predicted(model: Any, inputs: jax.Array) -> jax.Array:
    """What a network gives for each input."""
    return jax.vmap(model)(inputs)


def accuracy(model: Any, inputs: Any, labels: Any) -> float:
    """The share of inputs whose greatest logit is at their label."""
    return float(np.mean(np.argmax(np.asarray(predicted(model, jnp.asarray(inputs))), -1) == np.asarray(labels)))
