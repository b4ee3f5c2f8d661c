"""Whether a product is one of a monoid, on samples of its elements."""

import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ..._functors import Monoid
from ..._functors.usage import with_types
from ...errors import LawBroken, PayloadMismatch


M = TypeVar("M")
AT_ONCE = 4096  # products of three that are compared together


@with_types
def check_monoid(monoid: Monoid[M], samples: Sequence[M], tolerance: float = 1e-5) -> None:
    """Checks `(x y) z = x (y z)` at all triples of some elements, and `1 x = x = x 1` at each.

    Then brackets do not change a product, so `fold` and `annotate` may choose them.

    **Arguments:** `samples`: elements, pytrees of arrays of one shape. `tolerance`: by how much two sides may differ,
    as a part of the greater number, or of 1; integers are equal or not.

    **Raises:** `LawBroken` naming the elements and both sides.

    Examples:
        >>> some = [jnp.array(1), jnp.array(2)]
        >>> cdl.monoids.check_monoid(cdl.monads.Monoid(0, lambda x, y: x + y), some)
        >>> cdl.monoids.check_monoid(cdl.monads.Monoid(0, lambda x, y: x - y), some)
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `1 x = x`: for x = 1 the left side is -1. Give the monoid the unit of its
        product.
    """
    if not samples:
        raise PayloadMismatch("there is no sample: give some elements of the monoid.")
    stacked = jax.tree.map(lambda *xs: jnp.stack([jnp.asarray(x) for x in xs]), *samples)
    at: Any = lambda numbers: jax.tree.map(lambda x: x[jnp.asarray(numbers)], stacked)
    combine: Any = jax.jit(jax.vmap(monoid.combine))
    unit = jax.tree.map(lambda u, x: jnp.broadcast_to(jnp.asarray(u, x.dtype), x.shape), monoid.unit, stacked)
    for left, right in (("1 x", combine(unit, stacked)), ("x 1", combine(stacked, unit))):
        if (i := _differ(right, stacked, tolerance)) is not None:
            raise LawBroken(
                f"`{left} = x`: for x = {_show(samples[i])} the left side is {_show(_row(right, i))}. Give the monoid "
                "the unit of its product."
            )
    triples = itertools.product(range(len(samples)), repeat=3)
    while some := list(itertools.islice(triples, AT_ONCE)):
        x, y, z = (at(list(column)) for column in zip(*some, strict=True))
        left, right = combine(combine(x, y), z), combine(x, combine(y, z))
        if (i := _differ(left, right, tolerance)) is not None:
            named = ", ".join(f"{n} = {_show(samples[j])}" for n, j in zip("xyz", some[i], strict=True))
            raise LawBroken(
                f"`(x y) z = x (y z)`: for {named} the left side is {_show(_row(left, i))} and the right "
                f"{_show(_row(right, i))}. The product is not associative: fold it by an algebra of lists."
            )


def _differ(a: Any, b: Any, tolerance: float) -> int | None:
    """The first row at which two stacks differ."""
    worst: Any = None
    for x, y in zip(map(np.asarray, jax.tree.leaves(a)), map(np.asarray, jax.tree.leaves(b)), strict=True):
        if x.dtype.kind in "biu":
            wrong = x != y
        else:
            with np.errstate(invalid="ignore"):
                size = np.maximum(np.maximum(np.abs(x), np.abs(y)), 1)
                wrong = ~((x == y) | (np.abs(x - y) <= tolerance * size))
        rows = wrong.reshape(len(wrong), -1).any(1)
        worst = rows if worst is None else worst | rows
    return int(np.argmax(worst)) if worst is not None and worst.any() else None


def _row(stacked: Any, i: int) -> Any:
    return jax.tree.map(lambda x: x[i], stacked)


def _show(x: Any) -> str:
    return str(jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), x))
