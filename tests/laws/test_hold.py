"""How the two sides of a law are compared: part by part, exactly or within a tolerance."""

import copy
import inspect
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from cdl import algebra, CdlError, Cons, fmap, Fork, laws, Leaf, Many, Nil, Node, to_list
from cdl._functors.difference import difference
from cdl.errors import ForeignLayer, LawBroken
from cdl.functors import Succ, Zero
from cdl.laws._hold import hold
from cdl.machines import delay
from cdl.monads import Monoid


def test_numbers_are_compared_exactly_unless_a_tolerance_is_given():
    sums = Monoid(0.0, lambda x, y: x + y)
    with pytest.raises(LawBroken, match=r"0\.6000000000000001(?s:.)*1\.1e-16"):
        laws.monoid(sums, 0.1, 0.2, 0.3)
    laws.monoid(sums, 0.1, 0.2, 0.3, tolerance=1e-12)
    arrays = Monoid(jnp.zeros(2), lambda x, y: x + y)
    values = [jnp.asarray([x, -x]) for x in (0.1, 0.2, 0.3)]
    laws.monoid(arrays, *values, tolerance=1e-6)
    with pytest.raises(LawBroken, match=r"0\.35, 0\.15"):
        laws.monoid(Monoid(jnp.zeros(2), lambda x, y: x + y + 0.25), *values, tolerance=1e-6)


EXACT = [law for law in vars(laws).values() if inspect.isfunction(law)]


@pytest.mark.parametrize("law", [*EXACT, hold, difference], ids=lambda law: law.__name__)
def test_laws_are_exact_where_no_tolerance_is_given(law):
    assert inspect.signature(law).parameters["tolerance"].default == 0.0


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ({"a": [1, 2]}, {"a": [1, 3]}, (2, 3)),
        ({"a": 1}, {"b": 1}, ({"a": 1}, {"b": 1})),
        (Node("a", Many([1])), Node("a", Many([1, 2])), (Many([1]), Many([1, 2]))),
        (Cons(1, None), Cons(1, 0), (None, 0)),
        (np.zeros(2), np.zeros(3), None),
        (np.zeros(()), np.zeros(3), None),
        (True, 2, (True, 2)),
        (True, False, (True, False)),
        ("a", "b", ("a", "b")),
        (float("nan"), 1.0, None),
        (1.0, float("nan"), None),
    ],
)
def test_the_smallest_parts_that_differ_are_shown(left, right, shown):
    found = difference(left, right)
    assert found is not None
    assert shown is None or found == shown


@pytest.mark.parametrize(
    ("left", "right", "tolerance", "same"),
    [
        (1.5, 1.0, 0.5, True),
        (1.5, 1.0, 0.49, False),
        (0.75, 0.0, 0.5, False),
        (150.0, 100.0, 0.5, True),
        (151.0, 100.0, 0.5, False),
        (-1.0, 1.0, 0.5, False),
        (1, 1.05, 0.1, True),
        (1.05, 1, 0.1, True),
        (1, 2, 1.5, False),
        (1.5, 2.0, 1.0, True),
        (float("nan"), 1.0, 0.1, False),
        (1.0, float("nan"), 0.1, False),
        (float("inf"), 1.0, 0.1, False),
        (1.0, float("inf"), 0.1, False),
        (float("inf"), float("-inf"), 0.1, False),
        (float("inf"), float("inf"), 0.1, True),
        (1.0, "a", 0.1, False),
        ("a", "a", 0.1, True),
    ],
)
def test_inexact_numbers_are_the_same_within_a_part_of_the_right_side_and_no_others(left, right, tolerance, same):
    assert (difference(left, right, tolerance) is None) is same


class Never:
    """What equals nothing, not even itself."""

    def __eq__(self, other: object) -> bool:
        return False


def test_a_thing_is_the_same_as_itself_whatever_it_says():
    thing = Never()
    assert difference((1, thing, 2), (1, thing, 2)) is None
    assert difference((thing, 1), (thing, 2)) == (1, 2)
    assert difference(thing, Never()) is not None


@pytest.mark.parametrize("pair", [lambda x: Fork(x, x), lambda x: (x, x), lambda x: [x, {"a": x}]])
def test_parts_that_are_shared_are_compared_once(pair):
    def doubled(x):
        for _ in range(60):
            x = pair(x)
        return x

    assert difference(doubled(Leaf(1)), doubled(Leaf(1))) is None
    assert difference((doubled(Leaf(1)), 2), (doubled(Leaf(1)), 3)) == (2, 3)
    assert difference(doubled(Leaf(1)), doubled(Leaf(2))) == (1, 2)


