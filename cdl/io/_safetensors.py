"""Models in the format of safetensors, which other libraries read: each array by the path to it.

| in the value                          | in the file                                                      |
| ------------------------------------- | ---------------------------------------------------------------- |
| `model["net"].weight`                 | the tensor `net.weight`                                          |
| cells that a `Named` holds in a stack | one tensor for all; instead of a constructor, its form's name    |
| a number of Python                    | a tensor without axes, of 64 bits                                |
| a key of random numbers               | the numbers that it is made of; its type is in the metadata      |
| a text, a number of another type      | refused: `save` writes these                                     |
"""

import json
import os
from collections.abc import Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy

from .._functors.usage import with_types
from .._functors.words import first_line
from ..errors import CheckpointError
from ._leaves import from_numbers, is_key, is_saved, Leaf, plain, spelt, to_numbers
from ._names import expect_same, named, written_as
from ._replace import replaced


T = TypeVar("T")

KEYS = "cdl.keys"  # the entry of the metadata that has the types of keys
RESERVED = "__metadata__"  # what the format calls its metadata, beside the tensors
TYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(bool),
    **{f"{letter}{8 * n}": np.dtype(f"<{letter.lower()}{n}") for letter in "IU" for n in (1, 2, 4, 8)},
    **{f"F{8 * n}": np.dtype(f"<f{n}") for n in (2, 4, 8)},
    "C64": np.dtype("<c8"),
    "BF16": np.dtype(jnp.bfloat16),
    "F8_E4M3": np.dtype(jnp.float8_e4m3fn),
    "F8_E5M2": np.dtype(jnp.float8_e5m2),
    "F8_E8M0": np.dtype(jnp.float8_e8m0fnu),
    "F8_E4M3FNUZ": np.dtype(jnp.float8_e4m3fnuz),
    "F8_E5M2FNUZ": np.dtype(jnp.float8_e5m2fnuz),
}


@with_types
def export_safetensors(path: str | os.PathLike[str], tree: Any, *, metadata: Mapping[str, str] | None = None) -> None:
    """Writes the arrays and numbers of a value as tensors, each with its path as its name.

    **Arguments:** `tree`: as for `save`. `metadata`: texts that are kept in the file, such as how the model is made.

    **Raises:** `CheckpointError` for a text, for what `save` refuses, for numbers of a type that the format does not
    have, and where two paths have one name.

    Examples:
        >>> cdl.io.export_safetensors("weights.safetensors", {"scale": jnp.array([1.0, 2.0])})
        >>> cdl.io.import_safetensors("weights.safetensors", {"scale": jnp.zeros(2)})[
        ...     "scale"
        ... ].tolist()
        [1.0, 2.0]
    """
    leaves = named(tree)
    tensors = {name: _numbers(name, leaf) for name, leaf in leaves.items()}
    keys = {name: leaf.type for name, leaf in leaves.items() if is_key(leaf.value)}
    texts = _texts(metadata, keys)
    try:
        content = safetensors.numpy.save(tensors, metadata=texts or None)
    except Exception as error:
        raise CheckpointError(f"the package `safetensors` does not write this: {first_line(error)}") from error
    with replaced(os.fspath(path)) as file:
        file.write(content)


@with_types
def import_safetensors(path: str | os.PathLike[str], like: T) -> T:
    """Reads the value whose tensors are in a file, in the form of a template.

    **Arguments:** `like`: a value of the same structure, as for `load`.

    **Raises:** `CheckpointError` where the file lacks a tensor of the template or has one more, and where a tensor has
    another shape or type; the message has both. A random key is not the array of its numbers, nor a key of another
    implementation.

    Examples:
        >>> cdl.io.export_safetensors("weights.safetensors", {"scale": jnp.array([1.0, 2.0])})
        >>> cdl.io.import_safetensors("weights.safetensors", {"scale": jnp.zeros(2)})[
        ...     "scale"
        ... ].tolist()
        [1.0, 2.0]
    """
    wanted, file = named(like), os.fspath(path)
    try:
        with open(file, "rb") as opened:
            content = opened.read()
        deserialize: Any = safetensors.deserialize
        tensors = dict(deserialize(content))
        expect_same(file, _types(tensors, content), {name: _type(leaf) for name, leaf in wanted.items()})
    except (OSError, CheckpointError):
        raise
    except Exception as error:
        raise CheckpointError(f"`{file}` is not a file of safetensors: {first_line(error)}.") from error
    new = iter([from_numbers(leaf, _read(tensors[name])) for name, leaf in wanted.items()])
    return jax.tree.map(lambda x: next(new) if is_saved(x) else x, like)


def _numbers(name: str, leaf: Leaf) -> np.ndarray[Any, Any]:
    numbers = to_numbers(leaf)
    if numbers.dtype not in TYPES.values():
        raise CheckpointError(
            f"{leaf.shown} is {leaf.type}, and safetensors has no tensors of `{numbers.dtype}`: use `save`, or turn it "
            "into another type."
        )
    if name == RESERVED:
        raise CheckpointError(f"{leaf.shown} has the name that safetensors has for its metadata: rename it.")
    return numbers.copy(order="C")  # the package writes an array's memory as it lies


def _read(tensor: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(tensor["data"], TYPES[tensor["dtype"]]).reshape(tensor["shape"])


def _texts(metadata: Mapping[Any, Any] | None, keys: Mapping[str, str]) -> dict[str, str]:
    """The metadata of a file: that of the caller, and the types of keys."""
    given = dict(metadata or {})
    if wrong := [x for pair in given.items() for x in pair if not isinstance(x, str)]:
        raise CheckpointError(f"`metadata` has {wrong[0]!r}, and metadata are texts with texts for names.")
    if KEYS in given:
        raise CheckpointError(f"`metadata` has `{KEYS}`, which is where the types of keys are: give it another name.")
    return given | ({KEYS: json.dumps(keys)} if keys else {})


def _types(tensors: Mapping[str, Any], content: bytes) -> dict[str, str]:
    """The types of a file's tensors, and of the keys among them, which its header has."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    keys = json.loads(header.get(RESERVED, {}).get(KEYS, "{}"))
    types = {name: (tuple(tensor["shape"]), tensor["dtype"]) for name, tensor in tensors.items()}
    plainly = {name: spelt(shape, TYPES.get(dtype, dtype)) for name, (shape, dtype) in types.items()}
    return {name: written_as(keys.get(name, numbers), numbers) for name, numbers in plainly.items()}


def _type(leaf: Leaf) -> str:
    numbers = spelt(*plain(leaf.value))
    return written_as(leaf.type if is_key(leaf.value) else numbers, numbers)
