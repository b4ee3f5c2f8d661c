"""`hom(X, Y)`: all linear maps that commute with the action of a monoid.

| the mathematics                                | here                                                                |
| ---------------------------------------------- | ------------------------------------------------------------------- |
| linear maps of algebras of `M × −`, `X → Y`    | `hom(X, Y)`, a `Tying`                                              |
| `W ρ_X(m) = ρ_Y(m) W`, for each generator `m`  | its equations: no inverse is in them                                |

Entry `(a, i)` of the equation is `Σ_b ρ_Y[a, b] W[b, i] = Σ_j W[a, j] ρ_X[j, i]`. Where no row of `ρ_Y` and no column
of `ρ_X` has two entries, each side has one term, and every equation says that a weight is zero or tied to another: the
solutions are found exactly, in time linear in the number of weights. That is so of permutations, signed ones, partial
injections, of pushed functions on the side of `X` and of pulled ones on the side of `Y`. Factors are multiplied exactly
where all are whole numbers, or multiples of 1/1024 of at most 26 binary digits, and not more than 32 are different. For
others two products that differ by less than
16 roundings for each factor are equal, and two that differ by less than `5e-7` are refused. All other equations go
through a presolve, where a number below `2e-13` of what was added up is zero, and what is left of them through a null
space whose rank is certified by the gap in its spectrum. Where all entries are meant exactly, such as whole numbers,
a dimension that may be rounded is counted a second time, modulo a prime, and refused where the two differ.
"""

import functools

import numpy as np

from ..errors import CdlError
from ._action import Action, aligned
from ._counted import certify
from ._factors import MOST
from ._generator import Generator
from ._given import exact, few_digits
from ._orbits import Classes, classes, Ties
from ._presolve import solve
from ._rounding import EXACT, Rounding
from ._sparse import scipy
from ._tying import Combinations, Orbits, Tying


def hom(X: Action, Y: Action, /) -> Tying:
    """Finds all linear equivariant maps from `X` to `Y`, as a tying of the weights of a dense map.

    **Arguments:** `X`, `Y`: actions of one monoid: generators of the same names in the same order.

    **Returns:** a `Tying` of shape `(Y.size, X.size)`. Its `dimension` is that of the space of equivariant maps.

    **Raises:** `CdlError` where the actions are not of one monoid, and where rounding hides the rank.

    Source: Gavranović et al., Categorical Deep Learning (2024), examples 2.4 to 2.6 and remark 2.7.

    Examples:
        >>> from cdl.symmetry import hom, groups
        >>> hom(groups.cyclic(5), groups.cyclic(5)).dimension
        5
    """
    aligned(X, Y, "hom(X, Y)")
    if X.size * Y.size >= 2**31:
        raise CdlError(f"a map from {X.size} to {Y.size} numbers has 2³¹ weights or more, and is not solved.")
    return _solved(X, Y)


@functools.lru_cache(maxsize=64)
def _solved(X: Action, Y: Action) -> Tying:
    """Solved once for the same two actions: the layers of a network ask each time they are called."""
    pairs = [(_without_dust(x), _without_dust(y)) for x, y in aligned(X, Y, "hom(X, Y)")]
    exact = [(x, y) for x, y in pairs if y.by_row and x.by_column]
    others = [(x, y) for x, y in pairs if not (y.by_row and x.by_column)]
    ties = [_ties(x, y) for x, y in exact]
    known = [max([EXACT, *(z.precision for pair in some for z in pair)]) for some in (exact, pairs)]
    found = classes(X.size * Y.size, _joined(ties), Rounding.of_factors(known[0]))
    shape = (Y.size, X.size)
    if not others:
        if _many_factors(pairs):
            certify(found.dimension, pairs)
        return _orbits(shape, found, "orbits", None)
    solved = solve(found, others, Rounding.of(known[1]))
    count = solved.found.dimension if isinstance(solved.found, Classes) else solved.found.shape[1]
    certify(count, pairs)
    if isinstance(solved.found, Classes):
        return _orbits(shape, solved.found, solved.how, solved.gap)
    return Combinations(shape, count, solved.how, solved.gap, solved.found)


def _many_factors(pairs: list[tuple[Generator, Generator]]) -> bool:
    """Whether there are more factors than are multiplied exactly."""
    return len(np.unique(np.abs(np.concatenate([np.zeros(0), *(z.values for pair in pairs for z in pair)])))) > MOST


def _orbits(shape: tuple[int, int], found: Classes, how: str, gap: float | None) -> Tying:
    scales = None if found.scales is None else found.scales.reshape(shape)
    if scales is not None and np.any((scales.ravel() == 0) & (found.labels >= 0)):
        raise CdlError(
            "two weights are tied by a factor that is below the least `float64`: give generators whose factors are "
            "nearer to 1."
        )
    return Orbits(shape, found.dimension, how, gap, found.labels.astype(np.int32).reshape(shape), scales)


def _without_dust(x: Generator) -> Generator:
    """A generator without the entries that are below the rounding of its greatest, such as the sine of π. Entries that
    are all `exact`, and the scales of a permutation, are meant.

    **Raises:** `CdlError` for entries that may be rounding, and may be meant.
    """
    sizes = np.abs(x.values)
    if exact(x.values) or (x.by_row and x.by_column and len(x.values) == x.size):
        return x
    kept = Rounding(4 * x.precision, 1e3 * x.precision).split(sizes / sizes.max())
    if not np.all(kept) and few_digits(x.values):
        raise CdlError(
            f"generator `{x.name}` has the entries {sizes.max():g} and {sizes[~kept].max():g}, and rounding of the "
            "first may have left the second. Give entries that differ less in size, or zero for what is rounding."
        )
    matrix = scipy.sparse.coo_array((x.values[kept], (x.rows[kept], x.columns[kept])), shape=(x.size, x.size))
    return x if np.all(kept) else Generator.of(x.name, matrix, x.lie, x.precision)


def _ties(x: Generator, y: Generator) -> Ties:
    """The equations of one generator, where each side of each has one term or none.

    `ρ_Y` as a source `b(a)` of each row with a factor, `ρ_X` as a target `j(i)` of each column with one.
    """
    source, s = _line(y.size, y.rows, y.columns, y.values)
    target, t = _line(x.size, x.columns, x.rows, x.values)
    places = np.arange(x.size)
    left = np.where(source[:, None] < 0, -1, source[:, None] * x.size + places)
    right = np.where(target < 0, -1, np.arange(y.size)[:, None] * x.size + target)
    both = (left >= 0) & (right >= 0)
    if len(set(s[source >= 0].tolist()) | set(t[target >= 0].tolist())) <= 1:  # one factor on both sides: it cancels
        factors = (np.ones(int(np.sum(both))),) * 2
    else:
        factors = np.broadcast_to(s[:, None], both.shape)[both], np.broadcast_to(t, both.shape)[both]
    alone = left[(left >= 0) & (right < 0)], right[(right >= 0) & (left < 0)]
    p, q = left[both], right[both]
    said = (p != q) | (factors[0] != factors[1])  # the others say that a weight is itself
    return Ties(p[said], q[said], factors[0][said], factors[1][said], np.concatenate(alone))


def _line(size: int, at: np.ndarray, to: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the one entry of each row goes, and its value; -1 and 0 for an empty row."""
    where, factor = np.full(size, -1), np.zeros(size)
    where[at], factor[at] = to, values
    return where, factor


def _joined(ties: list[Ties]) -> Ties:
    empty = np.zeros(0, np.int64)
    columns = zip(*ties, strict=True) if ties else [[empty]] * len(Ties._fields)
    return Ties(*map(np.concatenate, columns))
