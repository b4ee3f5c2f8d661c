"""JSON as trees: every value comes back, type by type and key by key, and what is not JSON is refused with its path."""

import collections
import json

import pytest
from hypothesis import given, settings, strategies as st

import cdl
from cdl import CdlError, Many
from cdl.errors import ForeignLayer, TreeTooLarge
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
def test_a_value_comes_back_exactly_and_its_tree_is_the_one_written_out(value):
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


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1, {3}]}, r"`\$.a\[1\]` is \{3\}, a `set`, and a JSON value is"),
        ({"a b": (1,)}, r"`\$\['a b'\]` is \(1,\), a `tuple`, and a JSON value is"),
        ([{"a": {1: 2}}], r"`\$\[0\].a` has the key 1, an `int`: a key of JSON is a `str`"),
        ({None: 2}, r"`\$` has the key None, a `NoneType`"),
        ([collections.OrderedDict()], r"`\$\[0\]` is OrderedDict\(\), .* and of no subclass: convert it first"),
        ([[[[[[[[[[[[1j]]]]]]]]]]]], r"`\$…(\[0\]){10}` is 1j"),
    ],
)
def test_what_is_not_json_is_refused_with_its_path(value, message):
    with pytest.raises(CdlError, match=message):
        of_json(value)


def test_a_list_inside_itself_is_refused():
    loop = [1]
    loop.append({"again": loop})
    with pytest.raises(TreeTooLarge, match="a `list` is inside itself"):
        of_json(loop)


def test_a_tree_that_is_of_no_value_is_refused():
    member = Member("a", Null())
    with pytest.raises(ForeignLayer, match="a JSON value holds a `Member`"):
        to_json(Array(Many([member])))
    with pytest.raises(ForeignLayer, match="an `Object` holds a `Null`, and a tree of Member belongs there"):
        to_json(Object(Many([Null()])))
    with pytest.raises(CdlError, match="an `Object` has the key 'a' twice, of which a `dict` keeps one"):
        to_json(Object(Many([member, Member("b", Null()), member])))
    with pytest.raises(CdlError, match="a text of JSON is 3, an `int`, and a `str` belongs there"):
        to_json(String(3))
    with pytest.raises(CdlError, match="a number of JSON is True, a `bool`"):
        to_json(Number(True))
