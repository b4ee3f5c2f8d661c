"""Networks on the sphere that commute with the 24 rotations of a cube: from functions on the sphere to functions on the
group.

| the mathematics                                              | here                                          |
| ------------------------------------------------------------ | --------------------------------------------- |
| the rotations of a cube, by two quarter turns                | `TURNS`                                       |
| the group `O` on points of the sphere, exactly               | `on_points(FACES)`, and `EDGES`, `CORNERS`    |
| its action on functions on itself                            | `on_group()`                                  |
| all equivariant maps `R^P → R^O`, a number for each point    | the first layer of `Spherical`                |
| group convolutions: `R^O → R^O`, 24 numbers                  | the layers after it                           |
| the mean over the group: an invariant                        | what is read                                  |

The points are those of a cube's surface, of which a rotation is an exact permutation: nothing is interpolated.
`patterns` has data to learn from: noisy patterns on the points, each turned by any of the rotations.

(Cohen et al., *Spherical CNNs*, 2018; Cohen and Welling, *Group equivariant convolutional networks*, 2016.)
"""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from cdl import CdlError
from cdl.checks import with_usage
from cdl.symmetry import Action, Chain, chain, Equivariant, groups


TURNS = {
    "about_x": np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]),
    "about_z": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
}
POINTS = np.array([p for p in itertools.product((-1, 0, 1), repeat=3) if any(p)])
"""All 26, as whole numbers: their directions are the points of the sphere."""
FACES, EDGES, CORNERS = (POINTS[np.abs(POINTS).sum(1) == n] for n in (1, 2, 3))


def on_points(points: np.ndarray = POINTS) -> Action:
    """The rotations of a cube on functions on some points. Generators `about_x` and `about_z`.

    **Arguments:** `points`: `int[n, 3]`, a set that the rotations map to itself, such as `FACES` or `POINTS`.

    **Raises:** `CdlError` for an array of another form, for a point that is listed twice, and where one is rotated to
    a point that is not in the set.

    Examples:
        >>> from cdl_arch.symmetry import FACES, on_points
        >>> faces = on_points(FACES)
        >>> faces(("about_x",) * 4, jnp.arange(6.0)).tolist()
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    """
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise CdlError(f"points are an array `[n, 3]`, with one or more, and this is one of {points.shape}.")
    place = {tuple(p): i for i, p in enumerate(points.tolist())}
    if len(place) < len(points):
        raise CdlError(f"{len(points)} points are listed, and {len(place)} of them are different: list each once.")
    action = Action(len(points))
    for name, turn in TURNS.items():
        targets = [tuple(p) for p in (points @ turn.T).tolist()]
        lost = [p for p in targets if p not in place]
        if lost:
            raise CdlError(f"`{name}` rotates a point to {lost[0]}, which is not among the points: give whole orbits.")
        action = action.perm([place[p] for p in targets], name)
    return action


def on_group() -> Action:
    """The rotations of a cube on functions on themselves, of 24 places.

    Examples:
        >>> from cdl_arch.symmetry import on_group
        >>> on_group().size
        24
    """
    return groups.regular(on_points())


class Spherical(eqx.Module):
    """A first layer from the sphere to the group, layers on the group, and a reading of the mean over it.

    Examples:
        >>> from cdl_arch.symmetry import FACES, on_points, Spherical
        >>> net = Spherical(FACES, (1, 2), 3, key=jax.random.key(0))
        >>> x = jnp.arange(6.0)[None]
        >>> turned = on_points(FACES)("about_x", x[0])[None]
        >>> bool(jnp.allclose(net(x), net(turned), atol=1e-4))
        True
    """

    body: Chain
    read: eqx.nn.Linear

    @with_usage
    def __init__(self, points: np.ndarray, channels: tuple[int, ...], classes: int, *, key: PRNGKeyArray) -> None:
        """**Arguments:** `points`: of the sphere. `channels`: that go in, and after each layer. `classes`: how many
        numbers are read.

        **Raises:** `CdlError` for fewer than two channels, and for points that the rotations do not map to themselves.
        """
        if len(channels) < 2:
            raise CdlError(f"channels {tuple(channels)} are asked for: give those that go in, and of each layer.")
        keys = jr.split(key, len(channels))
        sphere, group = on_points(points), on_group()
        sources = [sphere, *[group] * (len(channels) - 2)]
        layers: list[Any] = [
            f
            for X, n, m, k in zip(sources, channels[:-1], channels[1:], keys[1:], strict=True)
            for f in (Equivariant(X, group, n, m, key=k), jax.nn.silu)
        ]
        self.body = chain(layers[0], *layers[1:])
        self.read = eqx.nn.Linear(channels[-1], classes, key=keys[0])

    def __call__(self, x: Float[Array, "channels points"], /) -> Float[Array, " classes"]:
        """The numbers of a function on the sphere, which are those of each of its rotations."""
        return self.read(jnp.mean(self.body(x), -1))


@with_usage
def patterns(
    classes: int, count: int, points: np.ndarray = POINTS, noise: float = 0.3, *, key: PRNGKeyArray
) -> tuple[Float[Array, "count 1 points"], Int[Array, " count"]]:
    """Noisy examples of some patterns on the points, one pattern for each class, each turned by a random rotation.

    **Arguments:** `classes`: how many patterns there are. `count`: how many examples. `points`: `int[n, 3]`, as for
    `on_points`. `noise`: the standard deviation of what is added. `key`: for which pattern each is, the turns and
    the noise.

    **Returns:** the examples, `float[count, 1, points]`, and their classes, `int[count]`.

    Examples:
        >>> from cdl_arch.symmetry import FACES, patterns
        >>> inputs, labels = patterns(3, 5, FACES, key=jax.random.key(0))
        >>> inputs.shape, labels.shape
        ((5, 1, 6), (5,))
    """
    a, b, c = jr.split(key, 3)
    of, turn = jr.randint(a, (count,), 0, classes), jr.randint(b, (count,), 0, 24)
    noises = noise * jr.normal(c, (count, len(points)))
    known = jnp.asarray(np.random.default_rng(0).normal(size=(classes, len(points))), noises.dtype)
    moved = known[:, np.argsort(_rotations(points), axis=1)]
    return (moved[of, turn] + noises)[:, None], of


def _rotations(points: np.ndarray) -> np.ndarray:
    """Where each rotation takes each point, `int[24, points]`."""
    found, turns = [tuple(range(len(points)))], [np.argmax(g.dense, 0) for g in on_points(points).generators]
    for rotation in found:
        found += [new for new in (tuple(turn[list(rotation)]) for turn in turns) if new not in found]
    return np.array(found)
