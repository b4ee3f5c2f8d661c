"""Checkpoints: the arrays of a value in one file, refused unless it is whole, unchanged, and of the same structure.

| bytes       | what they are                                                                                  |
| ----------- | ---------------------------------------------------------------------------------------------- |
| 6           | `MAGIC`                                                                                        |
| 2           | the version of the format                                                                      |
| 32          | the SHA-256 of all that comes after                                                            |
| 4           | the length of the head                                                                         |
| the head    | JSON: a line for each leaf (path, type, shape), how many they are, the hash of these lines,    |
|             | and the length of the body                                                                     |
| the body    | the leaves' bytes, one after the other                                                         |

Nothing in a file is executed, and no size in it is believed: how long a leaf is, the template says. Leaves are arrays,
keys of random numbers and Python numbers; what else a value holds (functions, static fields) is the template's.
"""

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from .._errors import CheckpointError


T = TypeVar("T")

MAGIC = b"cdl\x89\r\n"
VERSION = 1
_START = struct.Struct("<6sH32sI")
_LONGEST_HEAD = 1 << 26


class _Head(NamedTuple):
    leaves: list[str]
    many: int
    structure: str
    length: int


def save(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes the arrays and numbers of a value to a file: all of it, or, where that fails, nothing.

    **Raises:** `CheckpointError` for an array of Python objects, or an integer of more than 64 bits.
    """
    path = Path(path)
    leaves = _leaves(tree)
    body = b"".join(_bytes(leaf, name, path) for name, leaf in leaves)
    head = json.dumps(_head_of(leaves, len(body))._asdict()).encode()
    content = struct.pack("<I", len(head)) + head + body
    start = MAGIC + struct.pack("<H", VERSION) + hashlib.sha256(content).digest()
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(start + content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], like: T) -> T:
    """The value that was saved, in the form of a template.

    **Arguments:** `like`: a value of the same structure, such as the model before it was trained; its arrays may be
    `jax.ShapeDtypeStruct`s.

    **Raises:** `CheckpointError` naming the two things that differ: the file's length, checksum, version or structure,
    and what it should be. `OSError` where the file cannot be read.
    """
    path = Path(path)
    head, body = _read(path)
    leaves = _leaves(like)
    _compare(path, head, _head_of(leaves, sum(_size(leaf) for _, leaf in leaves)))
    loaded, at = [], 0
    for _, leaf in leaves:
        loaded.append(_restored(leaf, body[at : at + _size(leaf)]))
        at += _size(leaf)
    new = iter(loaded)
    return jax.tree.map(lambda leaf: next(new) if _is_saved(leaf) else leaf, like)


def _read(path: Path) -> tuple[_Head, bytes]:
    """The head and the body of a file that is whole and unchanged."""
    with path.open("rb") as file:
        start = file.read(_START.size)
        if start[: len(MAGIC)] != MAGIC:
            raise CheckpointError(
                f"`{path}` is no checkpoint: it begins with {start[: len(MAGIC)]!r}, and not {MAGIC!r}."
            )
        if len(start) < _START.size:
            raise CheckpointError(
                f"`{path}` is cut short: it has {len(start)} bytes, and its start alone {_START.size}."
            )
        _, version, checksum, length = _START.unpack(start)
        if version != VERSION:
            raise CheckpointError(f"`{path}` has version {version} of the format, and this reads version {VERSION}.")
        size = os.fstat(file.fileno()).st_size
        if length > min(_LONGEST_HEAD, size):
            raise CheckpointError(
                f"`{path}` is cut short or altered: it says its head has {length} bytes, and it has {size}."
            )
        content = file.read()
    found = hashlib.sha256(struct.pack("<I", length) + content).digest()
    head, rest = _parsed(content[:length]), len(content) - length
    if head is not None and rest != head.length:
        wrong = "cut short" if rest < head.length else "too long"
        raise CheckpointError(f"`{path}` is {wrong}: after its head it has {rest} bytes, and it says {head.length}.")
    if found != checksum:
        raise CheckpointError(
            f"`{path}` was altered: its checksum is {checksum.hex()[:16]}…, and its content's {found.hex()[:16]}…."
        )
    if head is None:
        raise CheckpointError(f"`{path}` has a head that is not {_Head._fields}, and begins {content[:20]!r}.")
    return head, content[length:]


def _parsed(text: bytes) -> _Head | None:
    """The head that a text spells, if it spells one."""
    try:
        head = _Head(**json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return None
    right = isinstance(head.leaves, list) and all(isinstance(line, str) for line in head.leaves)
    right = right and isinstance(head.many, int) and isinstance(head.structure, str) and isinstance(head.length, int)
    return head if right else None


def _compare(path: Path, file: _Head, template: _Head) -> None:
    if file == template:
        return
    there, here = [*file.leaves, "nothing"], [*template.leaves, "nothing"]
    pairs = ((i, a, b) for i, (a, b) in enumerate(zip(there, here, strict=False)) if a != b)
    i, a, b = next(pairs, (0, f"of hash {file.structure}", f"of hash {template.structure}"))
    raise CheckpointError(
        f"`{path}` is of another structure: leaf {i} of {file.many} is {a} in the file, and leaf {i} of "
        f"{template.many} is {b} in the template. Make the template as the value was made that was saved."
    )


def _head_of(leaves: list[tuple[str, Any]], length: int) -> _Head:
    lines = [f"`{name}`: {_type(leaf)}" for name, leaf in leaves]
    return _Head(lines, len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest(), length)


def _leaves(tree: Any) -> list[tuple[str, Any]]:
    """The leaves that are saved, with the path to each."""
    found = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in found if _is_saved(leaf)]


def _is_saved(leaf: Any) -> bool:
    number = isinstance(leaf, bool | int | float | complex | np.generic)
    return number or eqx.is_array_like(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, bool | int | float | complex)


def _is_key(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _type(leaf: Any) -> str:
    if _is_number(leaf):
        return type(leaf).__name__
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"


def _plain(leaf: Any) -> Any:
    """The shape and type of the numbers that stand for a leaf in the file."""
    if _is_number(leaf):
        return np.zeros((), {bool: bool, int: np.int64, float: np.float64, complex: np.complex128}[type(leaf)])
    return jax.eval_shape(jr.key_data, leaf) if _is_key(leaf) else leaf


def _size(leaf: Any) -> int:
    plain = _plain(leaf)
    return int(np.prod(plain.shape, dtype=np.int64)) * np.dtype(plain.dtype).itemsize


def _bytes(leaf: Any, name: str, path: Path) -> bytes:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        raise CheckpointError(
            f"`{name}` is only a shape, {_type(leaf)}, and `{path}` holds numbers: save the value itself."
        )
    try:
        value = np.asarray(jr.key_data(leaf) if _is_key(leaf) else leaf, _plain(leaf).dtype)
    except OverflowError as error:
        raise CheckpointError(f"`{name}` is {leaf}, and an integer in a checkpoint has 64 bits.") from error
    if value.dtype.hasobject:
        raise CheckpointError(f"`{name}` is an array of Python objects, and a checkpoint holds numbers.")
    return value.tobytes()


def _restored(leaf: Any, data: bytes) -> Any:
    """A leaf like the template's, of these bytes."""
    plain = _plain(leaf)
    value = np.frombuffer(data, plain.dtype).reshape(plain.shape).copy()
    if _is_number(leaf):
        return value.item()
    if isinstance(leaf, np.ndarray):
        return value
    if isinstance(leaf, np.generic):
        return value[()]
    return jr.wrap_key_data(jnp.asarray(value), impl=_impl(leaf)) if _is_key(leaf) else jnp.asarray(value)


def _impl(key: Any) -> Any:
    return jr.key_impl(key) if isinstance(key, jax.Array) else key.dtype._impl.name
