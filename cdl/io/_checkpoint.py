"""Checkpoints: the arrays, numbers and texts of a value in one file.

A file is refused unless it is whole, unchanged, and of the template's structure. It is checked from the cheap to the
dear: how it begins, its head, how long it is, its structure, and then its content. Nothing in it is executed.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import jax
import numpy as np

from .._functors.described import described
from .._functors.usage import with_usage
from ..errors import CheckpointError
from ._head import Head, read, TRAILER, unchanged, written
from ._leaves import from_numbers, is_saved, Leaf, leaves, plain, to_numbers
from ._replace import regular, replaced


T = TypeVar("T")


@with_usage
def save(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes the arrays, numbers and texts of a value to a file. If it fails, it writes nothing.

    What was at the path stays as it was until all is on the disk. The permissions of a file that is replaced are kept;
    where the path is a link, the link stays and what it points to is replaced. Of several threads or processes that
    save to one path, the last one's file stays. A process that is killed while it saves leaves a hidden file
    `.cdl-….part` in the folder, which nothing reads, and which may be deleted.

    **Arguments:** `tree`: a value whose leaves are arrays, keys of random numbers, Python's numbers and strings.
    Functions and classes may be among them: they are not saved, and `load` takes them from the template.

    **Raises:** `CheckpointError` for any other leaf, an array of Python objects, an integer of more than 64 bits, and
    where the path is not that of a file. `OSError` where it cannot be written.

    Examples:
        >>> cdl.io.save("weights.cdl", {"scale": jnp.array([1.0, 2.0])})
        >>> cdl.io.load("weights.cdl", {"scale": jnp.zeros(2)})["scale"].tolist()
        [1.0, 2.0]
    """
    path, saved = _path("save", path), leaves(tree)
    start = written(_head(saved), path)
    with replaced(path) as file:
        file.write(start)
        checksum = hashlib.sha256(start)
        for leaf in saved:
            if not isinstance(leaf.value, str):
                data = to_numbers(leaf).tobytes()
                checksum.update(data)
                file.write(data)
        file.write(checksum.digest())


@with_usage
def load(path: str | os.PathLike[str], like: T) -> T:
    """The value that was saved, in the form of a template.

    **Arguments:** `like`: a value of the same structure, such as the model before it was trained; its arrays may be
    `jax.ShapeDtypeStruct`s. What is static in it, its functions and its classes, the loaded value has as well.

    **Raises:** `CheckpointError` naming the two things that differ: the file's length, checksum, version or structure,
    and what it should be. `OSError` where the file cannot be read.

    Examples:
        >>> cdl.io.save("weights.cdl", {"scale": jnp.array([1.0, 2.0])})
        >>> cdl.io.load("weights.cdl", {"scale": jnp.zeros(2)})["scale"].tolist()
        [1.0, 2.0]
    """
    path, wanted = _path("load", path), leaves(like)
    regular(path, os.stat(path))  # a pipe is not even opened: that would wait for someone to write
    with path.open("rb") as file:
        head, start = read(file, path)
        _compare(path, head, _head(wanted))
        numbers = _body(file, path, hashlib.sha256(start), wanted)
    texts, each = iter(head.texts), iter(numbers)
    new = iter([next(texts) if isinstance(leaf.value, str) else from_numbers(leaf, next(each)) for leaf in wanted])
    return jax.tree.map(lambda x: next(new) if is_saved(x) else x, like)


def _path(of: str, path: Any) -> Path:
    """**Raises:** `CheckpointError` where anything other than a path is given as one."""
    if not isinstance(path, str | os.PathLike):
        raise CheckpointError(f"`{of}` takes the path first, and was given {described(path)}: write `{of}(path, …)`.")
    return Path(path)


def _head(saved: Sequence[Leaf]) -> Head:
    lines = [f"`{leaf.name}`: {leaf.type}" for leaf in saved]
    return Head(lines, [leaf.value for leaf in saved if isinstance(leaf.value, str)], sum(leaf.size for leaf in saved))


def _compare(path: Path, file: Head, template: Head) -> None:
    """Nothing, where a file has the leaves of a template.

    **Raises:** `CheckpointError` with the first leaf that differs.
    """
    there, here = [*file.leaves, "nothing"], [*template.leaves, "nothing"]
    pairs = ((i, _told(a), _told(b)) for i, (a, b) in enumerate(zip(there, here, strict=False)) if a != b)
    for i, a, b in pairs:
        raise CheckpointError(
            f"`{path}` is of another structure: leaf {i} of {len(there) - 1} is {a} in the file, and leaf {i} of "
            f"{len(here) - 1} is {b} in the template. Make the template as the value was made that was saved."
        )
    if (len(file.texts), file.length) != (len(template.texts), template.length):
        raise CheckpointError(
            f"`{path}` contradicts itself: for these leaves it has {len(file.texts)} texts and {file.length} bytes, "
            f"and they take {len(template.texts)} and {template.length}."
        )


def _told(line: str) -> str:
    """What a head says of a leaf, in the words of an error: the value itself is a leaf without a path."""
    return "the value" + line[2:] if line.startswith("``") else line


def _body(file: BinaryIO, path: Path, checksum: Any, wanted: Sequence[Leaf]) -> list[np.ndarray[Any, Any]]:
    """The numbers of each leaf that is not a text, unchanged."""
    found = []
    for leaf in wanted:
        if not isinstance(leaf.value, str):
            data = file.read(leaf.size)
            checksum.update(data)
            shape, dtype = plain(leaf.value)
            whole = len(data) == leaf.size
            found.append(np.frombuffer(data, dtype).reshape(shape).copy() if whole else np.zeros(shape, dtype))
    unchanged(path, "content", file.read(TRAILER), checksum.digest())
    return found
