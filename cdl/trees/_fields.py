"""The fields of a dataclass: what is in each, and how it is read from a value; a tuple of known length is several."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import typing_extensions

from .._functors.poly import name
from ..errors import SignatureError
from ._kinds import refuse_value
from ._parts import Choice, Fixed, NONE, Part, part, Scalar, Several


@dataclass(frozen=True)
class Field:
    """One field of a constructor: what is in it, and how it is read from a value."""

    name: str
    where: str
    what: Part
    get: Callable[[Any], Any]


@dataclass(frozen=True)
class Fields:
    """The fields of one alternative. `shape` says which make up each attribute: a position, or a tuple of them."""

    flat: tuple[Field, ...]
    names: tuple[str, ...]
    shape: tuple[Any, ...]


def fields_of(alternative: Any, scope: Mapping[str, Any]) -> Fields:
    """The fields of a dataclass; of a payload, a list or a tuple that has a constructor, what is in it."""
    same = lambda value: value
    flat: list[Field] = []
    if alternative is NONE:
        return Fields((), (), ())
    if isinstance(alternative, Scalar | Choice):
        where = f"`{name(alternative.annotation)}`"
        return Fields((Field("value", where, alternative, same),), (), ())
    if isinstance(alternative, Several):
        return Fields((Field("items", f"a {alternative.container.__name__}", alternative, same),), (), ())
    if isinstance(alternative, Fixed):
        shape = _flatten("item", "a tuple", alternative, same, flat)
        return Fields(tuple(flat), (), shape)
    hints = _hints(alternative, scope)
    names = tuple(f.name for f in dataclasses.fields(alternative))
    shapes = []
    for attribute in names:
        where = f"`{alternative.__name__}.{attribute}: {name(hints[attribute])}`"
        shapes.append(_flatten(attribute, where, part(hints[attribute], where, scope), attrgetter(attribute), flat))
    return Fields(tuple(flat), names, tuple(shapes))


def _hints(kind: type[Any], scope: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return typing_extensions.get_type_hints(kind, None, {**scope, **vars(kind)} if scope else None)
    except NameError as e:
        raise SignatureError(
            f"an annotation of `{kind.__name__}` names `{e.name}`, which is defined neither in its module nor where "
            "the signature is derived: define it first."
        ) from e


def _flatten(called: str, where: str, what: Part, get: Callable[[Any], Any], into: list[Field]) -> Any:
    """Adds the fields of a part to those before; which they are."""
    if isinstance(what, Fixed):
        checked = _checked(where, len(what.of), get)
        item: Callable[[int], Callable[[Any], Any]] = lambda i: lambda value: checked(value)[i]
        return tuple(_flatten(f"{called}_{i}", where, inner, item(i), into) for i, inner in enumerate(what.of))
    into.append(Field(unused(called, {f.name for f in into}), where, what, get))
    return len(into) - 1


def _checked(where: str, length: int, get: Callable[[Any], Any]) -> Callable[[Any], Any]:
    wanted = f"a tuple of {length}"
    fits: Callable[[Any], Any] = lambda v: (
        v if type(v) is tuple and len(v) == length else refuse_value(where, wanted, v)
    )
    return lambda value: fits(get(value))


def unused(called: str, taken: set[str]) -> str:
    while called in taken:
        called += "_"
    taken.add(called)
    return called
