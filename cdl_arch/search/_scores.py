"""Scores of codes before any training: the less, the better. All codes are scored in one program.

| the mathematics                                     | here                                                      |
| --------------------------------------------------- | --------------------------------------------------------- |
| `m₂ = E ‖J v‖² / n`, `m₄ = E ‖Jᵀ J v‖² / n`         | `cdl.metric.jacobian_moments` of the trunk                |
| `δ = mean |log m₂| + mean log (m₄ / m₂²)`           | `isometry`; it is 0 just where `Jᵀ J = 1`                 |
| `log ‖∇ℓ‖` at the first parameters                  | `gradient_norm`, to compare with                          |

A score that is not a number sorts last: `ranked`.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from cdl.checks import whole, with_usage
from cdl.errors import CdlError
from cdl.metric import jacobian_moments

from ._expected import rows_of
from ._task import norm, Task


Score: TypeAlias = Callable[[Task, Int[Array, " places"], PRNGKeyArray], Float[Array, ""]]
"""From a task, a code and a key to a number: the less, the better.

Examples:
    >>> from cdl_arch.search import isometry, Score
    >>> score: Score = isometry
    >>> score.__name__
    'isometry'
"""
PROBES = 4
ROUNDING = 1e-9


@with_usage
def isometry(task: Task, code: Int[Array, " places"], key: PRNGKeyArray) -> Float[Array, ""]:
    """How far the trunk is from an isometry at its first parameters: the mean over a few random points.

    **Arguments:** `task`: whose inputs are read. `code`: `int[places]`. `key`: for the first parameters, the points and
    the probes.

    **Returns:** a number, `float[]`: 0 for an isometry.

    Examples:
        >>> from cdl_arch.search import Blocks, isometry, Part, Task
        >>> part = Part(
        ...     jax.random.normal(jax.random.key(0), (5, 2, 2, 1)), jnp.array([0, 1, 0, 1, 0])
        ... )
        >>> task = Task(Blocks((2, 2, 1), 2, width=8, depth=2), part, part, part, steps=1, batch=2)
        >>> code = jnp.ones(len(task.space.sizes), int)
        >>> bool(jnp.isfinite(isometry(task, code, jax.random.key(0))))
        True
    """
    first, at, probes = jr.split(key, 3)
    trunk = task.space.trunk(task.space.init(first), code)

    def moments(point: PRNGKeyArray, probe: PRNGKeyArray) -> tuple[Array, Array]:
        return jacobian_moments(trunk, jr.normal(point, (task.space.state,)), probe, probes=1)

    m2, m4 = jax.vmap(moments)(jr.split(at, PROBES), jr.split(probes, PROBES))
    return jnp.abs(jnp.log(m2)).mean() + jnp.log(m4 / jnp.square(m2)).mean()


@with_usage
def gradient_norm(task: Task, code: Int[Array, " places"], key: PRNGKeyArray) -> Float[Array, ""]:
    """The logarithm of the norm of the first gradient, on one batch, to compare with; `inf` where the gradient is 0.

    **Arguments:** `task`: whose data are read. `code`: `int[places]`. `key`: for the first parameters and the batch.

    **Returns:** a number, `float[]`.

    Examples:
        >>> from cdl_arch.search import Blocks, gradient_norm, Part, Task
        >>> part = Part(
        ...     jax.random.normal(jax.random.key(0), (5, 2, 2, 1)), jnp.array([0, 1, 0, 1, 0])
        ... )
        >>> task = Task(Blocks((2, 2, 1), 2, width=8, depth=2), part, part, part, steps=1, batch=2)
        >>> code = jnp.ones(len(task.space.sizes), int)
        >>> bool(jnp.isfinite(gradient_norm(task, code, jax.random.key(0))))
        True
    """
    first, rows = jr.split(key)
    slope = jax.grad(task.loss)(task.space.init(first), code, task.drawn(rows))
    return jnp.where(norm(slope) > 0, jnp.log(norm(slope)), jnp.inf)


@with_usage
def scored(
    score: Score, task: Task, codes: Int[Array, "n places"], key: PRNGKeyArray, inits: int = 1
) -> Float[Array, " n"]:
    """The mean score of each code over some first parameters, the same ones for all codes.

    **Arguments:** `score`: such as `isometry`. `task`: what it reads. `codes`: `int[n, places]`. `key`: split, one for
    each first parameters. `inits`: over how many of these the mean is taken.

    **Returns:** a score for each code, `float[n]`.

    **Raises:** `CdlError` for a code that is not in the space, and for no first parameters.

    Examples:
        >>> from cdl_arch.search import Blocks, isometry, Part, scored, Task
        >>> part = Part(
        ...     jax.random.normal(jax.random.key(0), (5, 2, 2, 1)), jnp.array([0, 1, 0, 1, 0])
        ... )
        >>> task = Task(Blocks((2, 2, 1), 2, width=8, depth=2), part, part, part, steps=1, batch=2)
        >>> scored(
        ...     isometry, task, jnp.zeros((3, len(task.space.sizes)), int), jax.random.key(0)
        ... ).shape
        (3,)
    """
    whole("inits", inits)
    return _scored(score, task, rows_of(task.space, codes), jr.split(key, inits))


@eqx.filter_jit
def _scored(score: Score, task: Task, codes: Array, keys: Key[Array, " inits"]) -> Array:
    return jax.vmap(lambda code: jax.vmap(lambda key: score(task, code, key))(keys).mean())(codes)


def ranked(scores: Float[Array, " n"]) -> Int[Array, " n"]:
    """The places from the least score to the greatest; NaN comes last, and equal ones in their order.

    **Arguments:** `scores`: `float[n]`.

    **Returns:** places of `scores`, `int[n]`, the best first.

    Examples:
        >>> from cdl_arch.search import ranked
        >>> ranked(jnp.array([2.0, jnp.nan, 1.0])).tolist()
        [2, 0, 1]
    """
    return jnp.argsort(scores, stable=True)  # which puts NaN after infinity, of either sign


def to_draw(n: int, share: float) -> int:
    """The least number of codes to draw so that `n` are left where a share is left out: `n / (1 - share)`, rounded up.

    A quotient within `ROUNDING` of a whole number is that number, so that a share of 0.8 leaves 1 of 5.

    **Raises:** `CdlError` for a share that is not from 0 to below 1.
    """
    if not 0 <= share < 1:
        raise CdlError(f"the share to leave out is {share}, and is from 0 to below 1.")
    exact = n / (1 - share)
    near = round(exact)
    return near if math.isclose(exact, near, rel_tol=ROUNDING) else math.ceil(exact)
