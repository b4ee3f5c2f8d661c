"""What a generator holds is finite and keeps its digits, whatever makes it; sparse matrices come through one door."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp

from cdl.errors import CdlError
from cdl.symmetry import Action, flow, hom
from cdl.symmetry.groups import cyclic, regular, scalings, so


def scaled(*factors):
    return Action(len(factors)).signed(np.arange(len(factors)), factors, "scale")


LOST = {
    "a power that overflows": (lambda: scaled(1e200).power(2), "beyond the greatest `float64`"),
    "a power that vanishes": (lambda: scaled(1e-200).power(2), "and vanishes"),
    "whole numbers": (lambda: scaled(2.0**30 + 1).power(2), "beyond 2⁵³"),
    "a word that overflows": (lambda: scaled(1e200).element(("scale", "scale")), "the word .* is beyond the greatest"),
    "a word that vanishes": (lambda: scaled(1e-200).element(("scale", "scale")), "the word .* vanishes"),
    "a word of whole numbers": (lambda: scaled(3.0).element(("scale",) * 40), "beyond 2⁵³"),
    "a given whole number": (lambda: Action(1).matrix([[2**53 + 1]]), "a whole number beyond 2⁵³"),
    "a given small number": (lambda: scaled(1e-310), "rounds to zero"),
    "a sum": (lambda: Action(1).lie([[1.5e308]]).power(2), "infinite or not a number"),
    "a sum of entries": (
        lambda: Action(1).matrix(sp.coo_array(([1e308, 1e308], ([0, 0], [0, 0])))),
        "infinite or not a number",
    ),
    "half precision": (lambda: scaled(1e5)("scale", jnp.ones(1, jnp.float16)), "100000, which does not fit `float16`"),
    "single precision": (lambda: scaled(1e-60)("scale", jnp.ones(1)), "1e-60, which does not fit `float32`"),
    "an entry for whole numbers": (lambda: scaled(2.0**40)("scale", jnp.ones(1, int)), "beyond `int32`"),
    "whole numbers that grow": (lambda: scaled(4.0)("scale", jnp.asarray([2**30])), "up to 4.29e[+]09, beyond `int32`"),
    "whole numbers without a sign": (
        lambda: scaled(-1.0)("scale", jnp.asarray([2**31], jnp.uint32)),
        "beyond `int32`",
    ),
    "a traced entry": (lambda: jax.eval_shape(lambda x: scaled(2.0**40)("scale", x), jnp.ones(1, int)), "does not fit"),
    "doubling": (lambda: regular(scalings(1, 2.0)), "`regular` multiplies factors exactly, and 2 · 8.98847e[+]307"),
    "halving": (lambda: regular(scalings(1, 0.5)), "`regular` multiplies factors exactly"),
    "a rounded factor": (lambda: regular(scaled(1 / 49)), "0.0204082 · 0.0204082 is rounded"),
}


@pytest.mark.parametrize("case", LOST)
def test_numbers_that_are_lost_are_refused(case):
    make, message = LOST[case]
    with pytest.raises(CdlError, match=message):
        make()


def test_numbers_that_are_kept_are_not():
    assert scaled(1e100).power(2)["scale"].values.tolist() == [1e200]
    assert (scaled(1e200, 1e-200) @ scaled(1.0))["scale"].values.tolist() == [1e200, 1e-200]
    assert scaled(2.0**20, 3.0)("scale", jnp.asarray([-(2**10), 5])).tolist() == [-(2**30), 15]
    assert regular(Action(2).signed([1, 0], [4, 0.25])).size == 2
    assert scaled(1e5)("scale", jnp.ones(1, jnp.bfloat16)).dtype == jnp.bfloat16
    decaying = Action(2).lie(np.diag([-1.0, 0.0]), "decay")
    assert flow(decaying, 740.0)["decay"].dense.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_a_sparse_matrix_of_any_format_is_the_dense_one(kind):
    dense = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, -1.5], [0.0, 0.0, 0.0]])
    for given in (sp.coo_array(dense).asformat(kind), sp.coo_matrix(dense).asformat(kind)):
        assert Action(3).matrix(given) == Action(3).matrix(dense)
        with pytest.raises(CdlError, match="holds complex128 values"):
            Action(3).matrix(given.astype(complex))


def test_what_lies_outside_a_matrix_is_not_read():
    outside = sp.dia_array((np.array([[np.nan, 2.0]]), [1]), shape=(2, 2))
    assert Action(2).matrix(outside) == Action(2).matrix([[0, 2], [0, 0]])


def test_arrays_of_other_types_are_read_or_refused():
    with pytest.raises(CdlError, match="goes to 18446744073709551615"):
        Action(2).push(np.array([2**64 - 1, 0], np.uint64))
    with pytest.raises(CdlError, match="not an array"):
        Action(2).matrix([[1, 0], [1]])
    assert Action(2).matrix(jnp.eye(2, dtype=jnp.bfloat16)) == Action(2).matrix(np.eye(2))
    with pytest.raises(CdlError, match="holds object values"):
        Action(1).matrix(np.array([[None]]))


def test_half_precision_is_not_taken_for_exact():
    """1024 times an entry of `float16` is beyond its greatest number."""
    assert Action(1).matrix(np.array([[100.1]], np.float16))["g1"].precision > 1e-4
    assert Action(2).matrix(np.diag([1.5, 100.0]).astype(np.float16))["g1"].precision < 1e-15


def alike(left, right):
    return hom(scaled(*left), scaled(*right)).dimension


def test_factors_are_compared_exactly_where_they_are_short_fractions():
    assert alike([1, 1 + 2.0**-10], [1, 1 + 2.0**-10]) == 2
    assert alike([2.0**53, 2.0**53 - 1], [2.0**53, 2.0**53 - 1]) == 2
    assert alike([6.0], [6.0]) == 1
    round_trip = np.array([2.0**26 + 1, 1.0, 1.0])
    there = Action(3).signed([1, 2, 0], round_trip)
    assert hom(there, there.trivial()).dimension == 0
    back = Action(3).signed([1, 2, 0], [12.0, 0.25, 1 / 4])
    assert hom(back, back.trivial()).dimension == 0
    three = Action(3).signed([1, 2, 0], [1.5, 4.0, 0.5])
    assert hom(three, three.trivial()).dimension == 0
    one = Action(4).signed([1, 2, 3, 0], [0.75, 4.0, 0.5, 2.0])
    assert hom(one, one.trivial()).dimension == 0
    assert hom(*[Action(4).signed([1, 2, 3, 0], [0.5, 4.0, 0.25, 2.0], "c")] * 2).dimension == 4


def test_other_factors_are_told_apart_or_refused():
    assert alike([1, 1.0 + 1e-3], [1, 1.0 + 1e-3]) == 2
    assert alike([0.1 + 0.2], [0.3]) == 1
    assert alike([3, 1 / 3], [1 / 3, 3]) == 2
    with pytest.raises(CdlError, match=r"1.0e-14 is neither zero nor clearly not zero"):
        alike([1, 1 + 1e-14], [1, 1 + 1e-14])
    assert alike([1, 1e-20], [0.5, 1]) == 1  # a scale is meant, however small


def test_a_weight_has_its_factor_exactly():
    X = Action(3).signed([1, 2, 0], [3.0, 5.0, 1 / 8])
    Y = Action(3).signed([1, 2, 0], [1.0, 1.0, 15 / 8])
    scales = hom(X, Y).scales
    assert sorted(set(np.abs(scales).ravel().tolist())) == [1 / 15, 1 / 8, 1 / 3, 5 / 8, 1]


@pytest.mark.slow
def test_many_eigenvalues_that_are_equal(monkeypatch):
    from cdl.symmetry import _null_space

    rng = np.random.default_rng(0)
    basis = rng.normal(size=(21, 21))
    X = Action(21).matrix(basis @ np.diag([1.0] * 19 + [2.0] * 2) @ np.linalg.inv(basis))
    assert hom(X, X).dimension == 365
    monkeypatch.setattr(_null_space, "DENSE", 100)
    Y = X.named("other")
    assert hom(Y, Y).dimension == 365


@pytest.mark.parametrize("stage", ["eigsh", "splu"])
@pytest.mark.parametrize("error", ["arpack", "algebra", "runtime"])
def test_an_iteration_that_fails_is_not_the_end(monkeypatch, stage, error):
    from cdl.symmetry import _null_space

    kinds = {
        "arpack": _null_space.solvers.ArpackError(3),
        "algebra": np.linalg.LinAlgError("no"),
        "runtime": RuntimeError("Factor is exactly singular"),
    }

    def fail(*_, **__):
        raise kinds[error]

    monkeypatch.setattr(_null_space, "DENSE", 8)
    monkeypatch.setattr(_null_space.solvers, stage, fail)
    basis = np.random.default_rng(0).normal(size=(9, 9))
    X = Action(9).matrix(basis @ np.diag([1.0] * 7 + [2.0] * 2) @ np.linalg.inv(basis), f"{stage} {error}")
    assert hom(X, X).dimension == 53


def test_a_null_space_that_is_too_large_is_refused_before_it_is_computed():
    X = Action(300).push(np.random.default_rng(0).integers(0, 300, 300))
    began = time.perf_counter()
    with pytest.raises(
        CdlError, match=r"leaves 18005 equations of 32594 unknowns\. .* up to 3000 unknowns, and for up to"
    ):
        hom(X.transposed, X)
    assert time.perf_counter() - began < 20  # far above what it takes: a factorisation takes hours


def test_an_iteration_that_does_not_converge_is_tried_with_more_eigenvalues(monkeypatch):
    from cdl.symmetry import _null_space

    asked, found = [], _null_space.solvers.eigsh

    def slow(*given, k, **more):
        asked.append(k)
        if len(asked) == 1:
            raise _null_space.solvers.ArpackNoConvergence("no", np.zeros(0), np.zeros((0, 0)))
        return found(*given, k=k, **more)

    monkeypatch.setattr(_null_space, "DENSE", 100)
    monkeypatch.setattr(_null_space.solvers, "eigsh", slow)
    X = so(3).power(5).named("slow", "b", "c")
    assert hom(X, X.trivial()).dimension == 6
    assert asked == [16, 32]


def test_singular_values_are_found_in_another_way_or_refused(monkeypatch):
    from cdl.symmetry import _null_space

    def fail(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    X = so(3).power(2).named("fails", "b", "c")
    monkeypatch.setattr(_null_space.np.linalg, "svd", fail)
    assert hom(X, X).dimension == 3
    monkeypatch.setattr(_null_space.dense, "svd", fail)
    with pytest.raises(CdlError, match=r"the singular values of .* equations .* SVD did not converge"):
        hom(X.named("again", "b", "c"), X.named("again", "b", "c"))


@pytest.mark.slow
def test_invariants_of_order_eight():
    X = so(3).power(8)
    assert hom(X, X.trivial()).dimension == 91


def test_the_bound_of_a_generator_is_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.normal(size=(4, 4))
        assert Action(4).matrix(A)["g1"].bound >= np.linalg.norm(A, 2)
    assert cyclic(5)["shift"].bound == 1
