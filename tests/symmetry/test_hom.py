"""All equivariant linear maps: the dimensions that are known, and random generators beside a dense null space."""

import time

import numpy as np
import pytest
from few import slow

from cdl.errors import CdlError
from cdl.symmetry import Action, Combinations, hom, Orbits
from cdl.symmetry.groups import (
    cyclic,
    dihedral,
    p4,
    p4m,
    permutations,
    regular,
    rotations,
    scalings,
    signed_permutations,
    so,
    translations,
    truncated_translations,
)
from cdl.symmetry.monoids import (
    flip_flop,
    idempotent,
    partial_permutations,
    partial_transformations,
    reset_counter,
    saturating_counter,
    transformations,
)


def dimension(X, Y=None):
    return hom(X, X if Y is None else Y).dimension


def satisfies(tying, X, Y):
    """How far the basis is from satisfying the law, at every generator."""
    found = [0.0]
    for x, y in zip(X.generators, Y.generators, strict=True):
        for W in tying.basis:
            found.append(np.abs(y.dense @ W - W @ x.dense).max(initial=0.0))
    return max(found)


def test_a_shift_gives_circulants():
    tying = hom(cyclic(5), cyclic(5))
    assert isinstance(tying, Orbits)
    assert tying.dimension == 5
    i = np.arange(5)
    difference = (i[:, None] - i) % 5
    assert len(set(zip(difference.ravel().tolist(), tying.labels.ravel().tolist(), strict=True))) == 5


KNOWN = {
    "deep sets": ([(S := permutations(3), S), (permutations(7), permutations(7))], [2, 2]),
    "graphs of 3": ([((E := S.power(2)), E), (E, S), (S, E), (E, S.power(0))], [14, 5, 5, 2]),
    "order 3 of 6": ([(P := permutations(6).power(3), P), (P, permutations(6).power(2))], [203, 52]),
    "rotations of 4 × 4": ([(R := rotations(4), R), (R, R.trivial())], [64, 4]),
    "symmetries of 3 × 3": ([(R := dihedral(3), R), (R, R.trivial())], [15, 3]),
    "functions": (
        [
            (T := transformations(5), T),
            (U := T.transposed, U),
            (U, T),
            (T.trivial(), U),
            (T, T.trivial()),
            (T.trivial(), T),
        ],
        [1, 1, 0, 1, 1, 0],
    ),
    "functions on pairs": ([(T := transformations(n).power(2), T) for n in (3, 4)], [4, 4]),
    "permutations are no functions": ([(S, S), (S.trivial(), S)], [2, 1]),
    "partial ones": ([(T := f(5), T) for f in (partial_permutations, partial_transformations)], [1, 1]),
    "signs": ([(B := signed_permutations(5), B), (B, B.trivial())], [1, 0]),
    "a sign round a circle": ([(N := Action(5).signed(np.roll(np.arange(5), -1), [1, 1, 1, 1, -1]), N)], [5]),
    "scalings": ([(D := scalings(2), D), (D, Action(2).matrix(np.eye(2), "scale"))], [4, 0]),
    "rotations of the plane": ([(so(2), so(2))], [2]),
}


@pytest.mark.parametrize(("pairs", "known"), KNOWN.values(), ids=KNOWN)
def test_hom_has_the_dimensions_that_are_known(pairs, known):
    assert [hom(X, Y).dimension for X, Y in pairs] == known


def test_products_of_groups():
    assert dimension(permutations(3) * cyclic(4)) == 8
    assert dimension(permutations(5) * cyclic(6)) == 12
    places = np.arange(20).reshape(4, 5)
    inner, swap = np.arange(20), np.arange(20)
    inner[:5], swap[:2] = np.roll(inner[:5], -1), [1, 0]
    wreath = Action(20).perm(inner).perm(swap)
    wreath = wreath.perm(np.roll(places, -1, 0).ravel()).perm(places[[1, 0, 2, 3]].ravel())
    assert dimension(wreath) == 3


