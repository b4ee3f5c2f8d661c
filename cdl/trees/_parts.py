"""What a field of a dataclass may hold, read from its annotation.

| the annotation                                    | what it is read as                                             |
| ------------------------------------------------- | -------------------------------------------------------------- |
| `int`, `float`, `complex`, `bool`, `str`, an array | `Scalar`: a payload                                           |
| an `Enum`, `Literal["a", "b"]`                    | `Choice`: a payload, the position of the value                 |
| a dataclass, a class with dataclasses below it    | `Place`: a child, one of these classes                         |
| `Union[A, B]`, `Optional[A]`                      | `Place`, also of payloads, which then have constructors too    |
| `list[A]`, `tuple[A, ...]`                        | `Several`: any number of children                              |
| `tuple[A, B]`                                     | `Fixed`: as two fields                                         |
"""

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ForwardRef, get_args, get_origin, Literal, TypeAlias, TypeVar, Union

import jax
import numpy as np

from .._functors.poly import name
from .._functors.words import an
from .._typecheck import ALIASES
from ..errors import SignatureError


NONE = type(None)
NUMBERS = (bool, int, float, complex)


@dataclass(frozen=True)
class Scalar:
    """A number, a string or an array, which is a payload as it is; `types` are those of its values."""

    annotation: Any
    types: tuple[type[Any], ...]


@dataclass(frozen=True)
class Choice:
    """One of finitely many values, whose payload is its position."""

    annotation: Any
    members: tuple[Any, ...]

    @property
    def types(self) -> tuple[type[Any], ...]:
        """The types of the values."""
        return tuple(dict.fromkeys(map(type, self.members)))


@dataclass(frozen=True)
class Place:
    """A child that is one of these; or, where it is `optional`, none."""

    of: tuple[Any, ...]
    optional: bool = False


@dataclass(frozen=True)
class Several:
    """A list or a tuple of any number of children."""

    container: type[Any]
    of: Place


@dataclass(frozen=True)
class Fixed:
    """A tuple of known length."""

    of: tuple[Any, ...]


Part: TypeAlias = Scalar | Choice | Place | Several | Fixed
Scope: TypeAlias = Mapping[str, Any]


def part(annotation: Any, where: str, scope: Scope, above: tuple[Any, ...] = ()) -> Part:
    """What a field holds. `where` names class, field and annotation; `scope` has the names for forward references;
    `above` are the aliases that the annotation is a part of.

    **Raises:** `SignatureError` for an annotation that has no reading, with what to write instead.
    """
    found = _alternatives(annotation, where, scope, above)
    rest = tuple(a for a in found if a is not NONE)
    if not rest:
        raise SignatureError(f"{where} is always None, and says nothing: leave the field out.")
    if len(rest) == len(found):
        if len(rest) == 1 and not isinstance(rest[0], type):
            return typing.cast("Part", rest[0])
        if all(isinstance(a, Scalar) and a.annotation in NUMBERS for a in rest):
            return Scalar(Union[tuple(a.annotation for a in rest)], tuple(t for a in rest for t in a.types))
    _expect_apart(rest, where)
    return Place(rest, len(rest) < len(found))


def place(annotation: Any, where: str, scope: Scope) -> Place:
    """What stands at the root, or in a list, where a payload has a constructor too."""
    found = _alternatives(annotation, where, scope, ())
    _expect_apart(found, where)
    return Place(found)


def types_of(alternative: Any) -> tuple[type[Any], ...]:
    """The types of the values of one alternative."""
    if isinstance(alternative, type):
        return (alternative,)
    if isinstance(alternative, Several):
        return (alternative.container,)
    return (tuple,) if isinstance(alternative, Fixed) else alternative.types[:1] or (np.ndarray,)


def _expect_apart(found: tuple[Any, ...], where: str) -> None:
    met: dict[type[Any], Any] = {}
    for alternative in found:
        for kind in alternative.types if isinstance(alternative, Choice) else types_of(alternative):
            if met.setdefault(kind, alternative) is not alternative:
                raise SignatureError(
                    f"{where} has two alternatives whose values are both {an(kind.__name__)}, so that they cannot be "
                    "told apart: make each a dataclass."
                )


