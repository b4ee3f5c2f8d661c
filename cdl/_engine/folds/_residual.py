"""The derivative of a program that is computed for one constructor, and which cotangents are asked for."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..arrays.shapes import is_smooth


def wanted(inputs: Any, perturbed: Any) -> Any:
    """For each array that a rule is differentiated in, whether it is to have a cotangent."""
    return jax.tree.map(lambda x, yes: bool(yes) and is_smooth(x), inputs, perturbed)


def only(xs: Sequence[Any], some: Sequence[bool]) -> list[Any]:
    """Those cotangents that are wanted; `None` for the others."""
    return [x if yes else None for x, yes in zip(xs, some, strict=True)]


def filled(cotangents: Any, like: Any) -> Any:
    """Cotangents with zeros in the places of those that a rule is not given."""
    return jax.tree.map(
        lambda g, x: jnp.zeros(x.shape, x.dtype) if g is None else g, cotangents, like, is_leaf=lambda g: g is None
    )


def pull(run: Callable[..., Any], inputs: Any, smooth: Sequence[bool]) -> Callable[..., Any]:
    """The vjp of a program at one chunk: from the cotangents of the values that are `smooth` to those of the inputs.

    Inputs are the weights, the payload, the slots, the keys, the edges and the node's own. Keys and integers have no
    cotangent.
    """
    differentiable, rest = eqx.partition(inputs, is_smooth)

    def of(differentiable: Any) -> list[Any]:
        out = run(*eqx.combine(differentiable, rest))
        return [x for x, yes in zip(out, smooth, strict=True) if yes]

    return jax.vjp(of, differentiable)[1]
