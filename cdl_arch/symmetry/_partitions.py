"""Linear maps of tensors that commute with permutations of nodes: one operation for each partition of the axes.

| the mathematics                                            | here                                              |
| ---------------------------------------------------------- | ------------------------------------------------- |
| maps of order `k → l` of `S_n`: partitions of `l + k` axes | `partitions(l + k)`, as letters                   |
| `W_π[a, i] = 1` where axes of one block have one index     | `read`, and then `spread`                         |
| how many indices are summed                                | `summed(π, l)`                                    |
| the same in the orbits of `hom`, for one `n`               | `in_orbits(tying, order, n)`                      |

A partition is a string with a letter for each axis, those of the output first: `"ab" "ba"` is the transpose, and
`"aa" "bc"` puts the sum of a matrix on the diagonal. The operations do not depend on `n`. There are 15 from matrices to
matrices; on fewer than 4 nodes they are dependent, and `hom` has fewer.

(Maron et al., *Invariant and Equivariant Graph Networks*, 2019.)
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from cdl.symmetry import Orbits, Tying


@functools.cache
def partitions(axes: int) -> tuple[str, ...]:
    """The partitions of a number of axes, in the order of the alphabet: a new block has the next letter."""
    if axes == 0:
        return ("",)
    return tuple(p + chr(97 + i) for p in partitions(axes - 1) for i in range(len(set(p)) + 1))


def read(partition: str, x: jax.Array, order: int) -> jax.Array:
    """The first half of an operation: sums and diagonals of the last axes of `x`, with an axis for each letter that the
    output has as well, in the order of the alphabet."""
    out, inner = partition[:order], partition[order:]
    kept = "".join(c for c in sorted(set(out)) if c in inner)
    return jnp.einsum(f"...{inner}->...{kept}", x)


def spread(partition: str, y: jax.Array, order: int, n: int) -> jax.Array:
    """The other half: copies along the letters of the output alone, and diagonals. To `[…, n, …, n]`."""
    out, inner = partition[:order], partition[order:]
    letters = sorted(set(out))
    lead = y.shape[: y.ndim - sum(c in inner for c in letters)]
    y = y.reshape((*lead, *(n if c in inner else 1 for c in letters)))
    y = jnp.broadcast_to(y, (*lead, *(n for _ in letters)))
    if len(letters) == order:
        return y
    at = np.indices((n,) * len(letters))
    zeros = jnp.zeros((*lead, *(n for _ in out)), y.dtype)
    return zeros.at[(..., *(at[letters.index(c)] for c in out))].set(y)


def summed(partition: str, order: int) -> int:
    """How many indices of the input an operation sums over, where the output has an order."""
    return len(set(partition[order:]) - set(partition[:order]))


def in_orbits(tying: Tying, axes: int, n: int) -> Float[np.ndarray, "dimension operations"]:
    """Each operation as the weights of the orbits of `hom`: at one entry of each, whether the blocks' indices agree."""
    assert isinstance(tying, Orbits)
    _, first = np.unique(tying.labels.ravel(), return_index=True)
    entries = first // n ** np.arange(axes)[::-1, None] % n
    return np.stack([_holds(p, entries) for p in partitions(axes)], axis=-1).astype(np.float64)


def _holds(partition: str, entries: Int[np.ndarray, "axes count"]) -> Bool[np.ndarray, " count"]:
    """Whether the indices of each entry are equal in each block."""
    heads = np.array([partition.index(c) for c in partition], int)
    return np.all(entries == entries[heads], axis=0)
