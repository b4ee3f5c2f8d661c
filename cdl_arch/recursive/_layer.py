"""One layer of any signature, as a cell sees it: payloads, children at places, and groups of children.

| in the functor                 | to a cell                                                  |
| ------------------------------ | ---------------------------------------------------------- |
| `A`                            | payload: a field without a recursive variable              |
| `X`, and each `X` of a product | a place: one child, with separate weights                  |
| `1 + X`                        | a place that may be empty                                  |
| `List X`, `Many X`             | a group: any number of children, who share their weights   |
| `[I, X]`                       | none: a machine is not a tree                              |
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from cdl import Many
from cdl._functors.read import cached, layout
from cdl.errors import SignatureError
from cdl.poly import Const, Exp, Id, ListOf, ManyOf, Maybe, Poly, Product, Record, walk


class Arity(NamedTuple):
    """How many places and groups the layers of a constructor have, and the names of the fields that are payload.

    Examples:
        >>> from cdl_arch.recursive import Arity, arity_of
        >>> arity: Arity = arity_of(cdl.Cons)
        >>> arity.payload, arity.places
        (('head',), 1)
    """

    places: int
    groups: int
    payload: tuple[str, ...] = ()

    @property
    def leaf(self) -> bool:
        """Whether there is no child."""
        return not (self.places or self.groups)


class Layer(NamedTuple):
    """A layer taken apart: its payload, the children at its places (`None` where there is none), and its groups."""

    payload: tuple[Any, ...]
    places: tuple[Any, ...]
    groups: tuple[Many[Any], ...]


@cached
def arity_of(constructor: type[Any]) -> Arity:
    """The arity of a constructor.

    **Raises:** `SignatureError` where a constructor has a function in it, or a payload inside an optional place or a
    list of places.

    Examples:
        >>> from cdl_arch.recursive import arity_of
        >>> arity_of(cdl.Node)
        Arity(places=0, groups=1, payload=('label',))
    """
    record = layout(constructor)
    payload = tuple(n for n, f in zip(record.names, record.factors, strict=True) if isinstance(f, Const))
    for name, factor in zip(record.names, record.factors, strict=True):
        if not isinstance(factor, Const) and any(isinstance(t, Const | Exp) for t in walk(factor)):
            raise SignatureError(
                f"`{constructor.__name__}.{name}` is `{factor}`: a cell reads payloads that are separate fields, "
                "and children. Give the payload a field, or the list a constructor for its elements."
            )
    kinds = [kind for factor in record.factors for kind, _ in _take(factor, None)]
    return Arity(kinds.count("place"), kinds.count("group"), payload)


def take_apart(layer: Any) -> Layer:
    """The layer as a cell sees it."""
    record = layout(type(layer))
    found: dict[str, list[Any]] = {"payload": [], "place": [], "group": []}
    for kind, value in _take(record, layer):
        found[kind].append(value)
    return Layer(*map(tuple, found.values()))


def _take(term: Poly, value: Any) -> Iterator[tuple[str, Any]]:
    """What is in a value, in order; what would be in it where it is `None`."""
    match term:
        case Const():
            yield "payload", value
        case Id():
            yield "place", value
        case Record(_, names, factors):
            for name, factor in zip(names, factors, strict=True):
                yield from _take(factor, getattr(value, name))
        case Product(factors):
            for i, factor in enumerate(factors):
                yield from _take(factor, None if value is None else value[i])
        case Maybe(of):
            yield from _take(of, value)
        case ManyOf():
            yield "group", Many() if value is None else value
        case ListOf(of):
            yield "group", Many(child for part in value or () for _, child in _take(of, part))
        case _:
            raise SignatureError(f"`{term}` is not a part of a layer that a cell can read.")
