"""Forward mode for what is called inside: how a model is run whose derivative is taken in both directions.

A compiled form has a rule for reverse mode alone, and a strategy that leaves the rule out, `forward=True`. A product
with a Fisher matrix pushes a vector through a model and pulls one back. Inside `forwards()` every `fold` and `annotate`
runs as with `forward=True`, so that one function is a model both ways.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from ._strategies import Levels, Scan


_forwards: ContextVar[bool] = ContextVar("forwards", default=False)


@contextlib.contextmanager
def forwards() -> Iterator[None]:
    """Around a call that is differentiated by `jax.jvp` or `jax.linearize`, and is not under a `jit` inside it."""
    token = _forwards.set(True)
    try:
        yield
    finally:
        _forwards.reset(token)


def in_this_mode(how: Any, strategy: type[Any]) -> Any:
    """The strategy that was given, if any; inside `forwards()`, that without the rule of reverse mode."""
    if not _forwards.get() or strategy not in (Levels, Scan):
        return how
    given = strategy() if how is None else how
    return dataclasses.replace(given, forward=True, **({"bulk": None} if strategy is Scan else {}))
