"""Three maps `W → X → Y → Z` of each category that cdl has."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import cdl
from cdl.categories import Arrow, MAT, Monoidal, OPTIC, PARA, SETS, SLICE, SMOOTH
from cdl.para import Para


FUNCTIONS: list[Callable[[Any], Any]] = [jnp.sin, lambda x: jnp.stack([x.sum(), x[0]]), jnp.tanh]


def chain(category: Monoidal, bodies: list[Any]) -> list[Arrow]:
    """Three numbers, then two: each map begins where the one before it ends."""
    found: list[Arrow] = []
    for body in bodies:
        kind = found[-1].target if found else jax.ShapeDtypeStruct((3,), float)
        found.append(category.arrow(body, kind))
    return found


def smooth() -> list[Arrow]:
    return chain(SMOOTH, FUNCTIONS)


def slices() -> list[Arrow]:
    """Made from the end, where the loss is."""
    kinds, loss = [f.source for f in smooth()], lambda y: (y**2).sum()
    found: list[Arrow] = []
    for f, kind in zip(reversed(FUNCTIONS), reversed(kinds), strict=True):
        found.insert(0, SLICE.arrow(f, kind, found[0].source.loss if found else loss))
    return found


def matrices() -> list[Arrow]:
    rng = np.random.default_rng(0)
    return [MAT.arrow(rng.normal(size=shape)) for shape in ((3, 2), (2, 3), (1, 2))]


def parametric() -> list[Arrow]:
    return chain(
        PARA,
        [Para(jnp.asarray(n), lambda p, x, f=f: f(p * x)) for n, f in zip((1.5, 2.0, 0.5), FUNCTIONS, strict=True)],
    )


CHAINS: dict[str, tuple[Monoidal, Callable[[], list[Arrow]]]] = {
    "SMOOTH": (SMOOTH, smooth),
    "MAT": (MAT, matrices),
    "SETS": (SETS, lambda: [SETS.arrow([1, 2], 3), SETS.arrow([0, 0, 3], 4), SETS.arrow([1, 0, 1, 0], 2)]),
    "SLICE": (SLICE, slices),
    "PARA": (PARA, parametric),
    "OPTIC": (OPTIC, lambda: chain(OPTIC, list(map(cdl.reverse, FUNCTIONS)))),
}
