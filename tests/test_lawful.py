"""The lawful interfaces: `check_all_laws` of `returns` writes their tests, and each law catches a mistake."""

import dataclasses
import inspect
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from returns.contrib.hypothesis.laws import check_all_laws

from cdl import (
    LawBroken,
    laws,
)


A = TypeVar("A")


@dataclasses.dataclass(frozen=True)
class Shelf(laws.LawfulComonad[A], laws.LawfulMonad[A]):
    """Some things in a row, never none: seen from the first."""

    things: tuple[A, ...]

    def map(self, f: Any, /) -> Any:
        return Shelf(tuple(map(f, self.things)))

    def extract(self) -> A:
        return self.things[0]

    def duplicate(self) -> Any:
        return Shelf(tuple(Shelf(self.things[i:]) for i in range(len(self.things))))

    def wrap(self, element: Any, /) -> Any:
        return Shelf((element,))

    def join(self) -> Any:
        return Shelf(tuple(thing for shelf in self.things for thing in shelf.things))


@dataclasses.dataclass(frozen=True)
class Tilted(laws.LawfulComonad[A], laws.LawfulMonad[A]):
    """The same with a mistake in each method."""

    things: tuple[A, ...]

    def map(self, f: Any, /) -> Any:
        return Tilted(tuple(map(f, self.things[::-1])))

    def extract(self) -> A:
        return self.things[-1]

    def duplicate(self) -> Any:
        return Tilted(tuple(Tilted(self.things[i:]) for i in range(len(self.things))))

    def wrap(self, element: Any, /) -> Any:
        return Tilted((element, element))

    def join(self) -> Any:
        return Tilted(tuple(thing for shelf in self.things for thing in shelf.things))


shelves = st.lists(st.integers(0, 9), min_size=1, max_size=3).map(tuple).map(Shelf)
check_all_laws(Shelf, container_strategy=shelves, settings_kwargs={"max_examples": 10, "deadline": None})


@pytest.mark.parametrize("law", [law for group in Tilted.laws().values() for law in group], ids=lambda law: law.name)
def test_each_law_of_an_interface_catches_a_container_with_mistakes(law):
    arguments: list[Any] = [Tilted((1, 2, 3)), str, int][: len(inspect.signature(law.definition).parameters)]
    with pytest.raises(LawBroken, match="the left side gives"):
        law.definition(*arguments)
