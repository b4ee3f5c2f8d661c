"""Operators that take Python's truth values as 0 and 1, and those of arrays as in logic.

| in a case   | of Python's truth values      | of arrays of them | write                       |
| ----------- | ----------------------------- | ----------------- | --------------------------- |
| `a + b`     | how many are true             | `a or b`          | `1 * a + b`, or `a \\| b`    |
| `a * b`     | a whole number                | `a and b`         | `1 * a * b`, or `a & b`     |
| `~a`        | -1 or -2                      | `not a`           | `jnp.logical_not(a)`        |
"""

from typing import Any

import numpy as np
from jax.core import Tracer

from ..arrays.shapes import is_weak
from ._differing import Differs


INSTEAD = {"+": "1 * a + b`, or `a | b", "*": "1 * a * b`, or `a & b", "~": "jnp.logical_not(a)"}


def expect_no_truth(sign: str, *given: Any) -> None:
    """**Raises:** `Differs` where an operator takes Python's truth values, and nothing else, as numbers."""
    if sign in INSTEAD and all(map(_is_truth, given)):
        raise Differs(
            f"has truth values of Python's in `{sign}`",
            "Python takes them as 0 and 1, and JAX as in logic, so that `cata` and a compiled form would differ. "
            f"Write `{INSTEAD[sign]}`.",
        )


def _is_truth(x: Any) -> bool:
    """Whether the definition may have a truth value of Python's there."""
    return bool(x.dtype == np.bool_ and is_weak(x)) if isinstance(x, Tracer) else isinstance(x, bool)
