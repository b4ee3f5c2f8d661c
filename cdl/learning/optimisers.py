"""Optimisers, each a lens `(S × P, S × P) → (P, P')`: what it gets are the parameters, what it puts is a step.

| the optimiser        | keeps        | gets      | puts, for a change `g`                                             |
| -------------------- | ------------ | --------- | ------------------------------------------------------------------ |
| `descent(ε)`         | `p`          | `p`       | `p − ε g`                                                          |
| `ascent(ε)`          | `p`          | `p`       | `p + ε g`: with `ε = 1`, addition                                  |
| `momentum(ε, γ)`     | `w, p`       | `p`       | `w' = γ w + ε g`, `p − w'`                                         |
| `nesterov(ε, γ)`     | `w, p`       | `p − γ w` | the same                                                           |
| `adagrad(ε, δ)`      | `s, p`       | `p`       | `s' = s + g²`, `p − ε g / (δ + √s')`                               |
| `adam(ε, β₁, β₂, δ)` | `t, m, v, p` | `p`       | `m' = β₁ m + (1 − β₁) g`, `v' = β₂ v + (1 − β₂) g²`,               |
|                      |              |           | `p − ε m̂ / (√v̂ + δ)`, with `m̂ = m'/(1 − β₁ᵗ)`, `v̂ = v'/(1 − β₂ᵗ)` |
| `from_optax(tx)`     | optax's, `p` | `p`       | `p + u`, where `tx.update` gives `u`                               |

An optimiser is a 2-cell: `model.reparametrise(optimiser.optic, at=optimiser.start(params))` is a model that learns. Two
signs are in use, a step against the change and a rate of 1, or addition and a rate of `−ε`: they are the same.

Examples:
    >>> descent = cdl.learning.optimisers.descent(0.25)
    >>> float(descent.optic.put(jnp.array(1.0), jnp.array(2.0)))
    0.5
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from .._functors.expected import expect_fields
from .._functors.usage import with_types
from .._optics.lens import Lens, to_optic
from .._optics.optic import Optic
from ._optax import Rule


@final
class Optimiser(eqx.Module):
    """A lens from what an optimiser keeps, which includes the parameters, to the parameters; and the state to start
    from.

    Each optimiser keeps other arrays, so their type is `Any`. They fit the parameters that the optimiser was started
    with.

    Examples:
        >>> adam: cdl.learning.Optimiser = cdl.learning.optimisers.adam(0.1)
        >>> [float(number) for number in jax.tree.leaves(adam.start(jnp.array(3.0)))]
        [0.0, 0.0, 0.0, 3.0]
    """

    start: Callable[[Any], Any]
    optic: Optic[Any, Any]

    def __check_init__(self) -> None:
        expect_fields(self)


@with_types
def descent(rate: float) -> Optimiser:
    """Gradient descent, `p − ε g`."""
    return _lens("descent", _same, _same, _Against(rate))


@with_types
def ascent(rate: float = 1.0) -> Optimiser:
    """Gradient ascent, `p + ε g`; as it stands, addition."""
    return _lens("ascent", _same, _same, _Along(rate))


@with_types
def momentum(rate: float, decay: float = 0.9) -> Optimiser:
    """A step in the direction of a decaying sum of changes.

    **Arguments:** `rate`: the step. `decay`: how much of the velocity is kept.
    """
    return _lens("momentum", lambda p: (_zeros(p), p), _second, _heavy(rate, decay))


@with_types
def nesterov(rate: float, decay: float = 0.9) -> Optimiser:
    """Momentum, with the change taken a step ahead. It keeps the point itself; optax keeps the one ahead.

    **Arguments:** `rate`: the step. `decay`: how much of the velocity is kept.
    """
    ahead = lambda state: _each(lambda w, p: p - decay * w, state[0], state[1])
    return _lens("nesterov", lambda p: (_zeros(p), p), ahead, _heavy(rate, decay))


@with_types
def adagrad(rate: float, delta: float = 1e-7, start: float = 0.0) -> Optimiser:
    """A rate for each number, that falls with the squares so far; at first `start`."""

    def put(state: Any, g: Any) -> Any:
        s = _each(lambda s, g: s + g * g, state[0], g)
        return s, _each(lambda p, g, s: p - rate * g / (delta + jnp.sqrt(s)), state[1], g, s)

    begin = lambda p: (_each(lambda x: jnp.full_like(x, start), p), p)
    return _lens("adagrad", begin, _second, put)


@with_types
def adam(rate: float, beta1: float = 0.9, beta2: float = 0.999, delta: float = 1e-8) -> Optimiser:
    """Decaying means of the changes and of their squares, corrected for their start at zero.

    **Arguments:** `rate`: the step. `beta1`, `beta2`: how much is kept of the mean of the gradient and of its square.
    `delta`: added to the root of the second.
    """

    def put(state: Any, g: Any) -> Any:
        t, m, v, p = state
        t = t + 1
        m = _each(lambda m, g: beta1 * m + (1 - beta1) * g, m, g)
        v = _each(lambda v, g: beta2 * v + (1 - beta2) * g * g, v, g)
        moved = lambda p, m, v: p - rate * _mean(m, beta1, t) / (jnp.sqrt(_mean(v, beta2, t)) + delta)
        return t, m, v, _each(moved, p, m, v)

    begin = lambda p: (jnp.zeros((), jnp.int32), _zeros(p), _zeros(p), p)
    return _lens("adam", begin, lambda state: state[3], put)


@with_types
def from_optax(transformation: optax.GradientTransformation) -> Optimiser:
    """Any transformation of optax, its state in the lens.

    One that wants to know more than the gradient, as `optax.contrib.reduce_on_plateau` and `optax.lbfgs` do, is told it
    by a learner: `value`, the loss times its rate, `grad` and `value_fn`; and what is given to `step` by other names.
    """
    return _lens("optax", lambda p: (transformation.init(p), p), _second, Rule(transformation))


@final
class _Against(eqx.Module):
    """A step against a change: a module, so that two of one rate are one to `jit`."""

    rate: Any

    def __call__(self, p: Any, g: Any) -> Any:
        return _each(lambda p, g: p - self.rate * g, p, g)


@final
class _Along(eqx.Module):
    """A step along a change."""

    rate: Any

    def __call__(self, p: Any, g: Any) -> Any:
        return _each(lambda p, g: p + self.rate * g, p, g)


def _lens(
    name: str, start: Callable[[Any], Any], get: Callable[[Any], Any], put: Callable[[Any, Any], Any]
) -> Optimiser:
    return Optimiser(start, to_optic(Lens(get, put)).named(name))


def _heavy(rate: float, decay: float) -> Callable[[Any, Any], Any]:
    def put(state: Any, g: Any) -> Any:
        w = _each(lambda w, g: decay * w + rate * g, state[0], g)
        return w, _each(lambda p, w: p - w, state[1], w)

    return put


def _mean(decaying: Array, beta: float, t: Array) -> Array:
    """A mean of `t` numbers, from one that decays by `beta` from zero."""
    return decaying / (1 - beta ** t.astype(decaying.dtype))


def _same(params: Any) -> Any:
    return params


def _second(state: Any) -> Any:
    return state[1]


def _zeros(params: Any) -> Any:
    return _each(jnp.zeros_like, params)


def _each(fn: Callable[..., Any], *trees: Any) -> Any:
    return jax.tree.map(fn, *trees)
