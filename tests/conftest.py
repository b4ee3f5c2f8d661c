"""What every test can rely on: strict JAX, reproducible keys, and types checked at run time.

`pyproject.toml` turns warnings into errors and installs the hook that checks types (see `cdl/_typecheck.py`), which
acts on what is imported after it: so nothing here imports `cdl`. `test_typecheck.py` proves that it is on.
"""

import gc
import os
import zlib
from collections.abc import Callable


# The suite compiles much and runs little of it: half the time is saved by leaving out what makes programs fast.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=0"

import hypothesis
import jax
import jax.random as jr
import pytest


jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# The first example of a test compiles, and takes its time.
hypothesis.settings.register_profile("cdl", deadline=None)
hypothesis.settings.load_profile("cdl")


def pytest_collection_finish() -> None:
    """What has been imported by now stays: the garbage collector need not go through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def getkey(request: pytest.FixtureRequest) -> Callable[[], jax.Array]:
    """A function that gives a new key at each call: the same ones in every run of the same test."""
    seed, count = zlib.crc32(request.node.nodeid.encode()), iter(range(2**31))
    return lambda: jr.fold_in(jr.key(seed), next(count))
