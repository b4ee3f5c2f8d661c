"""Layers of data: `Base[T, X]`, one layer of the recursive type `T` with `X` at its recursive places.

| the mathematics        | here                                                            |
| ---------------------- | --------------------------------------------------------------- |
| a functor `F`          | a tag class `T`, and a union of constructors `Base[T, X]`       |
| `F X`                  | `Base[T, X]` (Haskell's `Base t x`)                             |
| `μF`, the trees        | `Fix[T] = Base[T, Fix[T]]`: no wrapper at run time              |
| `in`, `out`            | `embed`, `project`: identities, kept for laws and for types     |

A constructor is a class that extends `Base[T, X]` and annotates its fields. It becomes a frozen dataclass and a
pytree. Trees compare, hash, print, pickle and copy without recursion: a list 100,000 deep is a value like another.
"""

import dataclasses
import inspect
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any, cast, dataclass_transform, Generic, Self, TYPE_CHECKING, TypeVar

import jax
from typing_extensions import TypeAliasType

from ..errors import SignatureError
from . import values as _values
from .words import short


T = TypeVar("T")  # a tag: the name of a functor
X = TypeVar("X")  # what stands at the recursive places
T_co = TypeVar("T_co", covariant=True)
X_co = TypeVar("X_co", covariant=True)
V = TypeVar("V", bound="Value")


