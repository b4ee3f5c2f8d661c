"""The null space of a sparse matrix, with its rank certified: no number lies between zero and clearly not zero."""

import numpy as np

from ..errors import CdlError
from ._rounding import Rounding
from ._sparse import dense, solvers, sp, Sparse


DENSE = 700  # unknowns up to which all singular values are computed
FIRST = 16  # eigenvalues that are asked for at first
LARGEST = 3_000  # unknowns of which all singular values can be computed


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
    """The least eigenvalues of `AᵀA`, more and more of them until one is not zero. What is zero is decided by `‖A v‖`
    of each eigenvector `v`: eigenvalues are squares, and have half of the digits.

    **Raises:** `CdlError` where the iteration does not converge.
    """
    gram = sp.csc_array(system.T @ system)
    size = gram.shape[0]
    greatest = float(abs(gram).sum(axis=1).max())
    shift = 1e-2 * greatest / size
    solver = solvers.splu(sp.csc_array(gram + shift * sp.eye_array(size)))
    inverse = solvers.LinearOperator((size, size), matvec=solver.solve, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=size)
    wanted = FIRST
    while wanted <= size // 4:
        try:
            _, vectors = solvers.eigsh(inverse, k=wanted, which="LM", v0=start, maxiter=100)
        except solvers.ArpackNoConvergence:
            break
        lengths = np.linalg.norm(system @ vectors, axis=0)
        order = np.argsort(lengths)
        lengths, vectors = lengths[order], vectors[:, order]
        null = wanted - int(np.sum(rounding.split(lengths / np.sqrt(greatest))))
        if null < wanted:
            return vectors[:, :null], "shift-invert", _gap(lengths[null:], lengths[:null])
        wanted *= 2
    if size > LARGEST:
        raise CdlError(
            f"the equations leave {size} unknowns, of which more than {wanted // 2} are free: that is too many to "
            f"solve beyond {LARGEST} unknowns. Generators that send places to places are solved exactly."
        )
    return _dense(system, rounding)  # too many are free for an iteration


def _gap(above: np.ndarray, below: np.ndarray) -> float:
    if not len(above):
        return float("inf")
    floor = np.finfo(np.float64).eps * above.max()
    return float(above.min() / max(np.abs(below).max(initial=0.0), floor))
