"""The groups p4 and p4m of a torus, acting on themselves: one plane of shifts for each turn and mirror image.

| the mathematics                                             | here                                           |
| ----------------------------------------------------------- | ---------------------------------------------- |
| `g = t r`: an element turns about place 0, then shifts      | place `(r, *t)` of the carrier                 |
| `m · e_g = e_{m g}`, the action of the group on itself      | `planes(side)`, `planes(side, mirrors=True)`   |
| the turns, and the mirror images, as matrices               | `points(mirrors)`, `int[4 or 8, 2, 2]`         |
| `(r · ψ)(v) = ψ(r⁻¹ v)`, of a filter round its centre       | `turned(ψ, r)`                                 |

This is `regular(p4(side))`, with its elements in an order that is an array. The generators have the same names.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from cdl.errors import CdlError
from cdl.symmetry import Action
from cdl.symmetry.groups import p4, p4m


TURN, MIRROR = np.array([[0, -1], [1, 0]]), np.array([[1, 0], [0, -1]])
MOVES = {  # the generators of `p4m`, as maps `u ↦ A u + b` of the places of an image
    "shift0": (np.eye(2, dtype=int), (1, 0)),
    "shift1": (np.eye(2, dtype=int), (0, 1)),
    "turn": (TURN, (-1, 0)),
    "mirror": (MIRROR, (0, -1)),
}


def points(mirrors: bool) -> Int[np.ndarray, "points 2 2"]:
    """The turns `R⁰` to `R³`, and after them the same after a mirror image, `Rᵏ M`."""
    flips = [np.eye(2, dtype=int), MIRROR] if mirrors else [np.eye(2, dtype=int)]
    return np.stack([np.linalg.matrix_power(TURN, k) @ flip for flip in flips for k in range(4)])


def numbered(matrices: Int[np.ndarray, "*lead 2 2"], mirrors: bool) -> Int[np.ndarray, " *lead"]:
    """The place of each matrix among `points`."""
    return np.argmax(np.all(matrices[..., None, :, :] == points(mirrors), axis=(-2, -1)), axis=-1)


def quotients(mirrors: bool) -> Int[np.ndarray, "points points"]:
    """The number of `p⁻¹ q`, for each two points."""
    of = points(mirrors)
    return numbered(of.transpose(0, 2, 1)[:, None] @ of, mirrors)


def images(side: int, mirrors: bool) -> Action:
    """The same group on images.

    **Raises:** `CdlError` for a side below 3, where two elements of the group act alike.
    """
    if side < 3:
        raise CdlError(f"on a torus of {side} × {side} turns and shifts act alike: give a side of 3 or more.")
    return p4m(side) if mirrors else p4(side)


def planes(side: int, mirrors: bool = False) -> Action:
    """The group p4, or p4m with mirror images, acting on itself: the carrier is `(4 or 8, side, side)`.

    **Arguments:** `side`: the length of both sides of the torus. `mirrors`: whether mirror images belong to the group.

    Examples:
        >>> from cdl_arch.symmetry import planes
        >>> planes(3).shape, planes(3, mirrors=True).shape
        ((4, 3, 3), (8, 3, 3))
    """
    of = points(mirrors)
    action = Action((len(of), side, side))
    for name in images(side, mirrors).names:
        matrix, (down, right) = MOVES[name]
        point = numbered(matrix @ of, mirrors)[:, None, None]
        rows, columns = np.tensordot(matrix, np.indices((side, side)), 1)
        targets = (point * side + (rows + down) % side) * side + (columns + right) % side
        action = action.perm(targets.ravel(), name)
    return action


def turned(filters: jax.Array, point: int) -> jax.Array:
    """Filters `[…, width, width]`, moved by a point of the group round their centre."""
    flipped = jnp.flip(filters, -1) if point >= 4 else filters
    return jnp.rot90(flipped, point % 4, (-2, -1))
