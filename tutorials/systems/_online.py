"""Systems that forecast one step ahead and learn from each error: boxes whose state is that of a learner.

| the mathematics                                          | here                                                 |
| -------------------------------------------------------- | ---------------------------------------------------- |
| a learner `P → [A y^A, B y^B](P)`, fed by its own past   | `Forecaster`: a Moore machine, with a window of it   |
| test, then train                                         | a Moore machine's output comes before its input      |
| a frozen network                                         | the rate of learning is 0                            |
| a diagram whose wires are weights                        | `committee`: a rewiring, by how well each forecasts  |
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from cdl import Learner, MooreF, ParaOptic, run
from cdl.learning import layers, losses, optimisers, supervised
from cdl.system import Box, box, rewire, Rewired, rewiring


LAGS = 12
FORGETTING = 0.98  # of the errors that a committee has seen, each step


class Scale(NamedTuple):
    """What makes numbers of a stream small: measured on its first third."""

    mean: Any
    size: Any  # of the values
    change: Any  # of the differences
    level: Any  # 1 where a learner reads the last value itself, else 0


def features(window: Float[Array, " lags"], scale: Scale) -> Float[Array, " lags"]:
    """What a learner reads: how far the values of the window are from the last, and the last."""
    level = scale.level * (window[-1:] - scale.mean) / scale.size
    return jnp.concatenate([(window[:-1] - window[-1]) / scale.change, level])


@functools.cache
def _network(width: int) -> tuple[Any, Any]:
    """The layers, once for a width: what is compiled for one network is so for all."""

    def made(key: Any) -> Any:
        first, second = jax.random.split(key)
        return layers.dense(LAGS, width, jnp.tanh, key=first) >> layers.dense(width, 1, key=second)

    return made, made(jax.random.key(0)).batched()


def network(key: Any, width: int) -> ParaOptic[Any, Any, Any]:
    """From features to the next difference: one hidden layer."""
    made, model = _network(width)
    found: ParaOptic[Any, Any, Any] = model.at(made(key).params)
    return found


def learner(model: ParaOptic[Any, Any, Any], rate: float) -> Learner[Any, Any, Any]:
    """A model that learns by Adam from the square of its error."""
    return supervised(model, losses.mse(), optimisers.adam(rate))


class Forecaster(eqx.Module):
    """A learner as a machine: it shows a forecast, takes the value, and learns from the two."""

    learner: Learner[Any, Any, Any]
    model: ParaOptic[Any, Any, Any]
    scale: Scale

    def __call__(self, state: Any) -> MooreF[Any, Any, Any]:
        kept, window = state
        seen = features(window, self.scale)[None]
        change = self.model.at(self.learner.params(kept))(seen)[0, 0]

        def step(inputs: Any) -> Any:
            x = inputs["x"]
            target = ((x - window[-1]) / self.scale.change)[None, None]
            after, _ = self.learner.step(kept, (seen, target))
            return after, jnp.concatenate([window[1:], x[None]])

        return MooreF({"guess": window[-1] + self.scale.change * change}, step)


def forecaster(model: ParaOptic[Any, Any, Any], rate: float, window: Any, scale: Scale) -> Box:
    """A box that takes a stream at `x`, and shows a forecast at `guess`."""
    learns = learner(model, rate)
    machine = Forecaster(learns, model, scale)
    return box(machine, (learns.state, window), inputs={"x": float}, outputs={"guess": float}, name=f"rate {rate}")


def committee(model: ParaOptic[Any, Any, Any], rates: Sequence[float], window: Any, scale: Scale) -> Rewired:
    """Forecasters that learn at several rates. The diagram's weights grow for those whose errors are small."""
    members = {f"m{k}": forecaster(model, rate, window, scale) for k, rate in enumerate(rates)}

    def guesses(i: Any) -> Any:
        return jnp.stack([i[name]["guess"] for name in members])

    def update(weights: Any, i: Any, d: Any) -> Any:
        return FORGETTING * weights - jnp.square((guesses(i) - d["x"]) / scale.change)

    diagram = rewiring(
        lambda weights, i: {"guess": jax.nn.softmax(weights) @ guesses(i)},
        lambda weights, i, d: {name: {"x": d["x"]} for name in members},
        update,
        jnp.zeros(len(members)),
    )
    return rewire(diagram, members, {"guess": float}, inputs={"x": float}, name="committee")


@eqx.filter_jit
def trained(model: ParaOptic[Any, Any, Any], xs: Any, scale: Scale, steps: int) -> ParaOptic[Any, Any, Any]:
    """The model after so many steps of Adam on all windows of `xs`."""
    windows = jnp.stack([xs[i : len(xs) - LAGS + i] for i in range(LAGS)], 1)
    data = jax.vmap(lambda w: features(w, scale))(windows), (xs[LAGS:] - xs[LAGS - 1 : -1])[:, None] / scale.change
    learns = learner(model, 0.01)
    state, _ = jax.lax.scan(lambda state, _: learns.step(state, data), learns.state, length=steps)
    return model.at(learns.params(state))


@eqx.filter_jit
def forecasts(model: ParaOptic[Any, Any, Any], rates: tuple[float, ...], xs: Any, scale: Scale) -> Any:
    """What is forecast of all values after the first window: by one box, or where there are several rates, by a
    committee."""
    window, rest = xs[:LAGS], xs[LAGS:]
    alone = len(rates) == 1
    system = forecaster(model, rates[0], window, scale) if alone else committee(model, rates, window, scale)
    guesses, _ = run(system, system.state, {"x": rest})
    return guesses["guess"][:-1]
