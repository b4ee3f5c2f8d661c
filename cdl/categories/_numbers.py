"""Two categories whose objects are numbers: matrices, and functions between finite sets.

| the mathematics          | `MAT`                                        | `SETS`                                   |
| ------------------------ | -------------------------------------------- | ---------------------------------------- |
| a map `n → m`            | a matrix of shape `(m, n)`                   | an array of `n` indices below `m`        |
| `f`, then `g`            | the product `G F`                            | `g[f]`                                   |
| the tensor               | Kronecker's product                          | of pairs; `(i, j)` is number `i · n + j` |
| the unit                 | 1                                            | 1                                        |
| the dagger `f† : m → n`  | `DAGGER`: conjugate transpose, contravariant |                                          |

Both are strict: the two bracketings of a product are one object, and `α`, `λ` and `ρ` are identities. Bodies are
NumPy's, in double precision.
"""

from typing import Any

import numpy as np

from .._functors.usage import whole
from .._functors.words import short
from ..errors import PortMismatch
from ._category import Arrow
from ._functor import Functor
from ._monoidal import Monoidal


def _numbers(matrix: Any) -> Any:
    """A matrix in double precision: of complex numbers where it has such, else of real ones."""
    found = np.asarray(matrix)
    return found.astype(np.promote_types(found.dtype, float))


def _matrix_ends(matrix: Any) -> tuple[int, int]:
    if np.ndim(matrix) != 2 or not np.can_cast(np.asarray(matrix).dtype, complex):
        raise PortMismatch(f"a map of `Mat` is a matrix, of shape (target, source), and not {short(matrix)}.")
    return np.shape(matrix)[1], np.shape(matrix)[0]


def _function_ends(index: Any, target: Any) -> tuple[int, int]:
    target, index = whole("target", target, least=0), np.asarray(index)
    if index.ndim != 1 or (index.size and (index.dtype.kind not in "iu" or index.min() < 0 or index.max() >= target)):
        raise PortMismatch(
            f"a function to a set of {target} is an array of indices below that, and not {short(index)}."
        )
    return len(index), target


def _places(n: Any, m: Any) -> Any:
    """The exchange of `n × m` as a function of numbers: that of `(i, j)` to that of `(j, i)`."""
    return np.arange(n * m).reshape(m, n).T.reshape(-1)


def _numbers_beside(f: Arrow, g: Arrow) -> Any:
    first, second = np.asarray(f.body, int), np.asarray(g.body, int)
    return (first[:, None] * g.target + second[None, :]).reshape(-1)


def _same_function(*sizes: Any) -> tuple[Any, Any]:
    one = np.arange(int(np.prod(sizes)))
    return one, one


def _same_matrix(*sizes: Any) -> tuple[Any, Any]:
    one = np.eye(int(np.prod(sizes)))
    return one, one


def _moved(n: Any, m: Any) -> Any:
    """The permutation matrix of the exchange."""
    return np.eye(n * m)[:, _places(n, m)]


MAT = Monoidal(
    name="Mat",
    ends=_matrix_ends,
    one=np.eye,
    then=lambda f, g: _numbers(g) @ _numbers(f),
    observed=lambda f: _numbers(f.body),
    unit=1,
    pair=lambda n, m: n * m,
    beside=lambda f, g: np.kron(_numbers(f.body), _numbers(g.body)),
    associator=_same_matrix,
    left_unitor=_same_matrix,
    right_unitor=_same_matrix,
    braiding=_moved,
)
"""Matrices of real or complex numbers: `MAT.arrow(matrix)`.

Examples:
    >>> row = cdl.categories.MAT.arrow([[1.0, 2.0]])
    >>> cdl.categories.MAT.tensor(row, row).source
    4
"""


DAGGER = Functor(MAT, MAT, lambda n: n, lambda f: _numbers(f.body).conj().T, contravariant=True)
"""The conjugate transpose: it changes no object, turns maps around, and is its own inverse.

Examples:
    >>> cdl.categories.DAGGER(cdl.categories.MAT.arrow([[1.0, 2.0]])).body.tolist()
    [[1.0], [2.0]]
"""


SETS = Monoidal(
    name="finite sets",
    ends=_function_ends,
    one=np.arange,
    then=lambda f, g: np.asarray(g, int)[np.asarray(f, int)],
    observed=lambda f: np.asarray(f.body, int),
    unit=1,
    pair=lambda n, m: n * m,
    beside=_numbers_beside,
    associator=_same_function,
    left_unitor=_same_function,
    right_unitor=_same_function,
    braiding=_places,
)
"""Functions between finite sets: `SETS.arrow(indices, size_of_the_target)`.

Examples:
    >>> swap, const = cdl.categories.SETS.arrow([1, 0], 2), cdl.categories.SETS.arrow([0, 0], 3)
    >>> cdl.categories.SETS.compose(swap, const).body.tolist()
    [0, 0]
"""
