"""JSON as trees: every value comes back, type by type and key by key, and what is not JSON is refused with its path."""

import json

from hypothesis import given, settings, strategies as st

import cdl
from cdl import Many
from cdl.trees import Array, Boolean, JSONF, Member, Null, Number, Object, of_json, String, to_json


# Values of up to some twenty parts: objects with any texts as keys, lists, texts, whole numbers of any size, floats
# with the infinite ones and NaN, truth values and null.
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def by_definition(value):
    match value:
        case dict():
            return Object(Many([Member(key, by_definition(x)) for key, x in value.items()]))
        case list():
            return Array(Many(map(by_definition, value)))
        case str():
            return String(value)
        case None:
            return Null()
    return Boolean(value) if isinstance(value, bool) else Number(value)


@settings(max_examples=50)
@given(values)
def test_of_json_and_to_json_are_inverse_by_definition(value):
    tree = of_json(value)
    assert repr(tree) == repr(by_definition(value))  # NaN differs from itself, and is written the same
    assert json.dumps(to_json(tree)) == json.dumps(value)  # which tells `1` from `1.0` and `True`, and keeps the order


def test_the_signature_is_that_of_json():
    assert str(cdl.functor(JSONF)) == "Many(X) + A × X + Many(X) + A + float + bool + 1"


def test_no_depth_is_too_deep():
    value = []
    for i in range(5_000):  # five times what Python's own stack holds; each costs the tests' type checker its time
        value = [value] if i % 2 else {"a": value}
    back, depth = to_json(of_json(value)), 0
    while back:
        back, depth = back[0] if isinstance(back, list) else back["a"], depth + 1
    assert depth == 5_000
