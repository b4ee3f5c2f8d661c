"""The leaves of a value: which are saved, and the bytes that stand for them.

| a leaf                                        | in a checkpoint                                            |
| --------------------------------------------- | ---------------------------------------------------------- |
| an array of JAX or NumPy, a number of NumPy   | its numbers, the lowest byte of each first                 |
| a key of random numbers                       | the numbers that it is made of                             |
| `bool`, `int`, `float`, `complex`             | a number of 1, 8, 8 or 16 bytes                            |
| `str`                                         | its text, in the head                                      |
| a function, a class                           | nothing: the template has it                               |
| the constructors of a stack of cells          | their names in order, in the paths to its arrays           |
| anything else                                 | refused: it would be lost without a word                   |
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.core import Tracer
from jax.tree_util import GetAttrKey

from .._engine.arrays.shapes import weak_as
from .._functors.words import an, short
from .._schemes.stacks import Stacked
from ..errors import CheckpointError


NUMBERS = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


class Leaf(NamedTuple):
    """A leaf that is saved, with the path to it."""

    name: str
    value: Any

    @property
    def shown(self) -> str:
        """Its path, in the words of an error."""
        return f"`{self.name}`" if self.name else "the value"

    @property
    def type(self) -> str:
        """Its type, and the shape of an array; whichever the order of its bytes in memory."""
        if type(self.value) in (*NUMBERS, str):
            return type(self.value).__name__
        return spelt(self.value.shape, self.value.dtype)

    @property
    def size(self) -> int:
        """How many bytes stand for it; none for a text, which is in the head."""
        if isinstance(self.value, str):
            return 0
        shape, dtype = plain(self.value)
        return math.prod(shape) * dtype.itemsize


def leaves(tree: Any) -> list[Leaf]:
    """The leaves that are saved.

    **Raises:** `CheckpointError` for a leaf that is neither data that can be saved, nor a function or a class, and for
    a class in place of a value.
    """
    if isinstance(tree, type):
        raise CheckpointError(
            f"`{tree.__name__}` is a class, and a checkpoint holds a value: give one, such as `{tree.__name__}(…)`. To "
            f"load, its shapes will do: `eqx.filter_eval_shape({tree.__name__}, …)`."
        )
    found = [Leaf(jax.tree_util.keystr(path), x) for path, x in by_path(tree)]
    for leaf in found:
        if not (is_saved(leaf.value) or callable(leaf.value)):
            raise CheckpointError(
                f"{leaf.shown} is {an(type(leaf.value).__qualname__)}, and a checkpoint holds arrays, keys, numbers "
                "and texts: make it a static field, or turn it into one of these."
            )
    return [leaf for leaf in found if is_saved(leaf.value)]


def by_path(tree: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves, each with the path to it. A path through a stack of cells names its constructors in their order, that
    of its rows: so a stack of others, or of the same in another order, has other paths.
    """
    found: list[tuple[tuple[Any, ...], Any]] = []
    for path, x in jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda x: isinstance(x, Stacked))[0]:
        if isinstance(x, Stacked):
            name = GetAttrKey(f"cells[{','.join(c.__name__ for c in x.constructors)}]")
            found += [((*path, name, *rest), leaf) for rest, leaf in by_path(x.cells)]
        else:
            found.append((path, x))
    return found


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


def spelt(shape: tuple[int, ...], dtype: Any) -> str:
    """The type of an array in one word, such as `float32[2,3]`; whichever the order of its bytes in memory."""
    dtype = dtype.newbyteorder("=") if isinstance(dtype, np.dtype) else dtype
    return f"{dtype}[{','.join(map(str, shape))}]"


def expect_numbers(leaf: Leaf) -> None:
    """**Raises:** `CheckpointError` for what has no numbers: a shape, a traced array, an array of Python objects."""
    if isinstance(leaf.value, jax.ShapeDtypeStruct):
        raise CheckpointError(
            f"{leaf.shown} is only a shape, {leaf.type}, and a checkpoint holds numbers: save the value itself."
        )
    if isinstance(leaf.value, Tracer):
        raise CheckpointError(f"{leaf.shown} is traced, {leaf.type}, and has no numbers yet: save outside of `jit`.")
    if plain(leaf.value)[1].hasobject:
        raise CheckpointError(f"{leaf.shown} is an array of Python objects, and a checkpoint holds numbers.")


def to_numbers(leaf: Leaf) -> np.ndarray[Any, Any]:
    """The numbers that stand for a leaf that is not a text.

    **Raises:** `CheckpointError` for what has none, and for an integer of more than 64 bits.
    """
    expect_numbers(leaf)
    x = leaf.value
    try:
        return np.asarray(jr.key_data(x) if is_key(x) else x, plain(x)[1])
    except OverflowError as error:
        raise CheckpointError(f"{leaf.shown} is {short(x)}, and an integer in a checkpoint has 64 bits.") from error


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
            f"{leaf.shown} is {leaf.type}, and JAX would make it {new.dtype}: switch on `jax_enable_x64`, or give a "
            "template with arrays of NumPy."
        )
    if is_key(like):
        return jr.wrap_key_data(new, impl=jr.key_impl(like) if isinstance(like, jax.Array) else like.dtype._impl.name)
    return weak_as(new, like)
