"""Models in the format of safetensors, which other libraries read: each array by the path to it.

| in the value                          | in the file                                        |
| ------------------------------------- | -------------------------------------------------- |
| `model.cells["Add"].gates.weight`     | the tensor `cells.Add.gates.weight`                |
| a number of Python                    | a tensor without axes, of 64 bits                  |
| a key of random numbers               | the numbers that it is made of                     |
| a text                                | refused: `save` writes these                       |
"""

import os
from collections.abc import Mapping
from typing import Any, TypeVar

import jax
import numpy as np

from .._functors.usage import with_usage
from ..errors import CdlError, CheckpointError
from ._leaves import from_numbers, is_saved, Leaf, plain, to_bytes
from ._names import expect_same, named
from ._replace import replaced


T = TypeVar("T")


@with_usage
def export_safetensors(path: str | os.PathLike[str], tree: Any, *, metadata: Mapping[str, str] | None = None) -> None:
    """Writes the arrays and numbers of a value as tensors, each with its path as its name.

    **Arguments:** `tree`: as for `save`. `metadata`: texts to be kept in the file, such as how the model is made.

    **Raises:** `CheckpointError` for a text, for what `save` refuses, and where two paths have one name; `CdlError`
    where the package `safetensors` is not installed.
    """
    numpy = _library()
    tensors = {name: _numbers(leaf) for name, leaf in named(tree).items()}
    with replaced(os.fspath(path)) as file:
        file.write(numpy.save(tensors, metadata=None if metadata is None else dict(metadata)))


@with_usage
def import_safetensors(path: str | os.PathLike[str], like: T) -> T:
    """The value whose tensors are in a file, in the form of a template.

    **Arguments:** `like`: a value of the same structure, as for `load`.

    **Raises:** `CheckpointError` where a tensor is missing or is one too many, or is of another shape or type, with
    both of them; `CdlError` where the package `safetensors` is not installed.
    """
    numpy, wanted = _library(), named(like)
    try:
        found = numpy.load_file(os.fspath(path))
    except OSError:
        raise
    except Exception as error:
        raise CheckpointError(f"`{os.fspath(path)}` is not a file of safetensors: {error}.") from error
    expect_same(os.fspath(path), {name: (x.shape, x.dtype) for name, x in found.items()}, wanted)
    new = iter([from_numbers(leaf, found[name]) for name, leaf in wanted.items()])
    return jax.tree.map(lambda x: next(new) if is_saved(x) else x, like)


def _library() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise CdlError(
            "the package `safetensors` is not installed: install `cdl-jax[safetensors]`, or write a checkpoint "
            "of cdl's own with `save`."
        ) from None
    return safetensors.numpy


def _numbers(leaf: Leaf) -> np.ndarray[Any, Any]:
    shape, dtype = plain(leaf.value)
    return np.frombuffer(to_bytes(leaf), dtype).reshape(shape)
