"""Keys of rows: one of the caller's, with the numbers of each row folded in."""

from typing import Any, TypeVar

import jax
import jax.numpy as jnp


K = TypeVar("K", bound=jax.Array | None)


def keys_at(key: K, *numbers: jax.Array | int) -> K:
    """The key of each row, `fold_in(fold_in(key, a), b)` for numbers `a` and `b`; `None` where none is given.

    **Arguments:** `key`: one key, or `None`. `numbers`: arrays of whole numbers, all of the shape of the result.
    """
    if key is None:
        return key

    def at(*each: jax.Array | int) -> Any:
        found: Any = key
        for number in each:
            found = jax.random.fold_in(found, number)
        return found

    for _ in jnp.shape(numbers[0]):
        at = jax.vmap(at)
    return at(*numbers)
