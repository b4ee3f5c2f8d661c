"""Four families of distributions.

| the family            | `log p(y)`                            | the Fisher matrix of its parameters         |
| --------------------- | ------------------------------------- | ------------------------------------------- |
| `Categorical(z)`      | `z_y − log Σ exp z`                   | `diag(p) − p pᵀ`, with `p = softmax(z)`     |
| `Bernoulli(z)`        | `y z − log(1 + exp z)`                | `p (1 − p)`, with `p = 1/(1 + exp(−z))`     |
| `Gaussian(μ, σ)`      | `−½ ((y − μ)/σ)² − log σ − ½ log 2π`  | `1/σ²` of `μ`, and `2/σ²` of `σ`            |
| `Poisson(z)`          | `y z − exp z − log y!`                | `exp z`                                     |

In the first, second and fourth `z` is the natural parameter, so that the Fisher matrix is the Hessian of `−log p(y)`
for every `y`, and the generalised Gauss–Newton matrix is the Fisher matrix.
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
from ._distribution import Distribution, expect_like, expect_parameters


@final
class Categorical(Distribution):
    """One of some classes, by their scores: `softmax(logits)`. A target is the number of a class.

    **Arguments:** `logits`: `(examples, …, classes)`.

    **Raises:** `CdlError` for what is not an array of scores.
    """

    logits: Array
    event: ClassVar[int] = 1

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        logs, classes = jax.nn.log_softmax(self.logits), self.logits.shape[-1]
        y = expect_like("Categorical", y, logs[..., 0])
        words = f"the targets of {classes} classes are the whole numbers 0 to {classes - 1}"
        if not jnp.issubdtype(y.dtype, jnp.integer):
            raise CdlError(f"{words}, and these are of type {y.dtype}.")
        y = in_range(y, classes, lambda x: f"{words}, and one is {'another' if x is None else x}.")
        return self.summed(jnp.take_along_axis(logs, jnp.asarray(y)[..., None], axis=-1)[..., 0])

    def sample(self, key: PRNGKeyArray, /) -> Array:
        return jr.categorical(key, self.logits)

    def fisher(self, v: "Categorical", /) -> "Categorical":
        p = jax.nn.softmax(self.logits)
        along = jnp.sum(p * v.logits, axis=-1, keepdims=True)
        return Categorical(p * v.logits - p * along)

    def kl(self, other: "Categorical", /) -> Array:
        logs, others = jax.nn.log_softmax(self.logits), jax.nn.log_softmax(other.logits)
        return self.summed(jnp.sum(jnp.exp(logs) * (logs - others), axis=-1))


@final
class Bernoulli(Distribution):
    """Truth values, by the logarithm of their odds. A target is 0 or 1, of any type.

    **Arguments:** `logits`: `(examples, …)`.

    **Raises:** `CdlError` for what is not an array of floating numbers.
    """

    logits: Array

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        y = expect_like("Bernoulli", y, self.logits).astype(self.logits.dtype)
        return self.summed(y * self.logits - jax.nn.softplus(self.logits))

    def sample(self, key: PRNGKeyArray, /) -> Array:
        return jr.bernoulli(key, jax.nn.sigmoid(self.logits))

    def fisher(self, v: "Bernoulli", /) -> "Bernoulli":
        return Bernoulli(jax.nn.sigmoid(self.logits) * jax.nn.sigmoid(-self.logits) * v.logits)

    def kl(self, other: "Bernoulli", /) -> Array:
        apart = jax.nn.sigmoid(self.logits) * (self.logits - other.logits)
        return self.summed(apart - jax.nn.softplus(self.logits) + jax.nn.softplus(other.logits))


@final
class Gaussian(Distribution):
    """Numbers about a mean, all of them independent.

    **Arguments:** `mean`: `(examples, …)`. `scale`: the standard deviation, of a shape that broadcasts to the mean's:
    a number, or a parameter of the model as well.

    **Raises:** `CdlError` for what is not an array of floating numbers, or does not broadcast.
    """

    mean: Array
    scale: Array

    def __init__(self, mean: Array, scale: Any = 1.0) -> None:
        self.mean = mean
        if eqx.is_array(mean) and eqx.is_array_like(scale):
            self.scale = _to(mean, jnp.asarray(scale))
        else:
            self.scale = scale

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        z = (expect_like("Gaussian", y, self.mean).astype(self.mean.dtype) - self.mean) / self.scale
        return self.summed(-z * z / 2 - jnp.log(self.scale) - float(np.log(2 * np.pi)) / 2)

    def sample(self, key: PRNGKeyArray, /) -> Array:
        return self.mean + self.scale * jr.normal(key, self.mean.shape, self.mean.dtype)

    def fisher(self, v: "Gaussian", /) -> "Gaussian":
        exact = 1 / jnp.square(self.scale)
        return Gaussian(exact * v.mean, 2 * exact * v.scale)

    def kl(self, other: "Gaussian", /) -> Array:
        ratio, shift = self.scale / other.scale, (self.mean - other.mean) / other.scale
        return self.summed((jnp.square(ratio) + jnp.square(shift) - 1) / 2 - jnp.log(ratio))


@final
class Poisson(Distribution):
    """Counts, by the logarithm of their mean. A target is a whole number, of any type.

    **Arguments:** `log_rate`: `(examples, …)`.

    **Raises:** `CdlError` for what is not an array of floating numbers.
    """

    log_rate: Array

    def __check_init__(self) -> None:
        expect_parameters(self)

    def log_density(self, y: Any, /) -> Array:
        y = expect_like("Poisson", y, self.log_rate).astype(self.log_rate.dtype)
        return self.summed(y * self.log_rate - jnp.exp(self.log_rate) - gammaln(y + 1))

    def sample(self, key: PRNGKeyArray, /) -> Array:
        return jr.poisson(key, jnp.exp(self.log_rate))

    def fisher(self, v: "Poisson", /) -> "Poisson":
        return Poisson(jnp.exp(self.log_rate) * v.log_rate)

    def kl(self, other: "Poisson", /) -> Array:
        mean = jnp.exp(self.log_rate)
        return self.summed(mean * (self.log_rate - other.log_rate) - mean + jnp.exp(other.log_rate))


def _to(mean: Array, scale: Array) -> Array:
    """A scale in the shape and type of a mean."""
    try:
        return jnp.broadcast_to(scale, mean.shape).astype(mean.dtype)
    except ValueError:
        raise CdlError(
            f"`scale` of `Gaussian` has the shape {scale.shape}, which does not broadcast to that of `mean`, "
            f"{mean.shape} ({short(mean)})."
        ) from None
