"""Measures are added up in at least 32 bits, and whole numbers are subtracted exactly; sides have to have one form."""

import functools

import jax.numpy as jnp
import jax.random as jr
import pytest

from cdl.symmetry import attributed, groups, monoid_error


MINUS = lambda x: -x
TURN = functools.partial(groups.so(2), "turn01")


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_half_precision_does_not_overflow(dtype):
    found = monoid_error(jnp.abs, MINUS, MINUS, jnp.full((500, 300), 1.0, dtype))
    assert (float(found.mean), float(found.relative)) == (4, 2)
    great = monoid_error(jnp.abs, MINUS, MINUS, jnp.full((2, 3), 1000.0, dtype))
    assert float(great.mean) == 4 * float(jnp.asarray(1000.0, dtype)) ** 2
    xs = jr.normal(jr.key(0), (100_000, 2))
    half, single = (attributed([jnp.tanh], [TURN, TURN], x) for x in (xs.astype(dtype), xs))
    assert float(half.mean[0]) == pytest.approx(float(single.mean[0]), rel=0.02)
    assert float(half.shares[0]) == pytest.approx(float(single.shares[0]), rel=0.02)


@pytest.mark.parametrize("start", [2**26, 2**31 - 2, -(2**31), 0])
def test_whole_numbers_are_subtracted_exactly(start):
    xs = jnp.full((3, 2), start, jnp.int32)
    same = lambda x: x
    assert float(monoid_error(same, same, lambda y: y + 1, xs).mean) == 1
    assert float(monoid_error(same, same, same, xs).mean) == 0
    assert float(monoid_error(lambda x: x > 0, same, jnp.logical_not, xs).mean) == 1
