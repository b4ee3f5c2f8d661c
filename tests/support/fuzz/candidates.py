"""The layers that a random coalgebra chooses among: shapes of each constructor's fields, and their text.

A shape has the form of a term: `"s"` for a seed, none for an empty `X | None`, and `("d", …)` for a payload.
"""

import itertools
import random
from typing import Any

from . import payloads
from .algebras import Algebra
from .families import Constructor, Family
from .trees import Node, nodes


def of_trees(family: Family, trees: tuple[Node, ...]) -> list[Any]:
    """The shapes of layer that trees have, and those of constructors that they do not."""
    kinds = {c.name: c for c in family.constructors}
    found: dict[Any, Any] = {}
    for node in (n for t in trees for n in nodes(t)):
        c = kinds[node.name]
        shape = tuple(_shape(t, x) for t, x in zip(c.terms, node.fields, strict=True))
        found[c.name, shape] = (c, shape)
    used = {name for name, _ in found}
    return [
        *found.values(),
        *of_family(Family(family.sorts, tuple(c for c in kinds.values() if c.name not in used)), 0),
    ]


def of_family(family: Family, seed: int) -> list[Any]:
    """Some shapes of each constructor's layers; the least among them."""
    rng = random.Random(seed)
    found = []
    for c in family.constructors:
        shapes = list(itertools.product(*(_shapes(t) for t in c.terms)))
        found += [(c, shape) for shape in [shapes[0], *rng.sample(shapes[1:], min(len(shapes) - 1, 1))]]
    return found


def _shape(term: Any, value: Any) -> Any:
    match term:
        case ("x", _):
            return "s"
        case ("data", kind):
            return "d", None if value == "None" and kind[0] == "maybe" else "d"
        case ("maybe", of):
            return None if value is None else _shape(of, value)
        case ("many", _):
            return tuple("s" for _ in value)
        case ("list", of):
            return tuple(_shape(of, x) for x in value)
    return tuple(_shape(t, x) for t, x in zip(term[1], value, strict=True))


def _shapes(term: Any) -> list[Any]:
    match term:
        case ("x", _):
            return ["s"]
        case ("data", _):
            return [("d", "d")]
        case ("maybe", of):
            return [None, *_shapes(of)]
        case ("many", _):
            return [(), ("s", "s")]
        case ("list", of):
            return [(), *((x, x) for x in _shapes(of)[:1])]
    return list(itertools.product(*map(_shapes, term[1])))


def layer(c: Constructor, shape: Any, algebra: Algebra) -> str:
    """A candidate: seeds at its places, each by other weights. Constructors have other numbers in some algebras, and in
    others other weights alone."""
    numbers = itertools.count(len(c.name) if algebra.seed % 2 else 1)
    own = f"self.own[{c.name}](h)" if algebra.stacked else "h"

    def of(term: Any, shape: Any) -> str:
        match term:
            case ("x", _):
                i = next(numbers)
                return f"(jnp.sin(self.w['{i % 7}'][{i % 3}] * {own} + {i}), n + 1)"
            case ("data", kind):
                return "None" if shape[1] is None else payloads.grown(kind, own)
            case ("maybe", inner):
                return "None" if shape is None else of(inner, shape)
            case ("many", sort):
                return f"cdl.Many([{', '.join(of(('x', sort), x) for x in shape)}])"
            case ("list", inner):
                return f"({''.join(of(inner, x) + ', ' for x in shape)})"
        return f"({''.join(of(t, x) + ', ' for t, x in zip(term[1], shape, strict=True))})"

    return f"{c.name}({', '.join(of(t, s) for t, s in zip(c.terms, shape, strict=True))})"
