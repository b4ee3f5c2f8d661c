"""Scores that are NaN, found in what was grown: an error, wherever the program runs."""

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from ..._schemes.unfolds import not_a_score
from ...errors import CdlError
from ..arrays.shapes import is_smooth
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
        zero = eqx.error_if(jnp.int32(0), missing, words)
        return jax.tree.map(lambda x: _after(x, zero) if is_smooth(x) else _placed(x, zero), found)
    if bool(missing):
        raise CdlError(words)
    return found


@jax.custom_jvp
def _after(x: Any, zero: Any) -> Any:
    """An array, known when a zero is."""
    return _placed(x, zero)


@_after.defjvp
def _after_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    return _after(*primals), tangents[0]


def _placed(x: Any, zero: Any) -> Any:
    """The array with its first number written again, at a place that is not known before the zero is. `error_if` of the
    array would have a second array of its size, for what comes of an error; this is written in place."""
    if not x.size:
        return x
    first = lax.slice(x, (0,) * x.ndim, (1,) * x.ndim)
    return lax.dynamic_update_slice(x, first, (zero,) * x.ndim)
