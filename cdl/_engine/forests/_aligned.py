"""Arrays of NumPy that JAX takes over on CPU without a copy. They are not to be written to afterwards."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


BYTES = 64  # an address that is a multiple of this is what XLA asks for


def zeros(shape: int | tuple[int, ...], dtype: np.dtype[Any] | type[np.generic] = np.int32) -> NDArray[Any]:
    """As `np.zeros`."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + BYTES, np.uint8)
    start = -raw.ctypes.data % BYTES
    found: NDArray[Any] = raw[start : start + size].view(dtype).reshape(shape)
    return found


def full(length: int, value: int) -> NDArray[np.int32]:
    """As `np.full`, of integers."""
    found = zeros(length)
    found[:] = value
    return found
