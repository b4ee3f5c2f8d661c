"""Learners: a model, a loss, a rate and an optimiser, as one composite with nothing open but its state and its data.

| the mathematics                                                | here                                         |
| -------------------------------------------------------------- | -------------------------------------------- |
| `P × A × B → P`, one step of learning                          | `learner.step(state, data)`                  |
| model `>>` loss `>>` rate, along an optimiser on `P`           | `supervised(model, loss, optimiser)`         |
| the same with the optimiser on the input: deep dreaming        | `dream(model, x, loss, optimiser)`           |
| a generator, and one critic of what is made and what is real   | `gan(generator, critic, g, d)`               |
| an encoder and a decoder, with the input for target            | `autoencoder(encoder, decoder, loss, optimiser)` |

A step goes forward once and back once. Compiled, it is the program of the step that is written by hand.
"""

from collections.abc import Callable
from typing import Any, cast, final, Generic

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import TypeVar

from ._letters import P, Q, T, X, Y, Z
from ._optic import Named, Optic, unnamed
from ._para_optic import ParaOptic
from ._parametric import Along, Beside, Layer, Sequence
from ._reverse import reverse
from ._types import check
from .losses import rate as the_rate
from .optimisers import Optimiser


K = TypeVar("K")  # what is kept from step to step
D = TypeVar("D")  # data


@final
class Learner(eqx.Module, Generic[K, D, P]):
    """A closed composite, and the state that it starts in: `step` gives the next state, and the loss before it."""

    optic: Optic[tuple[K, D], Array, tuple[K, Any], Array]
    rate: Optic[Array, tuple[()], Array, tuple[()]]
    reader: Optic[K, P, Any, Any]
    state: K

    @property
    def step(self) -> Callable[[K, D], tuple[K, Array]]:
        """One step of learning, as a function for `jax.jit` and `jax.lax.scan`: the next state, and the loss before."""

        def step(state: K, data: D, /) -> tuple[K, Array]:
            loss, residual = self.optic.forward((state, data))
            return self.optic.backward(residual, self.rate.put(loss, ()))[0], loss

        return step

    def params(self, state: K, /) -> P:
        """The parameters in a state, at which the model is looked at."""
        return self.reader.get(state)

    @property
    def closed(self) -> Optic[tuple[K, D], tuple[()], tuple[K, Any], tuple[()]]:
        """The composite with its rate: nothing comes out but the next state, and a change of the data."""
        return self.optic >> self.rate


ONE = the_rate(1.0)


def supervised(
    model: ParaOptic[P, X, Y, Any, Any, Any],
    loss: Optic[tuple[T, Y], Array, Any, Any],
    optimiser: Optimiser,
    *,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
    target: Any = None,
) -> Learner[Any, tuple[X, T], P]:
    """Learning from pairs of an input and a target.

    **Arguments:** `loss`: an optic from a target and a prediction. `rate`: the change of the loss that is wished for.
    `target`: a target, or the type of one; where the model's own type is known, the loss is checked against both.

    **Raises:** `PortMismatch` where the loss does not fit, or is no number.
    """
    if model.target is not None:
        check(loss, (model.target if target is None else target, model.target), rate)
    return _learner(_called("model", model), loss, optimiser, rate)


def dream(
    model: ParaOptic[P, X, Y, Any, Any, Any],
    x: X,
    loss: Optic[tuple[T, Y], Array, Any, Any],
    optimiser: Optimiser,
    *,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
) -> Learner[Any, tuple[P, T], X]:
    """Learning an input, from `x` on: its data are the model's parameters, which nobody changes, and a target."""
    return _learner(_called("model", model).exchange(x), loss, optimiser, rate)


def autoencoder(
    encoder: ParaOptic[P, X, Z, Any, Any, Any],
    decoder: ParaOptic[Q, Z, X, Any, Any, Any],
    loss: Optic[tuple[X, X], Array, Any, Any],
    optimiser: Optimiser,
    *,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
) -> Learner[Any, X, tuple[P, Q]]:
    """Learning to give back what came in, by way of a code."""
    both = _called("encoder", encoder) >> _called("decoder", decoder)
    learner = supervised(both, loss, optimiser, rate=rate)
    return Learner(_doubled >> learner.optic, learner.rate, learner.reader, learner.state)


def gan(
    generator: ParaOptic[P, Z, X, Any, Any, Any],
    critic: ParaOptic[Q, X, Array, Any, Any, Any],
    g: Optimiser,
    d: Optimiser,
    *,
    payoff: Optic[tuple[Array, Array], Array] | None = None,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
) -> Learner[tuple[Any, Any], tuple[Z, X], tuple[P, Q]]:
    """A generator against a critic, which is one and the same for what is made and what is real: tied along its copy.

    **Arguments:** `g`, `d`: the optimisers of the two; one of them descends and the other ascends. `payoff`: from the
    scores of what is made and of what is real; if not given, the mean of these less the mean of those.
    """
    value = reverse(_margin).named("payoff") if payoff is None else payoff
    judge = _called("critic", critic)
    both = (_called("generator", generator) >> judge) @ judge
    tied = both.reparametrise(cast("Any", reverse(_with_copy).named("copy")), at=(generator.params, critic.params))
    reader = g.optic @ d.optic
    learns = tied.reparametrise(reader, at=(g.start(generator.params), d.start(critic.params)))
    return Learner(learns.optic >> value, rate, reader, learns.params)


def _learner(
    model: ParaOptic[P, X, Y, Any, Any, Any],
    loss: Optic[tuple[T, Y], Array, Any, Any],
    optimiser: Optimiser,
    rate: Optic[Array, tuple[()], Array, tuple[()]],
) -> Learner[Any, tuple[X, T], P]:
    learns = model.reparametrise(optimiser.optic, at=optimiser.start(model.params))
    return Learner(_ports >> Sequence(learns.optic, loss), rate, optimiser.optic, learns.params)


def _called(name: str, model: ParaOptic[P, X, Y, Any, Any, Any]) -> ParaOptic[P, X, Y, Any, Any, Any]:
    """A model with a name for the whole; one of a single layer keeps the layer's."""
    parts = isinstance(unnamed(model.optic), Sequence | Beside | Along)
    return model.named(name) if parts or not isinstance(model.optic, Named | Layer) else model


def _margin(scores: tuple[Array, Array]) -> Array:
    made, real = scores
    return jnp.mean(real) - jnp.mean(made)


def _with_copy(params: tuple[P, Q]) -> tuple[tuple[P, Q], Q]:
    return params, params[1]


def _data_apart(state_data: Any) -> Any:
    state, (x, target) = state_data
    return (state, target), x


def _data_together(change: Any) -> Any:
    (state, target), x = change
    return state, (x, target)


def _twice(state_x: Any) -> Any:
    state, x = state_x
    return state, (x, x)


_ports: Any = Optic.iso(_data_apart, _data_together)
_doubled: Any = Optic.iso(_twice, lambda change: change)
