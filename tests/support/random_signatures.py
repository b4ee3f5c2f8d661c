"""Random signatures, and random finite trees of them, each from a seed: the same ones on every machine.

A signature has one to three constructors without children and two to five with some, whose fields are of the kinds
of `PAYLOADS` and `RECURSIVE`. `random_trees` gives trees within a bound on the number of nodes, of many shapes.
"""

import functools
import itertools
import random
import types
from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

from cdl import Base, Many
from cdl.functors import constructors, holes


X = TypeVar("X", covariant=True)

# The kinds of fields: those without children, and the others with the fewest children they can have.
PAYLOADS: dict[str, Any] = {"float": float, "int": int}
RECURSIVE = {"one": 1, "pair": 2, "optional": 0, "tuple": 0, "many": 0}


def random_signature(seed: int) -> tuple[Any, list[type[Any]]]:
    """A union of new constructor classes, and the list of them; one without children comes first."""
    rng = random.Random(f"signature {seed}")
    tag = type(f"Random{seed}", (), {})
    leaves = [_constructor(f"Leaf{i}", tag, _leaf_fields(rng)) for i in range(rng.randint(1, 3))]
    nodes = [_constructor(f"Node{i}", tag, _node_fields(rng, i)) for i in range(rng.randint(2, 5))]
    every = [*leaves, *nodes]
    return functools.reduce(lambda union, c: Union[union, c], every), every


def random_trees(signature: Any, seed: int, count: int, max_nodes: int) -> list[Any]:
    """Trees of the signature, each of at least one and at most `max_nodes` nodes, in any order of size."""
    rng = random.Random(f"trees {seed}")
    kinds = list(constructors(signature))
    return [_grow(kinds, rng, rng.randint(1, max_nodes)) for _ in range(count)]


def size(tree: Any) -> int:
    """How many nodes a tree has."""
    todo, count = [tree], 0
    while todo:
        count += 1
        todo.extend(holes(todo.pop()))
    return count


def _constructor(name: str, tag: type[Any], fields: list[tuple[str, str]]) -> type[Any]:
    """`class Name(Base[Tag, X], Generic[X])` with these fields, each a name and a kind."""
    kinds: dict[str, Any] = {
        **PAYLOADS,
        "one": X,
        "pair": tuple[X, X],
        "optional": X | None,
        "tuple": tuple[X, ...],
        "many": Many[X],
    }
    leaf = all(kind in PAYLOADS for _, kind in fields)
    bases: tuple[Any, ...] = (Base[tag, Never],) if leaf else (Base[tag, X], Generic[X])
    return _class(name, bases, {field: kinds[kind] for field, kind in fields}, dict(fields))


def _class(name: str, bases: tuple[Any, ...], annotations: dict[str, Any], kinds: dict[str, str]) -> type[Any]:
    def body(namespace: dict[str, Any]) -> None:
        namespace.update(__annotations__=annotations, __module__=__name__, __kinds__=kinds)

    return types.new_class(name, bases, exec_body=body)


def _leaf_fields(rng: random.Random) -> list[tuple[str, str]]:
    return _named(rng.choices(sorted(PAYLOADS), k=rng.randint(0, 2)))


def _node_fields(rng: random.Random, index: int) -> list[tuple[str, str]]:
    """One or two recursive fields among up to one payload; the first constructor always has a child."""
    fields = [rng.choice(["one", "pair"] if index == 0 else sorted(RECURSIVE))]
    for kinds in (RECURSIVE, PAYLOADS):
        fields += rng.choices(sorted(kinds), k=rng.randint(0, 1))
    rng.shuffle(fields)
    return _named(fields)


def _named(kinds: list[str]) -> list[tuple[str, str]]:
    return [(f"f{i}", kind) for i, kind in enumerate(kinds)]


def _fewest(kind: type[Any]) -> int:
    return sum(RECURSIVE.get(k, 0) for k in kind.__kinds__.values())


def _grow(kinds: list[type[Any]], rng: random.Random, budget: int) -> Any:
    """A tree of at most `budget` nodes, built without recursion: a chain may be as deep as the budget."""
    plans: list[tuple[type[Any], list[int]]] = []  # in pre-order: a constructor, and the children of each field
    todo = [budget]
    while todo:
        budget = todo.pop()
        kind = _choose(kinds, rng, budget)
        counts = _counts(kind, rng, budget - 1)
        plans.append((kind, counts))
        todo.extend(_split(rng, budget - 1, sum(counts)))
    built: list[Any] = []
    for kind, counts in reversed(plans):  # children stand to the right of their parent, so are built before it
        values = []
        for field, many in zip(kind.__kinds__.values(), counts, strict=True):
            children = [built.pop() for _ in range(many)]
            values.append(_field(field, children, rng))
        built.append(kind(*values))
    return built[0]


def _choose(kinds: list[type[Any]], rng: random.Random, budget: int) -> type[Any]:
    fitting = [k for k in kinds if _fewest(k) < budget]
    growing = [k for k in fitting if any(f in RECURSIVE for f in k.__kinds__.values())]
    return rng.choice(growing if growing and budget > 1 and rng.random() < 0.9 else fitting)


def _counts(kind: type[Any], rng: random.Random, budget: int) -> list[int]:
    """How many children each field has, no more than the budget together."""
    spare = budget - _fewest(kind)
    counts = []
    for field in kind.__kinds__.values():
        most = {"optional": 1, "tuple": 3, "many": 4}.get(field, 0)
        extra = rng.randint(0, min(most, spare)) if most and spare > 0 else 0
        spare -= extra
        counts.append(RECURSIVE.get(field, 0) + extra)
    return counts


def _split(rng: random.Random, budget: int, parts: int) -> list[int]:
    """The budget among children, at least one node each."""
    if not parts:
        return []
    cuts = sorted(rng.randint(0, budget - parts) for _ in range(parts - 1))
    return [b - a + 1 for a, b in itertools.pairwise([0, *cuts, budget - parts])]


def _field(field: str, children: list[Any], rng: random.Random) -> Any:
    make: dict[str, Callable[[], Any]] = {
        "float": lambda: rng.randint(-8, 8) / 4,
        "int": lambda: rng.randint(-3, 3),
        "one": lambda: children[0],
        "pair": lambda: tuple(children),
        "optional": lambda: children[0] if children else None,
        "tuple": lambda: tuple(children),
        "many": lambda: Many(children),
    }
    return make[field]()
