"""Keys of rows: one of the caller's, with the numbers of each row folded in."""

from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from ..._schemes.expect import expect_key
from ...errors import CdlError


THREEFRY = "threefry2x32"
K = TypeVar("K", bound=jax.Array | None)


def expect_key_of_rows(key: Any) -> None:
    """**Raises:** `CdlError` where anything other than a key is given as one, and for one of which JAX draws others for
    many rows at once than for each alone, such as one of `rbg`."""
    expect_key(key)
    if key is not None and (found := str(jax.random.key_impl(key))) != THREEFRY:
        raise CdlError(
            f"`key` is one of `{found}`, of which JAX draws other numbers for many rows at once than for each alone, "
            f'so that the definition and a compiled form would differ: give `key=jax.random.key(0, impl="{THREEFRY}")`.'
        )


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
