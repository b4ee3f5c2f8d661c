"""All equivariant linear maps: the dimensions that are known, and random generators beside a dense null space."""

import inspect
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


@pytest.mark.parametrize("n", [2, 3, 7])
def test_deep_sets_have_two_weights(n):
    assert dimension(permutations(n)) == 2


@pytest.mark.parametrize(("n", "edges", "nodes"), [(2, 8, 4), (3, 14, 5), (4, 15, 5), (5, 15, 5)])
def test_maps_of_graphs(n, edges, nodes):
    S = permutations(n)
    assert dimension(S.power(2)) == edges
    assert dimension(S.power(2), S) == nodes == dimension(S, S.power(2))
    assert dimension(S.power(2), S.power(0)) == 2


@pytest.mark.parametrize(("n", "three", "two"), [(3, 122, 41), (5, 202, 52), (6, 203, 52)])
def test_tensors_of_order_three(n, three, two):
    S = permutations(n)
    assert dimension(S.power(3)) == three
    assert dimension(S.power(3), S.power(2)) == two


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


@pytest.mark.parametrize(
    ("X", "maps", "invariants"),
    [
        (rotations(2), 4, 1),
        (rotations(3), 21, 3),
        (rotations(4), 64, 4),
        (dihedral(2), 3, 1),
        (dihedral(3), 15, 3),
        (dihedral(4), 36, 3),
    ],
    ids=str,
)
def test_images(X, maps, invariants):
    assert (dimension(X), dimension(X, X.trivial())) == (maps, invariants)


def test_signs_matter():
    negacyclic = Action(5).signed(np.roll(np.arange(5), -1), [1, 1, 1, 1, -1])
    assert dimension(negacyclic) == 5
    B = signed_permutations(5)
    assert (dimension(B), dimension(B, B.trivial())) == (1, 0)


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


@pytest.mark.parametrize("n", [5, 8])
def test_transformation_monoids(n):
    T = transformations(n)
    found = [dimension(T), dimension(T.transposed), dimension(T.transposed, T)]
    found += [dimension(T.trivial(), T.transposed), dimension(T, T.trivial())]
    assert found == [1, 1, 0, 1, 1]
    assert dimension(partial_permutations(n)) == 1 == dimension(partial_transformations(n))


@pytest.mark.parametrize(("n", "order", "maps"), [(3, 1, 1), (4, 1, 1), (3, 2, 4), (4, 2, 4)])
def test_maps_that_commute_with_all_functions(n, order, maps):
    assert dimension(transformations(n).power(order)) == maps


def test_a_solver_that_inverts_would_be_wrong_of_functions():
    S, T = permutations(3), transformations(3)
    assert (dimension(S), dimension(T)) == (2, 1)
    assert (dimension(S.trivial(), S), dimension(T.trivial(), T)) == (1, 0)


def test_counters_and_automata():
    counter = saturating_counter(5)
    pairing = hom(counter, counter.transposed)
    i = np.arange(5)
    assert pairing.dimension == 5
    assert np.array_equal(pairing.labels, np.minimum(i[:, None] + i, 4))
    assert dimension(counter) == 5
    assert dimension(saturating_counter(5, down=True)) == 1
    assert dimension(reset_counter(3)) == 1 == dimension(flip_flop())


def test_scalings():
    twice = scalings(2)
    assert dimension(twice) == 4
    assert dimension(twice, Action(2).matrix(np.eye(2), "scale")) == 0


@pytest.mark.parametrize(("order", "invariants"), [(2, 1), (3, 1), (4, 3), (5, 6), slow((6, 15)), slow((7, 36))])
def test_invariant_tensors_of_rotations_are_the_riordan_numbers(order, invariants):
    X = so(3).power(order)
    tying = hom(X, X.trivial())
    assert tying.dimension == invariants
    if order < 7:
        assert satisfies(tying, X, X.trivial()) < 1e-9


def test_rotations_of_the_plane_give_complex_numbers():
    assert dimension(so(2)) == 2


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
    for trial in range(600):
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
    assert min(map(how.count, ("orbits", "presolve", "dense"))) > 20


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
    with pytest.raises(CdlError, match="tied by a factor that is below the least `float64`"):
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
    with pytest.raises(CdlError, match=r"takes 3 numbers, along the last axis, and gets \(2, 4\)"):
        tying.weight(np.zeros((2, 4)))


def test_generators_of_two_monoids_are_refused():
    with pytest.raises(CdlError, match=r"`X` has 2 generators \(cycle, swap\) and `Y` has 1 generator \(shift\)"):
        hom(permutations(3), cyclic(3))
    with pytest.raises(CdlError, match=r"`X` has the generator `shift`, `Y` has `turn`.*`Y.named"):
        hom(cyclic(4), rotations(2))
    with pytest.raises(CdlError, match="`g1` is an element of a Lie algebra in one action, and of the monoid in the"):
        hom(Action(2).lie(np.zeros((2, 2))), Action(2).matrix(np.eye(2)))
    with pytest.raises(CdlError, match="two actions, and `list` is not one"):
        inspect.unwrap(hom)(cyclic(3), [1, 2])


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
    with pytest.raises(CdlError, match=r"no clear rank.*is neither zero nor clearly not zero, where rounding is 2e-13"):
        hom(*[Action(4).matrix(turned @ near @ turned.T)] * 2)


def test_rounding_in_the_entries_of_a_matrix_ties_nothing():
    half = np.array([[np.cos(np.pi), -np.sin(np.pi)], [np.sin(np.pi), np.cos(np.pi)]])
    turned, negated = Action(2).matrix(half), Action(2).matrix(-np.eye(2))
    assert hom(turned, negated).dimension == 4 == hom(turned, turned).dimension
    assert hom(turned.power(2), turned.power(2)).dimension == 16
    with pytest.raises(CdlError, match="no clear rank"):
        hom(*[Action(2).matrix([[1.5, 1e-14], [0, 1.5]])] * 2)


@pytest.mark.parametrize("e", [2e-7, 1e-5])
def test_eigenvalues_that_are_near_each_other_are_told_apart_or_refused(e):
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    values = np.arange(1.0, 31)
    values[1] = 1 + e
    X = Action(30).matrix(turned @ np.diag(values) @ turned.T)
    try:
        found = hom(X, X.trivial()).dimension, hom(X, X).dimension
    except CdlError:
        return
    assert found == (1, 30)


def test_many_free_numbers_are_found():
    centred = Action(402).matrix(np.eye(402) - 1 / 402)
    assert hom(centred.trivial(), centred).dimension == 401
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(25, 25)))[0]
    X = idempotent(turned @ np.diag([1] * 24 + [0]) @ turned.T)
    assert hom(X, X).dimension == 577


def test_whole_numbers_are_weights_like_others():
    X = so(3)
    found = hom(X, X).weight([2])
    assert np.allclose(found, 2 * np.eye(3)) or np.allclose(found, 2 * hom(X, X).basis[0])
