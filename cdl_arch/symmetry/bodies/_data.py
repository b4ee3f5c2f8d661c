"""Rigid bodies as trees: point masses on rods, and how far their masses are spread.

| the mathematics                                            | here                                       |
| ---------------------------------------------------------- | ------------------------------------------ |
| `F(X) = R × R³ + R³ × X²`                                  | `BodyF`: a `Mass`, or two bodies on a `Rod`|
| rotations on the vectors of every node                     | `LAW`, the distributive law of SO(3)       |
| `m = Σ mᵢ`, `s = Σ mᵢ xᵢ`, `q = Σ mᵢ ‖xᵢ‖²`                | `moments`, a fold                          |
| the radius of gyration, `r² = q / m − ‖s / m‖²`            | `gyration`                                 |

A mass hangs on an arm; the second of two bodies hangs at the end of a rod, and the first where the rod begins. The
bodies that `bodies` makes lie along the third axis, so that a network may learn which axis that is.
"""

from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import numpy as np
from jaxtyping import Array, Float

from cdl import algebra, Base, cata, Fix
from cdl.symmetry import Distributive, groups


X = TypeVar("X", covariant=True)
Vector = Float[Array, "3"] | Float[np.ndarray, "3"]


class Body:
    """Point masses joined by rods: the name of the functor."""


class Mass(Base[Body, Never]):
    """A point mass at the end of an arm."""

    mass: float
    arm: Vector


class Rod(Base[Body, X], Generic[X]):
    """Two bodies, one at each end of a rod."""

    near: X
    far: X
    rod: Vector


BodyF = Union[Mass, Rod[X]]
ROTATIONS = groups.so(3)
LAW = Distributive(BodyF, {Mass: {"arm": ROTATIONS}, Rod: {"rod": ROTATIONS}})


@algebra
def moments(layer: BodyF[tuple[float, np.ndarray, float]]) -> tuple[float, np.ndarray, float]:
    """The mass, the mass times the place of its centre, and the second moment, from where the body hangs."""
    match layer:
        case Mass(m, arm):
            arm = np.asarray(arm, np.float64)
            return m, m * arm, m * float(arm @ arm)
        case Rod((m, s, q), (n, t, r), rod):
            rod = np.asarray(rod, np.float64)
            return m + n, s + t + n * rod, q + r + 2 * float(rod @ t) + n * float(rod @ rod)


def gyration(body: Fix[Body]) -> float:
    """The square of the radius of gyration: the mean square distance from the centre of mass."""
    m, s, q = cata(moments)(body)
    return q / m - float(s @ s) / m**2


def bodies(count: int, masses: tuple[int, int], seed: int) -> list[Any]:
    """Random bodies that lie along the third axis. **Arguments:** `masses`: the least and the greatest number."""
    rng = np.random.default_rng(seed)
    vector: Callable[[], np.ndarray] = lambda: (rng.normal(size=3) * [0.2, 0.2, 1.0]).astype(np.float32)
    found: list[Any] = []
    for _ in range(count):
        number = rng.integers(*masses, endpoint=True)
        parts: list[Any] = [Mass(float(rng.uniform(0.5, 1.5)), vector()) for _ in range(number)]
        while len(parts) > 1:
            i = rng.integers(len(parts) - 1)
            parts[i : i + 2] = [Rod(parts[i], parts[i + 1], vector())]
        found += parts
    return found


def rotated(trees: list[Any], seed: int) -> list[Any]:
    """Each body turned by its own random rotation, uniformly drawn."""
    rng = np.random.default_rng(seed)

    def turn(matrix: np.ndarray) -> Any:
        def turned(layer: BodyF[Any]) -> Any:
            match layer:
                case Mass(m, arm):
                    return Mass(m, matrix @ arm)
                case Rod(near, far, rod):
                    return Rod(near, far, matrix @ rod)

        return algebra(turned)

    turned: list[Any] = [cata(turn(_rotation(rng)))(tree) for tree in trees]
    return turned


def _rotation(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ).astype(np.float32)
