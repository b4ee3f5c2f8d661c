"""Sequences read by a monoid: the product of all elements, and of every prefix, in whichever way is fast.

| the mathematics                         | here                                                                    |
| --------------------------------------- | ----------------------------------------------------------------------- |
| the algebra `Σ : List M → M`            | `fold(monoid, seq)`: the product of each list, the unit for an empty one |
| its prefixes, `x₀, x₀ x₁, x₀ x₁ x₂, …`  | `annotate(monoid, seq)`                                                 |
| `M` with resets, `{0, 1} ⋉ M`           | `with_resets(monoid)`                                                   |

A product may be bracketed at will, and each bracketing is a way to run it:

| `way`           | the bracketing                                            | steps after each other |
| --------------- | --------------------------------------------------------- | ---------------------- |
| `"scan"`        | from the left, one element after another                  | `n`                    |
| `"associative"` | a balanced tree, and down again for the prefixes          | `2 log n`              |
| `"halving"`     | neighbours in pairs, until one is left; for the total only | `log n`                |
| `"chunked"`     | chunks side by side, each from the left; then their totals | `2 √n`                 |

More work is done where fewer steps wait for each other. What is not asked for is chosen:

| where                                         | the way                                                            |
| --------------------------------------------- | ------------------------------------------------------------------ |
| on a CPU                                      | `"scan"`: on two cores the fastest of every length that was timed  |
| elsewhere, less than `SHORT` elements         | `"scan"`                                                           |
| elsewhere, a step of `FULL` operations        | `"scan"`: side by side is more work, and gains nothing             |
| elsewhere, the product of all                 | `"halving"`: of those side by side it does the least               |
| elsewhere, the prefixes                       | `"associative"`                                                    |

The operations of a step are those of `combine`, counted in its program, times the lists.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from ..._functors import Monoid
from ..._functors.usage import with_types
from ..._schemes.algebras import name_of
from ...errors import CarrierMismatch, CdlError
from ..arrays._lost import changes
from ..arrays._platform import platform
from ..arrays._rows import chosen
from ..arrays.shapes import alike, shown
from ..calls._compiled import compiled
from ..calls._strategies import Bracketing, Way
from ..calls._traced import noted
from ._scan_track import Track, track
from ._seq import Seq
from ._seq_packed import Packed


M = TypeVar("M")
E = TypeVar("E")  # elements, or one of them

SHORT = 64  # elements
FULL = 1 << 24  # operations: about what an accelerator does while it begins one more step; by calculation


class Reset(eqx.Module):
    """The product of elements with flags: one that has its flag set drops what is to its left."""

    combine: Callable[[Any, Any], Any]

    def __call__(self, x: tuple[Array, Any], y: tuple[Array, Any]) -> tuple[Array, Any]:
        both = self.combine(x[1], y[1])
        kept = jax.tree.map(lambda own, b: jnp.where(y[0], own, b), y[1], both)
        return x[0] | y[0], kept


@with_types
def with_resets(monoid: Monoid[M]) -> Monoid[tuple[Array, M]]:
    """The semidirect product `{0, 1} ⋉ M`: an element whose flag is set begins anew, `(r, x) (1, y) = (1, y)`.

    Examples:
        >>> monoid = cdl.monoids.with_resets(cdl.monoids.matrices(1))
        >>> one, two = jnp.array([[3.0]]), jnp.array([[5.0]])
        >>> monoid.combine(
        ...     (jnp.array(False), one), (jnp.array(True), two)
        ... )  # the second begins anew
        (Array(True, dtype=bool), Array([[5.]], dtype=float32))
    """
    return Monoid((jnp.zeros((), bool), monoid.unit), Reset(monoid.combine))


def fold_monoid(monoid: Monoid[Any], data: Seq[Any] | Packed[Any], how: Bracketing | None) -> Any:
    """The product of each list, in the lists' order."""
    return _read(monoid, data, None if how is None else how.way, False)


def annotate_monoid(monoid: Monoid[Any], data: Seq[Any] | Packed[Any], how: Bracketing | None) -> Any:
    """The product of each prefix, as sequences of the same lengths; zero in the padding."""
    if how is not None and how.way == "halving":
        raise CdlError(
            '`Bracketing("halving")` gives the product of all, and no prefix: ask for another way, or for `fold`.'
        )
    return _read(monoid, data, None if how is None else how.way, True)


@compiled
def _read(monoid: Monoid[Any], data: Seq[Any] | Packed[Any], how: Way | None, every: bool) -> Any:
    lists = track(data, end=False)
    unit = _unit(monoid, lists.element)
    elements = jax.tree.map(lambda x: jnp.moveaxis(x, lists.axis, 0), lists.values)
    elements = _filled(elements, lists.own, unit)
    product = monoid.combine
    combine: Any = jax.vmap(product)
    how = how or way_for(monoid.combine, lists, total=not every and isinstance(data, Seq))
    if isinstance(data, Packed):
        start, combine = (lists.first, elements), jax.vmap(Reset(product))
        prefixes = _prefixes("scan" if how == "halving" else how, combine, start, (False, unit), (lists.lanes,))[1]
        if not every:
            at = jnp.maximum(data.start + data.lengths - 1, 0)
            found = jax.tree.map(
                lambda x: x[at, data.lane] if lists.steps else jnp.zeros((len(data), *x.shape[2:]), x.dtype), prefixes
            )
            return _filled(found, data.lengths > 0, unit)
    elif not every:
        return _total(how, combine, elements, unit, (lists.lanes,))
    else:
        prefixes = _prefixes(how, combine, elements, unit, (lists.lanes,))
    return eqx.tree_at(lambda d: d.values, data, lists.shown(prefixes))