def test_a_law_at_several_places_says_at_which_it_fails():
    with pytest.raises(LawBroken, match=r"^a law, at the root: the left side gives `1` where the right gives `2`\.$"):
        hold("a law", 1, 2, at="the root")
    with pytest.raises(LawBroken, match=r"^a law: the left side"):
        hold("a law", 1, 2)
    in_arrays = algebra(lambda layer: jnp.array(1) if isinstance(layer, Nil) else 2 * layer.tail)
    with pytest.raises(LawBroken, match=r"at the layer `Cons\(0, 1\)`: the left side"):  # and not `Array(1, dtype=…`
        laws.fusion(abs, in_arrays, algebra(lambda layer: jnp.array(1)), to_list([0]))


TOTAL = algebra(lambda layer: layer.tail + layer.head if isinstance(layer, Cons) else 0)
DOWN = lambda n: Succ(n - 1) if n else Zero()
MINUS: Any = lambda x: -x
LIST = to_list([1, 2])


@pytest.mark.parametrize(
    ("swapped", "said"),
    [
        # `fusion` would compare `TOTAL` of a number, which is 0 by its last case, with itself.
        (
            lambda: laws.fusion(TOTAL, TOTAL, TOTAL, LIST),
            "`h` is an `algebra`, which reads layers, and is called with `0`",
        ),
        (
            lambda: laws.fusion(TOTAL, MINUS, TOTAL, LIST),
            r"`alg` is the function `<lambda>`, and fails on `Nil\(\)`, a layer",
        ),
        (
            lambda: laws.fusion(MINUS, TOTAL, MINUS, LIST),
            r"`other` is the function `<lambda>`, and fails on `Nil\(\)`, a lay",
        ),
        (
            lambda: laws.algebra_map(TOTAL, TOTAL, MINUS, Cons(1, 2)),
            "`h` is an `algebra`.* called with `3`, a value of `alg`",
        ),
        (lambda: laws.coalgebra_map(DOWN, MINUS, DOWN, 3), "`coalg` is .*, and gives `-3`, which is not a layer"),
        (lambda: laws.unfold_fusion(DOWN, DOWN, MINUS, 3), r"`other` is .*, and fails on `Succ\(2\)`, a value of `h`"),
        (
            lambda: laws.machine_map(delay, MINUS, delay, 1, [2]),
            "`machine` is .*, and gives `-1`, which is not a layer",
        ),
    ],
)
def test_a_function_in_the_place_of_another_is_told(swapped, said):
    with pytest.raises(
        CdlError, match=f"{said}.*: `h` maps the (values|seeds) of .* to those of `other`, .* Write `"
    ) as e:
        swapped()
    assert not isinstance(e.value, LawBroken)


def test_an_algebra_is_a_map_where_the_values_are_layers():
    """Lambek: `α` is a map of algebras from `F α` to `α`."""
    mapped = algebra(lambda layer: fmap(TOTAL, layer))
    laws.fusion(TOTAL, mapped, TOTAL, LIST)


def test_an_error_of_cdl_inside_of_one_of_the_three_stays_what_it_is():
    def foreign(x: Any) -> Any:
        raise ForeignLayer("a layer of another signature")  # which is a `TypeError` too

    for law in (laws.algebra_map, laws.fusion):
        with pytest.raises(ForeignLayer, match=r"^a layer of another signature$"):
            law(foreign, TOTAL, TOTAL, Nil())


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        (1.0, 1.001, "They differ by 1.0e-03: if that is rounding, give a `tolerance`."),
        (1000.0, 1001.0, "They differ by 1.0e+00: if"),
        (np.ones(2), np.array([1, 1.001]), "They differ by 1.0e-03: if"),
        (1.0, 1.5, None),
        (1.0, 2, None),
        (float("nan"), 1.0, None),
        (np.ones(2), np.ones(3), None),
    ],
)
def test_a_tolerance_is_proposed_where_the_difference_may_be_rounding(left, right, told):
    with pytest.raises(LawBroken) as broken:
        hold("a law", left, right)
    assert ("They differ" in str(broken.value)) is (told is not None)
    assert told is None or told in str(broken.value)


def test_a_long_side_is_cut():
    text = lambda n: "a" * (n - 2)  # which has this length in quotes
    with pytest.raises(LawBroken, match=f"gives `{text(199)!r}` where"):
        hold("a law", text(199), 0)
    with pytest.raises(LawBroken, match=f"gives `{text(200)!r}`".replace("a'`", "a…` where")):
        hold("a law", text(200), 0)


@pytest.mark.parametrize("value", [float("nan"), np.array([np.nan, np.inf]), [1, (2, {"a": np.ones(2)})], Leaf("a")])
def test_a_value_is_the_same_as_its_copy(value):
    assert difference(value, copy.deepcopy(value)) is None
    assert difference(value, copy.deepcopy(value), tolerance=0.1) is None


def test_a_broken_law_is_an_assertion_error_and_an_error_of_the_library():
    assert issubclass(LawBroken, AssertionError)
    assert issubclass(LawBroken, CdlError)
