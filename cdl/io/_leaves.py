"""The leaves of a value: which are saved, and the bytes that stand for them.

| a leaf                                        | in a checkpoint                                            |
| --------------------------------------------- | ---------------------------------------------------------- |
| an array of JAX or NumPy, a number of NumPy   | its numbers, the lowest byte of each first                 |
| a key of random numbers                       | the numbers that it is made of                             |
| `bool`, `int`, `float`, `complex`             | a number of 1, 8, 8 or 16 bytes                            |
| `str`                                         | its text, in the head                                      |
| a function, a class                           | nothing: the template has it                               |
| anything else                                 | refused: it would be lost without a word                   |
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.core import Tracer

from .._functors.words import an
from ..errors import CheckpointError


NUMBERS = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


class Leaf(NamedTuple):
    """A leaf that is saved, with the path to it."""

    name: str
    value: Any

    @property
    def type(self) -> str:
        """Its type, and the shape of an array; whichever the order of its bytes in memory."""
        if type(self.value) in (*NUMBERS, str):
            return type(self.value).__name__
        dtype = self.value.dtype if is_key(self.value) else self.value.dtype.newbyteorder("=")
        return f"{dtype}[{','.join(map(str, self.value.shape))}]"

    @property
    def size(self) -> int:
        """How many bytes stand for it; none for a text, which is in the head."""
        if isinstance(self.value, str):
            return 0
        shape, dtype = plain(self.value)
        return math.prod(shape) * dtype.itemsize


def leaves(tree: Any) -> list[Leaf]:
    """The leaves that are saved.

    **Raises:** `CheckpointError` for a leaf that is neither data that can be saved, nor a function or a class.
    """
    found = [Leaf(jax.tree_util.keystr(path), x) for path, x in jax.tree_util.tree_flatten_with_path(tree)[0]]
    for name, x in found:
        if not (is_saved(x) or callable(x)):
            where = f"`{name}`" if name else "the value"
            raise CheckpointError(
                f"{where} is {an(type(x).__qualname__)}, and a checkpoint holds arrays, keys, numbers and texts: make "
                "it a static field, or turn it into one of these."
            )
    return [leaf for leaf in found if is_saved(leaf.value)]


def is_saved(x: Any) -> bool:
    """Whether a leaf is data."""
    if type(x) in (*NUMBERS, str):
        return True
    return isinstance(x, np.generic | jax.Array | jax.ShapeDtypeStruct) or type(x) in (np.ndarray, np.memmap)


def is_key(x: Any) -> bool:
    """Whether a leaf is a key of random numbers, or several."""
    return hasattr(x, "dtype") and bool(jnp.issubdtype(x.dtype, jax.dtypes.prng_key))


def plain(x: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the type of the numbers that stand for a leaf."""
    if type(x) in NUMBERS:
        return (), np.dtype(NUMBERS[type(x)])
    numbers = jax.eval_shape(jr.key_data, x) if is_key(x) else x
    return numbers.shape, np.dtype(numbers.dtype).newbyteorder("<")


def to_bytes(leaf: Leaf) -> bytes:
    """What stands for a leaf that is no text.

    **Raises:** `CheckpointError` for what has no numbers: a shape, a traced array, an array of Python objects; and for
    an integer of more than 64 bits.
    """
    name, x = leaf
    if isinstance(x, jax.ShapeDtypeStruct):
        raise CheckpointError(
            f"`{name}` is only a shape, {leaf.type}, and a checkpoint holds numbers: save the value itself."
        )
    if isinstance(x, Tracer):
        raise CheckpointError(f"`{name}` is traced, {leaf.type}, and has no numbers yet: save outside of `jit`.")
    dtype = plain(x)[1]
    if dtype.hasobject:
        raise CheckpointError(f"`{name}` is an array of Python objects, and a checkpoint holds numbers.")
    try:
        return np.asarray(jr.key_data(x) if is_key(x) else x, dtype).tobytes()
    except OverflowError as error:
        raise CheckpointError(f"`{name}` is {x}, and an integer in a checkpoint has 64 bits.") from error


def from_numbers(leaf: Leaf, numbers: np.ndarray[Any, Any]) -> Any:
    """A leaf like the template's, of these numbers.

    **Raises:** `CheckpointError` for an array of 64 bits where JAX has 32.
    """
    like = leaf.value
    if type(like) in NUMBERS:
        return numbers.item()
    if isinstance(like, np.ndarray | np.generic):
        return numbers.astype(like.dtype, copy=False)[() if isinstance(like, np.generic) else ...]
    new = jnp.asarray(numbers)
    if new.dtype != numbers.dtype:
        raise CheckpointError(
            f"`{leaf.name}` is {leaf.type}, and JAX would make it {new.dtype}: switch on `jax_enable_x64`, or give a "
            "template with arrays of NumPy."
        )
    if is_key(like):
        return jr.wrap_key_data(new, impl=jr.key_impl(like) if isinstance(like, jax.Array) else like.dtype._impl.name)
    weak = jnp.broadcast_to(jnp.asarray(numbers.dtype.type(0).item()), numbers.shape)
    return weak.at[...].set(new) if like.weak_type and weak.dtype == new.dtype else new
