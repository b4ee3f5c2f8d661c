"""The head of a checkpoint: what is in the file, read and checked before anything else of it.

| bytes       | what they are                                                                                  |
| ----------- | ---------------------------------------------------------------------------------------------- |
| 6           | `MAGIC`                                                                                        |
| 2           | the version of the format                                                                      |
| 4           | the length of the head                                                                         |
| 32          | the SHA-256 of the head                                                                        |
| the head    | JSON: a line for each leaf (path, type, shape), the texts, and the length of the body          |
| the body    | the leaves' bytes, one after the other                                                         |
| 32          | the SHA-256 of all that is before                                                              |

No size in a file is believed: the head has at most `LONGEST` bytes, and the body has as many as the template says.
"""

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..errors import CheckpointError


MAGIC = b"cdl\x89\r\n"
VERSION = 2
START = struct.Struct("<6sHI32s")
LONGEST = 1 << 26
TRAILER = 32  # bytes of the checksum at the end


class Head(NamedTuple):
    """What a file says of its leaves: their paths and types, the texts among them, and how long the others are."""

    leaves: list[str]
    texts: list[str]
    length: int


def written(head: Head, path: Path) -> bytes:
    """The start of a file, and its head.

    **Raises:** `CheckpointError` for a head that would be too long to be read.
    """
    try:
        text = json.dumps(head._asdict(), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise CheckpointError(
            f"a text has {error.object[error.start : error.end]!r}, and texts in a checkpoint are of whole characters."
        ) from error
    if len(text) > LONGEST:
        raise CheckpointError(
            f"the head of `{path}` would have {len(text)} bytes, and at most {LONGEST} are read: save long texts "
            "elsewhere, and many small arrays as one."
        )
    return START.pack(MAGIC, VERSION, len(text), hashlib.sha256(text).digest()) + text


def read(file: BinaryIO, path: Path) -> tuple[Head, bytes]:
    """The head of a file whose length is what it says, and the bytes that were read for it."""
    start = file.read(START.size)
    if start[: len(MAGIC)] != MAGIC:
        raise CheckpointError(
            f"`{path}` is not a checkpoint: it begins with {start[: len(MAGIC)]!r}, and not {MAGIC!r}."
        )
    if len(start) < START.size:
        raise CheckpointError(f"`{path}` is cut short: it has {len(start)} bytes, and its start alone {START.size}.")
    _, version, length, checksum = START.unpack(start)
    if version != VERSION:
        raise CheckpointError(f"`{path}` has version {version} of the format, and this reads version {VERSION}.")
    size = os.fstat(file.fileno()).st_size
    if length > min(LONGEST, size - START.size):
        raise CheckpointError(
            f"`{path}` is cut short or altered: it says its head has {length} bytes, and it has {size} in all."
        )
    text = file.read(length)
    unchanged(path, "head", checksum, hashlib.sha256(text).digest())
    head = _parsed(text)
    if head is None:
        raise CheckpointError(f"`{path}` has a head that is not {Head._fields}, and begins {text[:20]!r}.")
    rest = size - START.size - length - TRAILER
    if rest != head.length:
        wrong = "cut short" if rest < head.length else "too long"
        raise CheckpointError(f"`{path}` is {wrong}: its body has {rest} bytes, and its head says {head.length}.")
    return head, start + text


def unchanged(path: Path, part: str, said: bytes, found: bytes) -> None:
    """Nothing, where the two checksums are one.

    **Raises:** `CheckpointError` with both, from where they differ.
    """
    if said != found:
        at = next((i for i, (a, b) in enumerate(zip(said, found, strict=False)) if a != b), 0)
        shown = [("…" if at else "") + x[at : at + 8].hex() + ("…" if at + 8 < len(x) else "") for x in (said, found)]
        raise CheckpointError(
            f"the {part} of `{path}` was altered: its checksum is {shown[0]}, and its content's {shown[1]}."
        )


def _parsed(text: bytes) -> Head | None:
    """The head that a text spells, if it spells one."""
    try:
        head = Head(**json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return None
    lists = all(isinstance(some, list) and all(isinstance(x, str) for x in some) for some in (head.leaves, head.texts))
    return head if lists and type(head.length) is int else None
