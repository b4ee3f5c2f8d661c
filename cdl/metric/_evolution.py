"""Natural evolution strategies: natural gradient without a gradient, of a Gaussian from which parameters are drawn.

| the mathematics                                     | here                                  |
| --------------------------------------------------- | ------------------------------------- |
| `θ = μ + σ ε`, `ε ~ N(0, 1)`                        | `SearchDistribution(mean, log_scale)` |
| `J(μ, σ) = E f(θ)`, to be made small                | the loss of `evolve`                  |
| `∇ J = E f(θ) ∇ log p(θ)`, estimated from `n` draws | without a derivative of `f`           |
| the Fisher metric of `(μ, log σ)`: `1/σ²`, and `2`  | that of `Gaussian(μ, σ)`, pulled back |
| `F⁻¹ ∇ J = (σ E f ε, ½ E f (ε² − 1))`               | `natural_estimate(search, ε, f)`      |

The metric is that of the search distribution, not of a model: only the values of the loss are needed. `evolve`
puts ranks in the place of the values, so that a step is the same for every increasing function of the loss. Equal
values share the mean of their ranks: a loss that is the same everywhere moves nothing.

Source: D. Wierstra et al., *Natural evolution strategies* (2014); T. Schaul et al., *High dimensions and heavy tails
for natural evolution strategies* (2011).
"""

import math
from collections.abc import Callable
from typing import Any, final, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from .._engine.arrays.shapes import shown
from .._functors.usage import whole, with_types
from ..errors import CdlError
from ._pullback import coordinates


P = TypeVar("P")


@final
class SearchDistribution(eqx.Module, Generic[P]):
    """A Gaussian over parameters: the mean, and the logarithm of the standard deviation of each number.

    Examples:
        >>> search = cdl.metric.SearchDistribution.about(jnp.ones(2), 0.5)
        >>> search.mean.tolist(), jnp.exp(search.log_scale).tolist()
        ([1.0, 1.0], [0.5, 0.5])
    """

    mean: P
    log_scale: Any

    @staticmethod
    @with_types
    def about(params: P, scale: float = 0.1) -> "SearchDistribution[P]":
        """About these parameters, with one standard deviation.

        **Arguments:** `params`: the mean. `scale`: the standard deviation of every number.
        """
        if not scale > 0:
            raise CdlError(f"`scale` is {scale}: give a number above 0.")
        smooth, _ = coordinates(params)
        return SearchDistribution(params, jax.tree.map(lambda x: jnp.full_like(x, math.log(scale)), smooth))


