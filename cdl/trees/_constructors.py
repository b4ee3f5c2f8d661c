"""A constructor for each class of values, and the sorts that they fall into.

Two classes that may stand at one place are of one sort, and so are those that share a sort with a third: the sorts are
the connected components of "may stand at one place".
"""

import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast, Generic, TypeVar

from .._functors import Base, Many
from .._functors.origin import originate
from .._functors.words import short
from ._fields import Fields, unused
from ._parts import Choice, NONE, Part, Place, Scalar, Several, types_of


class Constructors(Mapping[Any, type[Any]]):
    """The constructors that were derived, by the classes of the values, and as attributes by their names.

    A pattern needs a name with a dot: `case made.constructors.Num(value)`. Type checkers know no more of such a
    constructor than that it is there.
    """

    def __init__(self, found: Mapping[Any, type[Any]]) -> None:
        self._found = dict(found)
        self._named: dict[str, list[type[Any]]] = {}
        for made in found.values():
            self._named.setdefault(made.__name__, []).append(made)
        originate(self, "made.to_tree(value)", "made.constructors.")

    def __getitem__(self, of: Any) -> type[Any]:
        if of not in self._found:
            raise KeyError(f"no constructor was derived from {short(of)}: there are {', '.join(self._named)}.")
        return self._found[of]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __getattr__(self, name: str) -> Any:
        """**Raises:** `AttributeError` where no constructor has this name, or several have."""
        found = vars(self).get("_named", {}).get(name, [])
        if len(found) > 1:
            raise AttributeError(f"{len(found)} constructors are called `{name}`: write `made.constructors[{name}]`.")
        if not found:
            raise AttributeError(
                f"no constructor is called `{name}`: there are {', '.join(vars(self).get('_named', {}))}."
            )
        return found[0]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._named]

    def __repr__(self) -> str:
        return f"Constructors({', '.join(self._named)})"


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
    variables: list[Any] = [cast("Any", TypeVar)(label, covariant=True) for label in labels]
    if len(sorts) == 1:
        variables = [TypeVar("X", covariant=True)]
    at = {a: variable for some, variable in zip(sorts, variables, strict=True) for a in some}
    made: dict[Any, type[Any]] = {}
    for some, label in zip(sorts, labels, strict=True):
        tag = type(label, (), {"__doc__": f"The name of the functor of `{label}`."})
        taken: set[str] = {a.__name__ for a in some if isinstance(a, type) and a is not NONE}
        for a in some:
            called = a.__name__ if isinstance(a, type) and a is not NONE else unused(_box_name(a), taken)
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
