"""Entries that are meant are not taken for rounding, and those of narrow types are not taken for exact."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.errors import CdlError
from cdl.symmetry import Action, Equivariant, hom


def test_exact_entries_of_very_different_sizes_are_all_solved():
    A = np.array([[2.0**53, 1, 0], [0, 0, 0.5], [0, 0, 0]])
    Z = Action(1).matrix([[0.0]])
    assert hom(Action(3).matrix(A), Z).dimension == hom(Action(3).matrix(2 * A), Z).dimension == 1


def test_small_entries_that_are_written_and_not_computed_are_refused_or_solved():
    A = np.array([[2.0**-30, -(2.0**20), 2.0**30], [2.0**15, 0, 0], [0, 2.0**20, -(2.0**18)]])
    with pytest.raises(CdlError, match=r"entries .* rounding"):
        hom(Action(3).matrix(A), Action(1).matrix([[0.0]]))
    assert hom(Action(2).matrix(np.diag([2.0**30, 2.0**-30])), Action(1).matrix([[0.0]])).dimension == 0


def test_what_a_computation_leaves_is_dust():
    turn = lambda t: np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    half, quarter = (Action(2).matrix(turn(t)) for t in (np.pi, np.pi / 2))
    assert hom(half, half).dimension == 4
    assert hom(quarter, quarter).dimension == 2


TYPES = {"float16": np.float16, "bfloat16": jnp.bfloat16, "float32": np.float32, "float64": np.float64}


@pytest.mark.parametrize("dtype", TYPES)
def test_factors_of_any_type_are_known_as_their_type_rounds(dtype):
    for a, b in ((2**0.5, 0.5**0.5), (3.3, 1 / 3.3), (48000.3, 1 / 48000.3)):
        X = Action(2).signed([1, 0], np.array([a, b], TYPES[dtype]))
        assert hom(X, X.trivial()).dimension == 1
        Y = Action(2).matrix(np.array([[0, b], [a, 0]], TYPES[dtype]))
        assert hom(Y, Y.trivial()).dimension == 1


def chained(n):
    """`X → Y` by weights of which each is twice the one before."""
    X = Action(n).matrix(np.diag(np.full(n - 1, 2.0), -1), "s")
    return X, Action(n).push(np.append(np.arange(1, n), -1), "s")


@pytest.mark.parametrize(("n", "dtype"), [(40, jnp.float16), (160, jnp.float32), (160, jnp.bfloat16)])
def test_a_factor_between_weights_that_vanishes_in_their_type_is_refused(n, dtype):
    X, Y = chained(n)
    with pytest.raises(CdlError, match=f"entry .* `{jnp.dtype(dtype)}`"):
        Equivariant(X, Y, bias=False, dtype=dtype, key=jr.key(0))
    with pytest.raises(CdlError, match=r"tying .* entry"):
        hom(X, Y).weight(jnp.ones(hom(X, Y).dimension, dtype))


def test_a_factor_between_weights_that_vanishes_in_double_precision_is_refused():
    with pytest.raises(CdlError, match=r"factor .* `float64`"):
        hom(*chained(1100))
