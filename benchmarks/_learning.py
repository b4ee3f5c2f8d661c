"""A step of learning as one composite of optics, beside the step by hand: the same numbers, and what each costs."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

import cdl
from cdl_arch.recursive import n_ary

from ._clock import compiled, Entry, in_turn
from ._problems import random_tree


ADAM = optax.adam(1e-3)
COMPILED = 3  # times, in turn


@dataclass(frozen=True)
class Task:
    """A learner, the loss by hand of parameters like its own, and a batch."""

    learner: Any
    loss: Callable[..., Any]
    batch: Any


def learning(name: str, size: int, rounds: int) -> dict[str, Any]:
    """One model: `mlp`, `conv` or `fold`; `size` is how many inputs a batch has."""
    task: Task = {"mlp": mlp, "conv": convolutions, "fold": trees}[name](size)

    def by_hand(state: Any, batch: Any) -> Any:
        kept, params = state
        value, slope = jax.value_and_grad(task.loss)(params, *batch)
        change, kept = ADAM.update(slope, kept, params)
        return (kept, optax.apply_updates(params, change)), value

    programs: dict[str, Any] = {}
    took: dict[str, list[float]] = {"optics": [], "by hand": []}
    for _ in range(COMPILED):
        for who, step in (("optics", task.learner.step), ("by hand", by_hand)):
            jax.clear_caches()  # else the first of the two traces what JAX traces once, for both
            once, programs[who] = compiled(step, task.learner.state, task.batch)
            took[who].append(once)
    after = {who: program(task.learner.state, task.batch) for who, program in programs.items()}
    assert eqx.tree_equal(after["optics"], after["by hand"], rtol=1e-5, atol=1e-6), "the steps differ"
    entries = [Entry(who, _steps(program, task), rounds) for who, program in programs.items()]
    return {"both": in_turn(entries), "compile": {who: statistics.median(each) for who, each in took.items()}}


def _steps(program: Any, task: Task) -> Callable[[], Any]:
    """Ten steps from the start."""

    def run() -> Any:
        state = task.learner.state
        for _ in range(10):
            state, _ = program(state, task.batch)
        return state

    return run


def mlp(size: int) -> Task:
    """Three dense layers of width 256."""
    keys = jr.split(jr.key(0), 5)
    layers = [cdl.learning.layers.dense(256, 256, jnp.tanh, key=k) for k in keys[:2]]
    network = layers[0] >> layers[1] >> cdl.learning.layers.dense(256, 10, key=keys[2])

    def scores(params: Any, x: Any) -> Any:
        (((w, b), _), ((v, c), _)), (u, d) = params
        return u @ jnp.tanh(v @ jnp.tanh(w @ x + b) + c) + d

    batch = jr.normal(keys[3], (size, 256)), jr.randint(keys[4], (size,), 0, 10)
    return _classified(network, scores, batch)


def convolutions(size: int) -> Task:
    """Two convolutions of pictures of 8 by 8."""
    keys = jr.split(jr.key(0), 5)
    plain = eqx.nn.Conv2d(1, 16, 3, key=keys[0]), eqx.nn.Conv2d(16, 32, 3, key=keys[1])
    relu, flat = cdl.learning.layers.activation(jax.nn.relu), cdl.learning.layers.activation(jnp.ravel)
    first = cdl.learning.layers.conv(1, 16, 3, key=keys[0], size=(8, 8))
    network = first >> relu >> cdl.learning.layers.conv(16, 32, 3, key=keys[1]) >> relu >> flat
    network = network >> cdl.learning.layers.dense(512, 10, key=keys[2])

    def scores(params: Any, x: Any) -> Any:
        (((((p, _), q), _), _), (w, b)) = params
        for own, conv in zip((p, q), plain, strict=True):
            x = jax.nn.relu(eqx.combine(own, conv)(x))
        return w @ jnp.ravel(x) + b

    batch = jr.normal(keys[3], (size, 1, 8, 8)), jr.randint(keys[4], (size,), 0, 10)
    return _classified(network, scores, batch)


def _classified(network: Any, scores: Callable[..., Any], batch: Any) -> Task:
    def loss(params: Any, xs: Any, labels: Any) -> Any:
        logs = jax.nn.log_softmax(jax.vmap(lambda x: scores(params, x))(xs))
        return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], axis=1))

    model = network.batched(len(batch[1]))
    optimiser = cdl.learning.optimisers.from_optax(ADAM)
    return Task(cdl.supervised(model, cdl.learning.losses.cross_entropy(), optimiser, target=batch[1]), loss, batch)


def trees(size: int) -> Task:
    """A Tree-LSTM of width 128 over random binary trees."""
    chance, width = np.random.default_rng(0), 128
    forest = cdl.pack(cdl.TreeF, [random_tree(chance, int(chance.integers(20, 61)), width) for _ in range(size)])
    net = n_ary(cdl.TreeF, width, payload={cdl.Leaf: width}, key=jr.key(0))
    wanted = jr.normal(jr.key(1), (size, width))
    model = cdl.learning.layers.fold(net) >> cdl.learning.layers.activation(lambda state: state.hidden, name="hidden")

    def loss(params: Any, forest: Any, wanted: Any) -> Any:
        hidden = cdl.fold(eqx.combine(params[0], net), forest).hidden
        return jnp.mean((hidden - wanted) ** 2) / 2

    learner = cdl.supervised(model, cdl.learning.losses.mse(), cdl.learning.optimisers.from_optax(ADAM))
    return Task(learner, loss, (forest, wanted))
