"""IDX files, the format of MNIST: arrays of bytes or numbers with their sizes in front, gzipped or not.

| bytes                    | what they say                                                       |
| ------------------------ | ------------------------------------------------------------------- |
| `0 0`                    | that it is an IDX file                                              |
| one                      | the type: 8 `uint8`, 9 `int8`, 11 `int16`, 12 `int32`, 13 and 14 floats |
| one                      | how many axes                                                       |
| four for each axis       | its size, the greatest byte first                                   |
| the rest                 | the numbers, row after row, the greatest byte first                 |

A file is read as far as its head says, and one byte further: a file that is longer or shorter than that is refused.

Examples:
    >>> import pathlib
    >>> from cdl_arch.data.idx import read_idx
    >>> _ = pathlib.Path("three.idx").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]))
    >>> read_idx("three.idx").tolist()
    [7, 8, 9]
"""

import gzip
import math
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from cdl.errors import CdlError


TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
MOST = 2**32  # bytes
PART = 2**20  # bytes that are read at a time: a head that lies makes nothing allocate more
_GZIP = b"\x1f\x8b"


def read_idx(path: str | os.PathLike[str]) -> np.ndarray:
    """The array of an IDX file, with the machine's order of bytes.

    **Raises:** `CdlError` where the file is missing, where it is not an IDX file, and where its length is not what its
    head says; also for one that is cut short or altered while gzipped, and for more than 4 GiB.
    """
    file = Path(path)
    try:
        with file.open("rb") as plain:
            zipped = plain.read(2) == _GZIP
            plain.seek(0)
            if not zipped:
                return _read(plain, file)
            with gzip.open(plain) as inner:
                return _read(inner, file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CdlError(f"`{file}` is gzipped, and cut short or altered: {error}. Fetch it again.") from error
    except OSError as error:
        raise CdlError(f"`{file}` cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        if isinstance(error, CdlError):
            raise
        raise CdlError(f"{str(file)!r} is not a path: {error}.") from error


def _read(stream: Any, file: Path) -> np.ndarray:
    head = stream.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in TYPES or not head[3]:
        raise CdlError(
            f"`{file}` begins with the bytes {list(head)}, and an IDX file with 0, 0, a type ({_listed()}) and a "
            "number of axes: it is another file."
        )
    dtype, axes = np.dtype(TYPES[head[2]]), head[3]
    sizes = stream.read(4 * axes)
    if len(sizes) < 4 * axes:
        raise CdlError(
            f"`{file}` ends in its head: {4 + 4 * axes} bytes are expected there, and {4 + len(sizes)} found."
        )
    shape = tuple(map(int, np.frombuffer(sizes, ">u4")))
    wanted = math.prod(shape) * dtype.itemsize
    if axes > 32 or wanted > MOST or math.prod(filter(None, shape)) * dtype.itemsize > MOST:
        raise CdlError(
            f"`{file}` says that it holds {wanted} bytes along {axes} axes, of up to {max(shape)} places: more than "
            "4 GiB, or 32 axes."
        )
    body = bytearray()
    while len(body) <= wanted and (part := stream.read(min(PART, wanted + 1 - len(body)))):
        body += part
    if len(body) != wanted:
        found = f"{len(body)} are there" if len(body) < wanted else "more are there"
        raise CdlError(f"`{file}` says that it holds {shape} of {dtype.itemsize} bytes, {wanted} in all, and {found}.")
    return np.frombuffer(body, dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _listed() -> str:
    return ", ".join(map(str, TYPES))
