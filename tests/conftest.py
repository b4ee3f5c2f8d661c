"""What every test can rely on: strict JAX, reproducible keys, and types checked at run time.

`pyproject.toml` turns warnings into errors and installs the hook that checks types (see `cdl/_typecheck.py`), which
acts on what is imported after it: so nothing here imports `cdl`. `test_typecheck.py` proves that it is on.
"""

import gc
import importlib
import os
import pathlib
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import jax
import jax.numpy as jnp
import jax.random as jr
import light_checks
import numpy as np
import one_context
import pytest


# The suite compiles much and runs little of it: half the time is saved by leaving out what makes programs fast. XLA
# reads this when it first has something to do; an option that it does not know would end the process.
quick = [
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_parallel_codegen_split_count=1",
]
if (0, 10) <= jax.__version_info__ < (0, 11):
    quick.append("--xla_cpu_use_fusion_emitters=false")
os.environ["XLA_FLAGS"] = " ".join([*quick, os.environ.get("XLA_FLAGS", "")])

light_checks.install()

# Programs are made without the lines of source that their parts come from.
jax.config.update("jax_traceback_in_locations_limit", 0)

one_context.install()

# Nothing is kept in the home of whoever runs the tests, nor by the programs that they start.
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"
jax.config.update("jax_enable_compilation_cache", False)

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

MAPS = 25_000  # of the 65,530 that a process may have; with more than 35,000 XLA has crashed as it compiled
LOOK = 60  # programs that are made until they are counted: one of a large gradient has more than a hundred

# The first example of a test compiles, and takes its time.
hypothesis.settings.register_profile("cdl", deadline=None)
hypothesis.settings.load_profile("cdl")


def pytest_collection_finish() -> None:
    """What has been imported by now stays, and tracing leaves much behind that is soon dropped by itself: the garbage
    collector need not go through it all again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


compiled: list[None] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **_: compiled.append(None) if event.endswith("backend_compile_duration") else None
)


@pytest.fixture(autouse=True)
def room() -> Iterator[None]:
    """Drops compiled programs after a test where a process has many: Linux ends one with too many memory maps, of which
    each program takes ten or twenty."""
    yield
    if len(compiled) < LOOK:
        return
    compiled.clear()
    if maps() > MAPS:
        jax.clear_caches()
        gc.collect(1)  # all of it takes seconds, and is seldom needed
        if maps() > MAPS // 2:
            gc.collect()


def maps() -> int:
    """The memory maps of this process."""
    of = pathlib.Path("/proc/self/maps")
    return of.read_bytes().count(b"\n") if of.exists() else 0


@pytest.fixture(autouse=True)
def single_precision() -> Iterator[None]:
    """No test leaves double precision on for those after it."""
    yield
    on: bool = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    assert not on, "this test leaves `jax_enable_x64` on"


@pytest.fixture(scope="session", autouse=True)
def unwritten() -> None:
    """A table that a program writes before it reads it begins as NaN: a row that is read and was not written is seen.

    XLA merges equal constants, so each table has a NaN of its own, as it otherwise has a number of its own.
    """
    rows = importlib.import_module("cdl._engine.arrays._rows")
    usual = rows.room

    def room(shape: tuple[int, ...], dtype: Any, number: int) -> jax.Array:
        if jnp.issubdtype(dtype, jax.dtypes.prng_key):
            return usual(shape, dtype, number)
        dtype, number = jnp.dtype(dtype), number % 1024
        if jnp.issubdtype(dtype, jnp.complexfloating):
            return jnp.full(shape, jnp.nan, dtype)
        if jnp.issubdtype(dtype, jnp.integer):  # which no index and no count is
            least = int(jnp.iinfo(dtype).min)
            return jnp.full(shape, least + number % 64 if least else jnp.iinfo(dtype).max - number % 64, dtype)
        if not jnp.issubdtype(dtype, jnp.floating):
            return usual(shape, dtype, number)
        bits = np.full((), np.nan, dtype).view(f"u{dtype.itemsize}")
        return jnp.full(shape, (bits + bits.dtype.type(number % 128)).view(dtype))

    callers = [m for name, m in sys.modules.items() if name.startswith("cdl.") and vars(m).get("room") is usual]
    assert len(callers) > 1
    for module in callers:
        module.room = room


@pytest.fixture
def getkey(request: pytest.FixtureRequest) -> Callable[[], jax.Array]:
    """A function that gives a new key at each call: the same ones in every run of the same test."""
    seed, count = zlib.crc32(request.node.nodeid.encode()), iter(range(2**31))
    return lambda: jr.fold_in(jr.key(seed), next(count))
