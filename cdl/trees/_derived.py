"""From parts to constructors: which values there are, the sorts that they fall into, and a class for each.

Two classes that may stand at one place are of one sort, and so are those that share a sort with a third: the sorts are
the connected components of "may stand at one place".
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, cast, Generic, TypeVar

import typing_extensions

from .._functors import Base, Many
from .._functors.poly import name
from .._functors.words import an
from ..errors import CdlError, SignatureError
from ._kinds import by_constructor, Kind, refuse_value, Slot, Table
from ._parts import Choice, Fixed, NONE, Part, part, Place, Scalar, Several, types_of


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


def sorts_of(alternatives: Iterable[Any], places: Iterable[Place]) -> list[list[Any]]:
    """The alternatives by sort, each in the order in which they were met."""
    sort = {a: {a: None} for a in alternatives}
    for place in places:
        for other in place.of[1:]:
            one, two = sort[place.of[0]], sort[other]
            if one is not two:
                one.update(two)
                for a in two:
                    sort[a] = one
    order = {a: i for i, a in enumerate(sort)}
    return [sorted(some, key=order.__getitem__) for some in {id(some): some for some in sort.values()}.values()]


def constructors_of(sorts: list[list[Any]], fields: Mapping[Any, Fields]) -> dict[Any, type[Any]]:
    """A constructor for each alternative."""
    labels = [_sort_name(some) for some in sorts]
    variables = [TypeVar(cast("Any", label), covariant=True) for label in labels]
    if len(sorts) == 1:
        variables = [TypeVar("X", covariant=True)]
    at = {a: variable for some, variable in zip(sorts, variables, strict=True) for a in some}
    made: dict[Any, type[Any]] = {}
    for some, label in zip(sorts, labels, strict=True):
        tag = type(label, (), {"__doc__": f"The name of the functor of `{label}`."})
        taken: set[str] = {a.__name__ for a in some if isinstance(a, type) and a is not NONE}
        for a in some:
            called = a.__name__ if isinstance(a, type) and a is not NONE else _unused(_box_name(a), taken)
            annotations = {f.name: _annotation(f.what, at) for f in fields[a].flat}
            module = a.__module__ if isinstance(a, type) and a is not NONE else __name__
            made[a] = constructor(called, tag, variables, annotations, module)
    return made


def constructor(
    called: str, tag: type[Any], variables: list[Any], annotations: dict[str, Any], module: str
) -> type[Any]:
    """The class that would be written `class Add(Base[Expr, X], Generic[X]): left: X; right: X`."""
    base, generic = cast("Any", Base), cast("Any", Generic)
    second = variables[0] if len(variables) == 1 else cast("Any", tuple)[tuple(variables)]
    body = {"__annotations__": annotations, "__module__": module, "__doc__": f"The layer of `{called}`."}
    made = types.new_class(called, (base[tag, second], generic[tuple(variables)]), exec_body=lambda ns: ns.update(body))
    made.__cdl_scope__ = {}  # type: ignore[attr-defined]  # the annotations are types already, and it holds a frame's variables
    return made


def kinds_of(constructors: Mapping[Any, type[Any]], fields: Mapping[Any, Fields]) -> dict[Any, Kind]:
    """How the values of each alternative are taken apart, and put together."""
    found: dict[Any, Kind] = {}
    slots: dict[Any, list[Slot]] = {a: [] for a in constructors}
    tables: list[tuple[Any, Field]] = []
    for a, made in constructors.items():
        found[a] = Kind(made, (), *_building(a, fields[a]))
        tables += [(a, field) for field in fields[a].flat]
    # A slot has the tables of the kinds below it, and a kind its slots: so kinds come first, and are completed then.
    for a, field in tables:
        slots[a].append(_slot(field, found))
    for a, kind in found.items():
        object.__setattr__(kind, "slots", tuple(slots[a]))
    return found


def table(place: Place, where: str, kinds: Mapping[Any, Kind]) -> Table:
    """The kinds at a place, by the type of the value; another is refused by the name of the place."""
    known: dict[type[Any], Kind] = {}
    for a in place.of:
        for kind in a.types if isinstance(a, Choice) else types_of(a):
            known[kind] = kinds[a]
    for a in place.of:
        for kind in a.types if isinstance(a, Scalar) else ():
            known.setdefault(kind, kinds[a])
    names = ", ".join(kind.__name__ for kind in known)

    def refuse(given: type[Any]) -> Any:
        advice = ""
        if given is NONE:
            advice = " If nothing may stand there, annotate it `A | None`."
        elif "__dataclass_fields__" in vars(given):
            above = [k.__name__ for k in known if issubclass(given, k)] or [
                b.__name__ for b in given.__mro__[1:-1] if any(issubclass(k, b) for k in known)
            ]
            if above:
                advice = (
                    f" `{given.__name__}` extends `{above[0]}`, and was not there, or abstract, when the signature was "
                    "derived: derive it after all classes are defined."
                )
        what = "None" if given is NONE else an(given.__name__)
        raise CdlError(f"{where} holds {what}, and one of {names} belongs there.{advice}")

    return Table(known, refuse)


def _building(alternative: Any, fields: Fields) -> tuple[Any, ...]:
    """`build`, `made` and `names` of a kind."""
    if alternative is NONE:
        return (lambda values: None,)
    if isinstance(alternative, Fixed):
        return (lambda values: _joined(values, fields.shape),)
    if not isinstance(alternative, type):
        return (lambda values: values[0],)
    if all(isinstance(shape, int) for shape in fields.shape):
        return None, alternative, fields.names
    return (lambda values: _instance(alternative, fields, values),)


def _instance(kind: type[Any], fields: Fields, values: list[Any]) -> Any:
    new = object.__new__(kind)
    for attribute, shape in zip(fields.names, fields.shape, strict=True):
        object.__setattr__(new, attribute, _joined(values, shape))
    return new


def _joined(values: list[Any], shape: Any) -> Any:
    return values[shape] if isinstance(shape, int) else tuple(_joined(values, inner) for inner in shape)


def _slot(field: Field, kinds: Mapping[Any, Kind]) -> Slot:
    where, what = field.where, field.what
    match what:
        case Scalar():
            types, wanted = frozenset(what.types), an(name(what.annotation))
            check: Callable[[Any], Any] = lambda v: None if _fits(v, what) else refuse_value(where, wanted, v)
            return Slot(field.name, "payload", field.get, types, types, check)
        case Choice():
            wanted = f"one of {', '.join(map(repr, what.members))}"
            refuse: Callable[[Any], Any] = lambda v: refuse_value(where, wanted, v)
            position = {(type(m), m): i for i, m in enumerate(what.members)}
            member = dict(enumerate(what.members))
            there = Table(position, lambda pair: refuse(pair[1]))
            back = Table(member, lambda i: refuse_value(where, f"a position below {len(member)}", i))
            return Slot(field.name, "code", field.get, there, back, refuse)
        case Several():
            check = lambda v: refuse_value(where, f"a `{what.container.__name__}`", v)
            there = table(what.of, where, kinds)
            back = by_constructor(where, (kinds[a] for a in what.of.of))
            return Slot(field.name, "many", field.get, there, back, check, what.container)
        case Place():
            there, how = table(what, where, kinds), "maybe" if what.optional else "one"
            return Slot(field.name, how, field.get, there, by_constructor(where, (kinds[a] for a in what.of)))
        case _:
            raise AssertionError(what)


def _fits(value: Any, what: Scalar) -> bool:
    """Whether a value of another type than those that are usual is one of these: a subclass's, or an array's."""
    return (
        hasattr(value, "dtype")
        if what.annotation is not str and hasattr(value, "shape")
        else isinstance(value, what.types)
    )


def _annotation(what: Part, at: Mapping[Any, Any]) -> Any:
    match what:
        case Scalar():
            return what.annotation
        case Choice():
            return int
        case Several():
            return cast("Any", Many)[at[what.of.of[0]]]
        case Place():
            return typing.Optional[at[what.of[0]]] if what.optional else at[what.of[0]]  # noqa: UP045
        case _:
            raise AssertionError(what)


def _flatten(called: str, where: str, what: Part, get: Callable[[Any], Any], into: list[Field]) -> Any:
    """Adds the fields of a part to those before; which they are."""
    if isinstance(what, Fixed):
        checked = _checked(where, len(what.of), get)
        item: Callable[[int], Callable[[Any], Any]] = lambda i: lambda value: checked(value)[i]
        return tuple(_flatten(f"{called}_{i}", where, inner, item(i), into) for i, inner in enumerate(what.of))
    into.append(Field(_unused(called, {f.name for f in into}), where, what, get))
    return len(into) - 1


def _checked(where: str, length: int, get: Callable[[Any], Any]) -> Callable[[Any], Any]:
    wanted = f"a tuple of {length}"
    fits: Callable[[Any], Any] = lambda v: (
        v if type(v) is tuple and len(v) == length else refuse_value(where, wanted, v)
    )
    return lambda value: fits(get(value))


def _unused(called: str, taken: set[str]) -> str:
    while called in taken:
        called += "_"
    taken.add(called)
    return called


def _box_name(alternative: Any) -> str:
    if alternative is NONE:
        return "Nothing"
    if isinstance(alternative, Choice):
        return str(getattr(alternative.annotation, "__name__", "Literal"))
    first = types_of(alternative)[0].__name__
    return first[0].upper() + first[1:]


def _sort_name(some: list[Any]) -> str:
    """What a sort is called: by the class that all extend, or by its first ones."""
    classes = [a for a in some if isinstance(a, type) and a is not NONE]
    for base in classes[0].__mro__[:-1] if classes else ():
        if base.__module__ not in ("abc", "typing") and all(issubclass(c, base) for c in classes):
            return base.__name__
    names = [a.__name__ if a in classes else _box_name(a) for a in some]
    return "|".join(names if len(names) < 4 else [*names[:3], "…"])


def _hints(kind: type[Any], scope: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return typing_extensions.get_type_hints(kind, None, {**scope, **vars(kind)} if scope else None)
    except NameError as e:
        raise SignatureError(
            f"an annotation of `{kind.__name__}` names `{e.name}`, which is defined neither in its module nor where "
            "the signature is derived: define it first."
        ) from e
