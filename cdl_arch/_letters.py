"""Letters that are the numbers of some: JAX takes −1 for the last of a table, and for one that is too large another."""

from typing import Any

import equinox as eqx
import numpy as np
from jax.core import Tracer

from cdl import CdlError


def letters_of(count: int, letters: Any, inside: Any = None) -> Any:
    """Letters, where all are numbers from 0 to below `count`.

    **Arguments:** `inside`: which of them are to be read, where not all are.

    **Raises:** `CdlError` naming the first that is not one; where only a compiled program knows it, its error when it
    runs.
    """
    expected = f"there are {count} letters, numbered from 0"
    wrong = (letters < 0) | (letters >= count)
    wrong = wrong if inside is None else wrong & inside
    if isinstance(wrong, Tracer):
        return eqx.error_if(letters, wrong, f"{expected}, and another number is read.")
    if np.any(wrong):
        raise CdlError(f"{expected}, and {np.asarray(letters)[np.asarray(wrong)][0]} is read.")
    return letters
