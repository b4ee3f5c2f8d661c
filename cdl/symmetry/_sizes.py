"""Sizes that users give: of carriers and of axes of channels."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._functors.words import short
from ..errors import CdlError


def size_of(n: Any, what: str) -> int:
    """A whole number of 1 or more, checked."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise CdlError(f"{short(n)} {what} are asked for: give a whole number of 1 or more.")
    return int(n)


def shape_of(shape: Any) -> tuple[int, ...]:
    """The shape of a carrier, checked; a number is one axis."""
    axes = (shape,) if isinstance(shape, int | np.integer) or not isinstance(shape, Iterable) else tuple(shape)
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0 for n in axes):
        raise CdlError(f"an action's carrier has the shape {short(axes)}: give whole numbers of 0 or more.")
    return tuple(map(int, axes))


def counted(channels: Any) -> int | None:
    """A number of channels, checked; `None` where there is not an axis of channels."""
    return None if channels is None else size_of(channels, "channels")


def axis_of(channels: int | None) -> tuple[int, ...]:
    """The axis of channels, if there is one."""
    return () if channels is None else (channels,)
