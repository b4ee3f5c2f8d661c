"""Natural gradient as a transformation of optax, for any loop that takes one.

| the mathematics                                           | here                                                |
| --------------------------------------------------------- | --------------------------------------------------- |
| `p − η F⁻¹ g`                                             | `natural(model, η)`                                 |
| the model at the data of this step                        | `tx.update(g, state, params, data=x)`               |
| damping, `(F + λ)⁻¹ g`: depends on the coordinates        | `damping=λ`                                         |
| covariant damping, `(F + λ JᵀJ)⁻¹ g`, `J` that of a chart | `damping=λ, chart=c`                                |
| a trust region: a step of a divergence of `δ` at most     | `kl=δ`: `s d`, with `s = min(η, √(2δ / dᵀFd))`      |
| Levenberg–Marquardt: `λ` by how well the metric predicts  | `damping=LevenbergMarquardt()`                      |

A gradient is a covector, and a step is a vector: it takes a metric to make the one of the other, and in the metric of
what the model says, the step is the same in all coordinates. Damping with the identity takes that away. A chart says in
which coordinates the identity is meant: `natural(lambda η: model(φ(η)), damping=λ, chart=φ)` makes, to first order in
the rate, the steps of `natural(model, damping=λ)`, and exactly those where `φ` is linear.
"""

import math
from collections.abc import Callable
from typing import Any, cast, final, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from .._functors.described import described
from .._functors.expected import expect_fields
from .._functors.usage import takes, with_types
from ..errors import CdlError
from ._distribution import Distribution
from ._fisher import empirical_fisher, fisher, ggn
from ._kfac import Kfac, kfac
from ._pullback import Metric, pullback
from ._solve import Dense, natural_gradient, Solver


Kind = Literal["fisher", "ggn", "empirical", "kfac", "kfac-reduce"]


@final
class LevenbergMarquardt(eqx.Module):
    """Damping that follows the ratio of what a step gains to what the quadratic model predicts.

    Above a ratio of `¾` the damping is divided by `factor`, and below `¼` it is multiplied by it. It stays between
    `least` and `most`. A step that does not lower the loss is not made, and the damping grows. A loss that is NaN is
    not lower. Where the loss is the same to the last digit, as at a minimum, the damping stays. `update` takes the loss
    as `value`, and the loss at other parameters as the function `value_fn`, as other transformations of optax do.

    Examples:
        >>> rule = cdl.metric.LevenbergMarquardt(start=0.5, factor=2.0)
        >>> rule.start, rule.factor
        (0.5, 2.0)
    """

    start: float = 1.0
    factor: float = 2.0
    least: float = 1e-10
    most: float = 1e10

    def __check_init__(self) -> None:
        expect_fields(self)
        if not 0 < self.least <= self.start <= self.most < math.inf:
            raise CdlError(
                f"`LevenbergMarquardt` has `least` {self.least}, `start` {self.start} and `most` {self.most}: give "
                "finite numbers above 0, in this order."
            )
        if not 1 < self.factor < math.inf:
            raise CdlError(f"`factor` of `LevenbergMarquardt` is {self.factor}: give a finite number above 1.")


class NaturalState(NamedTuple):
    """What `natural` keeps: the damping of the next step, where that follows the loss.

    Examples:
        >>> says = cdl.metric.Bernoulli  # w ↦ Bernoulli(w)
        >>> step = cdl.metric.natural(says, damping=cdl.metric.LevenbergMarquardt(start=0.5))
        >>> state: cdl.metric.NaturalState = step.init(jnp.zeros(2))
        >>> float(state.damping)
        0.5
    """

    damping: Array