@pytest.mark.parametrize(
    ("planar", "plane", "lift", "group"),
    [(translations(4, 4), 16, 16, 16), (p4(4), 6, 16, 64), (p4m(4), 6, 16, 128)],
    ids=["p1", "p4", "p4m"],
)
def test_convolutions_on_groups(planar, plane, lift, group):
    G = regular(planar)
    assert (dimension(planar), dimension(planar, G), dimension(G)) == (plane, lift, group)
    assert G.size == group


def test_a_truncated_shift_gives_causal_convolutions():
    tying = hom(truncated_translations(5), truncated_translations(5))
    assert tying.dimension == 5
    assert np.array_equal(tying.labels < 0, np.triu(np.ones((5, 5)), 1) > 0)


def test_idempotents():
    assert dimension(idempotent(np.diag([1, 1, 0, 0, 0]))) == 13
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    dense = hom(*[idempotent(turned @ np.diag([1, 1, 0, 0, 0]) @ turned.T)] * 2)
    assert isinstance(dense, Combinations)
    assert dense.dimension == 13
    assert dense.gap > 1e10
    assert dimension(idempotent(np.kron(np.eye(3), np.full((2, 2), 0.5)))) == 18


def test_counters_and_automata():
    counter = saturating_counter(5)
    pairing = hom(counter, counter.transposed)
    i = np.arange(5)
    assert pairing.dimension == 5
    assert np.array_equal(pairing.labels, np.minimum(i[:, None] + i, 4))
    assert dimension(counter) == 5
    assert dimension(saturating_counter(5, down=True)) == 1
    assert dimension(reset_counter(3)) == 1 == dimension(flip_flop())


@pytest.mark.parametrize(("order", "invariants"), [(2, 1), (3, 1), (4, 3), (5, 6), slow((6, 15)), slow((7, 36))])
def test_invariant_tensors_of_rotations_are_the_riordan_numbers(order, invariants):
    X = so(3).power(order)
    tying = hom(X, X.trivial())
    assert tying.dimension == invariants
    if order < 7:
        assert satisfies(tying, X, X.trivial()) < 1e-9


def monomial(rng, n, by_column):
    """A matrix with at most one entry a row (or a column): ones, signs, other factors, and empty rows."""
    matrix = np.zeros((n, n))
    for i in range(n):
        if rng.random() < 0.8:
            matrix[i, rng.integers(n)] = rng.choice([1, 1, 1, -1, 2, 0.5])
    return matrix.T if by_column else matrix


def drawn(rng, kind, n, m):
    """Matrices of one generator on `ℝⁿ` and `ℝᵐ`: exact ones, partly exact ones, and sparse matrices of integers."""
    if kind == 0:
        return monomial(rng, n, True), monomial(rng, m, False)
    if kind == 1:
        return monomial(rng, n, rng.random() < 0.5), monomial(rng, m, rng.random() < 0.5)
    a, b = (rng.integers(-2, 3, (k, k)) * (rng.random((k, k)) < 0.4) for k in (n, m))
    if n <= m and rng.random() < 0.5:
        b = np.zeros((m, m))
        b[:n, :n] = a
    return a.astype(float), b.astype(float)


def test_random_generators_have_the_solutions_of_a_dense_null_space():
    rng = np.random.default_rng(1)
    how = []
    for trial in range(240):
        n, m = map(int, rng.integers(1, 6, 2))
        X, Y, rows = Action(n), Action(m), []
        for _ in range(rng.integers(1, 3)):
            a, b = drawn(rng, trial % 3, n, m)
            X, Y = X.matrix(a), Y.matrix(b)
            rows.append(np.kron(b, np.eye(n)) - np.kron(np.eye(m), a.T))
        equations = np.vstack(rows)
        singular = np.linalg.svd(equations, compute_uv=False)
        tying = hom(X, Y)
        how.append(tying.how)
        assert tying.dimension == n * m - np.sum(singular > 1e-9 * max(1, singular.max())), trial
        factors = tying.factors.toarray()
        assert np.abs(equations @ factors).max(initial=0.0) < 1e-9, trial
        assert not tying.dimension or np.linalg.matrix_rank(factors) == tying.dimension, trial
        if trial % 3 == 0:
            assert tying.how == "orbits", trial
    assert min(map(how.count, ("orbits", "presolve", "dense"))) > 10


