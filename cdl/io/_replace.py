"""Files that are replaced whole: at every moment the name has all of the old content or all of the new.

| what may happen                              | what is done about it                                          |
| -------------------------------------------- | -------------------------------------------------------------- |
| an error, or a full disk, while writing      | the old file stays, and the new part is removed                |
| the power fails                              | the content is on the disk before the name, and the name too   |
| several threads or processes write one path  | each has its part under a random name; the last one stays      |
| another user waits with a link at that name  | the part is only opened where nothing was: no link is followed |
| the path is a link                           | what it points to is replaced, and the link stays              |
| the file is private, or shared with a group  | the new one has its permissions, from the first byte on        |
| the process is killed                        | a hidden `.cdl-….part` is left, which nothing reads            |
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import CheckpointError


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file to write to, which takes the place of the one at a path when all was written.

    **Raises:** `CheckpointError` where anything other than a file is there; `OSError` where it cannot be written.
    """
    target = Path(os.path.realpath(path))
    old = _status(target)
    os.stat(target.parent)  # so that an error names the folder, and not the part
    part = target.with_name(f".cdl-{secrets.token_hex(8)}.part")
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode)
    file = open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode))
    try:
        with file:
            if old is not None:
                _as_before(file.fileno(), old)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)  # of a file that is closed: some systems replace no other
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def regular(path: Path, status: os.stat_result) -> None:
    """Nothing, for a file.

    **Raises:** `CheckpointError` for a folder, a device, a pipe or a socket.
    """
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device, a pipe or a socket"
        raise CheckpointError(f"`{path}` is {kind}, and a checkpoint is a file: give the path of a file.")


def _status(target: Path) -> os.stat_result | None:
    """What is known of the file that will be replaced; `None` where there is none."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    regular(target, status)
    return status


def _as_before(file: int, old: os.stat_result) -> None:
    """With the owner and the permissions of the old file, as far as this process may give them."""
    if os.name == "posix":
        mode = stat.S_IMODE(old.st_mode)
        try:
            os.fchown(file, old.st_uid, old.st_gid)
        except PermissionError:
            mode &= ~stat.S_IRWXG  # it stays with another group, which was promised nothing
        os.fchmod(file, mode)


def _sync_folder(folder: Path) -> None:
    """The names in a folder, on the disk; where the system syncs folders at all."""
    if os.name != "posix":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(file)
