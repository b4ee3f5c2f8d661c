"""Sizes of factors as vectors that add where factors multiply: exact for factors such as 3 or 0.25, else logarithms.

| the factors                                | a size is                          | two products are equal     |
| ------------------------------------------ | ---------------------------------- | -------------------------- |
| all are as `exact` has them                | whole exponents of coprime numbers | where the exponents are    |
| others, which may be rounded               | one logarithm                      | up to rounding, or refused |

Each factor is a product of powers of the base, a list of numbers no two of which have a common divisor, in one way: so
equal exponents are equal products, and long chains of factors do not overflow.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ._given import exact


MOST = 32  # different factors that are multiplied exactly


class Sizes(NamedTuple):
    """The sizes of two lists of factors, `[factors, width]`, and the base; `None` for logarithms."""

    base: tuple[int, ...] | None
    left: np.ndarray
    right: np.ndarray

    def factor(self, sizes: np.ndarray) -> np.ndarray:
        """The factors of some sizes, 1 or less; zero below the least number of `float64`."""
        return np.exp(np.minimum(sizes[:, 0], 0.0)) if self.base is None else self._powers(sizes)

    def logarithms(self, sizes: np.ndarray) -> np.ndarray:
        return sizes[:, 0] if self.base is None else sizes @ np.log(np.asarray(self.base, np.float64))

    def _powers(self, sizes: np.ndarray) -> np.ndarray:
        assert self.base is not None
        if not self.base:
            return np.ones(len(sizes))
        kinds, at = np.unique(sizes, axis=0, return_inverse=True)
        values = [_power(self.base, kind) for kind in kinds.tolist()]
        return np.asarray(values, np.float64)[at.reshape(-1)]


def sizes_of(left: np.ndarray, right: np.ndarray, known: bool = True) -> Sizes:
    """The sizes of two arrays of factors that are not zero, exact where all of them are.

    `known` says that they are not rounded as in a narrower type, where every number is a short fraction.
    """
    both = np.abs(np.concatenate([left, right]))
    values, at = np.unique(both, return_inverse=True)
    if known and exact(values) and len(values) <= MOST:
        fractions = [Fraction(v) for v in values.tolist()]
        base = coprime(n for v in fractions for n in (v.numerator, v.denominator))
        table = np.asarray([[_count(v.numerator, b) - _count(v.denominator, b) for b in base] for v in fractions])
        sizes = table.reshape(len(values), len(base))[at]
        return Sizes(tuple(base), sizes[: len(left)], sizes[len(left) :])
    logs = np.log(both)[:, None]
    return Sizes(None, logs[: len(left)], logs[len(left) :])


def coprime(numbers: Iterable[int]) -> list[int]:
    """Numbers above 1, no two with a common divisor, that those given are products of."""
    base: list[int] = []
    waiting = [n for n in dict.fromkeys(numbers) if n > 1]
    while waiting:
        n = waiting.pop()
        for i, b in enumerate(base):
            common = math.gcd(n, b)
            if common > 1:
                if n != b:
                    del base[i]
                    waiting += [m for m in (common, n // common, b // common) if m > 1]
                break
        else:
            base.append(n)
    return base


def _count(n: int, b: int) -> int:
    """How often a number divides another."""
    found = 0
    while n % b == 0:
        n, found = n // b, found + 1
    return found


def _power(base: Iterable[int], exponents: Iterable[int]) -> float:
    """A product of powers that is 1 or less, rounded once."""
    up = down = 1
    for b, e in zip(base, exponents, strict=True):
        up, down = (up * b**e, down) if e >= 0 else (up, down * b**-e)
    return up / down  # of two whole numbers of any length
