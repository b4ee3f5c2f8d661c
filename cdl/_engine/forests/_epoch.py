"""Epochs: which trees each batch has, and how much room all batches need."""

import jax
import jax.random as jr
import numpy as np
from numpy.typing import NDArray

from ...errors import CdlError


Int = NDArray[np.int64]

TRIED = 16  # epochs that are drawn to learn how heavy batches are


def drawn(indices: Int, size: int, key: jax.Array | None, drop_last: bool) -> list[Int]:
    """The trees of each batch.

    **Raises:** `CdlError` for an epoch without batches.
    """
    if not len(indices) or (drop_last and size > len(indices)):
        raise CdlError(
            f"there are no batches of {size} out of {len(indices)} trees"
            + (" where `drop_last` is set: give a smaller `size`, or more trees." if len(indices) else ".")
        )
    mixed = indices if key is None else np.random.default_rng(np.asarray(jr.key_data(key))).permutation(indices)
    end = len(mixed) // size * size if drop_last else len(mixed)
    return [mixed[i : i + size] for i in range(0, end, size)]


def heaviest(weights: Int, indices: Int, batches: list[Int], mixes: bool, margin: float) -> list[int]:
    """How much room a batch needs: the most that one weighs; where they are mixed anew in each epoch, the most that one
    of several other epochs weighs, and a margin, if that is more.

    **Arguments:** `weights`: of every tree of the corpus, an array `(kinds, trees)`. `indices`: the trees that may be
    drawn.
    """
    size = len(batches[0])
    most = _most(weights[:, np.concatenate(batches)], size)
    if mixes:
        ours = weights[:, np.sort(indices)]
        trials = (np.random.default_rng(i).permutation(len(indices)) for i in range(TRIED))
        likely = margin * np.max([_most(ours[:, mixed], size) for mixed in trials], 0)
        bound = np.sort(ours, axis=1)[:, -size:].sum(1)
        most = np.maximum(most, np.minimum(likely, bound).astype(np.int64))
    return [int(x) for x in most]


def _most(weights: Int, size: int) -> Int:
    """The most that a batch weighs, of each kind."""
    found: Int = np.add.reduceat(weights, np.arange(0, weights.shape[1], size), axis=1).max(1)
    return found
