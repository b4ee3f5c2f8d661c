"""Values whose arrays are spread over many devices: each device writes its part, and reads the part that it needs.

The files are those of orbax, in a folder. What is read is laid out as the template says, on as many devices as there
are now, whatever they were when it was written.

| in the value                          | in the folder                                                    |
| ------------------------------------- | ---------------------------------------------------------------- |
| an array, a number                    | an array by the path to it                                       |
| a key of random numbers               | the numbers that it is made of; its type is in the metadata      |
| an array without elements             | an array of one element; its type is in the metadata             |
| a text, a number of another type      | refused: `save` writes these                                     |
"""

import math
import os
from typing import Any, TypeVar

import jax
import jax.random as jr
import numpy as np

from .._engine.arrays.shapes import weak_as
from .._functors.usage import with_types
from ..errors import CdlError, CheckpointError
from ._leaves import expect_numbers, from_numbers, is_key, is_saved, Leaf, plain, spelt, to_numbers
from ._names import expect_same, named, written_as


T = TypeVar("T")


TYPES = "cdl.types"  # the entry of the metadata that has the types of the leaves for which other numbers stand
KNOWN = {
    *("bool", "bfloat16", "int4", "complex64", "complex128", "float16", "float32", "float64"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float8_{kind}" for kind in ("e3m4", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")),
}


@with_types
def save_sharded(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes the arrays and numbers of a value to a new folder. Each process writes the parts that its devices have.

    **Arguments:** `path`: of a folder that does not exist. `tree`: as for `save`, without texts.

    **Raises:** `CheckpointError` for a text, for what `save` refuses, for numbers of a type that orbax does not write,
    for a value without arrays and numbers, and where the folder exists; `CdlError` where the package
    `orbax-checkpoint` is not installed.

    Examples:
        >>> cdl.io.save_sharded("weights", {"scale": jnp.array([1.0, 2.0])})
        >>> cdl.io.load_sharded("weights", {"scale": jnp.zeros(2)})["scale"].tolist()
        [1.0, 2.0]
    """
    orbax, folder, leaves = _library(), os.path.abspath(os.fspath(path)), named(tree)
    if os.path.exists(folder):
        raise CheckpointError(f"`{folder}` exists, and a sharded value is written to a new folder: give another path.")
    if not leaves:
        raise CheckpointError("the value has no array and no number, and orbax writes no empty folder: use `save`.")
    arrays = {name: _numbers(leaf) for name, leaf in leaves.items()}
    types = {name: _type(leaf) for name, leaf in leaves.items() if _type(leaf) != spelt(*_written(leaf))}
    with orbax.StandardCheckpointer() as files:
        files.save(folder, arrays, custom_metadata={TYPES: types})


@with_types
def load_sharded(path: str | os.PathLike[str], like: T) -> T:
    """Reads the value that `save_sharded` wrote, in the form of a template. Its arrays lie on devices as the template's
    do.

    **Arguments:** `like`: a value of the same structure, as for `load`; its arrays may be `jax.ShapeDtypeStruct`s with
    a `sharding`.

    **Raises:** `CheckpointError` where the folder's arrays differ from the template's, with what differs: a key is not
    the array of its numbers, nor a key of another implementation. `CdlError` where the package `orbax-checkpoint` is
    not installed.

    Examples:
        >>> cdl.io.save_sharded("weights", {"scale": jnp.array([1.0, 2.0])})
        >>> cdl.io.load_sharded("weights", {"scale": jnp.zeros(2)})["scale"].tolist()
        [1.0, 2.0]
    """
    orbax, folder, wanted = _library(), os.path.abspath(os.fspath(path)), named(like)
    if not os.path.isdir(folder):
        raise CheckpointError(f"`{folder}` is not a folder: give the path that `save_sharded` was given.")
    with orbax.StandardCheckpointer() as files:
        found = _found(files.metadata(folder))
        if found is None:
            raise CheckpointError(f"`{folder}` does not hold a sharded value: give the path given to `save_sharded`.")
        expect_same(folder, found, {n: written_as(_type(leaf), spelt(*_written(leaf))) for n, leaf in wanted.items()})
        arrays = files.restore(folder, {name: _asked(leaf) for name, leaf in wanted.items()})
    new = iter([_like(leaf, arrays[name]) for name, leaf in wanted.items()])
    return jax.tree.map(lambda x: next(new) if is_saved(x) else x, like)


def _library() -> Any:
    try:
        import orbax.checkpoint
    except ImportError:
        raise CdlError(
            "the package `orbax-checkpoint` is not installed: `pip install orbax-checkpoint`, or write a value of one "
            "device with `save`."
        ) from None
    return orbax.checkpoint


def _type(leaf: Leaf) -> str:
    """The type of a leaf; of a number of Python, that of its array."""
    return leaf.type if is_key(leaf.value) else spelt(*plain(leaf.value))


def _written(leaf: Leaf) -> tuple[tuple[int, ...], Any]:
    """The shape and the type of the array that is written for a leaf: orbax writes none without elements."""
    shape, dtype = plain(leaf.value)
    return (shape if math.prod(shape) else (1,)), dtype


def _numbers(leaf: Leaf) -> Any:
    """What is written: the array itself, so that each device writes its part."""
    expect_numbers(leaf)
    shape, dtype = _written(leaf)
    if dtype.newbyteorder("=").name not in KNOWN:
        raise CheckpointError(
            f"{leaf.shown} is {leaf.type}, and orbax does not write numbers of `{dtype}`: use `save`, or turn it into "
            "another type."
        )
    if shape != plain(leaf.value)[0]:
        return np.zeros(shape, dtype)
    if isinstance(leaf.value, jax.Array):
        return jr.key_data(leaf.value) if is_key(leaf.value) else leaf.value
    return to_numbers(leaf)


def _found(there: Any) -> dict[str, str] | None:
    """The types of a folder's arrays, and of what stands for something else; `None`, if they are not arrays."""
    arrays = getattr(there.item_metadata, "tree", None)
    if not isinstance(arrays, dict) or not all(hasattr(x, "shape") and hasattr(x, "dtype") for x in arrays.values()):
        return None
    types = (there.custom_metadata or {}).get(TYPES, {})
    plainly = {name: spelt(x.shape, np.dtype(x.dtype)) for name, x in arrays.items()}
    return {name: written_as(types.get(name, numbers), numbers) for name, numbers in plainly.items()}


def _asked(leaf: Leaf) -> Any:
    """What is to be read: an array of JAX where the template has one, with its sharding."""
    shape, dtype = _written(leaf)
    whole = shape == plain(leaf.value)[0]
    if not isinstance(leaf.value, jax.Array | jax.ShapeDtypeStruct) or is_key(leaf.value) or not whole:
        return np.zeros(shape, dtype)
    return jax.ShapeDtypeStruct(shape, dtype, sharding=leaf.value.sharding)


def _like(leaf: Leaf, found: Any) -> Any:
    if isinstance(found, jax.Array):
        return weak_as(found, leaf.value)
    shape = plain(leaf.value)[0]
    empty = not math.prod(shape)
    new = from_numbers(leaf, np.zeros(shape, found.dtype) if empty else np.asarray(found))
    laid_out = empty and isinstance(leaf.value, jax.Array | jax.ShapeDtypeStruct) and not is_key(leaf.value)
    return jax.device_put(new, leaf.value.sharding) if laid_out else new
