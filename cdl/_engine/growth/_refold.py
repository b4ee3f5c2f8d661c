"""`refold`: the hylomorphism of many seeds, compiled; grow and read at once, with no tree in between.

| the call tree                        | here                                                                        |
| ------------------------------------ | --------------------------------------------------------------------------- |
| depends on the seeds' shapes alone   | `refold(α, γ, seeds)`: unrolled, each level one batch (`_split`)            |
| is chosen, `γ` gives `choose(…)`     | `refold(α, γ, seeds, n)`: grown as by `unfold`, then read upwards (`_read`) |
"""

import itertools
from collections.abc import Callable
from typing import Any, overload, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ..._functors import Base
from ..._functors.usage import with_usage
from ..._schemes import Algebra
from ..._schemes.expect import expect_algebras, expect_coalgebras
from ..._schemes.likelihoods import of_sorts
from ...errors import CdlError, SignatureError
from ..arrays._given import arrays
from ..arrays._rows import chosen
from ..arrays.shapes import is_smooth
from ..calls._compiled import compiled
from ..calls._traced import reverse_only
from ..machines._state import leading
from ._plan import Plan
from ._readings import readings
from ._refold_rule import read_rows
from ._scores import expect_scores
from ._sorts import at_roots, trace_all
from ._split import refold_split
from ._tracing import one
from ._unfold import by_sort, counted, LANES, plan_of


T = TypeVar("T")
U = TypeVar("U")
A = TypeVar("A")
B = TypeVar("B")
S = TypeVar("S")
R = TypeVar("R")


@overload
def refold(alg: Algebra[Base[T, A], A], coalg: Callable[[S], Base[T, S]], seeds: S | Array, /) -> A: ...
@overload
def refold(
    alg: Algebra[Base[T, A], A],
    coalg: Callable[[S], Base[T, S]],
    seeds: S | Array,
    /,
    nodes: int,
    *,
    total: int | None = None,
    lanes: int = LANES,
) -> tuple[A, Int[Array, " trees"]]: ...
@overload
def refold(
    alg: tuple[Algebra[Base[T, tuple[A, B]], A], Algebra[Base[U, tuple[A, B]], B]],
    coalg: tuple[Callable[[S], Base[T, tuple[S, R]]], Callable[[R], Base[U, tuple[S, R]]]],
    seeds: tuple[S | Array, R | Array],
    /,
    nodes: int,
    *,
    total: int | None = None,
    lanes: int = LANES,
) -> tuple[tuple[A, Int[Array, " trees"]], tuple[B, Int[Array, " more"]]]: ...
@with_usage
def refold(
    alg: Any, coalg: Any, seeds: Any, /, nodes: int | None = None, *, total: int | None = None, lanes: int = LANES
) -> Any:
    """`hylo(alg, coalg)` at every seed, in one compiled program: a hylomorphism, batched.

    Without `nodes`, the coalgebra decides which layer to give by the shapes of a seed, and by what in it is not an
    array, as a fast Fourier transform does. Seeds and values may then have other shapes further down. With `nodes`, it
    gives `choose(scores, …)`, and the layer with the best score is taken, within that budget. Differentiable in all
    arrays.

    **Arguments:** `alg`, `coalg`: those of `hylo`. `seeds`: a pytree of arrays `(seeds, …)`. For a family, which needs
    `nodes`, all three are tuples in the order of the sorts. `nodes`: the most calls for one seed. `total`: the most
    calls for all seeds together. `lanes`: how many calls are made at a time. Calls are made breadth first, as `unfold`
    grows trees. None is drawn: to draw, `unfold` with a key, and `fold` what was grown.

    **Returns:** the value of every seed. With `nodes`, a pair: the values, and how many calls of each seed were left
    undone. Where calls were left undone the value is NaN, or the least integer. For a family, a tuple of such pairs.

    **Raises:** `CdlError` where the shapes lead to no end, where a budget is not a positive whole number, and where a
    score is NaN; `ForeignLayer` where the coalgebra chooses and there is no `nodes`; `CarrierMismatch` with `nodes`,
    where seeds or values differ in form; `PayloadMismatch` where a payload is no number, or not of the annotated kind;
    `SignatureError` where there are not as many of each as sorts, they are in another order, or there is no `nodes` for
    them.

    Examples:
        >>> def halves(x):
        ...     return (
        ...         cdl.Leaf(x[0]) if len(x) == 1 else cdl.Fork(x[: len(x) // 2], x[len(x) // 2 :])
        ...     )
        >>> @cdl.algebra
        ... def total(layer):
        ...     return layer.label if isinstance(layer, cdl.Leaf) else layer.left + layer.right
        >>> cdl.compiled.refold(total, halves, jnp.arange(8.0).reshape(2, 4))
        Array([ 6., 22.], dtype=float32)
    """
    algs = alg if isinstance(alg, tuple) else (alg,)
    expect_algebras("refold", algs, several="in a tuple")
    expect_coalgebras("refold", coalg if isinstance(coalg, tuple) else (coalg,), several="in a tuple")
    coalgs, each = of_sorts(coalg, seeds)
    if nodes is None:
        if total is not None or lanes != LANES:
            raise CdlError(
                "`total` and `lanes` are for trees that grow within a budget: give `nodes` too, the most calls that "
                "there may be for one seed, or leave them out."
            )
        if isinstance(coalg, tuple):
            raise SignatureError(
                f"there are {len(coalgs)} coalgebras, for a family of sorts, and what a seed's shape decides is of one "
                "sort: let them `choose`, and give `refold` a number of `nodes`."
            )
        seeds = jax.tree.map(lambda x: arrays(x, "a seed") if eqx.is_array_like(x) and jnp.ndim(x) else x, seeds)
        rows = leading(eqx.filter(seeds, eqx.is_array), "the seeds", "one for each tree")
        return _split((alg, coalg), seeds, rows)
    each = tuple(arrays(x, "a seed") for x in each)
    trees = counted(each)
    with reverse_only("refold", "use reverse mode, `jax.grad`, `jax.vjp` or `jax.jacrev`"):
        found = expect_scores(*_bounded((algs, coalgs), each, trees, plan_of(sum(trees), nodes, total, lanes)))
    return found if isinstance(coalg, tuple) else found[0]


@compiled
def _split(both: Any, seeds: Any, rows: int) -> Any:
    alg, coalg = both
    return refold_split(alg, coalg, seeds, rows)


@compiled
def _bounded(both: Any, seeds: Any, trees: tuple[int, ...], plan: Plan) -> tuple[Any, Any, Any]:
    """The values of each sort's seeds, whether a score was NaN, and the names of the layers."""
    algs, coalgs = both
    growth, weights = trace_all(coalgs, one(seeds), False)
    found, own = readings(algs, growth)
    values, waiting, missing = read_rows(growth, plan, weights, at_roots(seeds, trees), found, own)

    def roots(sort: int, part: slice) -> tuple[Any, jax.Array]:
        return found.of(sort, [_known(waiting[part], v[part]) for v in values]), waiting[part]

    return tuple(itertools.starmap(roots, enumerate(by_sort(trees)))), missing, growth.names


def _known(waiting: Any, roots: Any) -> Any:
    """The values of trees that are whole."""
    nothing: Any = jnp.nan if is_smooth(roots) else False
    if jnp.issubdtype(roots.dtype, jnp.integer):
        nothing = np.iinfo(roots.dtype).min
    return chosen(waiting == 0, roots, jnp.asarray(nothing, roots.dtype))
