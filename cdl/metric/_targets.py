"""Which parameters and which targets a family of distributions takes.

A target outside the range of its family has no density, and a formula gives some number for it all the same. So
targets are compared with the range. Where their values are known, one that is outside raises a `CdlError`; in a
compiled program they are known when it runs, and it raises Equinox's error then.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from .._functors.words import short
from ..errors import CdlError


def expect_parameters(made: Any) -> None:
    """**Raises:** `CdlError` where a parameter is not an array of floating numbers, or lacks an axis or a class."""
    for name, x in vars(made).items():
        floats = eqx.is_array(x) and jnp.issubdtype(x.dtype, jnp.floating)
        if not floats or x.ndim < made.event or 0 in x.shape[x.ndim - made.event :]:
            axes = ", whose last axis is that of the classes, at least one" if made.event else ""
            raise CdlError(
                f"`{name}` of `{type(made).__name__}` is {short(x)}, and must be an array of floating numbers{axes}."
            )


def expect_like(name: str, y: Any, parameters: Array) -> Any:
    """Targets, a real number for each of the parameters. **Raises:** `CdlError` for other shapes and types."""
    if not eqx.is_array_like(y) or jnp.shape(y) != parameters.shape:
        given = f"of shape {jnp.shape(y)}" if eqx.is_array_like(y) else short(y)
        raise CdlError(
            f"`{name}` has a number for each of its parameters, of shape {parameters.shape}, and the targets are "
            f"{given}. Give one of the two the shape of the other."
        )
    dtype = y.dtype if hasattr(y, "dtype") else np.result_type(y)
    if not any(jnp.issubdtype(dtype, kind) for kind in (jnp.floating, jnp.integer, jnp.bool_)):
        raise CdlError(f"the targets of `{name}` are of type {dtype}: give real numbers.")
    return y


def expect_values(name: str, y: Any, outside: Callable[[Any], Any], wanted: str) -> Any:
    """Targets, of which none is outside the range of a family.

    **Raises:** `CdlError` with the first that is; from a compiled program, Equinox's error when it runs.
    """
    words = f"the targets of `{name}` are {wanted}"
    if jnp.issubdtype(jnp.result_type(y), jnp.bool_):
        return y
    if isinstance(y, Tracer):
        return eqx.error_if(y, outside(y), f"{words}, and one is another.")
    known = np.asarray(y)
    wrong = known[np.asarray(outside(known))]
    if wrong.size:
        raise CdlError(f"{words}, and one is {wrong[0]}.")
    return y


def expect_same(one: Any, other: Any) -> None:
    """**Raises:** `CdlError` where two distributions are of different families, or of different shapes."""
    kinds = [
        f"`{type(x).__name__}` of {', '.join(str(jnp.shape(leaf)) for leaf in jax.tree.leaves(x))}"
        for x in (one, other)
    ]
    if kinds[0] != kinds[1]:
        raise CdlError(
            f"a divergence is between two distributions of one family, and these are {kinds[0]} and {kinds[1]}."
        )
