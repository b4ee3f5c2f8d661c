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

import inspect
from typing import Any, cast, get_origin

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from .._functors.usage import takes, with_usage
from .._optics.letters import P, Q, T, X, Y, Z
from .._optics.optic import Named, Optic, unnamed
from .._optics.para_optic import ParaOptic
from .._optics.parametric import Along, Beside, Layer, Sequence
from .._optics.reversal import reverse
from .._optics.types import check, check_rows, like, rows, value_type
from ..errors import CdlError
from ._learner import Learner
from .losses import rate as the_rate
from .optimisers import Optimiser


ONE = the_rate(1.0)


@with_usage
def supervised(
    model: ParaOptic[P, X, Y, Any, Any, Any],
    loss: Optic[tuple[T, Y], Array, Any, Any],
    optimiser: Optimiser,
    *,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
    target: Any = None,
) -> Learner[Any, tuple[X, T], P]:
    """Learns from pairs of an input and a target.

    **Arguments:** `model`: from inputs to predictions. `optimiser`: of its parameters. `loss`: an optic from a target
    and a prediction. `rate`: by how much the loss should change. `target`: a target, or the type of one; where the
    model's own type is known, the loss is checked against both.

    **Raises:** `PortMismatch` where the loss does not fit, or is not a number; `CdlError` for what is not a model, a
    loss or an optimiser.

    Examples:
        >>> layers, losses, optimisers = (
        ...     cdl.learning.layers,
        ...     cdl.learning.losses,
        ...     cdl.learning.optimisers,
        ... )
        >>> model = layers.linear(1, 1, key=jax.random.key(0))
        >>> learner = cdl.supervised(model, losses.mse(), optimisers.descent(0.1))
        >>> state, before = learner.step(learner.state, (jnp.array([1.0]), jnp.array([5.0])))
        >>> state, after = learner.step(state, (jnp.array([1.0]), jnp.array([5.0])))
        >>> bool(after < before)
        True
    """
    _expect("supervised(model, loss, optimiser)", model, loss, optimiser)
    _check(model, loss, rate, target)
    return _learner(_called("model", model), loss, optimiser, rate)


@with_usage
def dream(
    model: ParaOptic[P, X, Y, Any, Any, Any],
    x: X,
    loss: Optic[tuple[T, Y], Array, Any, Any],
    optimiser: Optimiser,
    *,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
    target: Any = None,
) -> Learner[Any, tuple[P, T], X]:
    """Learns an input of a model whose parameters do not change. It starts from `x`; its data are the parameters and a
    target.

    **Arguments:** `model`: its parameters are given at each step. `loss`: from a target and a prediction. `optimiser`:
    of the input. `rate`: by how much the loss should change. `target`: a target, or the type of one, where it is not
    like what the model gives.

    **Raises:** `PortMismatch` where the model does not take `x`, the loss does not fit, or is not a number.

    Examples:
        >>> layers, losses, optimisers = (
        ...     cdl.learning.layers,
        ...     cdl.learning.losses,
        ...     cdl.learning.optimisers,
        ... )
        >>> model = layers.linear(2, 1, key=jax.random.key(0))
        >>> learner = cdl.learning.dream(model, jnp.zeros(2), losses.dot(), optimisers.ascent(0.1))
        >>> dreamt, _ = learner.step(learner.state, (model.params, jnp.ones(1)))
        >>> bool(model(dreamt)[0] > model(jnp.zeros(2))[0])
        True
    """
    _expect("dream(model, x, loss, optimiser)", model, loss, optimiser)
    prediction = value_type(model, eqx.filter_eval_shape(lambda x: x, x))
    check(loss, (prediction if target is None else target, prediction), rate, assumed=target is None)
    return _learner(_called("model", model).exchange(x), loss, optimiser, rate)


@with_usage
def autoencoder(
    encoder: ParaOptic[P, X, Z, Any, Any, Any],
    decoder: ParaOptic[Q, Z, X, Any, Any, Any],
    loss: Optic[tuple[X, X], Array, Any, Any],
    optimiser: Optimiser,
    *,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
) -> Learner[Any, X, tuple[P, Q]]:
    """Learns to give back the input, by way of a code.

    **Arguments:** `encoder`, `decoder`: models, one after the other. `loss`: from the input and what is decoded.
    `optimiser`: of both models' parameters. `rate`: by how much the loss should change.

    **Raises:** `PortMismatch` where the decoder does not take what the encoder gives, or the loss does not take the
    input and what the decoder gives.

    Examples:
        >>> layers, losses, optimisers = (
        ...     cdl.learning.layers,
        ...     cdl.learning.losses,
        ...     cdl.learning.optimisers,
        ... )
        >>> encoder, decoder = (
        ...     layers.linear(*sizes, key=jax.random.key(0)) for sizes in ((4, 2), (2, 4))
        ... )
        >>> learner = cdl.learning.autoencoder(
        ...     encoder, decoder, losses.mse(), optimisers.descent(0.1)
        ... )
        >>> state, before = learner.step(learner.state, jnp.ones(4))
        >>> state, after = learner.step(state, jnp.ones(4))
        >>> bool(after < before)
        True
    """
    for model in (encoder, decoder):
        _expect("autoencoder(encoder, decoder, loss, optimiser)", model, loss, optimiser)
    both = _called("encoder", encoder) >> _called("decoder", decoder)
    if both.row is not None:
        check_rows(loss, both.row, rate)
    _check(both, loss, rate, both.source)
    learner = _learner(_called("model", both), loss, optimiser, rate)
    return Learner(_doubled >> learner.optic, learner.rate, learner.reader, learner.state)


