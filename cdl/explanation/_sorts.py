"""The sorts of an architecture: one, or those of a family, whose letters then have an index.

| the mathematics                        | of one sort           | of a family                                       |
| -------------------------------------- | --------------------- | ------------------------------------------------- |
| the functor                            | `F X = A + X²`        | `F₀(X₀, X₁) = …`, `F₁(X₀, X₁) = …`                |
| an algebra                             | `α : P × F S → S`     | `αₛ : Pₛ × Fₛ(S₀, S₁) → Sₛ`, one for each         |
| a coalgebra                            | `γ : P × S → F S`     | `γₛ : Pₛ × Sₛ → Fₛ(S₀, S₁)`, one for each         |
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, Union

from .._drawing.kinds import formulas
from .._functors import holes
from .._functors.poly import by_sort, lettered, Sum
from .._functors.read import layout, signature_name
from .._para.family import Kinds, sort_of
from .._terms import name, numbers, real
from ._measure import weights
from ._page import cut, Weights


V = TypeVar("V")


@dataclass(frozen=True)
class Sorts:
    """The constructors of each sort, and what a page says of them."""

    kinds: Kinds

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def signature(self) -> Any:
        """What `pack` is given."""
        unions = tuple(Union[some] for some in self.kinds)
        return unions if len(self) > 1 else unions[0]

    @property
    def functors(self) -> tuple[str, ...]:
        """The functor of each sort in mathematics."""
        return formulas(tuple(Sum(tuple(map(layout, some))) for some in self.kinds))

    def of(self, tree: Any) -> int:
        """The sort of a tree."""
        return sort_of(tree, self.kinds)

    def letters(self, letter: str) -> tuple[str, ...]:
        """The letter, or one for each sort."""
        return by_sort(letter, len(self))

    def layer(self, letter: str) -> tuple[str, ...]:
        """`F S`, or `F₀(S₀, S₁)` of each sort."""
        inside = self.letters(letter)
        places = f" {letter}" if len(self) == 1 else f"({', '.join(inside)})"
        return tuple(f + places for f in self.letters("F"))

    def product(self, archs: Sequence[Any]) -> tuple[str, ...]:
        """`P × ` of each sort; nothing for a sort without parameters."""
        pairs = zip(self.letters("P"), archs, strict=True)
        return tuple(f"{letter} × " if numbers(arch) else "" for letter, arch in pairs)

    def parameters(self, archs: Sequence[Any]) -> list[str]:
        """What the parameters of each sort are, where there are any."""
        pairs = zip(self.letters("P"), map(numbers, archs), strict=True)
        found = {letter: f"{letter} = {real(many)}" for letter, many in pairs if many}
        whole = [f"P = {' × '.join(found)}"] if len(self) > 1 else []
        return [", ".join([*whole, *found.values()])] if found else []

    def constructors(self) -> list[str]:
        """The constructors of each sort with their fields, as many as a page has room for."""
        letters, lines = self.letters("X"), []
        for f, some in zip(self.letters("F"), self.kinds, strict=True):
            of = f", of {signature_name(some)}," if len(self) > 1 else ""
            lines.append(f"{f}{of} has {', '.join(cut([_fields(kind, letters) for kind in some]))}")
        return lines

    def name(self, archs: Sequence[Any]) -> str:
        """What the architecture is called: by its name, or by that of each sort."""
        names = list(map(name, archs))
        return names[0] if len(self) == 1 else f"({', '.join(names)})"

    def weights(self, archs: tuple[Any, ...]) -> tuple[Weights, ...]:
        """The arrays that are learnt."""
        return weights(archs if len(self) > 1 else archs[0])

    def rows(self, trees: Sequence[Any], of: Callable[[int, int], V]) -> list[V]:
        """For each tree what `of` gives for its sort and its number among the trees of that sort."""
        counts = [itertools.count() for _ in self.kinds]
        return [of(sort, next(counts[sort])) for sort in map(self.of, trees)]


def nodes(tree: Any) -> list[Any]:
    """Every node of a tree, which is a layer of trees."""
    found = [tree]
    for node in found:
        found += holes(node)
    return found


def size(tree: Any) -> int:
    """How many nodes a tree has."""
    return len(nodes(tree))


def _fields(kind: type[Any], letters: tuple[str, ...]) -> str:
    """A constructor with its fields."""
    record = layout(kind)
    pairs: Iterator[Any] = zip(record.names, record.factors, strict=True)
    inside = (f"{field}: {lettered(term, letters)}" for field, term in pairs)
    return kind.__name__ + (f"({', '.join(inside)})" if record.names else "")
