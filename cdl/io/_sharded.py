"""Values whose arrays are spread over many devices: each device writes its part, and reads the part that it needs.

The files are those of orbax, in a folder. What is read is laid out as the template says, on as many devices as there
are now, whatever they were when it was written.
"""

import os
from typing import Any, TypeVar

import jax
import jax.random as jr
import numpy as np

from .._functors.usage import with_usage
from ..errors import CdlError, CheckpointError
from ._leaves import from_numbers, is_key, is_saved, Leaf, plain
from ._names import expect_same, named


T = TypeVar("T")


@with_usage
def save_sharded(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes the arrays and numbers of a value to a new folder, each part by the device that has it.

    **Arguments:** `path`: of a folder that does not exist. `tree`: as for `save`, without texts.

    **Raises:** `CheckpointError` for a text, for what `save` refuses, and where the folder exists; `CdlError` where the
    package `orbax-checkpoint` is not installed.
    """
    orbax, folder = _library(), os.path.abspath(os.fspath(path))
    if os.path.exists(folder):
        raise CheckpointError(f"`{folder}` exists, and a sharded value is written to a new folder: give another path.")
    with orbax.StandardCheckpointer() as files:
        files.save(folder, {name: _numbers(leaf) for name, leaf in named(tree).items()})


@with_usage
def load_sharded(path: str | os.PathLike[str], like: T) -> T:
    """The value that `save_sharded` wrote, in the form of a template, and laid out as it is.

    **Arguments:** `like`: a value of the same structure, as for `load`; its arrays may be `jax.ShapeDtypeStruct`s with
    a `sharding`.

    **Raises:** `CheckpointError` where the folder has not the template's arrays, with what differs; `CdlError` where
    the package `orbax-checkpoint` is not installed.
    """
    orbax, folder, wanted = _library(), os.path.abspath(os.fspath(path)), named(like)
    if not os.path.isdir(folder):
        raise CheckpointError(f"`{folder}` is not a folder: give the path that `save_sharded` was given.")
    with orbax.StandardCheckpointer() as files:
        there = files.metadata(folder).item_metadata
        if there is None:
            raise CheckpointError(f"`{folder}` does not hold a sharded value: give the path given to `save_sharded`.")
        expect_same(folder, {name: (x.shape, np.dtype(x.dtype)) for name, x in there.tree.items()}, wanted)
        found = files.restore(folder, {name: _asked(leaf) for name, leaf in wanted.items()})
    new = iter([_like(leaf, found[name]) for name, leaf in wanted.items()])
    return jax.tree.map(lambda x: next(new) if is_saved(x) else x, like)


def _library() -> Any:
    try:
        import orbax.checkpoint
    except ImportError:
        raise CdlError(
            "the package `orbax-checkpoint` is not installed: install `cdl-jax[sharded]`, or write a value of one "
            "device with `save`."
        ) from None
    return orbax.checkpoint


def _numbers(leaf: Leaf) -> Any:
    """What is written: the array itself, so that each device writes its part."""
    if isinstance(leaf.value, jax.Array):
        return jr.key_data(leaf.value) if is_key(leaf.value) else leaf.value
    return np.asarray(leaf.value, plain(leaf.value)[1])


def _asked(leaf: Leaf) -> Any:
    """What is to be read: an array of JAX where the template has one, with its sharding."""
    shape, dtype = plain(leaf.value)
    if not isinstance(leaf.value, jax.Array | jax.ShapeDtypeStruct) or is_key(leaf.value):
        return np.zeros(shape, dtype)
    return jax.ShapeDtypeStruct(shape, dtype, sharding=leaf.value.sharding)


def _like(leaf: Leaf, found: Any) -> Any:
    return found if isinstance(found, jax.Array) else from_numbers(leaf, np.asarray(found))