@with_usage
def gan(
    generator: ParaOptic[P, Z, X, Any, Any, Any],
    critic: ParaOptic[Q, X, Array, Any, Any, Any],
    g: Optimiser,
    d: Optimiser,
    *,
    payoff: Optic[tuple[Array, Array], Array] | None = None,
    rate: Optic[Array, tuple[()], Array, tuple[()]] = ONE,
) -> Learner[tuple[Any, Any], tuple[Z, X], tuple[P, Q]]:
    """Trains a generator against a critic. One critic scores what is made and what is real: its two copies are tied.

    **Arguments:** `generator`: from noise to what should look real. `critic`: from either to one number, its score.
    `rate`: by how much the payoff should change. `g`, `d`: the optimisers of the two; one of them descends and the
    other ascends. `payoff`: from the scores of what is made and of what is real; if not given, the mean score of what
    is real less the mean score of what is made.

    **Raises:** `PortMismatch` where the critic does not take what the generator makes, or the payoff is not a number.

    Examples:
        >>> layers, optimisers = cdl.learning.layers, cdl.learning.optimisers
        >>> critic = layers.linear(2, 1, key=jax.random.key(0))
        >>> learner = cdl.learning.gan(
        ...     layers.bias(2), critic, optimisers.descent(0.1), optimisers.ascent(0.1)
        ... )
        >>> noise, real = jnp.zeros(2), jnp.ones(2)
        >>> state, payoff = learner.step(learner.state, (noise, real))
        >>> bool((payoff == critic(real) - critic(noise)).all())
        True
    """
    value = reverse(_margin).named("payoff") if payoff is None else payoff
    for model, optimiser in ((generator, g), (critic, d)):
        _expect("gan(generator, critic, g, d)", model, value, optimiser)
    judge = _called("critic", critic)
    scores = _called("generator", generator) >> judge
    if scores.target is not None:
        check(value, (scores.target, scores.target), rate)
    elif scores.row is not None:
        check_rows(value, (scores.row[1], scores.row[1]), rate)
    both = scores @ judge
    tied = both.reparametrise(cast("Any", reverse(_with_copy).named("copy")), at=(generator.params, critic.params))
    reader = g.optic @ d.optic
    learns = tied.reparametrise(reader, at=(g.start(generator.params), d.start(critic.params)))
    return Learner(learns.optic >> value, rate, reader, learns.params)


def _expect(call: str, model: Any, loss: Any, optimiser: Any) -> None:
    """**Raises:** `CdlError` for what is not a model, a loss or an optimiser, with what to write. `call`: the call of
    the function that asks."""
    for name, value, kind, mend in (
        ("model", model, ParaOptic, "write `ParaOptic.of(module)`"),
        ("loss", loss, Optic, "write `reverse(f)` of a function of a pair, a target and a prediction"),
        ("optimiser", optimiser, Optimiser, "write `optimisers.from_optax(rule)`"),
    ):
        if isinstance(value, kind):
            continue
        if isinstance(value, ParaOptic | Optic | Optimiser):
            mend = f"the order is `{call}`"
        else:
            mend = _call_it(value, kind) or mend
        raise CdlError(
            f"the {name} of a learner is of type `{kind.__name__}`, and this is of type `{type(value).__name__}`: "
            f"{mend}."
        )


def _call_it(value: Any, kind: type[Any]) -> str:
    """What to write where a function that makes a part of a learner was not called; `""` for anything else."""
    if not inspect.isfunction(value):
        return ""
    found = inspect.signature(value).return_annotation
    made = get_origin(found) or found
    call = f"{value.__name__}({'' if takes(value) else '…'})"
    if made is kind:
        return f"call `{value.__name__}`, which makes one, `{call}`"
    of_optax = kind is Optimiser and isinstance(made, type) and issubclass(made, optax.GradientTransformation)
    return f"call it, `optimisers.from_optax({call})`" if of_optax else ""


def _check(model: Any, loss: Any, rate: Any, target: Any) -> None:
    """That a loss takes a target and what a model gives, as far as their types are known.

    **Raises:** `PortMismatch`.
    """
    if model.target is not None:
        check(loss, (model.target if target is None else target, model.target), rate, assumed=target is None)
    elif model.row is not None and target is None:
        check_rows(loss, (model.row[1], model.row[1]), rate)
    elif model.row is not None and (shape := jnp.shape(jax.tree.leaves(like(target))[0])):
        check(loss, (target, rows(shape[0], model.row[1])), rate)


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


_ports: Any = Optic.iso(_data_apart, _data_together, wires=("s", ("x", "t")))
_doubled: Any = Optic.iso(_twice, lambda change: change, wires=("s", "x"))
