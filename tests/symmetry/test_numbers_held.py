"""What a generator holds is finite and keeps its digits, whatever makes it; sparse matrices come through one door."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
from equivariant import unchecked

from cdl.errors import CdlError
from cdl.symmetry import Action, flow, hom, NormGate
from cdl.symmetry.groups import cyclic, permutations, regular, so


def scaled(*factors):
    return Action(len(factors)).signed(np.arange(len(factors)), factors, "scale")


def test_numbers_that_are_kept_are_not():
    assert scaled(1e100).power(2)["scale"].values.tolist() == [1e200]
    assert (scaled(1e200, 1e-200) @ scaled(1.0))["scale"].values.tolist() == [1e200, 1e-200]
    assert scaled(2.0**20, 3.0)("scale", jnp.asarray([-(2**10), 5])).tolist() == [-(2**30), 15]
    assert regular(Action(2).signed([1, 0], [4, 0.25])).size == 2
    assert scaled(1e5)("scale", jnp.ones(1, jnp.bfloat16)).dtype == jnp.bfloat16


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_a_sparse_matrix_of_any_format_is_the_dense_one(kind):
    dense = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, -1.5], [0.0, 0.0, 0.0]])
    for given in (sp.coo_array(dense).asformat(kind), sp.coo_matrix(dense).asformat(kind)):
        assert Action(3).matrix(given) == Action(3).matrix(dense)


def test_action_reads_matrices_of_narrow_types():
    assert Action(2).matrix(jnp.eye(2, dtype=jnp.bfloat16)) == Action(2).matrix(np.eye(2))


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
    with pytest.raises(CdlError, match=r"e-14 .*neither zero"):
        alike([1, 1 + 1e-14], [1, 1 + 1e-14])
    assert alike([1, 1e-20], [0.5, 1]) == 1  # a scale is meant, however small


def test_a_weight_has_its_factor_exactly():
    X = Action(3).signed([1, 2, 0], [3.0, 5.0, 1 / 8])
    Y = Action(3).signed([1, 2, 0], [1.0, 1.0, 15 / 8])
    scales = hom(X, Y).scales
    assert sorted(set(np.abs(scales).ravel().tolist())) == [1 / 15, 1 / 8, 1 / 3, 5 / 8, 1]


def test_a_null_space_that_is_too_large_is_refused_before_it_is_computed():
    X = Action(300).push(np.random.default_rng(0).integers(0, 300, 300))
    began = time.perf_counter()
    with pytest.raises(CdlError, match="18005 equations of 32594 unknowns"):
        hom(X.transposed, X)
    assert time.perf_counter() - began < 20  # far above what it takes: a factorisation takes hours


def test_the_bound_of_a_generator_is_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.normal(size=(4, 4))
        assert Action(4).matrix(A)["g1"].bound >= np.linalg.norm(A, 2)
    assert cyclic(5)["shift"].bound == 1


def test_actions_take_what_fits():
    S, turn = permutations(3), so(2)
    assert S("cycle", [2**31 - 1, 7, -(2**31)]).tolist() == [-(2**31), 2**31 - 1, 7]
    assert S("cycle", np.array([0.1, 0.2, 0.3])).dtype == jnp.float32
    assert jax.jit(lambda x: S("cycle", [x, 2 * x, 1]))(2.0).tolist() == [1, 2, 4]
    assert Action(0).perm([])("g1", []).shape == (0,)
    with unchecked():
        assert S.power(np.int64(2)) == S.power(2)
        words: Any = ["cycle", "swap"]
        assert S(words, jnp.arange(3)).tolist() == S(("cycle", "swap"), jnp.arange(3)).tolist()
        assert flow(turn, np.float32(0.5)) == flow(turn, jnp.asarray(0.5)) == flow(turn, 0.5)


def test_norm_gate_takes_elements_after_a_long_time():
    """The exponential of a great matrix rounds by its size."""
    long = flow(so(3), 1e4)
    assert NormGate(long, key=jax.random.key(0)).source == long
    assert hom(long, long.trivial()).dimension == 0
    with pytest.raises(CdlError, match="orthogonal"):
        NormGate(flow(Action(2).lie(np.eye(2)), 1e-3), key=jax.random.key(0))
