"""Scores that are NaN, found in what was grown: an error, wherever the program runs."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer

from ..._errors import CdlError
from ...algebra._unfolds import not_a_score


def lost(rows: Any) -> Any:
    """Whether one of the rows of grown trees has no best layer."""
    return jnp.any((rows.choice < 0) & rows.real)


def expect_scores(found: Any, missing: Any, names: Any) -> Any:
    """What was found, unless a score was NaN. `missing`: whether one was. `names`: of the layers to choose from.

    **Raises:** `CdlError`; inside a compiled program, Equinox's error when it runs, with the same words.
    """
    words = not_a_score(names)
    if isinstance(missing, Tracer):
        return eqx.error_if(found, missing, words)
    if bool(missing):
        raise CdlError(words)
    return found
