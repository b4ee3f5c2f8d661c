"""Do modules learn by themselves what they learn in the whole? And do learned modules fit together? Prints two tables.

A network of two layers on handwritten digits is trained end to end, and module by module from the same initialisation:
by costates of the same step, by costates of the step before, and greedily, where the first layer learns with a linear
classifier that is dropped. Then first and second layers of networks that were trained apart are put together.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array
from sklearn.datasets import load_digits

from cdl.metric import block_defect, costate_losses, costates
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table


RATE = 0.5
TRAIN, PIXELS, CLASSES = 600, 64, 10
WAYS = "end to end", "by costates", "by costates of the step before", "greedily"
JOINED = (
    "a network alone",
    "its first layer under the second of another",
    "the same, with a linear map between by least squares",
    "under the second of one from the same initialisation",
)


class Layer(NamedTuple):
    """A linear map, with `tanh` after it or without."""

    weight: Array
    bias: Array

    def hidden(self, x: Array) -> Array:
        return jnp.tanh(self.scores(x))

    def scores(self, x: Array) -> Array:
        return x @ self.weight.T + self.bias[None]


class Data(NamedTuple):
    x: Array
    y: Array


def data() -> tuple[Data, Data]:
    """Digits to train with, and others."""
    found: Any = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    x, y = jnp.asarray(found.data[order] / 16), jnp.asarray(found.target[order])
    return Data(x[:TRAIN], y[:TRAIN]), Data(x[TRAIN:], y[TRAIN:])


def layer(key: Any, source: int, target: int) -> Layer:
    """Weights of variance one over the number of inputs."""
    return Layer(jr.normal(key, (target, source)) / source**0.5, jnp.zeros(target))


def network(key: Any, width: int) -> tuple[Layer, Layer]:
    first, second = jr.split(key)
    return layer(first, PIXELS, width), layer(second, width, CLASSES)


def entropy(y: Array) -> Callable[[Array], Array]:
    """The cross-entropy with labels, of scores."""
    return lambda scores: -jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None], 1).mean()


def _maps(modules: Any) -> tuple[Any, ...]:
    """The two modules as functions, which JAX differentiates in their parameters."""
    return jax.tree_util.Partial(Layer.hidden, modules[0]), jax.tree_util.Partial(Layer.scores, modules[1])


def accuracy(modules: Any, given: Data) -> Array:
    scores = modules[1].scores(modules[0].hidden(given.x))
    return (scores.argmax(1) == given.y).mean()


def _less(p: Any, g: Any) -> Any:
    return jax.tree.map(lambda a, b: a - RATE * b, p, g)


def _own(losses: Any, modules: Any) -> Any:
    """One step of each module by its own loss."""
    grads = [jax.grad(loss)(_maps(modules)) for loss in losses]
    return tuple(_less(m, Layer(*jax.tree.leaves(g[i]))) for i, (m, g) in enumerate(zip(modules, grads, strict=True)))


def end_to_end(modules: Any, given: Data, steps: int) -> Any:
    """The two layers, trained as a whole."""
    loss = entropy(given.y)
    whole = lambda m: loss(m[1].scores(m[0].hidden(given.x)))
    return jax.lax.scan(lambda m, _: (_less(m, jax.grad(whole)(m)), None), modules, length=steps)[0]


def by_costates(modules: Any, given: Data, steps: int, *, late: bool) -> Any:
    """Each layer by its costate, of this step or of the step before."""
    loss = entropy(given.y)

    def step(carry: Any, _: Any) -> Any:
        now, before = carry
        fresh = costates(_maps(now), loss, given.x)
        return (_own(costate_losses(before if late else fresh, given.x), now), fresh), None

    start = modules, costates(_maps(modules), loss, given.x)
    return jax.lax.scan(step, start, length=steps)[0][0]


def greedily(modules: Any, head: Layer, given: Data, steps: int) -> Any:
    """The first layer with a classifier that is dropped, and the second by what the first gives."""
    loss = entropy(given.y)

    def step(carry: Any, _: Any) -> Any:
        (first, second), head = carry
        h = first.hidden(given.x)
        down = jax.grad(lambda p: loss(p[1].scores(p[0].hidden(given.x))))((first, head))
        up = jax.grad(lambda p: loss(p.scores(h)))(second)
        (first, head), second = _less((first, head), down), _less(second, up)
        return ((first, second), head), None

    return jax.lax.scan(step, (modules, head), length=steps)[0][0]


def one(key: Any, width: int, steps: int, train: Data, test: Data) -> dict[str, list[Array]]:
    """For each way: the defect of the first module at the start, how far its end is, the loss and the accuracy."""
    modules, head = network(key, width), layer(jr.fold_in(key, 9), width, CLASSES)
    loss = entropy(train.y)
    whole = lambda m: loss(m[1](m[0](train.x)))
    alone = [lambda m: loss(head.scores(m[0](train.x))), whole]
    exact = costate_losses(costates(_maps(modules), loss, train.x), train.x)
    ends = (
        end_to_end(modules, train, steps),
        by_costates(modules, train, steps, late=False),
        by_costates(modules, train, steps, late=True),
        greedily(modules, head, train, steps),
    )
    after = end_to_end(modules, train, 1)
    losses = [whole, whole], exact, exact, alone
    at = modules, modules, after, modules
    flat: Any = lambda m: jnp.concatenate([p.ravel() for p in jax.tree.leaves(m)])
    target = flat(ends[0])
    found = {}
    for name, own, where, end in zip(WAYS, losses, at, ends, strict=True):
        start = block_defect(own, whole, _maps(where))[0]
        apart = jnp.linalg.norm(flat(end) - target) / jnp.linalg.norm(target)
        found[name] = [start, apart, loss(end[1].scores(end[0].hidden(train.x))), 100 * accuracy(end, test)]
    return found


def stitched(key: Any, width: int, steps: int, train: Data, test: Data) -> dict[str, Array]:
    """The accuracy of two networks, and of the first layer of one under the second of the other."""
    half = TRAIN // 2
    parts = Data(train.x[:half], train.y[:half]), Data(train.x[half:], train.y[half:])
    a, b = (end_to_end(network(k, width), part, steps) for k, part in zip(jr.split(key), parts, strict=True))
    same = end_to_end(network(jr.split(key)[0], width), parts[1], steps)
    ones = jnp.ones((len(train.x), 1))
    between = jnp.linalg.lstsq(jnp.concatenate([a[0].hidden(train.x), ones], 1), b[0].hidden(train.x))[0]
    over = b[1].weight @ between[:-1].T, b[1].scores(between[-1:])[0]
    pairs = a, (a[0], b[1]), (a[0], Layer(*over)), (a[0], same[1])
    return {name: 100 * accuracy(pair, test) for name, pair in zip(JOINED, pairs, strict=True)}


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The two tables."""
    with jax.enable_x64(True):
        train, test = data()
        keys = jr.split(jr.key(0), options.seeds)
        run: Any = lambda f: jax.jit(jax.vmap(lambda key: f(key, options.width, options.steps, train, test)))(keys)
        ways, joined = run(one), run(stitched)
    head = ["trained", "defect of the first layer", "how far from end to end", "loss", "accuracy, %"]
    return {
        "metric-modules-alone": Table(head, [[name, *map(_shown, ways[name])] for name in WAYS]),
        "metric-stitched": Table(
            ["trained end to end, on half of the data each", "accuracy, %"],
            [[name, _shown(joined[name])] for name in JOINED],
        ),
    }


def _shown(values: Any) -> str:
    found = [float(x) for x in values]
    if max(found) < 1e-9:
        return "0" if max(found) == 0 else f"{max(found):.0e}"
    return spread(found, 2 if max(found) < 10 else 3)


PROGRAM = Program("metric.modules", arguments(__doc__, seeds=50, width=32, steps=100), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
