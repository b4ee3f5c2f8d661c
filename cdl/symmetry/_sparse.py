"""scipy, whose types it does not say: for type checkers they are `Any`. Its parts come in where they are first used."""

from typing import Any, TypeAlias

import scipy as untyped


Sparse: TypeAlias = Any
"""A sparse matrix of scipy."""

scipy: Any = untyped