def _alternatives(annotation: Any, where: str, scope: Scope, above: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a value may be: dataclasses, payloads, lists, tuples, and `NONE`."""
    read: Callable[[Any], tuple[Any, ...]] = lambda a: _alternatives(a, where, scope, above)
    if isinstance(annotation, str | ForwardRef):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        return read(_named(text, where, scope))
    origin, args = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, ALIASES):
        if annotation in above:
            raise SignatureError(
                f"{where}: the alias `{annotation.__name__}` is inside itself with no dataclass in between: put what "
                "is recursive into a dataclass."
            )
        return _alternatives(annotation.__value__, where, scope, (*above, annotation))
    if origin is Annotated:
        return read(args[0])
    if hasattr(annotation, "__supertype__"):  # a `NewType`
        return read(annotation.__supertype__)
    if origin in (Union, types.UnionType):
        return tuple(dict.fromkeys(a for member in args for a in read(member)))
    if annotation is None or annotation is NONE:
        return (NONE,)
    if origin is Literal:
        return (Choice(annotation, args),)
    if origin is list or (origin is tuple and len(args) == 2 and args[1] is Ellipsis):
        found = read(args[0])
        _expect_apart(found, where)
        return (Several(origin, Place(found)),)
    if origin is tuple and args:
        return (Fixed(tuple(part(a, where, scope, above) for a in args)),)
    if annotation in (*NUMBERS, str):
        return (Scalar(annotation, _TAKEN[annotation]),)
    if _is_array(annotation):
        return (Scalar(annotation, ()),)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum) and not issubclass(annotation, enum.Flag):
        return (Choice(annotation, tuple(annotation)),)
    if (
        isinstance(annotation, type)
        and annotation.__module__ not in _TOO_WIDE
        and (classes := dataclasses_of(annotation))
    ):
        for kind in classes:
            if parameters := getattr(kind, "__parameters__", ()):
                raise SignatureError(
                    f"{where}: `{kind.__name__}` has the type parameter `{parameters[0]}`, and a signature is of known "
                    "types: write the type in its place."
                )
        return classes
    raise SignatureError(f"{where} {_why_not(annotation, origin)}")


_TOO_WIDE = (
    "builtins",
    "abc",
    "typing",
    "collections",
    "collections.abc",
)  # `dict`, say, which some dataclass may extend
_TAKEN: dict[Any, tuple[type[Any], ...]] = {
    bool: (bool,),
    int: (int, bool),
    float: (float, int, bool),
    complex: (complex, float, int, bool),
    str: (str,),
}


def dataclasses_of(kind: type[Any]) -> tuple[type[Any], ...]:
    """The dataclasses that a class stands for: itself and all below it, but not what is abstract.

    A class without fields that has classes below it is taken for abstract, too. Of two classes of one name, the later
    one counts: the former is what a decorator left behind, or an earlier run of a notebook's cell.
    """
    found: dict[Any, type[Any]] = {}
    todo = [kind]
    for one in todo:
        below = one.__subclasses__()
        todo += below
        abstract = inspect.isabstract(one) or (below and not dataclasses.fields(one)) if _is_dataclass(one) else True
        if not abstract:
            found[one.__module__, one.__qualname__] = one
    return tuple(dict.fromkeys(found.values()))


def _is_dataclass(kind: type[Any]) -> bool:
    return "__dataclass_fields__" in vars(kind)


def _is_array(annotation: Any) -> bool:
    kind = get_origin(annotation) or annotation
    return isinstance(kind, type) and (
        issubclass(kind, np.ndarray | np.generic | jax.Array) or hasattr(kind, "array_type")  # jaxtyping's
    )


def _named(text: str, where: str, scope: Scope) -> Any:
    try:
        return eval(text, dict(scope))
    except NameError as e:
        raise SignatureError(f"{where} names `{e.name}`, which is not defined where the class is.") from e


def _why_not(annotation: Any, origin: Any) -> str:
    """Why an annotation has no reading, and what to write instead."""
    kind = origin or annotation
    if isinstance(annotation, TypeVar):
        return "is a type variable, and a signature is of known types: write the type in its place."
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return "is a class with type arguments, which is not read: write a class without parameters."
    if kind in (list, tuple):
        return f"does not say what is in the {kind.__name__}: write `{kind.__name__}[A{', ...' * (kind is tuple)}]`."
    if annotation in (Any, object):
        return "does not say what the field holds: write a type, or a union of types."
    if isinstance(kind, type) and issubclass(kind, enum.Flag):
        return "is a set of flags: write a `bool` for each, or an `int`."
    if typing.is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        return "has named fields, and is read as a dataclass: write `@dataclass` above the class."
    if isinstance(kind, type) and issubclass(kind, bytes | bytearray):
        return "is made of bytes: write `str`, or `list[int]`."
    if isinstance(kind, type) and issubclass(kind, Mapping):
        key, value = (*map(name, get_args(annotation)), "A", "B")[:2] if get_args(annotation) else ("A", "B")
        return f"is a dictionary, whose entries have no fixed places: write `list[tuple[{key}, {value}]]`."
    if isinstance(kind, type) and issubclass(kind, Iterable):
        return "is a collection that cannot be given back as it was: write `list[A]` or `tuple[A, ...]`."
    if isinstance(kind, type):
        return (
            f"is not a type that can be read: `{kind.__name__}` is not a dataclass, and no dataclass extends it. Make "
            "it a dataclass, or write a number, `str`, `bool` or an `Enum`."
        )
    return "is not a type that can be read: write a dataclass, a number, `str`, `bool`, an `Enum`, or a list of these."
