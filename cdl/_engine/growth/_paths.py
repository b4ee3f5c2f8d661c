"""Keys along the path from the root: one more leaf of a seed.

Each seed brings the path that led to it, as `ana` has it: what a node draws with, and the paths of its children, follow
from that alone, in whatever order nodes are grown.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from ..._schemes.unfolds import own_key, path_below
from ..arrays._random_keys import keys_at
from ._candidates import Given, Growth


def on_paths(growth: Growth, seeds: list[Any], key: jax.Array | None) -> tuple[Growth, list[Any]]:
    """The growth of seeds that bring their paths, and the seeds of all trees, that of tree `t` with `fold_in(key, t)`.

    Without a key, both as they are.
    """
    if key is None:
        return growth, seeds
    form = jax.random.key_impl(key)
    data = jax.random.key_data
    of: Any = lambda leaf: jax.random.wrap_key_data(leaf, impl=form)

    def call(weights: list[Any], leaves: list[Any], keys: list[Any]) -> Given:
        del keys
        *seed, leaf = leaves
        path = of(leaf)
        here = own_key(path)
        given = growth.call(weights, seed, [here])
        below = [[[*x, data(path_below(path, i))] for i, x in enumerate(places)] for places in given.seeds]
        return dataclasses.replace(given, seeds=below, key=here)

    trees = jnp.arange(seeds[0].shape[0], dtype=jnp.int32)
    paths = data(keys_at(key, trees))
    return dataclasses.replace(growth, call=call), [*seeds, paths]
