"""Pairs and lists that a function is given: it refuses what is not a pair, or has no order."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from ..errors import CdlError
from .words import short


def two(name: str, pair: Any) -> tuple[Any, Any]:
    """The two parts of what a map of pairs is given. **Raises:** `CdlError` where it is not a pair in an order."""
    if isinstance(pair, tuple | list) or getattr(pair, "ndim", None):
        if len(pair) == 2:
            return pair[0], pair[1]
        number = f", of which the length is {len(pair)}"
    else:
        number = ""
    raise CdlError(f"`{name}` takes a pair, and was given {short(pair)}{number}: give a tuple of two.")


def in_order(name: str, items: Any) -> tuple[Any, ...]:
    """The items of a list, an array or what else has an order, one after the other.

    **Raises:** `CdlError` for a set, whose order is lost, for a dictionary, and for what has no items.
    """
    if isinstance(items, Set | Mapping) or not isinstance(items, Iterable) or getattr(items, "ndim", 1) == 0:
        raise CdlError(
            f"`{name}` is {short(items)}, which has no items in an order: give a list, or an array with a row for each."
        )
    return tuple(items)
