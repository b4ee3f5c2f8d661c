"""Other ways to have a fold computed than the usual one. JAX forgets what it has compiled, before and after."""

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import jax


levels: Any = importlib.import_module("cdl._engine.folds._levels")


@contextlib.contextmanager
def anew() -> Iterator[None]:
    """With nothing that was compiled before, and nothing of it kept."""
    jax.clear_caches()
    try:
        yield
    finally:
        jax.clear_caches()


@contextlib.contextmanager
def by_constructor(most: int = 0) -> Iterator[None]:
    """Where a weight of more numbers than `most` would be spread over rows, each constructor is computed by itself."""
    before = levels.LARGE
    with anew():
        try:
            levels.LARGE = most
            yield
        finally:
            levels.LARGE = before