@with_types
def evolve(
    search: SearchDistribution[P],
    loss: Callable[[P], Array],
    key: PRNGKeyArray,
    /,
    *,
    population: int = 32,
    rate: float = 1.0,
    scale_rate: float | None = None,
) -> tuple[SearchDistribution[P], Array]:
    """One step of separable natural evolution, and the mean loss of the parameters drawn.

    **Arguments:** `search`: the distribution. `key`: for the draws. `loss`: of one set of parameters; it runs under
    `vmap`. `population`: how many are drawn, an even number: each `ε` comes with `−ε`. `rate`: that of the mean.
    `scale_rate`: that of the standard deviations; if not given, `(3 + log d) / 5√d` for `d` numbers.

    **Returns:** the next distribution, and the mean loss, `float[]`.

    **Raises:** `CdlError` for an odd population, parameters without numbers, a `log_scale` of other shapes, and a loss
    that does not give one real number.

    Examples:
        >>> loss = lambda w: jnp.sum(w**2)
        >>> search = cdl.metric.SearchDistribution.about(jnp.ones(2))
        >>> for key in jax.random.split(jax.random.key(0), 30):
        ...     search, value = cdl.metric.evolve(search, loss, key)
        >>> bool(loss(search.mean) < 0.1 * loss(jnp.ones(2)))
        True
    """
    if whole("population", population, least=2) % 2:
        raise CdlError(f"`population` is {population}: give an even number, half of them drawn and half mirrored.")
    smooth, rest = coordinates(search.mean)
    mean, back = ravel_pytree(smooth)
    half = jr.normal(key, (population // 2, mean.size), mean.dtype)
    noise = jnp.concatenate([half, -half])
    spread = jnp.exp(_log_scale(search, smooth))
    values = jax.vmap(lambda e: _one_number(loss(eqx.combine(back(mean + spread * e), rest))))(noise)
    step, widening = natural_estimate(search, noise, _utilities(values).astype(noise.dtype))
    own = (3 + math.log(mean.size)) / (5 * math.sqrt(mean.size)) if scale_rate is None else scale_rate
    moved = jax.tree.map(lambda x, d: x - rate * d, smooth, step)
    wider = jax.tree.map(lambda x, d: x - own * d, search.log_scale, widening)
    return SearchDistribution(eqx.combine(moved, rest), wider), jnp.mean(values)


@with_types
def natural_estimate(search: SearchDistribution[P], noise: Array, values: Array, /) -> tuple[Any, Any]:
    """The natural gradient of `E f(μ + σ ε)` in `μ` and in `log σ`, estimated: `σ E f ε`, and `½ E f (ε² − 1)`.

    **Arguments:** `noise`: `ε`, of shape `(draws, numbers)`, in the order of `ravel_pytree`. `values`: `f`, `(draws,)`.

    **Raises:** `CdlError` where these shapes do not fit.

    Examples:
        >>> search = cdl.metric.SearchDistribution.about(jnp.zeros(1))
        >>> noise = jnp.array([[1.0], [-1.0]])
        >>> along_mean, along_scale = cdl.metric.natural_estimate(
        ...     search, noise, jnp.array([3.0, 1.0])
        ... )
        >>> round(float(along_mean[0]), 4), float(along_scale[0])
        (0.1, 0.0)
    """
    smooth, _ = coordinates(search.mean)
    flat, back = ravel_pytree(smooth)
    if noise.ndim != 2 or noise.shape[1] != flat.size or values.shape != noise.shape[:1]:
        raise CdlError(
            f"`noise` is of shape (draws, {flat.size}) and `values` of shape (draws,), and they are of shapes "
            f"{noise.shape} and {values.shape}."
        )
    scale = jnp.exp(_log_scale(search, smooth))
    draws = noise.shape[0]
    return back(scale * (values @ noise) / draws), back(values @ (noise * noise - 1) / (2 * draws))


def _log_scale(search: SearchDistribution[Any], smooth: Any) -> Array:
    shapes = [[x.shape for x in jax.tree.leaves(tree)] for tree in (search.log_scale, smooth)]
    if shapes[0] != shapes[1]:
        raise CdlError(
            f"`log_scale` has arrays of shapes {shapes[0]}, and `mean` of shapes {shapes[1]}: give a number for each, "
            "as `SearchDistribution.about` does."
        )
    return ravel_pytree(search.log_scale)[0]


def _one_number(value: Any) -> Array:
    found = jnp.asarray(value)
    if found.ndim or jnp.issubdtype(found.dtype, jnp.complexfloating):
        raise CdlError(f"the loss gives {' '.join(shown(found).split())}: let it give one real number.")
    return found


def _utilities(values: Array) -> Array:
    """A number for each rank, of mean 0, the same for every increasing function of the loss; a loss that is not a
    number is the worst, and losses that are equal have the mean of their ranks' numbers."""
    count = len(values)
    known = values if not jnp.issubdtype(values.dtype, jnp.floating) else jnp.where(jnp.isnan(values), jnp.inf, values)
    ordered, kind = jnp.sort(known), jnp.float64 if values.dtype == jnp.float64 else jnp.float32
    raw = jnp.maximum(0, math.log(count / 2 + 1) - jnp.log(1 + jnp.arange(count, dtype=kind)))
    until = jnp.concatenate([jnp.zeros(1, kind), jnp.cumsum(raw / jnp.sum(raw))])
    first, last = (jnp.searchsorted(ordered, known, side=side) for side in ("left", "right"))
    return 1 - count * (until[last] - until[first]) / (last - first).astype(kind)
