"""Checks that letters are integers from 0 to `count - 1`."""

from collections.abc import Callable
from typing import Any

from cdl.checks import in_range


def letters_of(count: int, letters: Any, inside: Any = True) -> Any:
    """The letters, if all are integers from 0 to `count - 1`.

    **Arguments:** `inside`: which of them are to be read, where not all are.

    **Raises:** `CdlError` naming the first that is not one; where only a compiled program knows it, its error when it
    runs.
    """
    which: Callable[[Any], Any] = lambda x: "another number" if x is None else x
    words: Callable[[Any], str] = lambda x: f"there are {count} letters, numbered from 0, and {which(x)} is read."
    return in_range(letters, count, words, inside)
