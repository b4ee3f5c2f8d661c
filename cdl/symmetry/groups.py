"""Groups that act on images, on nodes, edges and vectors, ready to use. Each is a list of generators.

| the action                                  | here                                      | generators      |
| ------------------------------------------- | ----------------------------------------- | --------------- |
| `C_n`, on `ℝⁿ` by shifts                    | `cyclic(n)`                               | 1               |
| `C_a × C_b × …`, on grids by shifts         | `translations(a, b, …)`                   | one an axis     |
| `C₄`, on square images by quarter turns     | `rotations(side)`                         | 1               |
| mirror images                               | `reflections(side)`                       | 1               |
| `D₄`, p4 and p4m on a torus                 | `dihedral(side)`, `p4(side)`, `p4m(side)` | 2, 3, 4         |
| `S_n` on nodes; on tensors of order `k`     | `permutations(n)`, and `.power(k)`        | 2               |
| signed permutations `B_n`                   | `signed_permutations(n)`                  | 3               |
| `SO(d)` on vectors; on tensors of order `k` | `so(d)`, and `.power(k)`                  | `d (d − 1) / 2` |
| a scaling                                   | `scalings(n, factor)`                     | 1               |
| what a faithful action generates, on itself | `regular(X)`                              | those of `X`    |
| a word for each of its elements             | `words(regular(X))`                       |                 |
"""

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from .._functors.usage import with_usage
from ..errors import CdlError
from ._action import Action
from ._generated import generated
from ._generator import Generator
from ._sizes import size_of
from ._word import Word


Table: TypeAlias = tuple[tuple[int, float], ...]
LOST: tuple[int, float] = (-1, 0.0)


def cyclic(n: int) -> Action:
    """`C_n` on `ℝⁿ`: the number at place `i` goes to `i + 1`, and the last to 0. Generator `shift`.

    Examples:
        >>> C4 = cdl.symmetry.groups.cyclic(4)
        >>> cdl.symmetry.moved("shift", C4, jnp.array([1, 2, 3, 4]))
        Array([4, 1, 2, 3], dtype=int32)
    """
    return Action(size_of(n, "places")).perm(np.roll(np.arange(n), -1), "shift")


def translations(*shape: int) -> Action:
    """Shifts of a grid along each axis, round its ends. Generators `shift0`, `shift1`, …

    Examples:
        >>> torus = cdl.symmetry.groups.translations(2, 3)
        >>> torus("shift1", jnp.array([[1, 2, 3], [4, 5, 6]]))
        Array([[3, 1, 2],
               [6, 4, 5]], dtype=int32)
    """
    return _shifts(shape, True)


def truncated_translations(*shape: int) -> Action:
    """Shifts of a grid along each axis, where what goes over the end is lost: a monoid, and no group.

    Maps that commute with these are causal convolutions: an output reads the inputs before it. Generators as for
    `translations`.

    Examples:
        >>> cdl.symmetry.groups.truncated_translations(4)("shift0", jnp.array([1, 2, 3, 4]))
        Array([0, 1, 2, 3], dtype=int32)
    """
    return _shifts(shape, False)


def rotations(side: int) -> Action:
    """`C₄` on images of `side × side`, by quarter turns as `jnp.rot90` has them. Generator `turn`.

    Examples:
        >>> cdl.symmetry.groups.rotations(2)("turn", jnp.array([[1, 2], [3, 4]]))
        Array([[2, 4],
               [1, 3]], dtype=int32)
    """
    places = _places(side)
    return Action((side, side)).perm(np.argsort(np.rot90(places).ravel()), "turn")


def reflections(side: int) -> Action:
    """Mirror images, left and right exchanged, of images of `side × side`. Generator `mirror`.

    Examples:
        >>> cdl.symmetry.groups.reflections(2)("mirror", jnp.array([[1, 2], [3, 4]]))
        Array([[2, 1],
               [4, 3]], dtype=int32)
    """
    return Action((side, side)).perm(np.argsort(np.fliplr(_places(side)).ravel()), "mirror")


