"""The gradient in the units of a metric: `(M + λ W)⁻¹ g`.

| the mathematics                                  | here                                                |
| ------------------------------------------------ | --------------------------------------------------- |
| `M⁻¹ g`, by the eigenvectors of the dense matrix | `natural_gradient(M, g)`                            |
| the same without a matrix: conjugate gradients   | `how=Cg(steps)`                                     |
| a block of `M` for each part of the parameters   | `how=Blocks(how)`                                   |
| damping, `M + λ W`                               | `damping=λ`, `within=W`; without it `W` is identity |

A metric is singular where some change of the parameters does not change the model. Such a metric has no inverse: it is
damped, or refused. `W = 1` means another thing in other coordinates; a `W` that is pulled back with `M` does not.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, final, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from .._functors.described import described
from .._functors.expected import expect_fields
from .._functors.usage import whole, with_types
from ..errors import CdlError
from ._pullback import Metric, operator


P = TypeVar("P")
Number = float | Array


class Solver(eqx.Module):
    """A way to solve `M x = g` with a metric `M`.

    Examples:
        >>> metric = cdl.metric.pullback(lambda w: jnp.array([2.0, 10.0]) * w, jnp.zeros(2))
        >>> ways: list[cdl.metric.Solver] = [cdl.metric.Dense(), cdl.metric.Cg(5)]
        >>> g = jnp.array([4.0, 100.0])
        >>> [cdl.metric.natural_gradient(metric, g, how=way).round(4).tolist() for way in ways]
        [[1.0, 1.0], [1.0, 1.0]]
    """

    @abstractmethod
    def __call__(self, metric: Metric, g: Any, /) -> Any:
        """`M⁻¹ g`."""


@final
class Dense(Solver):
    """Solves with the dense matrix: exact, for a few thousand parameters at most. A singular metric is refused.

    Examples:
        >>> metric = cdl.metric.pullback(lambda w: jnp.array([2.0, 10.0]) * w, jnp.zeros(2))
        >>> cdl.metric.natural_gradient(
        ...     metric, jnp.array([4.0, 100.0]), how=cdl.metric.Dense()
        ... ).round(4).tolist()
        [1.0, 1.0]
    """

    def __call__(self, metric: Metric, g: Any, /) -> Any:
        flat, back = ravel_pytree(g)
        column: Callable[[Array], Array] = lambda e: ravel_pytree(metric.mv(back(e)))[0]
        matrix = wide(jax.vmap(column)(jnp.eye(flat.size, dtype=flat.dtype)))  # of arrays of several types too
        sizes, axes = jnp.linalg.eigh((matrix + matrix.T) / 2)
        floor = len(sizes) * rounding(flat) * jnp.maximum(sizes[-1], 0)
        rank = lambda: f"of rank {(sizes > floor).sum()} of {len(sizes)}"
        found = _refuse_singular(wide(flat), sizes[0] <= floor, rank, floor)
        return back((axes @ ((axes.T @ found) / sizes)).astype(flat.dtype))


@final
class Cg(Solver):
    """Solves by conjugate gradients from zero. Each step is one product with the metric, and no matrix is built.

    It stops early where the residual is below `tolerance` times the gradient. Stopping early also damps.
    Where the gradient is one of the model's own loss, it lies in the range of the metric, and a singular metric does no
    harm; elsewhere, it is refused.

    Examples:
        >>> metric = cdl.metric.pullback(lambda w: jnp.array([2.0, 10.0]) * w, jnp.zeros(2))
        >>> cdl.metric.natural_gradient(
        ...     metric, jnp.array([4.0, 100.0]), how=cdl.metric.Cg(2)
        ... ).round(4).tolist()
        [1.0, 1.0]
    """

    steps: int = eqx.field(static=True, default=20)
    tolerance: float = eqx.field(static=True, default=0.0)

    def __check_init__(self) -> None:
        whole("steps", self.steps)
        expect_fields(self)

    def __call__(self, metric: Metric, g: Any, /) -> Any:
        flat, back = ravel_pytree(g)
        most = jnp.max(jnp.abs(flat), initial=0)  # a gradient of any size: its squares fit the type
        size = jnp.where((most > 0) & jnp.isfinite(most), most, 1)
        return back(size * self._solved(metric, flat / size, back))

    def _solved(self, metric: Metric, flat: Array, back: Any) -> Array:
        eps = rounding(flat)
        begin = flat @ flat
        least = begin * max(self.tolerance, eps) ** 2

        def step(state: Any) -> Any:
            i, x, r, p, rr, most, _ = state
            mp = ravel_pytree(metric.mv(back(p)))[0]
            curve, pp = p @ mp, p @ p
            most = jnp.maximum(most, curve / pp)
            flat_way = curve <= eps * most * pp  # this way the model does not change
            alpha = jnp.where(flat_way, 0, rr / jnp.where(flat_way, 1, curve))
            x, r = x + alpha * p, r - alpha * mp
            new = r @ r
            return i + 1, x, r, r + new / rr * p, new, most, flat_way

        def on(state: Any) -> Any:
            i, *_, rr, _, flat_way = state
            return (i < self.steps) & (rr > least) & ~flat_way

        start = (jnp.zeros((), jnp.int32), jnp.zeros_like(flat), flat, flat, begin, jnp.zeros_like(begin), begin < 0)
        _, x, _, _, rr, greatest, stopped = jax.lax.while_loop(on, step, start)
        x = jnp.where(jnp.isfinite(begin), x, jnp.nan)  # what is not finite is not hidden
        lost = stopped & (rr > begin * eps)
        found: Array = _refuse_singular(x, lost, lambda: "along the gradient", eps * greatest)
        return found


@final
class Blocks(Solver):
    """Solves for each part of the parameters by itself, as though the metric were block-diagonal. The parts are the
    fields of a module, or the entries of a tuple.

    Examples:
        >>> metric = cdl.metric.pullback(
        ...     lambda pair: pair[0] + pair[1], (jnp.array(0.0), jnp.array(0.0))
        ... )
        >>> both = (jnp.array(1.0), jnp.array(2.0))
        >>> apart = cdl.metric.natural_gradient(metric, both, how=cdl.metric.Blocks())
        >>> [float(part) for part in apart]
        [1.0, 2.0]
    """

    each: Solver = Dense()

    def __check_init__(self) -> None:
        expect_fields(self)

    def __call__(self, metric: Metric, g: Any, /) -> Any:
        parts, structure = one_level(g)
        some = [bool(jax.tree.leaves(part)) for part in parts]
        found = [
            self.each(_block(metric, parts, structure, i), part) if some[i] else part for i, part in enumerate(parts)
        ]
        return jax.tree.unflatten(structure, found)


@with_types
def natural_gradient(
    metric: Metric, g: P, /, *, damping: Number = 0.0, within: Metric | None = None, how: Solver = Dense()
) -> P:
    """`(M + λ W)⁻¹ g`: the direction of steepest ascent of `g`, in the units of a metric.

    **Arguments:** `metric`: `M`. `g`: a gradient, with the structure that the metric takes. `damping`: `λ`. `within`:
    `W`; without one, the identity in these coordinates. `how`: `Dense()`, `Cg(steps)`, or `Blocks(…)` of these.

    **Raises:** `CdlError` for a metric that is singular, and for a gradient of another structure; from a compiled
    program, Equinox's error when it runs.

    Examples:
        >>> metric = cdl.metric.pullback(lambda w: jnp.array([2.0, 10.0]) * w, jnp.zeros(2))
        >>> cdl.metric.natural_gradient(metric, jnp.array([4.0, 100.0])).round(4).tolist()
        [1.0, 1.0]
    """
    g = expect_gradient(metric, g)
    return how(damped(metric, damping, within), g)


def damped(metric: Metric, damping: Number, within: Metric | None) -> Metric:
    """`M + λ W`."""
    expect_damping(damping)
    if within is not None and jax.tree.leaves(within.in_structure()) != jax.tree.leaves(metric.in_structure()):
        raise CdlError(
            f"`within` is a metric of {_sizes(within.in_structure())}, and the other one is of "
            f"{_sizes(metric.in_structure())}: take both at the same parameters."
        )
    if isinstance(damping, int | float) and damping == 0:
        return metric
    return metric + damping * (lx.IdentityLinearOperator(metric.in_structure()) if within is None else within)


def expect_damping(damping: Any) -> None:
    """**Raises:** `CdlError` where a damping is not one number of at least 0."""
    if jnp.shape(damping) != ():
        raise CdlError(f"`damping` is of shape {jnp.shape(damping)}: give one number.")
    if not isinstance(damping, Tracer) and not 0 <= float(damping) < math.inf:
        raise CdlError(f"`damping` is {float(damping)}: give 0 or more, a finite number.")


def expect_gradient(metric: Any, g: Any) -> Any:
    """The floating arrays of a gradient. **Raises:** `CdlError` where they are not those that the metric takes."""
    g = eqx.filter(g, eqx.is_inexact_array)
    given, wanted = jax.eval_shape(lambda: g), metric.in_structure()
    structures: list[Any] = [jax.tree.structure(given), jax.tree.structure(wanted)]
    kinds = [[(x.shape, x.dtype) for x in jax.tree.leaves(tree)] for tree in (given, wanted)]
    if structures[0] != structures[1] or kinds[0] != kinds[1]:
        raise CdlError(
            f"the gradient is {described(g)} with {_sizes(given)}, and the metric takes {_sizes(wanted)}: take both at "
            "the same parameters."
        )
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, x.dtype), g)  # no weak types


def one_level(tree: Any) -> tuple[list[Any], Any]:
    """The parts of a pytree, and how they are put together; an array is its only part."""
    return jax.tree.flatten(tree, is_leaf=lambda x: x is not tree)


def _block(metric: Metric, parts: list[Any], structure: Any, i: int) -> Metric:
    """The part of a metric in one part of the parameters."""
    rest = [jax.tree.map(jnp.zeros_like, part) for part in parts]

    def mv(v: Any) -> Any:
        whole = jax.tree.unflatten(structure, [v if j == i else x for j, x in enumerate(rest)])
        return one_level(metric.mv(whole))[0][i]

    return operator(mv, parts[i])


def rounding(x: Array) -> float:
    """The distance from 1 to the next number of this type."""
    finfo: Any = jnp.finfo
    return float(finfo(x.dtype).eps)


def wide(x: Array) -> Array:
    """In single precision at least, in which LAPACK works."""
    return x if x.dtype.itemsize >= 4 else x.astype(jnp.float32)


def _refuse_singular(x: Array, singular: Array, where: Callable[[], str], floor: Array) -> Array:
    """**Raises:** `CdlError` where a metric, damped or not, is singular up to rounding.

    **Arguments:** `floor`: the extent that rounding leaves to a direction without one.
    """
    rest = "or parameters that all change the model."
    if isinstance(singular, Tracer):
        words = f"the metric is singular up to rounding: give `damping`, or a larger one, {rest}"
        return eqx.error_if(x, singular, words)
    if bool(singular):
        raise CdlError(
            f"the metric is singular up to rounding, {where()}: give a `damping` well above {float(floor):.1e}, {rest}"
        )
    return x


def _sizes(kinds: Any) -> str:
    shapes = [f"{x.dtype}{list(x.shape)}" for x in jax.tree.leaves(kinds)]
    return f"{len(shapes)} arrays, {', '.join(shapes[:6])}{', …' if len(shapes) > 6 else ''}"
