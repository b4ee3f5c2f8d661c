"""How far a network is from keeping lengths: the defect of its Jacobian from an isometry.

| the mathematics                                  | here                                                       |
| ------------------------------------------------ | ---------------------------------------------------------- |
| the Jacobian `J` of `f` at `x`, with `n` columns | `jax.linearize`, `jax.linear_transpose`: never as a matrix |
| `m₂ = tr(JᵀJ)/n`, `m₄ = tr((JᵀJ)²)/n`            | `jacobian_moments(f, x, key)`                              |
| `δ = ∣log m₂∣ + log(m₄/m₂²)`                     | `isometry_defect(f, x, key)`                               |
| `δ` of `L` blocks `x ↦ a x + b W x`, expected    | `residual_isometry_defect(a, b, L)`                        |

`δ ≥ 0`, and 0 only where `JᵀJ = 1`. The first term says how much lengths grow, the second how unequal directions are.
Traces are estimated by Gaussian vectors `v`, as the means of `‖Jv‖²` and `‖JᵀJv‖²` (Hutchinson).

With independent `W` of entries `N(0, 1/n)`, for large `n`: `m₂ = (a² + b²)ᴸ` and `m₄/m₂² = 1 + L κ`, where
`κ = (2a²b² + b⁴)/(a² + b²)²`. So a deep network keeps lengths where `a² + b² = 1` and `b²` is of the order `1/L`.
"""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from .._functors.usage import whole, with_types
from ..errors import CdlError


@with_types
def jacobian_moments(
    f: Callable[[Any], Any], x: Any, /, key: PRNGKeyArray | None = None, *, probes: int = 4
) -> tuple[Array, Array]:
    """The second and the fourth moment of the singular values of the Jacobian of `f` at `x`.

    **Arguments:** `f`: from arrays to arrays, such as `eqx.Module`s with all but one input given. `x`: one input; over
    a batch, use `jax.vmap`. `key`: for the vectors; without one the traces are exact, by all unit vectors. `probes`:
    how many vectors.

    **Returns:** `m₂` and `m₄`; NaN where the value of `f` itself is not finite.

    **Raises:** `CdlError` where `x` has no floating numbers, and where `x` or `f(x)` has complex ones.

    Examples:
        >>> second, fourth = cdl.metric.jacobian_moments(lambda x: 2 * x, jnp.ones(3))
        >>> float(second), float(fourth)
        (4.0, 16.0)
    """
    numbers, rest = eqx.partition(x, eqx.is_inexact_array)
    _refuse_complex("input", numbers)
    flat, back = ravel_pytree(numbers)
    n = flat.size
    if not n:
        raise CdlError("an input without floating numbers has no Jacobian: give arrays of floats.")
    whole("probes", probes)

    def along(flat: Array) -> Array:
        found = eqx.filter(f(eqx.combine(back(flat), rest)), eqx.is_inexact_array)
        _refuse_complex("output", found)
        return ravel_pytree(found)[0]

    value, forward = jax.linearize(along, flat)
    transposed = jax.linear_transpose(forward, flat)
    vectors = jnp.eye(n, dtype=flat.dtype) if key is None else jr.normal(key, (probes, n), flat.dtype)

    def squares(v: Array) -> tuple[Array, Array]:
        ahead = forward(v)
        (again,) = transposed(ahead)
        return jnp.sum(ahead**2), jnp.sum(again**2)

    second, fourth = jax.vmap(squares)(vectors)
    count = jnp.where(jnp.isfinite(value).all(), n if key is None else probes * n, jnp.nan)
    return second.sum() / count, fourth.sum() / count


@with_types
def isometry_defect(f: Callable[[Any], Any], x: Any, /, key: PRNGKeyArray | None = None, *, probes: int = 4) -> Array:
    """The isometry defect `δ = |log m₂| + log(m₄/m₂²)` of `f` at `x`; 0 where `f` keeps lengths there.

    **Arguments:** those of `jacobian_moments`.

    **Returns:** a number; `inf` where it is not finite, as of a network that overflows or whose gradient is zero: so
    that in any order these come last. With few vectors the second term may be a little below zero.

    Examples:
        >>> turn = jnp.array([[0.0, -1.0], [1.0, 0.0]])
        >>> float(cdl.metric.isometry_defect(lambda x: turn @ x, jnp.ones(2)))
        0.0
        >>> round(float(cdl.metric.isometry_defect(lambda x: 2 * x, jnp.ones(2)) / jnp.log(4.0)), 4)
        1.0
    """
    second, fourth = jacobian_moments(f, x, key, probes=probes)
    found = jnp.abs(jnp.log(second)) + jnp.log(fourth) - 2 * jnp.log(second)
    return jnp.where(jnp.isfinite(found), found, jnp.inf)


@with_types
def residual_isometry_defect(a: float, b: float, depth: int, /) -> float:
    """The expected defect of `depth` blocks `x ↦ a x + b W x`, with independent `W` of entries `N(0, 1/n)`, for large
    `n`: `L |log(a² + b²)| + log(1 + L κ)`.

    **Arguments:** `a`, `b`: the weights of the skip and of the block, not both 0. `depth`: `L`, at least 0.

    **Raises:** `CdlError` where both numbers are 0, or one is not finite.

    Examples:
        >>> round(float(cdl.metric.residual_isometry_defect(1.0, 0.0, 10)), 4)
        0.0
        >>> round(float(cdl.metric.residual_isometry_defect(0.0, 1.0, 1)), 4)
        0.6931
    """
    whole("depth", depth, least=0)
    if not (math.isfinite(a) and math.isfinite(b) and (a or b)):
        raise CdlError(
            f"`a` is {a} and `b` is {b}: a block that gives zero, or no numbers, has no defect. Give finite "
            "numbers, one of which is not 0."
        )
    length = math.hypot(a, b)
    p, q = (a / length) ** 2, (b / length) ** 2  # κ has no units, and squares of a and b may not fit a float
    return 2 * depth * abs(math.log(length)) + math.log1p(depth * (2 * p * q + q * q))


def _refuse_complex(name: str, tree: Any) -> None:
    if any(jnp.issubdtype(x.dtype, jnp.complexfloating) for x in jax.tree.leaves(tree)):
        raise CdlError(
            f"the {name} has complex numbers, and lengths are those of real ones: let it have the real and the "
            "imaginary part as two numbers."
        )
