"""The null space of a sparse matrix, with its rank certified by the gap between what is zero and what is not."""

import numpy as np

from ..errors import CdlError
from ._sparse import dense, solvers, sp, Sparse


DENSE = 400  # unknowns up to which all singular values are computed
GAP = 1e4  # the ratio that tells a number that is not zero from one that is, but for rounding
ZERO = 1e-11  # a singular value of zero, over the greatest: rounding stays below it


def null_space(system: Sparse) -> tuple[np.ndarray, str, float]:
    """An orthonormal basis of the `x` with `A x = 0`, as columns; how it was found; and the gap.

    **Raises:** `CdlError` where no gap tells the rank.
    """
    if system.shape[1] <= DENSE:
        return _dense(system)
    return _shift_invert(system)


def _dense(system: Sparse) -> tuple[np.ndarray, str, float]:
    """All singular values, of the triangular factor where there are more equations than unknowns."""
    matrix = system.toarray()
    if matrix.shape[0] > matrix.shape[1]:
        matrix = dense.qr(matrix, mode="r", overwrite_a=True, check_finite=False)[0][: matrix.shape[1]]
    _, values, rows = np.linalg.svd(matrix, full_matrices=True)
    values = np.append(values, np.zeros(matrix.shape[1] - len(values)))
    rank, gap = _rank(values)
    return rows[rank:].T, "dense", gap


def _rank(values: np.ndarray) -> tuple[int, float]:
    """How many of the falling singular values are not zero, and the gap below them."""
    greatest = values[0] if len(values) else 0.0
    floor = np.finfo(np.float64).eps * max(greatest, np.finfo(np.float64).tiny)
    rank = int(np.sum(values > ZERO * greatest))
    above = values[rank - 1] if rank else np.inf
    below = max(values[rank], floor) if rank < len(values) else floor
    return rank, _certified(above / below, above, below)


def _certified(gap: float, above: float, below: float) -> float:
    if gap < GAP:
        raise CdlError(
            f"the equations of these generators have no clear rank: {above:.1e} would count as not zero, and "
            f"{below:.1e} as zero. Give generators whose entries are exact, or that differ less in size."
        )
    return float(gap)


def _shift_invert(system: Sparse) -> tuple[np.ndarray, str, float]:
    """The least eigenvalues of `AᵀA`, more and more of them until one is not zero."""
    gram = sp.csc_array(system.T @ system)
    size = gram.shape[0]
    greatest = float(abs(gram).sum(axis=1).max())
    zero = 1e-9 * greatest
    solver = solvers.splu(sp.csc_array(gram + 1e-2 * greatest / size * sp.eye_array(size)))
    inverse = solvers.LinearOperator((size, size), matvec=solver.solve, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=size)
    wanted = 16
    while True:
        wanted = min(wanted, size - 1)
        shifted, vectors = solvers.eigsh(inverse, k=wanted, which="LM", v0=start)
        values = 1 / shifted - 1e-2 * greatest / size
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
        null = int(np.sum(values <= zero))
        if null < wanted:
            break
        if wanted == size - 1:
            raise CdlError(f"more than {wanted} of {size} unknowns are free, which the solver cannot certify.")
        wanted *= 2
    floor = np.finfo(np.float64).eps * greatest
    below = max(float(np.abs(values[:null]).max(initial=0.0)), floor)
    return vectors[:, :null], "shift-invert", _certified(float(values[null]) / below, float(values[null]), below)