def way_for(combine: Callable[[Any, Any], Any], lists: Track, *, total: bool) -> Way:
    """The way that suits the device, the length and the cost of `combine`: side by side where there is room for it."""
    if not platform().batched or lists.steps < SHORT:
        return "scan"
    if lists.lanes * operations(combine, lists.element) >= FULL:
        return "scan"
    return "halving" if total else "associative"


def operations(combine: Callable[[Any, Any], Any], element: Any) -> float:
    """How many floating-point operations a product of two elements of these shapes takes, as XLA counts them."""
    found: Any = jax.jit(combine).lower(element, element).cost_analysis()
    return float((found or {}).get("flops", 0.0))


def _unit(monoid: Monoid[Any], element: E) -> E:
    """The unit in the elements' types.

    **Raises:** `CarrierMismatch` where unit, elements and products differ in structure, shape or type.
    """
    same = alike(monoid.unit, element)
    pairs = list(zip(jax.tree.leaves(monoid.unit), jax.tree.leaves(element), strict=True)) if same else []
    if not same or any(jnp.shape(u) != x.shape or changes(u, x.dtype) for u, x in pairs):
        _refuse("unit", monoid.unit, element)
    unit = jax.tree.map(lambda u, x: jnp.asarray(u, x.dtype), monoid.unit, element)
    with noted(name_of(monoid.combine), lambda: f"two elements of {shown(element)}"):
        product = jax.eval_shape(monoid.combine, element, element)
    same = alike(product, element)
    pairs = list(zip(jax.tree.leaves(product), jax.tree.leaves(element), strict=True)) if same else []
    if not same or any(p.shape != x.shape or p.dtype != x.dtype for p, x in pairs):
        _refuse("product of two", product, element)
    return unit


def _refuse(what: str, value: Any, element: Any) -> None:
    raise CarrierMismatch(
        f"the monoid's {what} is {shown(value)}, and the elements are {shown(element)}: give unit, elements and "
        "products one structure, shape and type."
    )


def _filled(elements: E, own: jax.Array, unit: Any) -> E:
    found: E = jax.tree.map(functools.partial(chosen, own), elements, unit)
    return found


def _prefixes(how: Way, combine: Callable[[Any, Any], Any], elements: E, unit: Any, lanes: tuple[int, ...]) -> E:
    """The products of all prefixes, along the first axis."""
    steps = jax.tree.leaves(elements)[0].shape[0]
    if how == "associative":
        return lax.associative_scan(jax.vmap(combine), elements) if steps else elements
    if how == "chunked" and steps:
        return _chunked(combine, elements, unit, steps, lanes)

    def step(before: Any, x: Any) -> tuple[Any, Any]:
        after = combine(before, x)
        return after, after

    return lax.scan(step, _all(unit, lanes), elements)[1]


def _chunked(combine: Callable[[Any, Any], Any], elements: E, unit: Any, steps: int, lanes: tuple[int, ...]) -> E:
    """Chunks of about `√n` side by side, each from the left; then the product of the chunks before is put to each."""
    size = max(1, math.isqrt(steps))
    count = -(-steps // size)

    def side_by_side(x: jax.Array, u: jax.Array) -> jax.Array:
        more = jnp.broadcast_to(u, (count * size - steps, *x.shape[1:]))
        return jnp.moveaxis(jnp.concatenate([x, more]).reshape(count, size, *x.shape[1:]), 0, 1)

    chunks = jax.tree.map(side_by_side, elements, unit)
    rows: Any = jax.vmap(combine)
    inside = _prefixes("scan", rows, chunks, unit, (count, *lanes))
    totals = jax.tree.map(lambda x: x[-1], inside)
    upto = _prefixes("scan", combine, totals, unit, lanes)
    before = jax.tree.map(lambda x, u: jnp.concatenate([jnp.broadcast_to(u, x[:1].shape), x[:-1]]), upto, unit)
    whole = jax.vmap(lambda xs: rows(before, xs))(inside)
    return jax.tree.map(lambda x: jnp.moveaxis(x, 1, 0).reshape(count * size, *x.shape[2:])[:steps], whole)


def _total(how: Way, combine: Callable[[Any, Any], Any], elements: E, unit: Any, lanes: tuple[int, ...]) -> E:
    """The product along the first axis."""
    steps = jax.tree.leaves(elements)[0].shape[0]
    if how == "scan" or not steps:
        return lax.scan(lambda before, x: (combine(before, x), None), _all(unit, lanes), elements)[0]
    if how != "halving":
        return jax.tree.map(lambda x: x[-1], _prefixes(how, combine, elements, unit, lanes))
    while steps > 1:
        elements, steps = _halved(combine, elements, steps // 2), -(-steps // 2)
    return jax.tree.map(lambda x: x[0], elements)


def _halved(combine: Callable[[Any, Any], Any], elements: E, pairs: int) -> E:
    """The products of neighbours, and the one that has none."""
    even, odd = (jax.tree.map(lambda x, i=i: x[i : 2 * pairs : 2], elements) for i in (0, 1))
    last = jax.tree.map(lambda x: x[2 * pairs :], elements)
    return jax.tree.map(lambda x, y: jnp.concatenate([x, y]), jax.vmap(combine)(even, odd), last)


def _all(unit: E, lanes: tuple[int, ...]) -> E:
    return jax.tree.map(lambda u: jnp.broadcast_to(u, (*lanes, *jnp.shape(u))), unit)
