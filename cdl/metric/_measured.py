"""Natural gradient as a 2-cell: changes that carry a metric, and the optimiser that reads it.

| the mathematics                                          | here                                        |
| -------------------------------------------------------- | ------------------------------------------- |
| a covector at a point, and a metric there                | `MeasuredChange(covector, metric)`          |
| `R[f]`, with the metric: `(u, M) ↦ (Jᵀu, JᵀMJ)`          | each layer of `measured(model)`             |
| a loss, whose change has the Fisher matrix of its family | `log_loss(family)`                          |
| the 2-cell, a lens `P → (P, MeasuredChange)`             | `natural_descent(η)`                        |
| model `>>` loss `>>` rate, along the 2-cell on `P`       | `supervised(measured(net), log_loss(…), …)` |

An optimiser sees what comes back to the parameters, and a gradient alone does not determine a natural one. So the
metric comes back with it: it begins at the loss, and every layer pulls it back, as it does the gradient. This is a
functor from smooth maps to optics, as reverse mode is.

What arrives at a layer of a composite is its own block. So a chain of layers is descended block by block, and
`measured(model, whole=True)`, in which the chain is one layer, has the full metric. The two differ.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from .. import _terms as t
from .._functors.described import described
from .._functors.expected import expect_fields
from .._functors.usage import with_types, with_usage
from .._optics.lens import Lens, to_optic
from .._optics.optic import Named, Optic, unnamed
from .._optics.para_optic import ParaOptic
from .._optics.parametric import keyed, Layer, Sequence, takes_key
from ..errors import CdlError
from ..learning import Optimiser
from ._distribution import Distribution, negative_log_likelihood
from ._fisher import over_examples, value_of
from ._natural import dot, expect_step, step_size
from ._pullback import both_ways, operator
from ._solve import Dense, natural_gradient, Solver


AnyParaOptic = ParaOptic[Any, Any, Any, Any, Any, Any]


@final
class MeasuredChange(eqx.Module):
    """A covector at a point, such as a gradient, and a metric there, as the function `v ↦ M v`.

    Examples:
        >>> loss = cdl.metric.log_loss(cdl.metric.Bernoulli)
        >>> _, change = loss.put((jnp.array([1]), jnp.zeros(1)), jnp.array(1.0))
        >>> change.covector.tolist(), change.metric(jnp.ones(1)).tolist()
        ([-0.5], [0.25])
    """

    covector: Any
    metric: Callable[[Any], Any]


@with_types
def measured(model: AnyParaOptic, /, *, whole: bool = False) -> AnyParaOptic:
    """The same model, whose gradients come back with a metric.

    **Arguments:** `model`: a layer, or layers one after another (`>>`). `whole`: takes them for one layer, so that its
    parameters get the full metric, and not a block for each layer.

    **Raises:** `CdlError` for a model of layers side by side, or one that is reparametrised already.

    Examples:
        >>> scores = cdl.learning.layers.linear(2, 3, key=jax.random.key(0)).batched()
        >>> model = cdl.metric.measured(scores)
        >>> bool((model(jnp.ones((4, 2))) == scores(jnp.ones((4, 2)))).all())
        True
    """
    if not whole:
        return dataclasses.replace(model, optic=_measured(model.optic))
    inputs = not isinstance(first := unnamed(model.path[0].optic), Layer) or first.inputs
    one = Layer(_Forward(model.optic), model.name, t.numbers(model.params), inputs, takes_key(model.optic))
    return dataclasses.replace(model, optic=_Layer(one))


@with_usage
def log_loss(family: Callable[[Any], Distribution], /) -> Optic[tuple[Any, Any], Array, Any, Any]:
    """The mean of `−log p(target)`, of a target and a prediction that parametrises a distribution of a family. Its
    gradient comes back with the Fisher metric.

    **Arguments:** `family`: from predictions to a `Distribution`, such as `Categorical`.

    **Raises:** `CdlError` for what is not a function, or gives anything other than a distribution.

    Examples:
        >>> loss = cdl.metric.log_loss(cdl.metric.Categorical)
        >>> value = cdl.optics.to_lens(loss).get((jnp.array([2]), jnp.zeros((1, 4))))
        >>> round(float(jnp.exp(-value)), 4)
        0.25
    """
    if not callable(family):
        raise CdlError(f"`log_loss` takes a family of distributions, and was given {described(family)}.")

    def forward(pair: tuple[Any, Any]) -> tuple[Array, Any]:
        target, prediction = pair
        push, pull, out = both_ways(lambda prediction: value_of(family, prediction), prediction)
        loss = negative_log_likelihood(out, target)
        slope = jax.grad(lambda out: negative_log_likelihood(out, target))(out)
        return loss, (out, push, pull, slope)

    def backward(kept: Any, wish: Array) -> tuple[tuple[()], MeasuredChange]:
        out, push, pull, slope = kept
        metric = lambda v: pull(over_examples(out, out.fisher(push(v))))[0]
        return (), MeasuredChange(pull(jax.tree.map(lambda x: wish * x, slope))[0], metric)

    return Optic.of(forward, backward).named("log loss")


@with_types
def natural_descent(
    rate: float = 1.0, *, damping: float = 0.0, kl: float | None = None, how: Solver = Dense()
) -> Optimiser:
    """The 2-cell `p ↦ p`, and back `(p, (g, F)) ↦ p − η (F + λ)⁻¹ g`, for `supervised` with a `measured` model.

    **Arguments:** as for `natural`; the bound `kl` is that of each layer's step.

    **Raises:** `CdlError` for a rate or a bound that is not above 0, and a damping below 0. When it learns, for changes
    without a metric, and for a singular metric without damping.

    Examples:
        >>> layer = cdl.learning.layers.linear(2, 3, key=jax.random.key(0)).batched()
        >>> loss, rule = (
        ...     cdl.metric.log_loss(cdl.metric.Categorical),
        ...     cdl.metric.natural_descent(damping=0.1),
        ... )
        >>> learner = cdl.supervised(
        ...     cdl.metric.measured(layer), loss, rule, target=jnp.array([0, 2])
        ... )
        >>> state, before = learner.step(learner.state, (jnp.eye(2), jnp.array([0, 2])))
        >>> _, after = learner.step(state, (jnp.eye(2), jnp.array([0, 2])))
        >>> bool(after < before)
        True
    """
    expect_step(rate, damping, kl)

    def step(change: Any, p: Any) -> Any:
        if not isinstance(change, MeasuredChange):
            raise CdlError(
                "`natural_descent` takes a gradient with its metric, and this one has none: learn `measured(model)`, "
                "with a loss of `log_loss(family)`."
            )
        smooth, rest = eqx.partition(p, eqx.is_inexact_array)
        if not jax.tree.leaves(smooth):
            return p
        metric = operator(change.metric, smooth)
        d = natural_gradient(metric, change.covector, damping=damping, how=how)
        size = step_size(dot(d, metric.mv(d)), rate, kl)
        return eqx.combine(jax.tree.map(lambda p, d: p - size * d, smooth, d), rest)

    is_change = lambda x: isinstance(x, MeasuredChange)
    put = lambda params, changes: jax.tree.map(step, changes, params, is_leaf=is_change)
    return Optimiser(lambda p: p, to_optic(Lens(lambda p: p, put)).named("natural descent"))


def _measured(optic: Any) -> Any:
    match optic:
        case Layer():
            return _Layer(optic)
        case Sequence(first, second):
            return Sequence(_measured(first), _measured(second))
        case Named(inner, name):
            return Named(_measured(inner), name)
        case _:
            raise CdlError(
                f"`measured` takes layers one after another, and `{t.name(optic)}` is not one: write "
                "`measured(model, whole=True)`, which takes the model for one layer."
            )


@final
class _Forward(eqx.Module):
    """A composite forward, as a map that is differentiated as a whole: layers without their own ways back."""

    optic: Any

    def __call__(self, params: Any, x: Any, key: PRNGKeyArray | None = None) -> Any:
        match unnamed(self.optic if key is None else keyed(self.optic, key)):
            case Layer() as layer:
                return layer.fn(params, x, **({} if layer.key is None else {"key": layer.key}))
            case Sequence(first, second):
                return _Forward(second)(params[1], _Forward(first)(params[0], x))
            case optic:
                return optic.get((params, x))


@final
class _Layer(Optic[Any, Any, Any, Any]):
    """A layer that pulls back a covector and a metric."""

    layer: Layer

    def __check_init__(self) -> None:
        expect_fields(self)

    def forward(self, pair: Any, /) -> tuple[Any, Any]:
        params, x = pair
        fn, how = self.layer.fn, {} if self.layer.key is None else {"key": self.layer.key}
        smooth, rest = eqx.partition((params, x) if self.layer.inputs else (params, ()), eqx.is_inexact_array)

        def run(smooth: Any) -> Any:
            p, given = eqx.combine(smooth, rest)
            return fn(p, given if self.layer.inputs else x, **how)

        push, pull, value = both_ways(run, smooth)
        return value, (push, pull, smooth)

    def backward(self, kept: Any, dy: MeasuredChange, /) -> Any:
        push, pull, smooth = kept
        ((dp, dx),) = pull(dy.covector)
        nothing = jax.tree.map(jnp.zeros_like, smooth)
        of_params = lambda v: pull(dy.metric(push((v, nothing[1]))))[0][0]
        of_input = lambda v: pull(dy.metric(push((nothing[0], v))))[0][1]
        return MeasuredChange(dp, of_params), MeasuredChange(dx, of_input) if self.layer.inputs else ()

    def __term__(self) -> t.Term:
        return self.layer.__term__()