def test_long_chains_of_factors_neither_overflow_nor_vanish():
    n = 3_000

    def chain(times: int, down: float) -> Action:
        """A shift round a circle that first multiplies by 4 and then by `down`, each so many times."""
        factors = np.ones(n)
        factors[:times], factors[times : 2 * times] = 4.0, down
        return Action(n).signed(np.roll(np.arange(n), -1), factors)

    X = chain(400, 0.25)
    invariants = hom(X, X.trivial())
    assert invariants.dimension == 1
    assert np.all(invariants.scales != 0)
    assert np.abs(invariants.scales).max() == 1
    assert hom(chain(400, 0.2), X.trivial()).dimension == 0
    with pytest.raises(CdlError, match=r"factor .* `float64`"):
        hom(chain(n // 2, 0.25), X.trivial())


def test_a_space_of_a_thousand_is_solved_in_no_more_than_a_few_steps_an_entry():
    began = time.perf_counter()
    for X in (cyclic(1_000), permutations(1_000)):
        assert hom(X, X).labels.shape == (1_000, 1_000)
    assert time.perf_counter() - began < 20  # far above what it takes: a quadratic method takes hours


def test_no_equations_tie_nothing():
    tying = hom(Action(3), Action(2))
    assert tying.dimension == 6
    assert np.array_equal(np.sort(tying.labels.ravel()), np.arange(6))
    assert hom(Action(0), Action(3)).dimension == 0


def test_a_tying_spreads_numbers_over_weights():
    X = Action(3).signed([1, 2, 0], [1, 1, -1])
    tying = hom(X, X)
    theta = np.arange(6.0).reshape(2, 3)
    expected = np.tensordot(theta, tying.basis, 1)
    assert np.allclose(tying.weight(theta), expected)
    assert np.allclose(tying(theta), expected)
    with pytest.raises(CdlError, match="3 numbers"):
        tying.weight(np.zeros((2, 4)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_matrices_are_solved_to_the_precision_that_they_were_given_in(kind):
    rng = np.random.default_rng(0)
    for _ in range(20):
        turned = np.linalg.qr(rng.normal(size=(5, 5)))[0]
        X = Action(5).matrix((turned @ np.diag([1, 1, 0, 0, 0]) @ turned.T).astype(kind))
        tying = hom(X, X)
        assert tying.dimension == 13
        assert satisfies(tying, X, X) < (1e-5 if kind == np.float32 else 1e-12)
    third = np.array([3, 1 / 3, 2, 0.5], kind)
    X = Action(4).signed([1, 2, 3, 0], third)
    assert hom(X, X.trivial()).dimension == 1


def test_a_rank_that_rounding_hides_is_refused():
    rng = np.random.default_rng(0)
    near = np.diag([1.0, 1.0 + 3e-12, 1.0 + 3e-10, 2.0])
    turned = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    with pytest.raises(CdlError, match=r"no clear rank.*2e-13"):
        hom(*[Action(4).matrix(turned @ near @ turned.T)] * 2)


def test_rounding_in_the_entries_of_a_matrix_ties_nothing():
    half = np.array([[np.cos(np.pi), -np.sin(np.pi)], [np.sin(np.pi), np.cos(np.pi)]])
    turned, negated = Action(2).matrix(half), Action(2).matrix(-np.eye(2))
    assert hom(turned, negated).dimension == 4 == hom(turned, turned).dimension
    assert hom(turned.power(2), turned.power(2)).dimension == 16
    with pytest.raises(CdlError, match="no clear rank"):
        hom(*[Action(2).matrix([[1.5, 1e-14], [0, 1.5]])] * 2)
