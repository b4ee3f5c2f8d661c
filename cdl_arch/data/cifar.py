"""CIFAR-10 from its binary files: 3,073 bytes for each picture.

| bytes | what they say                                                    |
| ----- | ---------------------------------------------------------------- |
| 1     | the label, 0 to 9                                                |
| 1,024 | red, row after row of 32 × 32                                    |
| 1,024 | green                                                            |
| 1,024 | blue                                                             |

Five files hold 10,000 pictures each to learn from, `data_batch_1.bin` to `data_batch_5.bin`; `test_batch.bin` holds
10,000 to test with. Source: Krizhevsky, Learning multiple layers of features from tiny images (2009).

Examples:
    >>> import pathlib
    >>> from cdl_arch.data.cifar import read_cifar
    >>> _ = pathlib.Path("test_batch.bin").write_bytes(bytes([6] + 3072 * [255]) * 10)
    >>> images, labels = read_cifar("test_batch.bin", pictures=10)
    >>> images.shape, labels.tolist()[:2]
    ((10, 32, 32, 3), [6, 6])
"""

import os
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from cdl.checks import whole
from cdl.errors import CdlError


SIDE, CHANNELS, CLASSES = 32, 3, 10
RECORD = 1 + CHANNELS * SIDE * SIDE
PICTURES = 10_000  # in each of the six files
FILES = {"train": tuple(f"data_batch_{i}.bin" for i in range(1, 6)), "test": ("test_batch.bin",)}


def read_cifar(
    path: str | os.PathLike[str], pictures: int | None = None
) -> tuple[Float[np.ndarray, "n 32 32 3"], Int[np.ndarray, " n"]]:
    """The pictures of one binary file, from 0 to 1, and their labels.

    **Arguments:** `pictures`: how many the file has to hold; by default the 10,000 of CIFAR-10's files.

    **Raises:** `CdlError` for no pictures, where the file is missing, where it does not hold as many whole
    pictures, and where a label is above 9.
    """
    file, wanted = Path(path), whole("pictures", PICTURES if pictures is None else pictures)
    try:
        found = np.fromfile(file, np.uint8)
    except OSError as error:
        raise CdlError(f"`{file}` cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise CdlError(f"{str(file)!r} is not a path: {error}.") from error
    held, rest = divmod(len(found), RECORD)
    if rest or held != wanted:
        raise CdlError(
            f"`{file}` has {len(found):,} bytes: {held:,} pictures of {RECORD:,} bytes, and {rest:,} bytes more. "
            f"{wanted:,} pictures are expected. It is cut short, or another file: fetch it again."
        )
    records = found.reshape(held, RECORD)
    if records[:, 0].max() >= CLASSES:
        raise CdlError(f"`{file}` has the label {records[:, 0].max()}, and those of CIFAR-10 are 0 to {CLASSES - 1}.")
    planes = records[:, 1:].reshape(held, CHANNELS, SIDE, SIDE).transpose(0, 2, 3, 1)
    return planes.astype(np.float32) / np.float32(255), records[:, 0].astype(np.int32)
