"""Metrics on parameters, pulled back from a metric on what a model gives.

| the mathematics                                       | here                                                    |
| ----------------------------------------------------- | ------------------------------------------------------- |
| a metric at a point, `v ↦ M v`, symmetric, `vᵀMv ≥ 0` | a linear operator of `lineax`, on pytrees               |
| the pull-back along `f` at `p`, `Jᵀ M J`              | `pullback(f, p, M)`                                     |
| that of the identity, `Jᵀ J`                          | `pullback(f, p)`                                        |
| `(g ∘ f)* M = f* (g* M)`                              | what a change of coordinates and a composite do         |

Nothing is a matrix until you call `as_matrix()`. `mv(v)` pushes `v` forward through `f` and pulls the result back,
at the cost of about one gradient. A model of folds runs in forward and in reverse mode with no extra code: see
`forwards`. A model must not be under `jax.jit` itself; put that around the whole.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx

from .._engine import forwards
from .._engine.arrays.shapes import shown
from .._engine.jaxprs._jaxprs import inside
from .._functors.described import described
from .._functors.usage import with_types
from .._functors.words import first_line
from ..errors import CdlError


P = TypeVar("P")
Q = TypeVar("Q")
Metric: TypeAlias = lx.AbstractLinearOperator
"""A symmetric operator on pytrees: `mv(v)` is its product with a vector, `as_matrix()` the matrix.

Examples:
    >>> metric: cdl.metric.Metric = cdl.metric.pullback(lambda w: 3 * w, jnp.ones(2))
    >>> metric.mv(jnp.array([1.0, 2.0])).tolist()
    [9.0, 18.0]
"""


@with_types
def pullback(f: Callable[[P], Q], at: P, metric: Metric | Callable[[Q], Q] | None = None, /) -> Metric:
    """`Jᵀ M J`, the pull-back of a metric along `f` at a point.

    **Arguments:** `f`: from parameters to any pytree of arrays. `at`: the point; a pytree, or a module, whose floating
    arrays are the coordinates. `metric`: `M` at `f(at)`, as an operator or a function that gives `M v`; without one,
    the identity, so that the result is the Gauss–Newton matrix `Jᵀ J`.

    **Raises:** `CdlError` where there is nothing to differentiate, `f` has no derivative in both directions or gives
    complex numbers, and where `metric` is of anything other than `f` gives.

    Examples:
        >>> metric = cdl.metric.pullback(lambda w: jnp.array([[1.0, 2.0]]) @ w, jnp.zeros(2))
        >>> metric.as_matrix().tolist()
        [[1.0, 2.0], [2.0, 4.0]]
    """

    def there(value: Any) -> Callable[[Any], Any]:
        numbers = [x for x in jax.tree.leaves(value) if eqx.is_inexact_array(x)]
        if not numbers:
            raise CdlError("`f` gives no array in floating point, so that there is nothing to differentiate.")
        if any(jnp.issubdtype(x.dtype, jnp.complexfloating) for x in numbers):
            raise CdlError("`f` gives complex numbers, and a metric is of real ones: let it give their two parts.")
        if not isinstance(metric, lx.AbstractLinearOperator):
            return (lambda v: v) if metric is None else metric
        shapes = [[x.shape for x in leaves] for leaves in (numbers, jax.tree.leaves(metric.in_structure()))]
        if shapes[0] != shapes[1]:
            raise CdlError(
                f"`f` gives arrays of shapes {shapes[0]}, and `metric` is of arrays of shapes {shapes[1]}: take the "
                "metric at `f(at)`."
            )
        return metric.mv

    return pulled(f, at, there)


def pulled(f: Callable[[Any], Any], at: Any, metric_at: Callable[[Any], Callable[[Any], Any]]) -> Metric:
    """`Jᵀ M J`, with a metric that depends on what `f` gives."""
    smooth, rest = coordinates(at)
    run: Callable[[Any], Any] = lambda p: f(eqx.combine(p, rest))
    push, pull, value = both_ways(run, smooth)
    metric = metric_at(value)
    return operator(lambda v: pull(metric(push(v)))[0], smooth)


def both_ways(run: Callable[[Any], Any], at: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Any]:
    """`v ↦ J v`, `u ↦ Jᵀ u`, and the value. **Raises:** `CdlError`, also where one of the two is called, where that
    derivative does not exist."""
    with _refusing(), forwards():
        value, push = jax.linearize(run, at)
        if _stops_forward_mode(jax.make_jaxpr(push)(at).jaxpr):
            raise TypeError("forward-mode differentiation stops at a rule for reverse mode alone.")
    with _refusing():
        pull = jax.vjp(run, at)[1]
    return _guarded(push), _guarded(pull), value


def _stops_forward_mode(jaxpr: Any) -> bool:
    """Whether a linear map has a part that JAX refuses only when it is compiled."""
    return any(e.primitive.name == "custom_lin" or any(map(_stops_forward_mode, inside(e))) for e in jaxpr.eqns)


def _guarded(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def called(x: Any) -> Any:
        with _refusing():
            return fn(x)

    return called


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """**Raises:** `CdlError` where a derivative does not go through."""
    try:
        yield
    except CdlError:
        raise
    except (TypeError, ValueError) as why:
        if not any(words in str(why).lower() for words in ("jvp", "forward-mode", "reverse-mode")):
            raise
        raise CdlError(
            "a metric takes the derivative of a model forward and in reverse, and one of them does not go through: "
            f"{first_line(why)} If the model has a `jax.jit` inside, put that around the whole."
        ) from why


def operator(mv: Callable[[Any], Any], like: Any) -> Metric:
    """A symmetric operator from a function, on pytrees like these."""
    kind = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), like)
    tags: Any = lx.positive_semidefinite_tag
    return _Operator(mv, kind, tags=tags)


class _Operator(lx.FunctionLinearOperator):  # type: ignore[misc]
    """An operator that says what it is a product with."""

    def mv(self, vector: Any) -> Any:
        try:
            return super().mv(vector)
        except ValueError as error:
            if "Closure-converted" not in str(error):
                raise
            raise CdlError(
                f"a metric on {shown(self.in_structure())} is given {shown(vector)}: give `mv` arrays of the shapes "
                "and types of the parameters, with `None` for the rest, as `eqx.filter_grad` gives them."
            ) from error

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, lx.AbstractLinearOperator):
            raise CdlError(
                f"`@` composes two operators, and was given {described(other)}: the product of a metric with a vector "
                "is `metric.mv(v)`."
            )
        return super().__matmul__(other)


def coordinates(at: Any) -> tuple[Any, Any]:
    """The floating arrays of a pytree, which are the coordinates, and the rest.

    **Raises:** `CdlError` where there are none, or where some are complex.
    """
    smooth, rest = eqx.partition(at, eqx.is_inexact_array)
    found = jax.tree.leaves(smooth)
    if not any(x.size for x in found):
        raise CdlError(
            f"the parameters, {described(at)}, have no array of floating numbers: there is nothing to learn."
        )
    if any(jnp.issubdtype(x.dtype, jnp.complexfloating) for x in found):
        raise CdlError("the parameters have complex numbers, and a metric is of real ones: give their two parts.")
    return smooth, rest
