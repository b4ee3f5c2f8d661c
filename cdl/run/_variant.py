"""Variants: the shapes that a constructor's layers come in, and how a batch of one shape is laid out.

A constructor whose fields are all `X` or payload has one variant. `X | None` and `tuple[X, ...]` give one for each
combination met, because an algebra is traced for a definite layer; `Many` gives two, one without children and one with
some, so that a `Many` that is computed has an edge in every row. A variant's children come in groups of edges:

| group        | edges of a row                     | an algebra sees                   |
| ------------ | ---------------------------------- | --------------------------------- |
| the slots    | `k`, the same for every row        | the values at its `X`s            |
| each `Many`  | any number                         | a `Many`                          |
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax

from ..functor._base import rebuild
from ..functor._many import Many
from ..functor._read import layout
from ..functor.poly import Const, Exp, Id, ListOf, ManyOf, Maybe, Poly, Product, Record, walk


@dataclass(frozen=True)
class Variant:
    """A constructor with the shape of its layers; hashable, and equal wherever it is made.

    `shape` has, in the order of the fields, whether each `Maybe` is there, how long each `ListOf` is, and the
    structure of each payload (`None` for one array; empty where all are); `open` says which of its `Many`s have children.
    """

    constructor: type[Any]
    shape: tuple[Any, ...]
    open: tuple[bool, ...]
    slots: int = field(compare=False)

    @property
    def manys(self) -> int:
        """How many of its `Many`s have children."""
        return sum(self.open)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of edges of a row, in the order of the tables."""
        return ("slots",) * (self.slots > 0) + ("many",) * self.manys

    @property
    def leaf(self) -> bool:
        """Whether its layers have no child."""
        return not self.groups

    def __str__(self) -> str:
        marks = [*map(str, self.shape), *("some" if some else "none" for some in self.open)]
        return self.constructor.__name__ + (f"({', '.join(marks)})" if marks else "")

    def layer(self, payload: list[Any], slots: list[Any], manys: list[Any]) -> Any:
        """The layer with these payload leaves, values at its slots, and `Many`s with children, in the order of the
        fields."""
        rest = iter(manys)
        fields = iter(payload), iter(slots), iter([next(rest) if some else Many() for some in self.open])
        return _build(layout(self.constructor), iter(self.shape), *fields)


def is_plain(constructor: type[Any]) -> bool:
    """Whether every field is one place or one payload, so that there is one variant."""
    return all(isinstance(t, Id | Const) for t in layout(constructor).factors)


def refuses(constructor: type[Any]) -> str | None:
    """Why layers of a constructor cannot be packed, if they cannot."""
    if any(isinstance(t, Exp) for t in walk(layout(constructor))):
        return f"`{constructor.__name__}` has a function in it: a machine is run, not packed."
    return None


def describe(constructor: type[Any], layer: Any) -> tuple[Variant, list[Any], list[int]]:
    """The variant of one layer, its payload leaves, and for each child in order its group (0 for a slot)."""
    shape: list[Any] = []
    payload: list[Any] = []
    runs: list[int] = []  # 0 for a slot, and for each `Many` its number, as often as it has children
    open_: list[bool] = []
    for what, x in _take_apart(layout(constructor), layer):
        match what:
            case "shape":
                shape.append(x)
            case "payload":
                payload.append(x)
            case "slot":
                runs.append(0)
            case "many":
                open_.append(x > 0)
                runs.extend([sum(open_)] * x)
    slots = runs.count(0)
    plain = all(s is None for s in shape)
    variant = Variant(constructor, () if plain else tuple(shape), tuple(open_), slots)
    return variant, payload, runs if slots else [r - 1 for r in runs]


def plain_variant(constructor: type[Any]) -> Variant:
    """The one variant of a constructor of plain fields."""
    slots = sum(isinstance(t, Id) for t in layout(constructor).factors)
    return Variant(constructor, (), (), slots)


def is_array(value: Any) -> bool:
    """Whether a payload is one leaf: a number or an array."""
    return isinstance(value, bool | int | float | complex) or (hasattr(value, "dtype") and hasattr(value, "shape"))


def _take_apart(term: Poly, value: Any) -> Iterator[tuple[str, Any]]:
    match term:
        case Const():
            if is_array(value):
                yield "shape", None
                yield "payload", value
            else:
                leaves, structure = jax.tree.flatten(value)
                yield "shape", structure
                for leaf in leaves:
                    yield "payload", leaf
        case Id():
            yield "slot", None
        case Record(_, names, factors):
            for name, factor in zip(names, factors, strict=True):
                yield from _take_apart(factor, getattr(value, name))
        case Product(factors):
            for factor, part in zip(factors, value, strict=True):
                yield from _take_apart(factor, part)
        case Maybe(of):
            yield "shape", value is not None
            if value is not None:
                yield from _take_apart(of, value)
        case ListOf(of):
            yield "shape", len(value)
            for part in value:
                yield from _take_apart(of, part)
        case ManyOf():
            yield "many", value.count
        case _:
            raise TypeError(f"`{term}` cannot be packed")


def _build(
    term: Poly, shape: Iterator[Any], payload: Iterator[Any], slots: Iterator[Any], manys: Iterator[Any]
) -> Any:
    again: Callable[[Poly], Any] = lambda inner: _build(inner, shape, payload, slots, manys)
    match term:
        case Const():
            structure = next(shape, None)
            if structure is None:
                return next(payload)
            return jax.tree.unflatten(structure, [next(payload) for _ in range(structure.num_leaves)])
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
