"""Monoids for sequences.

| the mathematics                                | here                          | an element                         |
| ---------------------------------------------- | ----------------------------- | ---------------------------------- |
| affine maps `h ↦ a ⊙ h + b`, composed          | `linear_recurrence(shape)`    | `(a, b)`                           |
| `n × n` matrices under the product             | `matrices(n)`                 | an array `(n, n)`                  |
| the same over `(max, +)`, `(min, +)`           | `max_plus(n)`, `min_plus(n)`  | an array `(n, n)`                  |
| maps of `n` states, as of an automaton         | `transitions(n)`              | integers `(n,)`: each state's next |

Products are in the order of the list: the first of two maps is done first, and matrices act on row vectors,
`v x₀ x₁ …`.

Where two paths of `max_plus` are equally good, each has a part of the gradient, and how great a part depends on the
brackets. So it does in any product with `jnp.maximum`, which gives half to each of two equal sides.
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from ..._functors import Monoid
from ..._functors.usage import whole, with_types
from ..._schemes.in_range import in_range
from ...errors import CdlError


@with_types
def linear_recurrence(shape: tuple[int, ...] = (), dtype: Any = None) -> Monoid[tuple[Array, Array]]:
    """`h_t = a_t ⊙ h_(t-1) + b_t` as a product of maps: the second of each prefix is `h_t` from `h = 0`.

    **Arguments:** `shape`: of one `a` and of one `b`. `dtype`: of the unit; JAX's default where none is given.

    Examples:
        >>> monoid = cdl.monoids.linear_recurrence(())
        >>> a, b = jnp.array([0.5, 0.5]), jnp.array([1.0, 2.0])
        >>> monoid.combine((a[0], b[0]), (a[1], b[1]))
        (Array(0.25, dtype=float32), Array(2.5, dtype=float32))
    """
    return Monoid((jnp.ones(shape, dtype), jnp.zeros(shape, dtype)), _affine)


@with_types
def matrices(n: int, dtype: Any = None) -> Monoid[Array]:
    """`n × n` matrices and their product.

    **Arguments:** `n`: how many rows a matrix has, and how many columns. `dtype`: of the unit; JAX's default where none
    is given.

    Examples:
        >>> shear = jnp.array([[1.0, 1.0], [0.0, 1.0]])
        >>> cdl.monoids.matrices(2).combine(shear, shear)
        Array([[1., 2.],
               [0., 1.]], dtype=float32)
    """
    whole("n", n, least=0)
    return Monoid(jnp.eye(n, dtype=dtype), jnp.matmul)


@with_types
def max_plus(n: int, dtype: Any = None) -> Monoid[Array]:
    """`(x y)ᵢⱼ = maxₖ xᵢₖ + yₖⱼ`: the best path through a lattice, as in Viterbi's algorithm.

    Paths that are equally good share the gradient, in parts that depend on the order in which products are taken: see
    `cdl.compiled.Bracketing`.

    **Arguments:** `n`: how many rows a matrix has, and how many columns. `dtype`: of the unit, which has `−inf` off the
    diagonal.

    **Raises:** `CdlError` for a `dtype` without infinity, such as one of whole numbers.

    Examples:
        >>> step = jnp.array([[0.0, 5.0], [1.0, 0.0]])
        >>> cdl.monoids.max_plus(2).combine(step, step)
        Array([[6., 5.],
               [1., 6.]], dtype=float32)
    """
    return Monoid(_tropical("max_plus", n, dtype, -jnp.inf), _max_plus)


@with_types
def min_plus(n: int, dtype: Any = None) -> Monoid[Array]:
    """`(x y)ᵢⱼ = minₖ xᵢₖ + yₖⱼ`: the shortest path, as in Bellman and Ford's algorithm.

    Paths that are equally short share the gradient, as in `max_plus`.

    **Arguments:** `n`: how many rows a matrix has, and how many columns. `dtype`: of the unit, which has `inf` off the
    diagonal.

    **Raises:** `CdlError` for a `dtype` without infinity, such as one of whole numbers.

    Examples:
        >>> roads = jnp.array([[0.0, 5.0], [1.0, 0.0]])
        >>> cdl.monoids.min_plus(2).combine(roads, roads)
        Array([[0., 5.],
               [1., 0.]], dtype=float32)
    """
    return Monoid(_tropical("min_plus", n, dtype, jnp.inf), _min_plus)


@with_types
def transitions(n: int) -> Monoid[Array]:
    """Maps of `n` states to themselves: what a word does to a finite automaton.

    An element is an array of whole numbers `(n,)`, the next state of each. `combine(x, y)` is `x`, then `y`.

    **Raises:** when two are combined, `CdlError` for a next state that is not one of the `n`; from a compiled program,
    Equinox's error when it runs.

    Examples:
        >>> cdl.monoids.transitions(3).combine(jnp.array([1, 2, 0]), jnp.array([0, 0, 1]))
        Array([0, 1, 0], dtype=int32)
    """
    whole("n", n, least=0)
    return Monoid(jnp.arange(n, dtype=jnp.int32), _then)


def _tropical(of: str, n: int, dtype: Any, absent: float) -> Array:
    """The unit: 0 on the diagonal, and elsewhere what no path costs."""
    whole("n", n, least=0)
    if dtype is not None and not jnp.issubdtype(dtype, jnp.floating):
        raise CdlError(
            f"`dtype` of `{of}` is {jnp.dtype(dtype).name}, and its unit has {absent} in it: give a type of floating "
            "point, such as `jnp.float32`."
        )
    return jnp.where(jnp.eye(n, dtype=bool), jnp.zeros((), dtype), jnp.asarray(absent, dtype))


def _affine(first: tuple[Array, Array], then: tuple[Array, Array]) -> tuple[Array, Array]:
    return then[0] * first[0], then[0] * first[1] + then[1]


def _max_plus(x: Array, y: Array) -> Array:
    return jnp.max(x[:, :, None] + y[None], axis=1)


def _min_plus(x: Array, y: Array) -> Array:
    return jnp.min(x[:, :, None] + y[None], axis=1)


def _then(first: Array, then: Array) -> Array:
    states = jnp.shape(then)[-1]
    words = f"`transitions` of {states} states takes next states from 0 to {states - 1}, and one is"
    return then[in_range(first, states, lambda x: f"{words} {'another' if x is None else x}.")]