@with_types
def natural(
    model: Callable[..., Distribution],
    rate: float = 1.0,
    *,
    metric: Kind = "fisher",
    damping: float | LevenbergMarquardt = 0.0,
    chart: Callable[[Any], Any] | None = None,
    kl: float | None = None,
    how: Solver = Dense(),
) -> optax.GradientTransformationExtraArgs:
    """Natural gradient descent, as a transformation of optax.

    **Arguments:**

    - `model`: from the parameters to a `Distribution` over the examples; where `update` is given `data=`, from the
      parameters and these.
    - `rate`: how much of the step is made, a number. For a schedule, write
      `optax.chain(natural(model), optax.scale_by_schedule(schedule))`.
    - `metric`: `"fisher"`; `"ggn"` or `"empirical"`, where `update` is given `targets=`; or `"kfac"`, or
      `"kfac-reduce"`, which is solved block by block, and draws targets where `update` is given `key=`.
    - `damping`: a number, or `LevenbergMarquardt()`, where `update` is given `value=` and `value_fn=`.
    - `chart`: from the parameters to the coordinates in which damping is the identity.
    - `kl`: the greatest divergence from the model before a step to that after, to second order.
    - `how`: `Dense()`, `Cg(steps)`, or `Blocks(…)` of these; not of K-FAC, which has its own way.

    **Raises:** `CdlError` where `update` lacks an argument that it needs, and where the metric is singular and not
    damped.

    Source: S. Amari, *Natural gradient works efficiently in learning* (1998); J. Martens, *New insights and
    perspectives on the natural gradient method* (2020).

    Examples:
        >>> import optax
        >>> inputs, targets = jnp.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), jnp.array([0, 1, 1])
        >>> says = lambda w: cdl.metric.Bernoulli(inputs @ w)
        >>> loss = lambda w: cdl.metric.negative_log_likelihood(says(w), targets)
        >>> step, w = cdl.metric.natural(says, 0.5), jnp.zeros(2)
        >>> change, _ = step.update(jax.grad(loss)(w), step.init(w), w)
        >>> bool(loss(optax.apply_updates(w, change)) < loss(w))
        True
    """
    expect_step(rate, damping, kl)
    _expect_metric(metric, chart, how)
    adapts = damping if isinstance(damping, LevenbergMarquardt) else None

    def init(params: Any) -> NaturalState:
        kinds = [x.dtype for x in jax.tree.leaves(eqx.filter(params, eqx.is_inexact_array))]
        first = adapts.start if adapts else cast("float", damping)
        return NaturalState(jnp.asarray(first, jnp.result_type(*kinds) if kinds else None))

    def update(updates: Any, state: NaturalState, params: Any = None, **told: Any) -> tuple[Any, NaturalState]:
        if params is None:
            raise CdlError("`natural` takes the metric at the parameters: write `tx.update(gradient, state, params)`.")
        g = eqx.filter(updates, eqx.is_inexact_array)
        at: Callable[[Any], Distribution] = lambda p: model(p, told["data"]) if "data" in told else model(p)
        if not takes(model, *((params, told["data"]) if "data" in told else (params,))):
            raise CdlError(
                f"{described(model)} does not take the parameters {'and' if 'data' in told else 'without'} data: give "
                f"`update` {'no `data=`' if 'data' in told else '`data=`'}, or change its arguments."
            )
        found = _metric(metric, at, params, told)
        strength: Any = state.damping if adapts else damping
        if isinstance(found, Kfac):
            step = found.solve(g, damping=strength)
        else:
            step = natural_gradient(found, g, damping=strength, within=chart and pullback(chart, params), how=how)
        pushed = found.mv(step)
        size = step_size(dot(step, pushed), rate, kl)
        change = jax.tree.map(lambda d: -size * d, step)
        if adapts is None:
            return change, state
        predicted = -size * dot(g, step) + size * size * dot(step, pushed) / 2
        return _judged(adapts, strength, change, predicted, params, told)

    return optax.GradientTransformationExtraArgs(init, cast("Any", update))


def step_size(extent: Array, rate: float, kl: float | None) -> Array:
    """How much of a step `d` is made, from `dᵀ F d`."""
    whole = jnp.asarray(rate, extent.dtype)
    if kl is None:
        return whole
    positive = jnp.where(extent > 0, extent, 1)
    return jnp.where(extent > 0, jnp.minimum(whole, jnp.sqrt(2 * kl / positive)), whole)


def _metric(kind: Kind, model: Callable[[Any], Distribution], params: Any, told: dict[str, Any]) -> Metric | Kfac:
    if kind == "fisher":
        return fisher(model, params)
    if kind in ("kfac", "kfac-reduce"):
        return kfac(model, params, key=told.get("key"), shared="reduce" if kind == "kfac-reduce" else "expand")
    if "targets" not in told:
        raise CdlError(f'the metric `"{kind}"` is of the data\'s targets: give `targets=` to `update`.')
    return (ggn if kind == "ggn" else empirical_fisher)(model, params, told["targets"])


def _judged(
    rule: LevenbergMarquardt, damping: Any, change: Any, predicted: Array, params: Any, told: dict[str, Any]
) -> tuple[Any, NaturalState]:
    """The step, where it lowers the loss, and the next damping."""
    missing = [name for name in ("value", "value_fn") if told.get(name) is None]
    if missing:
        raise CdlError(
            f"`LevenbergMarquardt` compares losses, and `update` is not told `{missing[0]}`: give it `value`, the "
            "loss, and `value_fn`, the loss as a function of the parameters."
        )
    gained = told["value_fn"](eqx.apply_updates(params, change)) - told["value"]
    better, ratio = gained < 0, gained / predicted
    good, bad = better & (ratio > 0.75), (gained != 0) & (~better | (ratio < 0.25))
    after = jnp.where(good, damping / rule.factor, jnp.where(bad, damping * rule.factor, damping))
    made = jax.tree.map(lambda x: jnp.where(better, x, 0), change)
    return made, NaturalState(jnp.clip(after, rule.least, rule.most))


def dot(u: Any, v: Any) -> Array:
    """A covector at a vector."""
    found: Any = optax.tree_utils.tree_vdot(u, v)
    return found


def expect_step(rate: float, damping: Any, kl: float | None) -> None:
    """**Raises:** `CdlError` for a rate or a bound that is not above 0, and a damping below 0."""
    if not rate > 0:
        raise CdlError(f"`rate` is {rate}: give a number above 0.")
    if not isinstance(damping, LevenbergMarquardt) and not damping >= 0:
        raise CdlError(f"`damping` is {damping}: give 0 or more.")
    if kl is not None and not kl > 0:
        raise CdlError(f"`kl` is {kl}: give a number above 0.")


def _expect_metric(metric: Kind, chart: Any, how: Solver) -> None:
    if metric.startswith("kfac") and how != Dense():
        raise CdlError(f"K-FAC is solved block by block, and not by `{how}`: leave `how` out, or take another metric.")
    if metric.startswith("kfac") and chart is not None:
        raise CdlError('K-FAC is damped in its own coordinates: leave `chart` out, or take `metric="fisher"`.')
