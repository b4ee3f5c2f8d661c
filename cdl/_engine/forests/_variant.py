"""Variants: the shapes that a constructor's layers come in, and how a batch of one shape is laid out.

A constructor whose fields are all `X` or payload has one variant. `X | None` and `tuple[X, ...]` give one for each
combination met, because an algebra is traced for a definite layer; `Many` gives two, one without children and one with
some, so that a `Many` that is computed has an edge in every row. A variant's children come in groups of edges:

| group        | edges of a row                     | an algebra sees                   |
| ------------ | ---------------------------------- | --------------------------------- |
| the slots    | `k`, the same for every row        | the values at its `X`s            |
| each `Many`  | any number                         | a `Many`                          |
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
from jax.tree_util import PyTreeDef

from ..._functors.base import Base, rebuild
from ..._functors.many import Many
from ..._functors.mapping import pieces
from ..._functors.poly import Const, Exp, Id, ListOf, ManyOf, Maybe, Poly, Product, Record, walk
from ..._functors.read import layout
from ..._functors.words import an
from ...errors import PayloadMismatch
from ._form import ARRAY


@dataclass(frozen=True)
class Variant:
    """A constructor with the shape of its layers; hashable, and equal wherever it is made.

    `shape` has, in the order of the fields, whether each `Maybe` is there, how long each `ListOf` is, and the structure
    of each payload (empty where all are one array). `places` has, for each place in order, whether it is a
    `Many` and its sort, and `open` which of the `Many`s have children. `sort` is that of the node itself.
    """

    constructor: type[Any]
    shape: tuple[Any, ...]
    places: tuple[tuple[bool, int], ...] = field(compare=False)
    open: tuple[bool, ...]
    sort: int = 0

    @cached_property
    def slots(self) -> int:
        """How many places take one child."""
        return len(self.slot_sorts)

    @cached_property
    def manys(self) -> int:
        """How many of its `Many`s have children."""
        return sum(self.open)

    @cached_property
    def slot_sorts(self) -> tuple[int, ...]:
        """The sort of each slot."""
        return tuple(sort for many, sort in self.places if not many)

    @cached_property
    def many_sorts(self) -> tuple[int, ...]:
        """The sort of each `Many` with children."""
        manys = [sort for many, sort in self.places if many]
        return tuple(itertools.compress(manys, self.open))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups of edges of a row, in the order of the tables."""
        return ("slots",) * (self.slots > 0) + ("many",) * self.manys

    @cached_property
    def group_of(self) -> tuple[int, ...]:
        """The group of edges of each place; -1 for a `Many` without children."""
        opened = iter(self.open)
        found, last = [], int(self.slots > 0) - 1
        for many, _ in self.places:
            is_open = many and next(opened)
            last += is_open
            found.append((last if is_open else -1) if many else 0)
        return tuple(found)

    @cached_property
    def leaf(self) -> bool:
        """Whether its layers have no child."""
        return not self.groups

    def __str__(self) -> str:
        marks = [
            *(_shown(s) for s in self.shape if not (isinstance(s, PyTreeDef) and s == ARRAY)),
            *("some" if some else "none" for some in self.open),
        ]
        return self.constructor.__name__ + (f"({', '.join(marks)})" if marks else "")

    def layer(self, payload: list[Any], slots: list[Any], manys: list[Any]) -> Any:
        """The layer with these payload leaves, values at its slots, and `Many`s with children, in the order of the
        fields."""
        rest = iter(manys)
        fields = iter(payload), iter(slots), iter([next(rest) if some else Many() for some in self.open])
        return _build(layout(self.constructor), iter(self.shape), *fields)


def _shown(part: Any) -> str:
    return str(part).removeprefix("PyTreeDef(").removesuffix(")") if isinstance(part, PyTreeDef) else str(part)


def is_plain(constructor: type[Any]) -> bool:
    """Whether every field is one place, one `Many` or one payload."""
    return all(isinstance(t, Id | Const | ManyOf) for t in layout(constructor).factors)


def refuses(constructor: type[Any]) -> str | None:
    """Why layers of a constructor cannot be packed, if they cannot."""
    if any(isinstance(t, Exp) for t in walk(layout(constructor))):
        return f"`{constructor.__name__}` has a function in it: a machine is run, not packed."
    return None


def describe(constructor: type[Any], layer: Base[Any, Any], sort: int = 0) -> tuple[Variant, list[Any], list[int]]:
    """The variant of one layer, its payload leaves, and how many children each of its places has, in order."""
    shape: list[Any] = []
    payload: list[Any] = []
    counts: list[int] = []
    places: list[tuple[bool, int]] = []
    for part, x in pieces(layout(constructor), layer):
        match part:
            case Const():
                leaves, form = ([x], ARRAY) if is_array(x) else _taken(x)
                shape.append(form)
                payload += leaves
            case Maybe():
                shape.append(x is not None)
            case ListOf():
                shape.append(len(x))
            case Id():
                counts.append(1)
                places.append((False, part.sort))
            case ManyOf():
                counts.append(x.count)
                places.append((True, sort_of(part.of)))
            case _:
                raise TypeError(f"`{part}` cannot be packed")
    whole = () if all(s == ARRAY for s in shape) else tuple(shape)
    return variant_of(constructor, whole, places, [c > 0 for c in counts], sort), payload, counts


def at_places(layer: Base[Any, Any]) -> list[Any]:
    """What stands at the places of a layer, in order, a `Many` whole."""
    return [x for part, x in pieces(layout(type(layer)), layer) if isinstance(part, Id | ManyOf)]


def variant_of(
    constructor: type[Any],
    shape: tuple[Any, ...],
    places: Sequence[tuple[bool, int]],
    some: Sequence[bool],
    sort: int,
) -> Variant:
    """The variant with these places, in order: whether each is a `Many` and its sort, and whether it has children."""
    opened = tuple(s for s, (many, _) in zip(some, places, strict=True) if many)
    return Variant(constructor, shape, tuple(places), opened, sort)


def sort_of(place: Poly) -> int:
    """The sort of a recursive place."""
    assert isinstance(place, Id)
    return place.sort


def is_array(value: object) -> bool:
    """Whether a payload is one leaf: a number or an array."""
    return isinstance(value, bool | int | float | complex) or (hasattr(value, "dtype") and hasattr(value, "shape"))


def _taken(payload: object) -> tuple[list[Any], Any]:
    for x in jax.tree.leaves(payload, is_leaf=lambda x: isinstance(x, Base | Many)):
        if isinstance(x, Base | Many):
            raise PayloadMismatch(
                f"a payload holds {an(type(x).__name__)}, which is a tree: annotate its field `X`, or `Many[X]`, and "
                "it is a child."
            )
    return jax.tree.flatten(payload)


def _build(term: Poly, shape: Iterator[Any], payload: Iterator[Any], slots: Iterator[Any], manys: Iterator[Any]) -> Any:
    again: Callable[[Poly], Any] = lambda inner: _build(inner, shape, payload, slots, manys)
    match term:
        case Const():
            form = next(shape, ARRAY)
            return form.unflatten([next(payload) for _ in range(form.num_leaves)])
        case Id():
            return next(slots)
        case Record(kind, names, factors):
            return rebuild(kind, {n: again(f) for n, f in zip(names, factors, strict=True)})
        case Product(factors):
            return tuple(map(again, factors))
        case Maybe(inner):
            return again(inner) if next(shape) else None
        case ListOf(inner):
            return tuple(again(inner) for _ in range(next(shape)))
        case ManyOf():
            return next(manys)
        case _:
            raise TypeError(f"`{term}` cannot be packed")
