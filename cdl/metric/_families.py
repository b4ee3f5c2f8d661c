"""Four families of distributions.

| the family            | `log p(y)`                            | the Fisher matrix of its parameters         |
| --------------------- | ------------------------------------- | ------------------------------------------- |
| `Categorical(z)`      | `z_y − log Σ exp z`                   | `diag(p) − p pᵀ`, with `p = softmax(z)`     |
| `Bernoulli(z)`        | `y z − log(1 + exp z)`                | `p (1 − p)`, with `p = 1/(1 + exp(−z))`     |
| `Gaussian(μ, σ)`      | `−½ ((y − μ)/σ)² − log σ − ½ log 2π`  | `1/σ²` of `μ`, and `2/σ²` of `σ`            |
| `Poisson(z)`          | `y z − exp z − log y!`                | `exp z`                                     |

In the first, second and fourth `z` is the natural parameter, so that the Fisher matrix is the Hessian of `−log p(y)`
for every `y`, and the generalised Gauss–Newton matrix is the Fisher matrix.

A score of `−∞` is a class that is masked: it has probability 0, and `0 log 0 = 0`. So has a truth value of infinite
odds, and a count whose mean is 0. A target outside the range of its family is refused (see `_targets`). A scale that is
not above 0 gives NaN.
"""

from typing import Any, ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.scipy.special import gammaln
from jaxtyping import Array, PRNGKeyArray

from .._functors.words import short
from .._schemes.in_range import in_range
from ..errors import CdlError
from ._distribution import Distribution
from ._targets import expect_like, expect_parameters, expect_same, expect_values


@final
class Categorical(Distribution):
    """One of some classes, by their scores: `softmax(logits)`. A target is the number of a class, from 0 on.

    **Arguments:** `logits`: `(examples, …, classes)`; `−∞` for a class that is masked.

    **Raises:** `CdlError` for what is not an array of scores.

    Examples:
        >>> die = cdl.metric.Categorical(jnp.zeros((1, 4)))
        >>> jnp.exp(die.log_density(jnp.array([2]))).tolist()
        [0.25]
    """

    logits: Array
    event: ClassVar[int] = 1

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        logs, classes = jax.nn.log_softmax(self.logits), self.logits.shape[-1]
        y = expect_like("Categorical", y, logs[..., 0])
        words = f"the targets of {classes} classes are the whole numbers 0 to {classes - 1}"
        if not jnp.issubdtype(jnp.result_type(y), jnp.integer):
            raise CdlError(f"{words}, and these are of type {jnp.result_type(y)}.")
        y = in_range(y, classes, lambda x: f"{words}, and one is {'another' if x is None else x}.")
        return self.summed(jnp.take_along_axis(logs, jnp.asarray(y)[..., None], axis=-1)[..., 0])

    def sample(self, key: PRNGKeyArray, /) -> Array:
        return jr.categorical(key, self.logits)

    def fisher(self, v: "Categorical", /) -> "Categorical":
        p = jax.nn.softmax(self.logits)
        along = jnp.sum(p * v.logits, axis=-1, keepdims=True)
        return Categorical(p * v.logits - p * along)

    def kl(self, other: "Categorical", /) -> Array:
        expect_same(self, other)
        logs, others = jax.nn.log_softmax(self.logits), jax.nn.log_softmax(other.logits)
        return self.summed(jnp.sum(_apart(logs, others), axis=-1))


@final
class Bernoulli(Distribution):
    """Truth values, by the logarithm of their odds. A target is 0 or 1, of any type.

    **Arguments:** `logits`: `(examples, …)`.

    **Raises:** `CdlError` for what is not an array of floating numbers.

    Examples:
        >>> coin = cdl.metric.Bernoulli(jnp.zeros(2))
        >>> jnp.exp(coin.log_density(jnp.array([0, 1]))).tolist()
        [0.5, 0.5]
    """

    logits: Array

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        y = expect_like("Bernoulli", y, self.logits)
        y = expect_values("Bernoulli", y, lambda y: (y != 0) & (y != 1), "0 or 1")
        true = jnp.asarray(y, self.logits.dtype) == 1
        return self.summed(_log_odds(jnp.where(true, self.logits, -self.logits)))

    def sample(self, key: PRNGKeyArray, /) -> Array:
        return jr.bernoulli(key, jax.nn.sigmoid(self.logits))

    def fisher(self, v: "Bernoulli", /) -> "Bernoulli":
        return Bernoulli(jax.nn.sigmoid(self.logits) * jax.nn.sigmoid(-self.logits) * v.logits)

    def kl(self, other: "Bernoulli", /) -> Array:
        expect_same(self, other)
        true, false = (_apart(_log_odds(sign * self.logits), _log_odds(sign * other.logits)) for sign in (1, -1))
        return self.summed(true + false)


