"""What is given to an action, a layer or a field is checked at one door: sizes of generators, and numbers."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import unchecked

from cdl.errors import CdlError
from cdl.symmetry import Action, Equivariant, fields, hom
from cdl.symmetry.groups import permutations


S = permutations(3)
LAYER = Equivariant(S, S, key=jr.key(0))
TAKERS = {
    "an action": lambda x: S("cycle", x),
    "a layer": LAYER,
    "a tying": lambda x: hom(S, S.trivial(2)).weight(x[:2] if isinstance(x, list | np.ndarray) else x),
    "a field": lambda x: fields.translation(x),
}


@pytest.mark.parametrize("size", [2, 4])
def test_generators_have_the_size_of_the_carrier(size):
    with pytest.raises(CdlError, match=rf"`cycle` acts on 3 numbers, and the carrier of shape \({size},\) has {size}"):
        Action(size, S.generators)


@pytest.mark.parametrize("given", [[3], 3, S])
def test_what_is_no_generator_is_refused(given):
    with unchecked(), pytest.raises(CdlError, match=r"an action has generators, and `.*` is not one"):
        Action(3, given)


@pytest.mark.parametrize("shape", [None, 2.0, "ab", [1, 2.5], True, -1])
def test_what_is_no_shape_is_refused(shape):
    with unchecked(), pytest.raises(CdlError, match="give whole numbers of 0 or more"):
        Action(shape)


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    "x",
    [np.array([2**40, 7, 2**33 + 1]), np.array([2**63, 0, 0], np.uint64), [2**40, 7, 3], [2**70, 7, 3]],
    ids=["int64", "uint64", "list", "beyond int64"],
)
def test_a_whole_number_that_jax_would_wrap_is_refused(taker, x):
    with unchecked(), pytest.raises(CdlError, match="the number would be changed"):
        TAKERS[taker](x)


@pytest.mark.parametrize("taker", TAKERS)
def test_a_real_number_that_would_become_infinite_is_refused(taker):
    with unchecked(), pytest.raises(CdlError, match="the number would become infinite"):
        TAKERS[taker](np.array([1e300, 1.0, 1.0]))


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("x", [None, "abc", [None, 1, 2], [[1, 2], [1]], object()])
def test_what_is_no_array_is_refused(taker, x):
    with unchecked(), pytest.raises(CdlError, match="not an array of numbers"):
        TAKERS[taker](x)


def test_numbers_that_are_kept_are_taken():
    assert S("cycle", [2**31 - 1, 7, -(2**31)]).tolist() == [-(2**31), 2**31 - 1, 7]
    assert S("cycle", np.array([0.1, 0.2, 0.3])).dtype == jnp.float32
    assert jax.jit(lambda x: S("cycle", [x, 2 * x, 1]))(2.0).tolist() == [1, 2, 4]
