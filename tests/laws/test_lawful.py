"""The lawful interfaces: `check_all_laws` of `returns` writes their tests; each law catches a mistake alone."""

import dataclasses
import inspect
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from planted import breaks
from returns.contrib.hypothesis.laws import check_all_laws

from cdl import laws


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


shelves = st.lists(st.integers(0, 9), min_size=1, max_size=3).map(tuple).map(Shelf)
check_all_laws(Shelf, container_strategy=shelves, settings_kwargs={"max_examples": 10, "deadline": None})


MAP, JOIN, DUPLICATE = Shelf.map, Shelf.join, Shelf.duplicate


def numbers(f: Any, things: Any) -> bool:
    """Whether a function maps numbers to numbers: only the laws of `map` have such a one."""
    return all(isinstance(x, int) for x in (*things, *map(f, things)))


def depth(thing: Any) -> int:
    return 1 + depth(thing.things[0]) if isinstance(thing, Shelf) else 0


def loses_a_number(self: Any, f: Any) -> Any:
    return MAP(Shelf(self.things[:2]) if numbers(f, self.things) else self, f)


def maps_numbers_twice(self: Any, f: Any) -> Any:
    return MAP(MAP(self, f) if numbers(f, self.things) else self, f)


def joins_backwards(where: Any) -> Any:
    return lambda self: Shelf(JOIN(self).things[:: -1 if where(self) else 1])


# One method with one mistake: mostly at shelves of one depth, and right at those that the other laws look at.
MISTAKES = [
    ("`F id = id`", "map", loses_a_number),
    ("`F g ∘ F f = F (g ∘ f)`", "map", maps_numbers_twice),
    ("`μ ∘ η = id`", "join", joins_backwards(lambda self: len(self.things) == 1)),
    ("`μ ∘ M η = id`", "join", joins_backwards(lambda self: all(len(inner.things) == 1 for inner in self.things))),
    ("`μ ∘ μ = μ ∘ M μ`", "join", joins_backwards(lambda self: depth(self) == 3)),
    ("`extract ∘ duplicate = id`", "extract", lambda self: self.things[-1 if depth(self) == 2 else 0]),
    ("`W extract ∘ duplicate = id`", "extract", lambda self: self.things[-1 if depth(self) == 1 else 0]),
    (
        "`duplicate ∘ duplicate = W duplicate ∘ duplicate`",
        "duplicate",
        lambda self: Shelf((self,) * 3) if depth(self) == 2 else DUPLICATE(self),
    ),
]


@pytest.mark.parametrize(("law", "method", "mistake"), MISTAKES, ids=[law for law, _, _ in MISTAKES])
def test_a_container_with_one_mistake_breaks_one_law_and_no_other(law, method, mistake, monkeypatch):
    def check() -> None:
        for each in (law for group in Shelf.laws().values() for law in group):
            arguments = [Shelf((1, 2, 3)), lambda n: n + 1, lambda n: 2 * n]
            each.definition(*arguments[: len(inspect.signature(each.definition).parameters)])

    check()
    monkeypatch.setattr(Shelf, method, mistake)
    breaks(law, check)
