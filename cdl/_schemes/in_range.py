"""Numbers of things that are numbered from 0: JAX takes −1 for the last of a table, and for one too large another."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import numpy as np
from jax.core import Tracer

from .._functors.usage import with_types
from .._functors.words import short
from ..errors import CdlError


@with_types
def in_range(numbers: Any, count: int, words: Callable[[Any], str], within: Any = True) -> Any:
    """The numbers, if all are from 0 to below `count`.

    **Arguments:** `words`: what an error says, of the first number that is not; of `None` where only a compiled program
    knows it. `within`: which of the numbers are to be, where not all are.

    **Raises:** `CdlError`; from a compiled program, Equinox's error when it runs.

    Examples:
        >>> labels = jnp.array([0, 3])
        >>> cdl.checks.in_range(
        ...     labels, 4, lambda x: f"a label is {x}, and there are 4 classes"
        ... ).tolist()
        [0, 3]
        >>> cdl.checks.in_range(labels, 3, lambda x: f"a label is {x}, and there are 3 classes")
        Traceback (most recent call last):
            ...
        cdl.errors.CdlError: a label is 3, and there are 3 classes
    """
    if isinstance(numbers, Tracer) or isinstance(within, Tracer):
        most = min(count - 1, _greatest(numbers))
        return eqx.error_if(numbers, ((numbers < 0) | (numbers > most)) & within, words(None))
    known = np.asarray(numbers)
    try:
        outside = (known < 0) | (known >= count)
    except TypeError:  # NumPy's, of what is not a number
        raise CdlError(
            f"{short(numbers)} stands where whole numbers from 0 to {count - 1} belong: give these."
        ) from None
    wrong = known[outside & np.asarray(within)]
    if wrong.size:
        raise CdlError(words(wrong[0]))
    return numbers


def _greatest(numbers: Any) -> int:
    """The greatest whole number that fits where these do."""
    dtype = getattr(numbers, "dtype", None)
    return int(np.iinfo(dtype).max) if dtype is not None and np.issubdtype(dtype, np.integer) else 2**31 - 1
