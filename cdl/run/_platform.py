"""What the platform decides: how wide chunks are, and how products by constructor are made.

On a CPU a chunk costs little beyond its rows, and a product is a loop over tiles. On a GPU or a TPU each operation is
started from the host, and each turn of a loop waits for it: a level is one chunk, and a product one operation.
"""

from dataclasses import dataclass
from typing import Any

import jax


@dataclass(frozen=True)
class Platform:
    """`overhead` is what a chunk costs beyond its rows, in rows; `widths` the rows that a chunk may have, each a
    multiple of the first; `batched` whether a product by constructor is one operation, and not a loop."""

    overhead: float
    widths: tuple[int, ...]
    batched: bool


CPU = Platform(32.0, (1, 4, 16, 64, 256, 512), batched=False)
ACCELERATOR = Platform(16384.0, (8, 64, 512, 2048, 8192, 32768), batched=True)


def platform() -> Platform:
    """That of the device which JAX uses by default."""
    default: Any = getattr(jax.config, "jax_default_device", None)
    name = jax.default_backend() if default is None else getattr(default, "platform", default)
    return CPU if name == "cpu" else ACCELERATOR
