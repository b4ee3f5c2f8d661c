"""Whether a step is the same in all coordinates, and whether it is made module by module.

| the mathematics                                             | here                                              |
| ----------------------------------------------------------- | ------------------------------------------------- |
| coordinates `η`, with `θ = φ(η)`                            | a function `chart`, and a point `at` of `η`       |
| an optimiser, of a loss and a model in some coordinates     | `rule(chart)`: a transformation of optax          |
| a step in `η` and then `φ`, against `φ` and a step in `θ`   | `invariance_defect(rule, loss, chart, at)`        |
| `‖upd(p, q) − (upd p, upd q)‖ / ‖upd(p, q)‖`                | `modularity_defect(whole, parts, loss, at)`       |

An update is invariant where the square commutes. Natural gradient is, to first order in the rate; exactly for linear
`φ`; and damped, where the damping is pulled back too. Invariance does not single it out: `c(θ) F⁻¹ g` with any
invariant number `c`, and the pull-back `(JᵀMJ)⁻¹ g` of any metric `M` on the outputs, are as invariant. What singles
the Fisher metric out is another property, invariance under sufficient statistics of the data (Čencov, *Statistical
decision rules and optimal inference*, 1982).
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from .._functors.usage import with_types
from .._functors.words import short
from ..errors import CdlError
from ._pullback import coordinates


P = TypeVar("P")
Q = TypeVar("Q")
Rule = Callable[[Callable[[Any], Any]], optax.GradientTransformation]


@with_types
def invariance_defect(rule: Rule, loss: Callable[[P], Array], chart: Callable[[Q], P], at: Q, /) -> Array:
    """How far the step of a rule differs in two coordinates: `‖φ(η') − θ'‖ / ‖θ' − θ‖`. It is 0 where neither step
    moves, and `inf` where only the first one moves.

    **Arguments:** `rule`: from a chart `c` to the optimiser of `loss ∘ c`, such as
    `lambda c: natural(lambda p: model(c(p)), 0.1)`; one that does not look at the model is a constant. `loss`: of `θ`.
    `chart`: `φ`, from `η` to `θ`. `at`: the point, in `η`.

    **Returns:** a ratio, `float[]`.

    **Raises:** `CdlError` where `rule` does not give a transformation of optax.

    Examples:
        >>> import optax
        >>> says = cdl.metric.Bernoulli  # w ↦ Bernoulli(w)
        >>> loss = lambda w: cdl.metric.negative_log_likelihood(says(w), jnp.array([1, 0]))
        >>> stretched = lambda v: jnp.array([1.0, 10.0]) * v
        >>> natural = lambda chart: cdl.metric.natural(lambda v: says(chart(v)))
        >>> one, other = natural, lambda chart: optax.sgd(1.0)
        >>> [
        ...     bool(cdl.metric.invariance_defect(rule, loss, stretched, jnp.ones(2)) < 1e-4)
        ...     for rule in (one, other)
        ... ]
        [True, False]
    """
    coordinates(at)
    there = chart(at)
    one = chart(_stepped(rule, lambda eta: loss(chart(eta)), chart, at))
    other = _stepped(rule, loss, _same, there)
    return relative(_minus(one, other), _minus(other, there))


@with_types
def modularity_defect(
    whole: optax.GradientTransformation,
    parts: optax.GradientTransformation,
    loss: Callable[[P], Array],
    at: P,
    /,
) -> Array:
    """How far the update `u` of a whole is from another update `v`, such as that of its modules by themselves: `‖u − v‖
    / ‖u‖`. It is 0 where both are zero.

    **Arguments:** `loss`: of the parameters. `at`: the parameters. `whole`, `parts`: two optimisers of the same
    parameters: `natural(model, damping=λ)`, and the same with `how=Blocks()`.

    **Returns:** a ratio, `float[]`.

    Examples:
        >>> says = lambda pair: cdl.metric.Gaussian(jnp.stack([pair[0] + pair[1]]))
        >>> loss = lambda pair: cdl.metric.negative_log_likelihood(says(pair), jnp.array([2.0]))
        >>> whole = cdl.metric.natural(says, damping=0.5)
        >>> parts = cdl.metric.natural(says, damping=0.5, how=cdl.metric.Blocks())
        >>> round(
        ...     float(
        ...         cdl.metric.modularity_defect(
        ...             whole, parts, loss, (jnp.array(0.0), jnp.array(0.0))
        ...         )
        ...     ),
        ...     4,
        ... )
        0.6667
    """
    coordinates(at)
    u, v = (_minus(_stepped(lambda _, tx=tx: tx, loss, _same, at), at) for tx in (whole, parts))
    return relative(_minus(u, v), u)


def _stepped(rule: Any, loss: Callable[[Any], Array], chart: Callable[[Any], Any], at: Any) -> Any:
    """The point after the first step of an optimiser."""
    tx = rule(chart)
    if not isinstance(tx, optax.GradientTransformation):
        raise CdlError(f"`rule` gives an optimiser of optax for each chart, and gave {short(tx)}.")
    value, g = eqx.filter_value_and_grad(loss)(at)
    known = {"value": value, "grad": g, "value_fn": loss}
    smooth = eqx.filter(at, eqx.is_inexact_array)
    with jax.numpy_dtype_promotion("standard"):  # optax multiplies numbers of different types
        change = optax.with_extra_args_support(tx).update(g, tx.init(smooth), at, **known)[0]
    return eqx.apply_updates(at, change)


def _same(x: Any) -> Any:
    return x


def _minus(u: Any, v: Any) -> Any:
    return ravel_pytree(eqx.filter(u, eqx.is_inexact_array))[0] - ravel_pytree(eqx.filter(v, eqx.is_inexact_array))[0]


def relative(apart: Array, size: Array) -> Array:
    """`‖u‖ / ‖v‖`, and 0 where both are 0. Vectors of any length: their squares fit the type."""
    most = jnp.maximum(jnp.max(jnp.abs(apart), initial=0), jnp.max(jnp.abs(size), initial=0))
    unit = jnp.where((most > 0) & jnp.isfinite(most), most, 1)
    far, long = (jnp.linalg.norm(x / unit) for x in (apart, size))
    return jnp.where(far == 0, 0, far / long)
