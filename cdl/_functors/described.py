"""What a user gave, in the words of an error."""

import inspect
from typing import Any

import jax
import numpy as np

from .base import Base
from .read import tag, tag_name
from .words import an, short


def described(given: Any) -> str:
    """A value, named by what it is: "a tree of `Expr`", "the class `Net`", "a `list` of trees".

    Examples:
        >>> cdl.checks.described(jnp.zeros(3))
        'an array of shape (3,)'
    """
    kind = type(given)
    if isinstance(given, type):
        return f"the class `{given.__name__}`"
    if issubclass(kind, Base):
        return f"a tree of `{tag_name(tag(kind))}`"
    if isinstance(given, list | tuple) and given:
        first = given[0]
        held = "trees" if isinstance(first, Base) else "arrays" if isinstance(first, jax.Array) else None
        held = held or f"`{type(first).__name__}`"
        return f"{an(kind.__name__)} of {held}"
    if isinstance(given, jax.Array | np.ndarray):
        return f"an array of shape {tuple(given.shape)}"
    if inspect.isroutine(given):
        return f"the function `{given.__name__}`"
    if given is None or isinstance(given, str | bool | int | float | complex):
        return f"`{short(given)}`"
    return an(kind.__name__)
