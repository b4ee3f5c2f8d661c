"""The null space of a sparse matrix, with its rank certified: no number lies between zero and clearly not zero."""

import numpy as np

from ..errors import CdlError
from ._rounding import Rounding
from ._sparse import dense, solvers, sp, Sparse


DENSE = 400  # unknowns up to which all singular values are computed
FIRST = 16  # eigenvalues that are asked for at first


def null_space(system: Sparse, rounding: Rounding) -> tuple[np.ndarray, str, float]:
    """An orthonormal basis of the `x` with `A x = 0`, as columns; how it was found; and the gap: the least number that
    counts as not zero over the greatest that counts as zero.

    **Raises:** `CdlError` where rounding hides the rank.
    """
    return (_dense if system.shape[1] <= DENSE else _shift_invert)(system, rounding)


def _dense(system: Sparse, rounding: Rounding) -> tuple[np.ndarray, str, float]:
    """All singular values, of the triangular factor where there are more equations than unknowns."""
    matrix = system.toarray()
    if matrix.shape[0] > matrix.shape[1]:
        matrix = dense.qr(matrix, mode="r", overwrite_a=True, check_finite=False)[0][: matrix.shape[1]]
    _, values, rows = np.linalg.svd(matrix, full_matrices=True)
    values = np.append(values, np.zeros(matrix.shape[1] - len(values)))
    rank = int(np.sum(rounding.split(values / max(values[0], np.finfo(float).tiny))))
    return rows[rank:].T, "dense", _gap(values[:rank], values[rank:])


def _shift_invert(system: Sparse, rounding: Rounding) -> tuple[np.ndarray, str, float]:
    """The least eigenvalues of `AᵀA`, more and more of them until one is not zero."""
    gram = sp.csc_array(system.T @ system)
    size = gram.shape[0]
    greatest = float(abs(gram).sum(axis=1).max())
    shift = 1e-2 * greatest / size
    solver = solvers.splu(sp.csc_array(gram + shift * sp.eye_array(size)))
    inverse = solvers.LinearOperator((size, size), matvec=solver.solve, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=size)
    squares = Rounding(max(rounding.zero**2, 1e3 * np.finfo(float).eps), rounding.sure**2)
    wanted = FIRST
    while True:
        wanted = min(wanted, size - 1)
        shifted, vectors = solvers.eigsh(inverse, k=wanted, which="LM", v0=start)
        values = 1 / shifted - shift
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        null = wanted - int(np.sum(squares.split(values / greatest)))
        if null < wanted:
            return vectors[:, :null], "shift-invert", _gap(values[null:], values[:null])
        if wanted == size - 1:
            raise CdlError(f"more than {wanted} of {size} unknowns are free, which the solver cannot certify.")
        wanted *= 2


def _gap(above: np.ndarray, below: np.ndarray) -> float:
    if not len(above):
        return float("inf")
    floor = np.finfo(np.float64).eps * above.max()
    return float(above.min() / max(np.abs(below).max(initial=0.0), floor))
