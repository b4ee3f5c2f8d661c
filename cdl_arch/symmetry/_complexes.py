"""Simplicial complexes: boundaries in whole numbers, Laplacians, holes, and symmetries.

| the mathematics                                         | here                                             |
| ------------------------------------------------------- | ------------------------------------------------ |
| a simplex with an orientation                           | a tuple of its vertices, in an order             |
| a complex: with each simplex it has all faces           | `Complex(simplices)`; `closed(simplices)`        |
| `∂ (v₀ … v_k) = Σ (−1)ⁱ (v₀ … v̂ᵢ … v_k)`, and `∂ ∂ = 0` | `complex.boundary(k)`, of whole numbers          |
| `L_k = ∂ᵀ ∂ + ∂ ∂ᵀ`, the Hodge Laplacian                | `sum(complex.laplacians(k))`                     |
| Betti numbers: `dim ker L_k`, the holes                 | `complex.betti`, exact                           |
| a relabelling as a signed permutation of the simplices  | `complex.move(other, k, labels)`                 |
| a group of such, on the numbers of the `k`-simplices    | `complex.action(k, generators)`                  |

Two orders of the vertices that differ by an odd permutation are opposite orientations: a number at the simplex changes
its sign.
"""

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cdl import CdlError
from cdl.checks import with_usage
from cdl.symmetry import Action


Simplex = tuple[int, ...]


@with_usage
def closed(simplices: Iterable[Sequence[int]]) -> list[Simplex]:
    """The simplices with all their faces, smallest first, each with its vertices in ascending order.

    **Raises:** `CdlError` where a simplex is not a tuple of whole numbers, each once.

    Examples:
        >>> from cdl_arch.symmetry import closed
        >>> closed([(0, 1, 2)])
        [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    """
    faces = {
        f for s in map(_simplex, simplices) for k in range(1, len(s) + 1) for f in itertools.combinations(sorted(s), k)
    }
    return sorted(faces, key=lambda f: (len(f), f))


