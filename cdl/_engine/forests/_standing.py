"""What a forest has to be for what is asked of it: one forest, with its arrays, and with numbers that are known.

A forest is a pytree, and so there are others of its structure: several of them stacked along a leading axis; its
gradient and its `schedule`, which have only some of the arrays; one of shapes; and one that is traced.
"""

import operator
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ..._functors.words import short
from ...errors import CdlError


def expect_one(forest: Any, what: str) -> None:
    """**Raises:** `CdlError` for several forests in one, and where the integers of a forest are missing. `what`: what
    is asked of it, such as "`fold` reads"."""
    facts = forest.facts
    if not isinstance(facts, jax.Array | np.ndarray):
        found = "only some of its arrays" if facts is None else f"{short(facts)} in the place of an array"
        raise CdlError(
            f"{what} a forest, and this one has {found}, as a gradient has, or a part of `eqx.partition`: give the "
            "whole forest."
        )
    if facts.ndim != 1:
        raise CdlError(
            f"{what} one forest, and this is several, stacked along axes of shape {facts.shape[:-1]}: use `jax.vmap`, "
            "or take one, `jax.tree.map(lambda x: x[0], forest)`."
        )


def expect_known(forest: Any, what: str, instead: str) -> None:
    """**Raises:** `CdlError` where a forest is traced, so that its numbers are not known, or is not one forest."""
    expect_one(forest, what)
    if any(isinstance(x, Tracer) for x in (forest.facts, forest.start)):
        raise CdlError(f"{what} a forest on the host, and this one is traced: {instead}.")


def expect_payload(forest: Any, what: str) -> None:
    """**Raises:** `CdlError` where a forest is not one, or its payload is missing or has other shapes than packed."""
    expect_one(forest, what)
    for x, (_, shape, _) in zip(forest.payload, forest.bucket.storage, strict=True):
        if not isinstance(x, jax.Array | np.ndarray):
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
