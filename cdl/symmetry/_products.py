"""Generators that are made of others: on products of two carriers, on sums, and where nothing moves.

| the mathematics                                          | here             |
| -------------------------------------------------------- | ---------------- |
| `A ⊗ B`, and `A ⊗ 1 + 1 ⊗ B` of a Lie algebra            | `tensor(x, y)`   |
| `A ⊕ B`                                                  | `block(x, y)`    |
| `1`, and `0` of a Lie algebra                            | `still(x, size)` |
| `Aᵀ`                                                     | `transpose(x)`   |
| the generators of two actions of one monoid, in pairs    | `paired(xs, ys)` |
"""

from collections.abc import Sequence

import numpy as np

from .._functors.words import number_of
from ..errors import CdlError
from ._generator import Generator
from ._held import product
from ._sparse import scipy


def paired(xs: Sequence[Generator], ys: Sequence[Generator], what: str) -> list[tuple[Generator, Generator]]:
    """The generators of two actions, `X` and `Y`, in pairs.

    **Raises:** `CdlError` where they are not of one monoid.
    """
    if len(xs) != len(ys):
        raise CdlError(
            f"{what}: `X` has {listed(xs)} and `Y` has {listed(ys)}. Give both the generators of one monoid, "
            "in one order."
        )
    for x, y in zip(xs, ys, strict=True):
        if x.name != y.name:
            raise CdlError(
                f"{what}: where `X` has the generator `{x.name}`, `Y` has `{y.name}`. If they are one element of the "
                "monoid, give them one name: `Y.named(…)`."
            )
        if x.lie != y.lie:
            raise CdlError(
                f"{what}: generator `{x.name}` is an element of a Lie algebra in one action, and of the monoid in the "
                "other. Use `lie` in both, or `matrix` in both."
            )
    return list(zip(xs, ys, strict=True))


def listed(generators: Sequence[Generator]) -> str:
    """How many generators there are, and their names."""
    many = number_of("generator", len(generators))
    return f"{many} ({', '.join(x.name for x in generators)})" if generators else "no generators"


def transpose(x: Generator) -> Generator:
    """Its matrix transposed."""
    matrix = scipy.sparse.coo_array((x.values, (x.columns, x.rows)), shape=(x.size, x.size))
    return Generator.of(x.name, matrix, x.lie, x.precision)


def still(like: Generator, size: int) -> Generator:
    """The generator that acts as nothing: the matrix 1, or 0 for one of a Lie algebra."""
    empty = scipy.sparse.coo_array((size, size), dtype=np.float64)
    return Generator.of(like.name, empty if like.lie else scipy.sparse.eye_array(size).tocoo(), like.lie)


def tensor(x: Generator, y: Generator) -> Generator:
    """The matrix on products: `A ⊗ B`, or `A ⊗ 1 + 1 ⊗ B` of a Lie algebra."""
    times, one = scipy.sparse.kron, scipy.sparse.eye_array
    if x.lie:
        matrix = times(x.sparse, one(y.size)) + times(one(x.size), y.sparse)
    else:
        matrix = product(f"generator `{x.name}` of a tensor product", x.sparse, y.sparse, times)
    return Generator.of(x.name, matrix, x.lie, max(x.precision, y.precision))


def block(x: Generator, y: Generator) -> Generator:
    """The matrix on sums, of two blocks."""
    rows = np.concatenate([x.rows, y.rows + x.size])
    columns = np.concatenate([x.columns, y.columns + x.size])
    size = x.size + y.size
    matrix = scipy.sparse.coo_array((np.concatenate([x.values, y.values]), (rows, columns)), shape=(size, size))
    return Generator.of(x.name, matrix, x.lie, max(x.precision, y.precision))


def renamed(generators: Sequence[Generator], taken: Sequence[str]) -> list[Generator]:
    """With names that are not taken: a prime is put behind one that is."""
    found: list[Generator] = []
    for x in generators:
        name = x.name
        while name in taken or name in [y.name for y in found]:
            name += "'"
        found.append(x.renamed(name))
    return found
