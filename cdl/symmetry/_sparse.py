"""scipy's sparse matrices, whose types scipy does not say: for type checkers they are `Any`."""

from typing import Any, TypeAlias

import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg


Sparse: TypeAlias = Any
"""A sparse matrix of scipy."""

sp: Any = scipy.sparse
graphs: Any = scipy.sparse.csgraph
solvers: Any = scipy.sparse.linalg
dense: Any = scipy.linalg