class Complex:
    """Vertices, edges, triangles and so on, each with an orientation, in the order in which they were listed.

    Examples:
        >>> from cdl_arch.symmetry import closed, Complex
        >>> hollow = Complex(closed([(0, 1), (1, 2), (0, 2)]))
        >>> hollow.betti
        (1, 1)
    """

    @with_usage
    def __init__(self, simplices: Iterable[Sequence[int]]) -> None:
        """**Arguments:** `simplices`: tuples of vertices. A vertex is a whole number.

        **Raises:** `CdlError` where a vertex is something else, and where a simplex is listed twice, has a vertex
        twice, or lacks one of its faces.
        """
        listed = [_simplex(s) for s in simplices]
        self.places: dict[frozenset[int], int] = {}
        self.simplices: list[list[Simplex]] = []
        for s in sorted(listed, key=len):
            if frozenset(s) in self.places:
                raise CdlError(f"the simplex {s} is listed twice: list each set of vertices once, in one order.")
            for face in itertools.combinations(s, len(s) - 1) if len(s) > 1 else ():
                if frozenset(face) not in self.places:
                    what = f"its vertex {face}" if len(face) == 1 else f"its face {face}"
                    raise CdlError(f"the simplex {s} is listed without {what}: `closed` adds the faces.")
            while len(self.simplices) < len(s):
                self.simplices.append([])
            self.places[frozenset(s)] = len(self.simplices[len(s) - 1])
            self.simplices[len(s) - 1].append(s)

    def size(self, k: int) -> int:
        """How many simplices of a dimension there are."""
        return len(self._of(k))

    def boundary(self, k: int) -> np.ndarray:
        """`int64[size(k - 1), size(k)]`: the faces of each simplex of a dimension, with their signs."""
        matrix = np.zeros((self.size(k - 1), self.size(k)), np.int64)
        for j, s in enumerate(self._of(k) if k else ()):
            for i in range(len(s)):
                row, sign = self._at(s[:i] + s[i + 1 :])
                matrix[row, j] = (-1) ** i * sign
        return matrix

    def laplacians(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """`∂ᵀ ∂`, over the faces, and `∂ ∂ᵀ`, over the simplices of which this is a face: `int64[size(k), size(k)]`."""
        down, up = self.boundary(k), self.boundary(k + 1)
        return down.T @ down, up @ up.T

    @property
    def betti(self) -> tuple[int, ...]:
        """How many holes there are of each dimension: components, loops, cavities."""
        ranks = [_rank(self.boundary(k)) for k in range(len(self.simplices) + 1)]
        return tuple(self.size(k) - ranks[k] - ranks[k + 1] for k in range(len(self.simplices)))

    def move(self, other: "Complex", k: int, labels: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Where the simplices of a dimension go in another complex, and with what sign.

        **Arguments:** `other`: the same complex with other labels, in another order, or with other orientations.
        `labels`: what each vertex is called there: `labels[v]`, for a vertex `v`; its own name without.

        **Raises:** `CdlError` where a vertex has no label, where two have one, and where a simplex goes to none.
        """
        called = self._called(labels)
        found = [other._at(tuple(called[v] for v in s)) for s in self._of(k)]
        return np.array([i for i, _ in found], int), np.array([sign for _, sign in found], int)

    def action(self, k: int, **symmetries: Sequence[int]) -> Action:
        """The symmetries of the complex, each a permutation of the vertices, on a number at each `k`-simplex.

        **Raises:** `CdlError` for a complex without such simplices, and as `move` does.
        """
        if not self._of(k):
            raise CdlError(f"the complex has no simplices of dimension {k}: there is nothing to act on.")
        action = Action(self.size(k))
        for name, labels in symmetries.items():
            action = action.signed(*self.move(self, k, labels), name)
        return action

    def _of(self, k: int) -> list[Simplex]:
        """The simplices of a dimension."""
        return self.simplices[k] if 0 <= k < len(self.simplices) else []

    def _called(self, labels: Sequence[int] | None) -> dict[int, int]:
        """What each vertex is called elsewhere."""
        vertices = [v for (v,) in self._of(0)]
        if labels is None:
            return {v: v for v in vertices}
        for v in vertices:
            if not 0 <= v < len(labels):
                raise CdlError(f"there are {len(labels)} labels, and none for the vertex {v}: give `labels[{v}]`.")
        called = {v: _vertex(labels[v]) for v in vertices}
        first = dict[int, int]()
        for v, label in called.items():
            if first.setdefault(label, v) != v:
                raise CdlError(f"the vertices {first[label]} and {v} have one label, {label}: give each its own.")
        return called

    def _at(self, s: Simplex) -> tuple[int, int]:
        """The place of a simplex, and its sign against the orientation there."""
        place = self.places.get(frozenset(s))
        if place is None:
            raise CdlError(f"the simplex {s} is not in the complex.")
        there = self.simplices[len(s) - 1][place]
        order = [there.index(v) for v in s]
        odd = sum(a > b for a, b in itertools.combinations(order, 2)) % 2
        return place, -1 if odd else 1


def _simplex(given: Any) -> Simplex:
    """The vertices of a simplex, checked."""
    if not isinstance(given, Iterable):
        raise CdlError(f"`{given!r}` is not a simplex: give a tuple of vertices, such as `(0, 1)`.")
    s = tuple(map(_vertex, given))
    if not s or len(set(s)) < len(s):
        raise CdlError(f"`{s}` is not a simplex: give one vertex or more, each once.")
    return s


def _vertex(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise CdlError(f"`{given!r}` is not a vertex: number the vertices, as in `(0, 1, 2)`.")
    return int(given)


def _rank(matrix: np.ndarray) -> int:
    """The rank of a matrix of whole numbers, exactly."""
    rows, rank = [[Fraction(int(x)) for x in row] for row in matrix], 0
    for column in range(matrix.shape[1]):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            if factor := rows[i][column] / rows[rank][column]:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank
