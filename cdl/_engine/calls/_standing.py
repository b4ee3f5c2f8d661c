"""What a value that is a pytree is when its arrays are others than those that it was made with.

`jax.tree.map` gives others of the same structure: several of them stacked along a leading axis; a gradient, which has
only some of the arrays; and one of shapes.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import jax
import numpy as np

from ..._functors.words import short
from ...errors import CdlError


def standing(array: Any, axes: int) -> str:
    """What a `repr` says of a value whose array should have this number of axes; nothing where it has."""
    if not is_array(array):
        return "some of its arrays"
    return f"several, stacked, {array.shape[: array.ndim - axes]}" if array.ndim > axes else ""


def expect_one(array: Any, axes: int, what: str, of: str) -> None:
    """**Raises:** `CdlError` where a value is several in one, or lacks its arrays. `array`: one of them, which has so
    many axes. `what`: what is asked, such as "`fold` reads". `of`: what the value is called."""
    if not is_array(array):
        found = "only some of its arrays" if array is None else f"{short(array)} in the place of an array"
        raise CdlError(
            f"{what} a {of}, and this one has {found}, as a gradient has, or a part of `eqx.partition`: give the whole "
            f"{of}."
        )
    if array.ndim > axes:
        raise CdlError(
            f"{what} one {of}, and this is several, stacked along axes of shape {array.shape[: array.ndim - axes]}: "
            f"use `jax.vmap`, or take one, `jax.tree.map(lambda x: x[0], {of})`."
        )


def not_a_list(of: str, instead: str) -> Callable[[Any, Any], NoReturn]:
    """The `__getitem__` of a value that has a `len` and is no list. `of`: what it is called. `instead`: what gives its
    parts."""

    def refuse(_: Any, at: Any) -> NoReturn:
        raise CdlError(f"a {of} is not a list that is indexed or iterated over: {instead}.")

    return refuse


def is_array(x: object) -> bool:
    """Whether something is an array, traced or not."""
    return isinstance(x, jax.Array | np.ndarray)
