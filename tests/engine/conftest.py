"""What the tests of the engine share."""

import jax
import pytest


@pytest.fixture
def accelerator():
    """Programs as on a GPU or a TPU."""
    from cdl._engine.arrays import _platform

    jax.clear_caches()
    with _platform.taken_for(_platform.ACCELERATOR):
        yield
    jax.clear_caches()
