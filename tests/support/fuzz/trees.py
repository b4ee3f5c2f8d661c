"""Trees of a family: drawn within a number of nodes, and written as text. A field's value has the shape of its term."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import payloads
from .families import Constructor, Family, least


@dataclass(frozen=True)
class Node:
    """A constructor's name and, for each field, what its term has: a node, none, a tuple of these, or a text."""

    name: str
    fields: tuple[Any, ...]

    def text(self, terms: dict[str, Any]) -> str:
        return (
            f"{self.name}({', '.join(text(x, t, terms) for x, t in zip(self.fields, terms[self.name], strict=True))})"
        )


def text(value: Any, term: Any, terms: dict[str, Any]) -> str:
    match term:
        case ("data", _):
            return str(value)
        case ("x", _):
            return str(value.text(terms))
        case ("maybe", of):
            return "None" if value is None else text(value, of, terms)
        case ("many", sort):
            return f"cdl.Many([{', '.join(text(x, ('x', sort), terms) for x in value)}])"
        case ("list", of):
            return f"({''.join(text(x, of, terms) + ', ' for x in value)})"
        case (_, parts):
            return f"({''.join(text(x, t, terms) + ', ' for x, t in zip(value, parts, strict=True))})"
    raise AssertionError(term)


def nodes(value: Any) -> Iterator[Node]:
    """The nodes of a tree, or of what stands in a field, in pre-order."""
    if isinstance(value, Node):
        yield value
        value = value.fields
    if isinstance(value, tuple):
        for x in value:
            yield from nodes(x)


class Draw:
    """Random trees of a family."""

    def __init__(self, family: Family, rng: random.Random) -> None:
        self.family, self.rng, self.costs = family, rng, family.costs

    def tree(self, sort: int, budget: int) -> Node:
        """A tree of at most so many nodes, or of the fewest that there may be."""
        every = [(c, c.least(self.costs)) for c in self.family.of(sort)]
        known = [(c, n) for c, n in every if n is not None]
        fitting = [c for c, n in known if n <= budget] or [min(known, key=lambda pair: pair[1])[0]]
        growing = [c for c in fitting if any(t[0] != "data" for t in c.terms)]
        return self.node(self.rng.choice(growing if growing and budget > 2 else fitting), budget)

    def node(self, c: Constructor, budget: int) -> Node:
        terms = c.terms
        spare = max(budget - 1 - sum(least(t, self.costs) or 0 for t in terms), 0)
        open_ = [i for i, t in enumerate(terms) if t[0] in ("many", "list", "maybe")]
        some = self.rng.sample(range(len(terms)), min(len(terms), 4)) + self.rng.sample(open_, min(len(open_), 4))
        shares = [self.rng.random() * (i in some) for i in range(len(terms))]  # the spare nodes go to a few fields
        found = []
        for term, share in zip(terms, shares, strict=True):
            found.append(self.field(term, (least(term, self.costs) or 0) + int(spare * share / (sum(shares) or 1))))
        return Node(c.name, tuple(found))

    def pair(self, c: Constructor, budget: int) -> list[Node]:
        """Two nodes that differ only in whether their last `Many` has a child."""
        node = self.node(c, budget)
        last = max((i for i, t in enumerate(c.terms) if t[0] == "many"), default=None)
        if last is None:
            return [node]
        other = () if node.fields[last] else (self.tree(c.terms[last][1], 1),)
        return [node, Node(c.name, (*node.fields[:last], other, *node.fields[last + 1 :]))]

    def field(self, term: Any, budget: int) -> Any:
        match term:
            case ("data", kind):
                return payloads.text(kind, self.rng)
            case ("x", sort):
                return self.tree(sort, budget)
            case ("maybe", of):
                fewest = least(of, self.costs) or 0
                return self.field(of, budget) if fewest <= budget and budget and self.rng.random() < 0.7 else None
            case ("pair", parts):
                need = [least(p, self.costs) or 0 for p in parts]
                spare = max(budget - sum(need), 0) // len(parts)
                return tuple(self.field(p, n + spare) for p, n in zip(parts, need, strict=True))
            case ("many" | "list", of):
                inner = ("x", of) if term[0] == "many" else of
                fewest = max(least(inner, self.costs) or 0, 1)
                count = self.rng.randint(0, min(3, budget // fewest))
                return tuple(self.field(inner, budget // count) for _ in range(count))
        raise AssertionError(term)
