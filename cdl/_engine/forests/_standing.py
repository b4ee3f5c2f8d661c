"""What a forest has to be for what is asked of it: one forest, with its arrays, and with numbers that are known.

A forest is a pytree, and so there are others of its structure: several of them, stacked; its gradient and its
`schedule`, which have only some of the arrays; and one that is traced.
"""

import operator
from typing import Any

import numpy as np
from jax.core import Tracer

from ..._functors.words import short
from ...errors import CdlError
from ..calls._standing import expect_one as _expect_one, is_array


def expect_one(forest: Any, what: str) -> None:
    """**Raises:** `CdlError` for several forests in one, and where the integers of a forest are missing. `what`: what
    is asked of it, such as "`fold` reads"."""
    _expect_one(forest.facts, 1, what, "forest")


def expect_known(forest: Any, what: str, instead: str) -> None:
    """**Raises:** `CdlError` where a forest is traced, so that its numbers are not known, or is not one forest."""
    expect_one(forest, what)
    if any(isinstance(x, Tracer) for x in (forest.facts, forest.start)):
        raise CdlError(f"{what} a forest on the host, and this one is traced: {instead}.")


def expect_payload(forest: Any, what: str) -> None:
    """**Raises:** `CdlError` where a forest is not one, or its payload is missing or has other shapes than packed."""
    expect_one(forest, what)
    for x, (_, shape, _) in zip(forest.payload, forest.bucket.storage, strict=True):
        if not is_array(x):
            raise CdlError(
                f"{what} a forest with its payload, and this one has none, as `forest.schedule` has: give the whole "
                "forest."
            )
        if x.shape[1:] != shape:
            axes = "".join(f", {n}" for n in shape) or ","
            raise CdlError(
                f"{what} a forest with an array (rows{axes}) of payload, and this one has {x.shape} in its place: use "
                "`jax.vmap` for several payloads."
            )


def number(what: str, of: str, given: Any) -> int:
    """The number of a tree or a sort. **Raises:** `CdlError` where it is not a whole number that is known."""
    try:
        if not isinstance(given, bool | np.bool_):
            return operator.index(given)
    except TypeError:  # JAX's own, too, where a number is known only when the program runs
        pass
    raise CdlError(f"`{what}` takes the number of a {of}, a whole number from 0, and was given {short(given)}.")
