"""Numbers modulo a prime, as arrays: residues of `float64`, inverses, and the rank of a matrix.

| the mathematics                               | here                                                             |
| --------------------------------------------- | ---------------------------------------------------------------- |
| `m 2ᵉ mod p`, for a number `m 2ᵉ`             | `residues(values, p)`: every finite `float64` is one, exactly    |
| `a⁻¹ = a^(p − 2)`                             | `inverse(a, p)`                                                  |
| the rank of a matrix over the field of `p`    | `rank(matrix, p)`, by blocks of columns                          |

The primes are below `2²³`, so that a sum of 64 products is a whole number below `2⁵³`: products of matrices of
`float64` are exact, and run at their usual speed.
"""

import numpy as np


PRIMES = 8388593, 8388587
WIDTH = 64  # columns that are eliminated at once


def residues(values: np.ndarray, p: int) -> np.ndarray:
    """Finite numbers of `float64` modulo a prime that is not 2, `int64`."""
    digits, exponents = np.frexp(values)
    found, at = np.unique(exponents - 53, return_inverse=True)
    powers = np.asarray([pow(2, int(e), p) for e in found], np.int64)
    return np.asarray(np.ldexp(digits, 53).astype(np.int64) % p * powers[at.reshape(-1)] % p)


def inverse(a: np.ndarray, p: int) -> np.ndarray:
    """Of numbers that are not zero modulo the prime: `int64`."""
    found, power, exponent = np.ones_like(a), a, p - 2
    while exponent:
        if exponent & 1:
            found = found * power % p
        power, exponent = power * power % p, exponent >> 1
    return found


def rank(matrix: np.ndarray, p: int) -> int:
    """The rank of residues, `float64[rows, columns]`, which are overwritten."""
    found = 0
    for left in range(0, matrix.shape[1], WIDTH):
        rest = matrix[found:, left:]
        factors = _eliminated(rest, min(WIDTH, rest.shape[1]), p)
        many, after = factors.shape[1], rest[:, WIDTH:]
        for i in range(1, many):
            after[i] = _reduced(after[i] - factors[i, :i] @ after[:i], p)
        after[many:] = _reduced(after[many:] - factors[many:] @ after[:many], p)
        found += many
    return found


def _eliminated(matrix: np.ndarray, width: int, p: int) -> np.ndarray:
    """The first columns, eliminated with rows exchanged; what was subtracted of each pivot's row, `[rows, pivots]`."""
    panel, factors, many = matrix[:, :width], np.zeros((len(matrix), width)), 0
    for column in range(width):
        at = many + np.flatnonzero(panel[many:, column])
        if not len(at):
            continue
        for rows in (matrix, factors):
            rows[[many, at[0]]] = rows[[at[0], many]]
        at = at[1:]  # the exchange moves none of the others
        if len(at):
            scale = pow(int(panel[many, column]), -1, p)
            factors[at, many] = _reduced(panel[at, column] * scale, p)
            panel[at, column:] = _reduced(panel[at, column:] - np.outer(factors[at, many], panel[many, column:]), p)
        many += 1
    return factors[:, :many]


def _reduced(x: np.ndarray, p: int) -> np.ndarray:
    """Whole numbers modulo the prime: exact, for these and their quotients are below the digits of `float64`."""
    return np.asarray(x - np.floor(x / p) * p)
