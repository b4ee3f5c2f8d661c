"""The null space of a sparse matrix, with its rank certified: no number lies between zero and clearly not zero."""

from typing import Any

import numpy as np

from ..errors import CdlError
from ._rounding import Rounding
from ._sparse import scipy, Sparse


DENSE = 700  # unknowns up to which all singular values are computed
FIRST = 16  # eigenvalues that are asked for at first
LARGEST = 3_000  # unknowns of which all singular values can be computed
SPARSE = 10_000  # unknowns of which a sparse factorisation is tried
FREE = 256  # eigenvalues that are asked for where all singular values cannot be computed


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
        matrix = scipy.linalg.qr(matrix, mode="r", overwrite_a=True, check_finite=False)[0][: matrix.shape[1]]
    _, values, rows = _decomposed(matrix)
    values = np.append(values, np.zeros(matrix.shape[1] - len(values)))
    rank = int(np.sum(rounding.split(values / max(values[0], np.finfo(float).tiny))))
    return rows[rank:].T, "dense", _gap(values[:rank], values[rank:])


def _decomposed(matrix: np.ndarray) -> Any:
    """The singular value decomposition, by the slow and sure method where the fast one does not converge.

    **Raises:** `CdlError` where that one does not either.
    """
    try:
        return np.linalg.svd(matrix, full_matrices=True)
    except np.linalg.LinAlgError:
        pass
    try:
        return scipy.linalg.svd(matrix, full_matrices=True, lapack_driver="gesvd")
    except (np.linalg.LinAlgError, ValueError) as error:
        raise CdlError(
            f"the singular values of {matrix.shape[0]} equations of {matrix.shape[1]} unknowns are not found: {error}. "
            "Give generators whose entries differ less in size."
        ) from error


def _shift_invert(system: Sparse, rounding: Rounding) -> tuple[np.ndarray, str, float]:
    """The least eigenvalues of `AᵀA`, more and more of them until one is not zero. What is zero is decided by `‖A v‖`
    of each eigenvector `v`: eigenvalues are squares, and have half of the digits.

    **Raises:** `CdlError` where the iteration does not converge, and before it begins where it could not, or is of too
    many unknowns.
    """
    equations, size = system.shape
    most = size // 4 if size <= LARGEST else FREE  # with more, the iteration is slower than all singular values
    if size - equations > most or size > SPARSE:
        if size > LARGEST:
            raise _too_many(system)
        return _dense(system, rounding)
    gram = scipy.sparse.csc_array(system.T @ system)
    greatest = float(abs(gram).sum(axis=1).max())
    shift = 1e-2 * greatest / size
    inverse: Any = None
    start = np.random.default_rng(0).normal(size=size)
    wanted = FIRST
    while wanted <= most:
        try:
            inverse = inverse or _inverse(gram + shift * scipy.sparse.eye_array(size))
            _, vectors = scipy.sparse.linalg.eigsh(inverse, k=wanted, which="LM", v0=start, maxiter=100)
        except scipy.sparse.linalg.ArpackNoConvergence:
            wanted *= 2  # with more of them the iteration begins with a greater space
            continue
        except (scipy.sparse.linalg.ArpackError, np.linalg.LinAlgError, RuntimeError):
            break  # what the iterations of others raise: all singular values are sure
        lengths = np.linalg.norm(system @ vectors, axis=0)
        order = np.argsort(lengths)
        lengths, vectors = lengths[order], vectors[:, order]
        null = wanted - int(np.sum(rounding.split(lengths / np.sqrt(greatest))))
        if null < wanted:
            return vectors[:, :null], "shift-invert", _gap(lengths[null:], lengths[:null])
        wanted *= 2
    if size > LARGEST:
        raise _too_many(system, ", and an iteration finds no gap among their least eigenvalues")
    return _dense(system, rounding)  # too many are free for an iteration


def _too_many(system: Sparse, why: str = "") -> CdlError:
    equations, size = system.shape
    return CdlError(
        f"a presolve leaves {equations} equations of {size} unknowns{why}. Null spaces are found for up to {LARGEST} "
        f"unknowns, and for up to {SPARSE} where fewer than {FREE} of them are free. Give smaller carriers, or "
        "generators that are pushed functions in `X`, and pulled ones or permutations in `Y`: these are solved "
        "exactly, at any size."
    )


def _inverse(matrix: Sparse) -> Any:
    """Of a symmetric and positive matrix, whose factors are sparser in an order of both its rows and columns."""
    order = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    solver = scipy.sparse.linalg.splu(scipy.sparse.csc_array(matrix), **order)
    return scipy.sparse.linalg.LinearOperator(matrix.shape, matvec=solver.solve, dtype=np.float64)


def _gap(above: np.ndarray, below: np.ndarray) -> float:
    if not len(above):
        return float("inf")
    floor = np.finfo(np.float64).eps * above.max()
    return float(above.min() / max(np.abs(below).max(initial=0.0), floor))