def _expect_positive(scale: Any) -> None:
    """**Raises:** `CdlError` for a number that is not above 0; what an array of JAX holds may be known later."""
    if isinstance(scale, int | float | np.generic | np.ndarray) and not np.all(np.asarray(scale) > 0):
        raise CdlError(
            f"`scale` of `Gaussian` is {short(scale)}, and a standard deviation is above 0: give a positive number."
        )


@final
class Gaussian(Distribution):
    """Numbers about a mean, all of them independent.

    **Arguments:** `mean`: `(examples, …)`. `scale`: the standard deviation, of a shape that broadcasts to the mean's:
    a number, or a parameter of the model as well. Where an array of JAX is not above 0, all that is computed from it is
    NaN.

    **Raises:** `CdlError` for what is not an array of floating numbers, or does not broadcast, and for a number that is
    not above 0.

    Examples:
        >>> here, there = (
        ...     cdl.metric.Gaussian(jnp.array([0.0])),
        ...     cdl.metric.Gaussian(jnp.array([2.0])),
        ... )
        >>> here.kl(there).tolist()
        [2.0]
    """

    mean: Array
    scale: Array

    def __init__(self, mean: Array, scale: Any = 1.0) -> None:
        _expect_positive(scale)
        self.mean = mean
        if eqx.is_array(mean) and eqx.is_array_like(scale):
            self.scale = _to(mean, jnp.asarray(scale))
        else:
            self.scale = scale

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        z = (jnp.asarray(expect_like("Gaussian", y, self.mean), self.mean.dtype) - self.mean) / self.scale
        return self.summed(-z * z / 2 - jnp.log(self.scale) - float(np.log(2 * np.pi)) / 2)

    def sample(self, key: PRNGKeyArray, /) -> Array:
        scale = jnp.where(self.scale > 0, self.scale, jnp.nan)
        return self.mean + scale * jr.normal(key, self.mean.shape, self.mean.dtype)

    def fisher(self, v: "Gaussian", /) -> "Gaussian":
        exact = 1 / jnp.square(jnp.where(self.scale > 0, self.scale, jnp.nan))
        return Gaussian(exact * v.mean, 2 * exact * v.scale)

    def kl(self, other: "Gaussian", /) -> Array:
        expect_same(self, other)
        ratio, shift = self.scale / other.scale, (self.mean - other.mean) / other.scale
        logs = jnp.log(self.scale) - jnp.log(other.scale)
        return self.summed((jnp.square(ratio) + jnp.square(shift) - 1) / 2 - logs)


@final
class Poisson(Distribution):
    """Counts, by the logarithm of their mean. A target is a whole number from 0 on, of any type.

    **Arguments:** `log_rate`: `(examples, …)`.

    **Raises:** `CdlError` for what is not an array of floating numbers.

    Examples:
        >>> rain = cdl.metric.Poisson(jnp.array([0.0]))
        >>> round(float(jnp.exp(rain.log_density(jnp.array([0])))[0]), 4)
        0.3679
    """

    log_rate: Array

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        y = expect_like("Poisson", y, self.log_rate)
        y = expect_values("Poisson", y, lambda y: ~((y >= 0) & (y == y // 1)), "whole numbers from 0 on")
        y = jnp.asarray(y, self.log_rate.dtype)
        times = jnp.where(y == 0, 0, y * jnp.where(y == 0, 0, self.log_rate))
        return self.summed(times - jnp.exp(self.log_rate) - gammaln(y + 1))

    def sample(self, key: PRNGKeyArray, /) -> Array:
        return jr.poisson(key, jnp.exp(self.log_rate))

    def fisher(self, v: "Poisson", /) -> "Poisson":
        return Poisson(jnp.exp(self.log_rate) * v.log_rate)

    def kl(self, other: "Poisson", /) -> Array:
        expect_same(self, other)
        mean, others = jnp.exp(self.log_rate), jnp.exp(other.log_rate)
        return self.summed(_apart(self.log_rate, other.log_rate) - mean + others)


def _log_odds(z: Array) -> Array:
    """`log 1/(1 + exp(−z))`."""
    return -jax.nn.softplus(-z)


def _apart(logs: Array, others: Array) -> Array:
    """`p (log p − log q)`, of two logarithms: 0 where `p` is 0, and `∞` where `q` alone is."""
    nowhere, beyond = jnp.isneginf(logs), jnp.isneginf(others)
    either = nowhere | beyond
    found = jnp.exp(logs) * (jnp.where(either, 0, logs) - jnp.where(either, 0, others))
    return jnp.where(nowhere, 0, jnp.where(beyond, jnp.inf, found))


def _to(mean: Array, scale: Array) -> Array:
    """A scale in the shape and type of a mean."""
    try:
        return jnp.broadcast_to(scale, mean.shape).astype(mean.dtype)
    except ValueError:
        raise CdlError(
            f"`scale` of `Gaussian` has the shape {scale.shape}, which does not broadcast to that of `mean`, "
            f"{mean.shape} ({short(mean)})."
        ) from None
