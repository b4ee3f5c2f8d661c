"""The dimension of `hom(X, Y)` beside an exact elimination of fractions, for entries of all sizes."""

from fractions import Fraction

import numpy as np
import pytest

from cdl import CdlError
from cdl.symmetry import Action, hom
from cdl.symmetry._counted import counted
from cdl.symmetry._modulo import inverse, PRIMES, rank, residues
from cdl.symmetry.groups import permutations, so
from cdl.symmetry.monoids import transformations


def exact_dimension(X, Y):
    """The dimension of the null space of the equations, by elimination of fractions."""
    pairs = zip(X.generators, Y.generators, strict=True)
    rows = [row for x, y in pairs for row in np.kron(y.dense, np.eye(X.size)) - np.kron(np.eye(Y.size), x.dense.T)]
    waiting, found = [[Fraction(v) for v in row] for row in rows], 0
    for column in range(X.size * Y.size):
        at = next((i for i, row in enumerate(waiting) if row[column]), None)
        if at is None:
            continue
        pivot, found = waiting.pop(at), found + 1
        for row in waiting:
            if row[column]:
                factor = row[column] / pivot[column]
                row[:] = [v - factor * w for v, w in zip(row, pivot, strict=True)]
    return X.size * Y.size - found


def answer(X, Y):
    """The dimension, or `None` where it is refused."""
    try:
        return hom(X, Y).dimension
    except CdlError:
        return None


NILPOTENT = np.array([[1.0, -1.0], [1.0, -1.0]])


@pytest.mark.parametrize("turned", [False, True])
def test_a_wrong_rank_of_rounded_numbers_is_refused_with_both_numbers(turned):
    X, Y = Action(2).matrix([[-1, -1], [1, -1]]), Action(2).matrix(1e8 * NILPOTENT)
    assert exact_dimension(X, Y) == 0
    with pytest.raises(CdlError, match=r"dimension 2 .* at most 0"):
        hom(Y, X) if turned else hom(X, Y)


def test_entries_that_differ_in_size_and_hide_nothing_are_solved():
    X, Y = Action(2).matrix([[2, 1], [1, 3]]), Action(2).matrix([[2e8, 1e8], [0, 1]])
    assert hom(X, Y).dimension == exact_dimension(X, Y) == 0
    assert hom(Y, Y).dimension == exact_dimension(Y, Y) == 2


def test_rounded_entries_are_not_counted_as_if_they_were_exact():
    mean = Action(3).matrix(np.full((3, 3), 1 / 3))
    still = mean.trivial()
    assert hom(mean, still).dimension == 1
    assert counted([(mean["g1"], still["g1"])], PRIMES[0]) == 0  # three thirds, as rounded, are not 1


@pytest.mark.parametrize("prime", PRIMES)
def test_a_count_is_that_of_fractions(prime):
    S, T, V = permutations(3), transformations(3), so(3)
    for X, Y in [(S.power(2), S), (T, T), (T.transposed, T), (V, V.power(2)), (T.trivial(), T)]:
        assert counted(list(zip(X.generators, Y.generators, strict=True)), prime) == exact_dimension(X, Y)


def test_entries_that_a_prime_divides_are_counted_by_another():
    X, Y = Action(1).matrix([[float(PRIMES[0])]]), Action(1).matrix([[0.0]])
    assert counted([(X["g1"], Y["g1"])], PRIMES[0]) == 1
    assert hom(X, Y).dimension == 0


def test_a_rank_modulo_a_prime_is_found_for_every_shape_of_matrix():
    rng = np.random.default_rng(0)
    for rows, columns, wanted in [(3, 3, 2), (150, 140, 100), (70, 200, 70), (200, 70, 66), (4, 4, 0), (0, 3, 0)]:
        product = rng.integers(-9, 10, (rows, wanted)) @ rng.integers(-9, 10, (wanted, columns))
        assert rank(np.asarray(product % PRIMES[0], float), PRIMES[0]) == wanted


def test_residues_are_those_of_fractions_and_the_primes_are_prime():
    values = np.array([0.0, 1.0, -3.0, 2.0**60 + 2.0**10, -0.375, 3 * 2.0**-40, float(2**53 - 1)])
    for p in PRIMES:
        assert all(p % n for n in range(2, 2900))  # up to its root
        exact = [Fraction(v) for v in values.tolist()]
        assert residues(values, p).tolist() == [v.numerator * pow(v.denominator, -1, p) % p for v in exact]
        assert np.all(inverse(np.arange(1, 99), p) * np.arange(1, 99) % p == 1)


def drawn(rng, n, size):
    """A whole matrix of some size: any, singular, triangular or nilpotent, in a basis that shows none of it."""
    found = rng.integers(-2, 3, (n, n)).astype(float)
    match rng.integers(5):
        case 0:
            found = np.triu(found, 1)
        case 1:
            found[:, rng.integers(n)] = 0
        case 2 | 3:
            u = rng.choice([-1.0, 1.0], n)
            found = np.outer(u, np.roll(u, 1) * np.resize([1.0, -1.0], n))  # nilpotent for an even n
    return found * (size if rng.integers(2) else size ** rng.integers(0, 2, (n, n)))


def wrong(seeds, most):
    """The seeds at which a dimension is wrong."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, m, size = *rng.integers(1, most + 1, 2), 10.0 ** rng.integers(0, 9)
        X, Y = Action(int(n)), Action(int(m))
        for _ in range(rng.integers(1, 3)):
            X, Y = X.matrix(drawn(rng, n, 1.0)), Y.matrix(drawn(rng, m, size))
        Y = X if rng.integers(4) == 0 else Y
        given = answer(X, Y)
        if given is not None and given != exact_dimension(X, Y):
            found.append(seed)
    return found


def test_a_dimension_of_whole_entries_is_right_or_refused():
    assert wrong(range(60), 2) == []
