"""Places where an object was found are the same while each has that very object, and no others are compared."""

import types
from typing import Any

import pytest


def many(count: int) -> dict[str, Any]:
    return {f"name {i}'s": object() for i in range(count)}


def renamed(of: dict[str, Any]) -> None:
    """Its last part has another name, and the parts are the same."""
    name, part = of.popitem()
    of["other " + name] = part


def replaced(of: Any) -> None:
    """Its first part is an equal object, and another."""
    key = 0 if isinstance(of, list) else next(iter(of))
    of[key] = Equal()


class Equal:
    """All objects of this class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)

    def __hash__(self) -> int:
        return 0


CHANGES = {
    "an entry": lambda at, x: (at.entries(x, ["part"]), lambda: replaced(x)),
    "an entry that goes": lambda at, x: (at.entries(x, ["part"]), x.clear),
    "an entry that comes": lambda at, x: (at.absent(x, ["new", "newer"]), lambda: x.update(newer=1)),
    "a part of a dictionary": lambda at, x: (at.all_of(x), lambda: replaced(x)),
    "the name of a part": lambda at, x: (at.all_of(x), lambda: renamed(x)),
    "one more part": lambda at, x: (at.all_of(x), lambda: x.update(new=1)),
    "a part of a list": lambda at, x: (at.items(x["list"]), lambda: replaced(x["list"])),
    "the length of a list": lambda at, x: (at.items(x["list"]), lambda: x["list"].append(1)),
    "the first in an empty dictionary": lambda at, x: (at.all_of(x["none"]), lambda: x["none"].update(new=1)),
    "a class": lambda at, x: (at.all_of(vars(x["class"])), lambda: setattr(x["class"], "scale", Equal())),
    "an attribute": lambda at, x: (
        at.attributes(x["object"], ["scale"]),
        lambda: setattr(x["object"], "scale", Equal()),
    ),
    "an attribute that goes": lambda at, x: (
        at.attributes(x["object"], ["scale"]),
        lambda: delattr(x["object"], "scale"),
    ),
}


@pytest.mark.parametrize("count", [0, 3, 40])
@pytest.mark.parametrize("what", CHANGES)
def test_what_was_noted_is_the_same_until_it_changes(what, count):
    from cdl._engine.code._places import Places

    kind, thing = type("Scale", (), {"scale": Equal()}), types.SimpleNamespace(scale=Equal())
    found = {"part": Equal(), **many(count), "list": [Equal(), 2], "none": {}, "class": kind, "object": thing}
    at = Places()
    _, change = CHANGES[what](at, found)
    same = at.same()
    assert same() is True
    change()
    assert same() is False


def test_where_nothing_was_noted_nothing_changes():
    from cdl._engine.code._places import Places

    assert Places().same()() is True


def test_places_of_one_form_are_compiled_once():
    from cdl._engine.code import _places

    def noted() -> Any:
        at, held = _places.Places(), {"a": object()}
        at.all_of(held)
        return at.same(), held

    (first, one), before = noted(), _places._compiled.cache_info().misses
    second, other = noted()
    assert _places._compiled.cache_info().misses == before
    other["a"] = object()
    assert first()
    assert not second()
    assert list(one) == ["a"]
