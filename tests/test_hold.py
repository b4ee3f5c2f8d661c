"""How the two sides of a law are compared: part by part, exactly or within a tolerance."""

import copy
import re

import jax.numpy as jnp
import numpy as np
import pytest

from cdl import CdlError, Cons, LawBroken, laws, Leaf, Many, Monoid, Node
from cdl.laws._hold import difference


def test_numbers_are_compared_exactly_unless_a_tolerance_is_given():
    sums = Monoid(0.0, lambda x, y: x + y)
    shown = "`(x · y) · z = x · (y · z)`: the left side gives `0.6000000000000001` where the right gives `0.6`."
    with pytest.raises(LawBroken, match="^" + re.escape(shown) + "$"):
        laws.monoid(sums, 0.1, 0.2, 0.3)
    laws.monoid(sums, 0.1, 0.2, 0.3, tolerance=1e-12)
    arrays = Monoid(jnp.zeros(2), lambda x, y: x + y)
    values = [jnp.asarray([x, -x]) for x in (0.1, 0.2, 0.3)]
    laws.monoid(arrays, *values, tolerance=1e-6)
    with pytest.raises(LawBroken, match=r"the left side gives .*0\.35, 0\.15"):
        laws.monoid(Monoid(jnp.zeros(2), lambda x, y: x + y + 0.25), *values, tolerance=1e-6)


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ({"a": [1, 2]}, {"a": [1, 3]}, (2, 3)),
        ({"a": 1}, {"b": 1}, ({"a": 1}, {"b": 1})),
        (Node("a", Many([1])), Node("a", Many([1, 2])), (Many([1]), Many([1, 2]))),
        (Cons(1, None), Cons(1, 0), (None, 0)),
        (np.zeros(2), np.zeros(3), None),
        (True, 2, (True, 2)),
        ("a", "b", ("a", "b")),
    ],
)
def test_the_smallest_parts_that_differ_are_shown(left, right, shown):
    found = difference(left, right)
    assert found is not None
    assert shown is None or found == shown


@pytest.mark.parametrize("value", [float("nan"), np.array([np.nan, np.inf]), [1, (2, {"a": np.ones(2)})], Leaf("a")])
def test_a_value_is_the_same_as_its_copy(value):
    assert difference(value, copy.deepcopy(value)) is None
    assert difference(value, copy.deepcopy(value), tolerance=0.1) is None


def test_a_broken_law_is_an_assertion_error_and_an_error_of_the_library():
    assert issubclass(LawBroken, AssertionError)
    assert issubclass(LawBroken, CdlError)