def dihedral(side: int) -> Action:
    """`D₄` on images of `side × side`: quarter turns and mirror images.

    Examples:
        >>> D4 = cdl.symmetry.groups.dihedral(2)
        >>> D4(("turn", "mirror"), jnp.array([[1, 2], [3, 4]]))
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    return rotations(side) & reflections(side)


def p4(side: int) -> Action:
    """Shifts and quarter turns of a torus of `side × side`.

    Examples:
        >>> p4 = cdl.symmetry.groups.p4(2)
        >>> cdl.symmetry.hom(p4, p4).dimension
        3
    """
    return translations(side, side) & rotations(side)


def p4m(side: int) -> Action:
    """Shifts, quarter turns and mirror images of a torus of `side × side`.

    Examples:
        >>> p4m = cdl.symmetry.groups.p4m(2)
        >>> cdl.symmetry.hom(p4m, p4m).dimension
        3
    """
    return p4(side) & reflections(side)


def permutations(n: int) -> Action:
    """`S_n` on `ℝⁿ`, by a cycle of all places and an exchange of two. Generators `cycle` and `swap`.

    Examples:
        >>> sets = cdl.symmetry.groups.permutations(5)
        >>> cdl.symmetry.hom(sets, sets).dimension
        2
    """
    places = np.arange(size_of(n, "places"))
    swap = places.copy()
    swap[:2] = swap[:2][::-1]
    return Action(n).perm(np.roll(places, -1), "cycle").perm(swap, "swap")


def signed_permutations(n: int) -> Action:
    """The hyperoctahedral group on `ℝⁿ`: permutations, and changes of sign. Generators `cycle`, `swap`, `negate`.

    Examples:
        >>> signed = cdl.symmetry.groups.signed_permutations(5)
        >>> cdl.symmetry.hom(signed, signed).dimension
        1
    """
    signs = np.ones(size_of(n, "places"))
    signs[:1] = -1
    return Action(n, permutations(n).generators).signed(np.arange(n), signs, "negate")


def so(dimension: int) -> Action:
    """The rotations of `ℝᵈ`, by their Lie algebra: an antisymmetric matrix for each plane of two axes, `turn01`, …

    On tensors of order `k`: `so(3).power(k)`.

    Examples:
        >>> turn = cdl.symmetry.groups.so(3)
        >>> turn("turn01", jnp.array([1.0, 0.0, 5.0]))
        Array([-0.,  1.,  0.], dtype=float32)
    """
    action = Action(size_of(dimension, "axes"))
    for i in range(dimension):
        for j in range(i + 1, dimension):
            turn = np.zeros((dimension, dimension))
            turn[j, i], turn[i, j] = 1.0, -1.0
            action = action.lie(turn, f"turn{i}{j}")
    return action


def scalings(n: int, factor: float = 2.0) -> Action:
    """All of `ℝⁿ` times a factor. Generator `scale`. With a factor of 0 it is a monoid, and not a group.

    **Arguments:** `n`: the dimension. `factor`: what a vector is multiplied by.

    Examples:
        >>> cdl.symmetry.groups.scalings(2)("scale", jnp.array([1.0, 3.0]))
        Array([2., 6.], dtype=float32)
    """
    return Action(size_of(n, "places")).signed(np.arange(n), np.full(n, factor), "scale")


@with_usage
def regular(X: Action, limit: int = 10_000) -> Action:
    """What the generators of `X` generate, acting on itself: `m · e_x = e_{m x}`, on `ℝ^M`.

    Maps `X → regular(X)` are lifting layers, and maps `regular(X) → regular(X)` group convolutions. Element 0 is
    the unit.

    **Arguments:** `X`: an action by generators with at most one entry a column, such as permutations, partial
    functions, signs. `limit`: the most elements that there may be.

    **Raises:** `CdlError` where there are more elements than the limit, for generators of other kinds, and where two
    factors have a product that `float64` rounds: what they generate is then not known.

    Examples:
        >>> S3 = cdl.symmetry.groups.regular(cdl.symmetry.groups.permutations(3))
        >>> S3.shape, cdl.symmetry.hom(S3, S3).dimension
        ((6,), 6)
    """
    tables = [_table(x) for x in X.generators]
    unit: Table = tuple((i, 1.0) for i in range(X.size))
    elements, targets = generated(unit, len(tables), lambda letter, at: _after(tables[letter], at), limit, X)
    action = Action(len(elements))
    for generator, goes in zip(X.generators, targets, strict=True):
        action = action.push(goes, generator.name)
    return action


@with_usage
def words(regular: Action) -> list[Word]:
    """A shortest word for each element of `regular(X)`, by its number: `X(words(G)[i], x)` is element `i` on `x`.

    **Raises:** `CdlError` for another action than `regular` gives.

    Examples:
        >>> C4 = cdl.symmetry.groups.regular(cdl.symmetry.groups.cyclic(4))
        >>> cdl.symmetry.groups.words(C4)
        [(), ('shift',), ('shift', 'shift'), ('shift', 'shift', 'shift')]
    """
    found: dict[int, Word] = {0: ()}
    goes = {x.name: [place for place, _ in _table(x)] for x in regular.generators}
    for element in (queue := [0][: regular.size]):
        for name, targets in goes.items():
            if targets[element] not in found:
                found[targets[element]] = (name, *found[element])
                queue.append(targets[element])
    if sorted(found) != list(range(regular.size)):
        raise CdlError(f"`words` is of what `regular` gives, and not every place of {regular} is a word's.")
    return [found[i] for i in range(regular.size)]


def _after(table: list[tuple[int, float]], element: Table) -> Table:
    """The product of a generator and an element."""
    return tuple(LOST if i < 0 or table[i][0] < 0 else (table[i][0], _times(table[i][1], s)) for i, s in element)


def _times(s: float, t: float) -> float:
    """The product of two factors. **Raises:** `CdlError` where it is rounded."""
    if abs(s) == 1 or abs(t) == 1:
        return s * t
    if math.isinf(s * t) or Fraction(s) * Fraction(t) != Fraction(s * t):
        raise CdlError(
            f"`regular` multiplies factors exactly, and {s:g} · {t:g} is rounded in `float64`: give signs, or factors "
            "such as 2 and 0.5 that generate few elements."
        )
    return s * t


def _table(x: Generator) -> list[tuple[int, float]]:
    """Where each place goes, and with what factor; -1 for nowhere."""
    if x.lie or not x.by_column:
        raise CdlError(
            f"`regular` takes generators that send each place to one place, and `{x.name}` does not: give `perm`, "
            "`push` or `signed`."
        )
    table = [LOST] * x.size
    for row, column, value in zip(x.rows.tolist(), x.columns.tolist(), x.values.tolist(), strict=True):
        table[column] = (row, value)
    return table


def _shifts(shape: tuple[int, ...], periodic: bool) -> Action:
    action = Action(tuple(size_of(n, "places") for n in shape))
    for axis, n in enumerate(shape):
        places = np.indices(shape)
        places[axis] += 1
        inside = places[axis] < n
        places[axis] %= n
        targets = np.where(inside | periodic, np.ravel_multi_index(tuple(places), shape), -1)
        action = action.push(targets.ravel(), f"shift{axis}")
    return action


def _places(side: int) -> np.ndarray:
    return np.arange(size_of(side, "places") ** 2).reshape(side, side)
