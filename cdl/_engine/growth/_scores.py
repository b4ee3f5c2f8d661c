"""Scores that are NaN, found in what was grown: an error, wherever the program runs."""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer

from ..._schemes.unfolds import not_a_score
from ...errors import CdlError
from ._rows import Rows


X = TypeVar("X")


def lost(rows: Rows) -> jax.Array:
    """Whether one of the rows of grown trees has no best layer."""
    return jnp.any((rows.choice < 0) & rows.real)


def expect_scores(found: X, missing: jax.Array | bool, names: tuple[str, ...]) -> X:
    """What was found, unless a score was NaN. `missing`: whether one was. `names`: of the layers to choose from.

    **Raises:** `CdlError`; inside a compiled program, Equinox's error when it runs, with the same words.
    """
    words = not_a_score(names)
    if isinstance(missing, Tracer):
        return eqx.error_if(found, missing, words)
    if bool(missing):
        raise CdlError(words)
    return found
