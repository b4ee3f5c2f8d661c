"""Measures are added up in at least 32 bits, and whole numbers are subtracted exactly; sides have to have one form."""

import functools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.errors import CdlError
from cdl.symmetry import attributed, groups, lie_derivative, lie_error, monoid_error


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


def test_a_difference_beyond_the_type_is_that_difference():
    ends = jnp.asarray([2**31 - 1]), jnp.asarray([-(2**31)])
    found = monoid_error(lambda x: x, lambda x: ends[0], lambda y: ends[1], jnp.zeros((1, 1), int))
    assert float(found.mean) == pytest.approx((2.0**32 - 1) ** 2)
    most = monoid_error(lambda x: x, lambda x: x, lambda y: y - 1, jnp.full((1, 1), 2**32 - 1, jnp.uint32))
    assert float(most.mean) == 1


XS = jnp.ones((3, 2))
SHORT = lambda y: y[:1]
WRONG = {
    "what comes out": lambda: monoid_error(lambda x: x, lambda x: x, SHORT, XS),
    "a field on what comes out": lambda: lie_error(lambda x: x, lambda x: x, SHORT, XS),
    "a field on what goes in": lambda: lie_error(lambda x: x, SHORT, lambda y: y, XS),
    "a derivative": lambda: lie_derivative(lambda x: x, lambda x: x, SHORT)(XS[0]),
    "a layer": lambda: attributed([jnp.tanh], [lambda x: x, SHORT], XS),
    "what goes into a layer": lambda: attributed([jnp.tanh], [SHORT, lambda y: y], XS),
    "a tree": lambda: monoid_error(lambda x: x, lambda x: x, lambda y: (y, y), XS),
}


@pytest.mark.parametrize("case", WRONG)
def test_sides_of_different_forms_are_refused(case):
    with pytest.raises(CdlError, match=r"the two sides have different forms, of the shapes .* give the action, or the"):
        WRONG[case]()


@pytest.mark.parametrize(
    ("xs", "many"),
    [
        (jnp.ones((0, 2)), "0 examples"),
        ((), "no arrays of"),
        (1.0, "no axis of"),
        ((XS, jnp.ones((2, 2))), "2 and 3 examples"),
    ],
)
@pytest.mark.parametrize("measure", [monoid_error, lie_error, lambda h, a, b, xs: attributed([h], [a, b], xs)])
def test_without_examples_nothing_is_measured(measure, xs, many):
    same = lambda x: x
    with pytest.raises(CdlError, match=f"a map is measured at examples.* there are {many}"):
        measure(same, same, same, xs)


@pytest.mark.parametrize("h", [jnp.argmax, lambda x: x > 0])
def test_what_has_no_derivative_does_not_change(h):
    xs = jr.normal(jr.key(0), (5, 2))
    still = lambda y: jnp.zeros_like(y)
    assert float(lie_error(h, TURN, still, xs).mean) == 0
    assert float(attributed([h], [TURN, still], xs).mean[0]) == 0
    assert not np.any(lie_derivative(h, TURN, still)(xs[0]))
    assert jax.vmap(lie_derivative(h, TURN, still))(xs).dtype == jnp.float32
