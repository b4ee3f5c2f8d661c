"""What the platform decides: how wide chunks are, and how products by constructor are made.

On a CPU a chunk costs little beyond its rows, and a product is a loop over tiles. On a GPU or a TPU each operation is
started from the host, and each turn of a loop waits for it: a level is one chunk, and a product one operation.
"""

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import jax


@dataclass(frozen=True)
class Platform:
    """`overhead` is what a chunk costs beyond its rows, in rows; `widths` the rows that a chunk may have, each a
    multiple of the first; `batched` whether a product by constructor is one operation, and not a loop; `apart` how many
    bytes a constructor's matrix has, at least, that is not copied to a stack."""

    overhead: float
    widths: tuple[int, ...]
    batched: bool
    apart: float


CPU = Platform(32.0, (1, 4, 16, 64, 256, 512), batched=False, apart=2**18)
ACCELERATOR = Platform(16384.0, (8, 64, 512, 1024, 2048, 8192, 32768), batched=True, apart=math.inf)


_taken: ContextVar[Platform | None] = ContextVar("taken", default=None)


def platform() -> Platform:
    """The platform of the device that JAX uses by default."""
    if (taken := _taken.get()) is not None:
        return taken
    default: Any = getattr(jax.config, "jax_default_device", None)
    name = jax.default_backend() if default is None else getattr(default, "platform", default)
    return CPU if name == "cpu" else ACCELERATOR


@contextlib.contextmanager
def taken_for(platform: Platform) -> Iterator[None]:
    """Programs are made as for a platform, whatever device there is; those made before are kept by JAX."""
    token = _taken.set(platform)
    try:
        yield
    finally:
        _taken.reset(token)
