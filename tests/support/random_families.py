"""Random families of sorts, each from a seed, and what is known of their trees without reading a signature.

A family has one to four sorts. Its fields are of every kind that has places: `one`, `optional`, `pair`, `tuple` and
`many`, of any sorts, and payloads. A constructor keeps the kinds of its fields, from which `children` reads a node.
"""

import functools
import random
import types
from typing import Any, Generic, Never, TypeVar, Union

from cdl import Base, Many


LETTERS = tuple(TypeVar(letter, covariant=True) for letter in "PQRS")
KINDS = ("one", "optional", "pair", "tuple", "many", "int", "float")

Field = tuple[str, tuple[int, ...]]  # a kind, and the sorts of its places


def random_family(seed: int) -> tuple[tuple[Any, ...], list[list[type[Any]]]]:
    """The signature of each sort, and its constructors, of which the first has no children."""
    rng = random.Random(f"family {seed}")
    count = rng.randint(1, 4)
    found = []
    for sort in range(count):
        tag = type(f"Sort{sort}", (), {})
        leaf = _constructor(f"Leaf{sort}", tag, count, [("int", ())])
        nodes = [_constructor(f"Node{sort}{i}", tag, count, _fields(rng, count)) for i in range(rng.randint(1, 3))]
        found.append([leaf, *nodes])
    return tuple(functools.reduce(lambda union, c: Union[union, c], some) for some in found), found


def random_family_trees(kinds: list[list[type[Any]]], seed: int, count: int, depth: int) -> list[Any]:
    """Trees of any of the sorts, of at most so many levels."""
    rng = random.Random(f"family trees {seed}")
    return [_grow(kinds, rng, rng.randrange(len(kinds)), depth) for _ in range(count)]


def children(node: Any) -> list[tuple[int, int, Any]]:
    """The children of a node in order: the number of the field, the sort that the place asks for, and the child."""
    found = []
    for number, (name, (kind, sorts)) in enumerate(type(node).__kinds__.items()):
        value = getattr(node, name)
        match kind:
            case "one":
                found.append((number, sorts[0], value))
            case "optional" if value is not None:
                found.append((number, sorts[0], value))
            case "pair":
                found += [(number, of, x) for of, x in zip(sorts, value, strict=True)]
            case "tuple":
                found += [(number, sorts[0], x) for x in value]
            case "many":
                found += [(number, sorts[0], x) for x in value.items]
    return found


def flat(node: Any, sort: int) -> list[tuple[int, Any]]:
    """Every node in pre-order, with its sort."""
    return [(sort, node), *(x for _, of, child in children(node) for x in flat(child, of))]


def _constructor(name: str, tag: type[Any], count: int, fields: list[Field]) -> type[Any]:
    letters = LETTERS[:count]
    annotations = {f"f{i}": _annotation(kind, [letters[s] for s in sorts]) for i, (kind, sorts) in enumerate(fields)}
    kinds = dict(zip(annotations, fields, strict=True))

    def body(namespace: dict[str, Any]) -> None:
        namespace.update(__annotations__=annotations, __module__=__name__, __kinds__=kinds)

    used = [letter if any(s in sorts for _, sorts in fields) else Never for s, letter in enumerate(letters)]
    some = tuple(letter for letter in used if letter is not Never)
    second: Any = used[0] if count == 1 else tuple[tuple(used)]
    return types.new_class(name, (Base[tag, second], *([Generic[some]] if some else [])), exec_body=body)


def _annotation(kind: str, places: list[Any]) -> Any:
    match kind:
        case "int" | "float":
            return {"int": int, "float": float}[kind]
        case "one":
            return places[0]
        case "optional":
            return places[0] | None
        case "pair":
            return tuple[places[0], places[1]]
        case "tuple":
            return tuple[places[0], ...]
        case _:
            return Many[places[0]]


def _fields(rng: random.Random, count: int) -> list[Field]:
    places = {"int": 0, "float": 0, "pair": 2}
    kinds = rng.choices(KINDS, k=rng.randint(1, 4))
    return [(kind, tuple(rng.randrange(count) for _ in range(places.get(kind, 1)))) for kind in kinds]


def _grow(kinds: list[list[type[Any]]], rng: random.Random, sort: int, depth: int) -> Any:
    kind = kinds[sort][0] if depth <= 1 else rng.choice(kinds[sort][depth > 2 :])
    return kind(*(_value(kinds, rng, field, depth - 1) for field in kind.__kinds__.values()))


def _value(kinds: list[list[type[Any]]], rng: random.Random, field: Field, depth: int) -> Any:
    kind, sorts = field
    tree = lambda sort: _grow(kinds, rng, sort, depth)
    match kind:
        case "int":
            return rng.randint(-20, 20)
        case "float":
            return rng.randint(-20, 20) / 2
        case "one":
            return tree(sorts[0])
        case "optional":
            return tree(sorts[0]) if rng.random() < 0.7 else None
        case "pair":
            return tuple(map(tree, sorts))
        case "tuple":
            return tuple(tree(sorts[0]) for _ in range(rng.randint(0, 2)))
        case _:
            return Many([tree(sorts[0]) for _ in range(rng.randint(0, 3))])
