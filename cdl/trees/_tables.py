"""How the values of each class are taken apart, and put together; and what is refused at a place, by its name."""

from collections.abc import Callable, Mapping
from typing import Any

from .._functors.poly import name
from .._functors.words import an
from ._fields import Field, Fields
from ._kinds import by_constructor, Kind, refuse_type, refuse_value, Slot, Table
from ._parts import Choice, Fixed, NONE, Place, Scalar, Several, types_of


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
        kind.slots = tuple(slots[a])
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
        refuse_type(where, f"one of {names}", given, advice)

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
            member = dict(enumerate(what.members))
            of_type = {t: Table({m: i for i, m in member.items() if type(m) is t}, refuse) for t in what.types}
            there = Table(of_type, lambda t: refuse_type(where, wanted, t))
            back = Table(member, lambda i: refuse_value(where, f"a position below {len(member)}", i))
            return Slot(field.name, "code", field.get, there, back)
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
