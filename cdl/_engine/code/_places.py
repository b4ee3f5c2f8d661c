"""Places where an object was found, and a function that tells quickly whether each still has it.

The function is one expression, written as source: for a state of a few numbers, this is half the time of a loop over
the places. Source that was seen before is not compiled again.
"""

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any


FEW = 16  # up to so many parts of a dictionary are each compared by a condition of their own

_SOURCE = """
def same():
    try:
        return {}
    except (AttributeError, LookupError, ValueError):  # a place that is gone
        return False
"""


class Places:
    """Conditions on places, each with the object that is found there when it is noted."""

    def __init__(self) -> None:
        self._conditions: dict[str, None] = {}
        self._objects: dict[str, Any] = {"is_": operator.is_}
        self._names: dict[int, str] = {}

    def attributes(self, of: object, names: Iterable[str]) -> None:
        """What an object has at these names, which are Python's own."""
        for name in names:
            self._note(f"{self._name(of)}.{name} is {self._name(getattr(of, name))}")

    def entries(self, of: Mapping[str, object], names: Iterable[str]) -> None:
        """What a dictionary has at these names."""
        for name in names:
            self._note(f"{self._name(of)}[{name!r}] is {self._name(of[name])}")

    def absent(self, of: Mapping[str, object], names: Iterable[str]) -> None:
        """That a dictionary has nothing at these names."""
        for name in names:
            self._note(f"{name!r} not in {self._name(of)}")

    def all_of(self, of: Mapping[str, object]) -> None:
        """All that a dictionary has."""
        if not of:
            self._note(f"not {self._name(of)}")
            return
        self._note(f"[*{self._name(of)}] == {self._name([*of])}")
        if type(of) is dict and len(of) <= FEW:
            self.entries(of, of)
        else:
            self._note(f"all(map(is_, {self._name(of)}.values(), {self._name([*of.values()])}))")

    def items(self, of: list[Any]) -> None:
        """All that a list has."""
        self._note(f"len({self._name(of)}) == {len(of)}")
        self._note(f"all(map(is_, {self._name(of)}, {self._name([*of])}))")

    def same(self) -> Callable[[], bool]:
        """The function that compares all that was noted."""
        found: dict[str, Any] = dict(self._objects)
        exec(_compiled(" and ".join(self._conditions) or "True"), found)
        function: Callable[[], bool] = found["same"]
        return function

    def _note(self, condition: str) -> None:
        self._conditions[condition] = None

    def _name(self, of: object) -> str:
        """The name of an object in the source. It is kept alive, so that no other takes its `id`."""
        name = self._names.setdefault(id(of), f"o{len(self._names)}")
        self._objects[name] = of
        return name


@functools.lru_cache(maxsize=256)
def _compiled(conditions: str) -> CodeType:
    return compile(_SOURCE.format(conditions), "<places>", "exec")