class Value:
    """What every tree is at run time: a value that compares, hashes, prints, pickles and copies without recursion."""

    __cdl_value__ = True
    __cdl_origin__ = None  # of a constructor that was derived, what it was derived from
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and _values.equal(self, other)

    def __hash__(self) -> int:
        return _values.fingerprint(self)

    def __repr__(self) -> str:
        return _values.show(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _values.assemble, (_values.disassemble(self),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return cast(Self, _values.deepcopy(self, memo))


if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True)
    class Base(Value, Generic[T_co, X_co]):
        """One layer of the recursive type `T`, with `X` at the recursive places."""

else:

    class Base(Value, Generic[T_co, X_co]):
        """One layer of the recursive type `T`, with `X` at the recursive places.

        Extend it once for each constructor: `class Neg(Base[Expr, X], Generic[X]): arg: X`; a constructor with no
        recursive place extends `Base[Expr, Never]`. The subclass becomes a frozen dataclass and a JAX pytree.

        **Raises:** `SignatureError` where a field has no annotation, or a constructor extends another.

        Examples:
            >>> from typing import Generic, Never, TypeVar
            >>> X = TypeVar("X", covariant=True)
            >>> class Expr: ...
            >>> class Lit(cdl.Base[Expr, Never]):
            ...     value: float
            >>> class Neg(cdl.Base[Expr, X], Generic[X]):
            ...     arg: X
            >>> Neg(Lit(2.0))
            Neg(Lit(2.0))
        """

        def __class_getitem__(cls, args: Any) -> Any:
            if cls is Base and (not isinstance(args, tuple) or len(args) != 2):
                named = getattr(args, "__name__", "T")
                raise SignatureError(
                    f"`Base` has two arguments, the functor's name and what stands at recursive places: write "
                    f"`Base[{named}, X]`, or `Base[{named}, Never]` for a constructor without children."
                )
            return super().__class_getitem__(args)

        def __init_subclass__(cls, **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            _refuse_subclasses(cls)
            _refuse_unannotated(cls)
            cls.__cdl_scope__ = _scope(cls)
            _LATEST[_full_name(cls)] = cls
            as_value(cls)


# Which of the two recursive aliases pyright objects to depends on the file that it reads first.
Fix = TypeAliasType("Fix", "Base[T, Fix[T]]", type_params=(T,))  # pyright: ignore[reportInvalidTypeForm]
"""The trees of `T`: layers of layers, with no wrapper at run time. An initial algebra, `F μF ≅ μF`.

Examples:
    >>> tree: cdl.Fix[cdl.Tree[str]] = cdl.Fork(cdl.Leaf("a"), cdl.Leaf("b"))
    >>> tree.right
    Leaf('b')
"""
Sorts2 = TypeAliasType(  # the trees of each of two sorts
    "Sorts2",
    "tuple[Base[T, Sorts2[T, X]], Base[X, Sorts2[T, X]]]",  # pyright: ignore[reportInvalidTypeForm]
    type_params=(T, X),
)
Fix1of2 = TypeAliasType("Fix1of2", "Base[T, Sorts2[T, X]]", type_params=(T, X))
"""The trees of the sort `T`, where those of two sorts `T` and `X` stand inside each other.

Examples:
    >>> from typing import Generic, Never, TypeVar
    >>> X, Y = TypeVar("X", covariant=True), TypeVar("Y", covariant=True)
    >>> class Term: ...
    >>> class Proof: ...
    >>> class Var(cdl.Base[Term, Never]):
    ...     name: str
    ...
    >>> class Because(cdl.Base[Term, X], Generic[X, Y]):
    ...     of: X
    ...     why: Y
    ...
    >>> class Trivial(cdl.Base[Proof, Never]): ...
    >>> term: cdl.functors.Fix1of2[Term, Proof] = Because(Var("x"), Trivial())
    >>> term
    Because(Var('x'), Trivial())
"""
Fix2of2 = TypeAliasType("Fix2of2", "Base[X, Sorts2[T, X]]", type_params=(T, X))
"""The trees of the sort `X`, where those of two sorts `T` and `X` stand inside each other.

Examples:
    >>> from typing import Generic, Never, TypeVar
    >>> X, Y = TypeVar("X", covariant=True), TypeVar("Y", covariant=True)
    >>> class Term: ...
    >>> class Proof: ...
    >>> class Var(cdl.Base[Term, Never]):
    ...     name: str
    ...
    >>> class About(cdl.Base[Proof, Y], Generic[X, Y]):
    ...     what: X
    ...
    >>> proof: cdl.functors.Fix2of2[Term, Proof] = About(Var("x"))
    >>> proof
    About(Var('x'))
"""


def project(tree: Fix[T]) -> Base[T, Fix[T]]:
    """`out : μF → F μF`: a tree as its outermost layer. The identity at run time.

    Examples:
        >>> cdl.functors.project(cdl.Leaf(1))
        Leaf(1)
    """
    return tree


def embed(layer: Base[T, Fix[T]]) -> Fix[T]:
    """`in : F μF → μF`: a layer of trees as a tree. The identity at run time.

    Examples:
        >>> cdl.functors.embed(cdl.Leaf(1))
        Leaf(1)
    """
    return layer


def rebuild(constructor: type[Any], values: dict[str, Any]) -> Any:
    """An instance with these fields, past `__init__`: a layer of batched or traced fields is a layer as well."""
    new = object.__new__(constructor)
    new.__dict__.update(values)
    return new


_LATEST: weakref.WeakValueDictionary[Any, type[Any]] = weakref.WeakValueDictionary()  # by module and name


def _full_name(cls: type[Any]) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def anew(kinds: Iterable[type[Any]], others: Iterable[type[Any]] = ()) -> str:
    """What an error says besides, where one of these classes was defined anew: nothing, or a sentence.

    Run again, a cell of a notebook makes new classes, and what was made before is of the former ones. They are told by
    a namesake among `others`, or by a constructor of that name that was defined later.
    """
    named = {_full_name(other): other for other in others}
    for kind in kinds:
        name = _full_name(kind)
        later = kind if "<locals>" in kind.__qualname__ else _LATEST.get(name, kind)
        if not (kind is later is named.get(name, kind)):
            return (
                f" There are two classes `{kind.__name__}`: it was defined anew, as when a notebook's cell is run "
                "again. Trees, forests, signatures and algebras made before are of the former class: make them again."
            )
    return ""


def _scope(cls: type[Any]) -> dict[str, Any]:
    """What the function that defines a class has defined so far: annotations may name it."""
    frame, names = sys._getframe(1), {}
    while frame.f_back is not None and frame.f_globals.get("__name__") != cls.__module__:
        frame = frame.f_back
    if frame.f_code.co_name.startswith("<generic parameters") and frame.f_back is not None:  # `class Neg[X](...)`
        names, frame = dict(frame.f_locals), frame.f_back
    return names if frame.f_locals is frame.f_globals else {**frame.f_locals, **names}


def _refuse_subclasses(cls: type[Any]) -> None:
    above = [b.__name__ for b in cls.__mro__[1:] if issubclass(b, Base) and b is not Base]
    if above:
        raise SignatureError(
            f"`{cls.__name__}` extends {', '.join(above)}, and a constructor extends `Base[T, X]` itself: constructors "
            "are final. Write it as another summand."
        )


def _refuse_unannotated(cls: type[Any]) -> None:
    annotated = inspect.get_annotations(cls)
    for name, value in cls.__dict__.items():
        plain = not (callable(value) or hasattr(value, "__get__"))
        if plain and not name.startswith("_") and name not in annotated:
            raise SignatureError(
                f"`{cls.__name__}.{name} = {short(value)}` has no annotation, so it is not a field of the layer. Write "
                f"`{name}: X` for a recursive place, or `{name}: <type>` for a payload."
            )


def as_value(cls: type[V]) -> type[V]:
    """The class as a frozen dataclass whose methods are `Value`'s, and as a pytree that goes round `__init__`."""
    dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    names: tuple[str, ...] = cls.__match_args__
    keys = tuple(jax.tree_util.GetAttrKey(n) for n in names)

    def flatten(layer: Any) -> tuple[tuple[Any, ...], None]:
        return tuple(getattr(layer, n) for n in names), None

    def flatten_with_keys(layer: Any) -> tuple[tuple[tuple[Any, Any], ...], None]:
        return tuple((k, getattr(layer, n)) for k, n in zip(keys, names, strict=True)), None

    def unflatten(_: None, fields: Any) -> Any:
        return rebuild(cls, dict(zip(names, fields, strict=True)))

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, cast("Callable[..., Any]", flatten))
    return cls
