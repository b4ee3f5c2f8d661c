"""Fisher metrics of models that give distributions.

| the mathematics                                                    | here                                       |
| ------------------------------------------------------------------ | ------------------------------------------ |
| `F = E_x E_y s sᵀ`, with `s = ∇ log p(y | x)`, `y` from the model  | `fisher(model, params)`                    |
| the same with `y` from the data                                    | `empirical_fisher(model, params, targets)` |
| `E_x Jᵀ H J`, with `H` the Hessian of `−log p(y | z)` in `z`       | `ggn(model, params, targets)`              |
| `KL(p, p + v) = ½ vᵀ F v + O(v³)`                                  | what `fisher` is the metric of             |

A model is any function from parameters to a `Distribution`, such as `lambda net: Categorical(cdl.fold(net, forest))`.
All three are means over its examples, as `negative_log_likelihood` is. The first two are different matrices, though
both are printed as `E ∇ log p ∇ log pᵀ`: the second is not a curvature away from the optimum. The third is the first
where the outputs are natural parameters.

Source: S. Amari, *Natural gradient works efficiently in learning* (1998); J. Martens, *New insights and perspectives on
the natural gradient method* (2020); F. Kunstner et al., *Limitations of the empirical Fisher approximation* (2019).
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from .._functors.described import described
from .._functors.usage import with_types
from ..errors import CdlError
from ._distribution import Distribution
from ._pullback import coordinates, Metric, pulled


P = TypeVar("P")
Model = Callable[[P], Distribution]


@with_types
def fisher(model: Model[P], params: P, /) -> Metric:
    """The Fisher metric of a model at some parameters, as an operator: `fisher(model, params).mv(v)`.

    **Arguments:** `model`: from parameters to a `Distribution` over its examples. `params`: a pytree, or a module, of
    which the floating arrays count.

    **Returns:** a linear operator of `lineax`, on pytrees with the arrays of `params` and `None` for the rest, as
    `eqx.filter_grad` gives them. `as_matrix()` is the dense matrix, in the order of `jax.flatten_util.ravel_pytree`.

    **Raises:** `CdlError` for a model that gives anything other than a distribution, and parameters without numbers.

    Examples:
        >>> inputs = jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> metric = cdl.metric.fisher(lambda w: cdl.metric.Bernoulli(inputs @ w), jnp.zeros(2))
        >>> metric.as_matrix().tolist()
        [[0.125, 0.0], [0.0, 0.5]]
    """
    return pulled(_expected(model, params), params, lambda out: lambda v: over_examples(out, out.fisher(v)))


@with_types
def empirical_fisher(model: Model[P], params: P, targets: Any, /) -> Metric:
    """`E s sᵀ` with the score `s` at the data's targets. It is often taken for the Fisher metric, and differs from it.

    **Arguments:** `model`, `params`: as for `fisher`. `targets`: one for each example, as the distribution takes them.

    **Raises:** as `fisher`; and `CdlError` for targets that are not of the distribution.

    Examples:
        >>> inputs, targets = jnp.array([[1.0, 0.0], [0.0, 2.0]]), jnp.array([0, 1])
        >>> says = lambda w: cdl.metric.Bernoulli(inputs @ w)
        >>> cdl.metric.empirical_fisher(says, jnp.array([0.0, 10.0]), targets).as_matrix().round(
        ...     3
        ... ).tolist()
        [[0.125, 0.0], [0.0, 0.0]]
    """

    def metric(out: Distribution) -> Callable[[Any], Any]:
        scores = jax.grad(lambda z: jnp.sum(z.log_density(targets)))(out)

        def mv(v: Any) -> Any:
            along = sum(map(out.summed, jax.tree.leaves(jax.tree.map(jnp.multiply, scores, v))))
            spread = lambda s: s * jnp.reshape(along, out.shape + (1,) * (s.ndim - len(out.shape)))
            return over_examples(out, jax.tree.map(spread, scores))

        return mv

    return pulled(_expected(model, params), params, metric)


@with_types
def ggn(model: Model[P], params: P, targets: Any, /) -> Metric:
    """The generalised Gauss–Newton matrix of the negative log-likelihood: `E Jᵀ H J`, `H` by differentiation.

    **Arguments:** `model`, `params`: as for `fisher`. `targets`: one for each example, as the distribution takes them.

    **Raises:** as `empirical_fisher`.

    Examples:
        >>> inputs, targets = jnp.array([[1.0, 0.0], [0.0, 2.0]]), jnp.array([0, 1])
        >>> says = lambda w: cdl.metric.Bernoulli(inputs @ w)
        >>> cdl.metric.ggn(says, jnp.zeros(2), targets).as_matrix().tolist()
        [[0.125, 0.0], [0.0, 0.5]]
    """

    def metric(out: Distribution) -> Callable[[Any], Any]:
        slope = jax.grad(lambda z: -jnp.sum(z.log_density(targets)))
        return lambda v: over_examples(out, jax.jvp(slope, (out,), (v,))[1])

    return pulled(_expected(model, params), params, metric)


def over_examples(out: Distribution, total: Any) -> Any:
    """The mean over the examples, of a sum."""
    return jax.tree.map(lambda x: x / out.examples, total)


def _expected(model: Model[Any], params: Any) -> Model[Any]:
    """The model, of which is known that it gives a distribution. **Raises:** `CdlError` where it does not."""
    coordinates(params)

    def checked(params: Any) -> Distribution:
        out = model(params)
        if not isinstance(out, Distribution):
            raise CdlError(
                f"the model gives {described(out)}, and a Fisher metric is of a distribution: let it give one, as in "
                "`lambda params: cdl.metric.Categorical(scores(params))`."
            )
        return out

    return checked


def value_of(model: Model[Any], params: Any) -> Distribution:
    """What a model gives. **Raises:** `CdlError` where that is not a distribution."""
    return _expected(model, params)(params)
