"""Reading a signature: from annotations to a polynomial functor.

| the annotation                    | the term                     |
| --------------------------------- | ---------------------------- |
| the type variable of `Base[T, X]` | `Id(0)`                      |
| `E` of `Base[T, tuple[S, E]]`     | `Id(1)`: a place of sort 1   |
| `X \\| None`                      | `Maybe(Id())`                |
| `tuple[X, X]`, `tuple[X, ...]`    | `Product`, `ListOf`          |
| `Many[X]`                         | `ManyOf`                     |
| `Callable[[I], X]`                | `Exp(I, Id())`               |
| anything without `X`              | `Const`: a payload           |
"""

import collections.abc
import dataclasses
import functools
import sys
import types
import typing
import weakref
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ForwardRef, get_args, get_origin, Never, overload, TypeVar, Union

import typing_extensions

from ..errors import SignatureError
from .base import anew, Base, Fix
from .many import Many
from .poly import Const, Exp, Id, ListOf, ManyOf, Maybe, name, Poly, Product, Record, Sum
from .words import an, short


K = TypeVar("K")
V = TypeVar("V")


def cached(fn: Callable[[K], V]) -> Callable[[K], V]:
    """`functools.cache`, for a function of one argument, with the function's own type."""
    return functools.cache(fn)


def cached_weakly(fn: Callable[[K], V]) -> Callable[[K], V]:
    """As `cached`, but a result is freed with its argument, which may be a closure that holds arrays."""
    known: weakref.WeakKeyDictionary[Any, V] = weakref.WeakKeyDictionary()

    @functools.wraps(fn)
    def call(of: K) -> V:
        try:
            if of not in known:
                known[of] = fn(of)
            return known[of]
        except TypeError:  # it has no hash, or no weak reference
            return fn(of)

    return call


@overload
def functor(  # pyright: ignore[reportOverlappingOverload]
    signature: tuple[Any, ...],
) -> tuple[Sum, ...]: ...
@overload
def functor(signature: Any) -> Sum: ...
def functor(signature: Any) -> Any:
    """The polynomial functor that a signature spells: `functor(ExprF)` is `R + X + X²`, as a term.

    **Arguments:** `signature`: a union of constructors, applied to type arguments or not, in either spelling
    (`type ExprF[X] = …` or `TypeAlias`), or a lone constructor; of a family, a tuple, `(ExprF, StmtF)`.

    **Raises:** `SignatureError` for a signature without constructors, where constructors have different tags, and where
    an annotation is not a functor: a negative occurrence of `X`, say, or a container that is not read.

    Examples:
        >>> str(cdl.functor(cdl.TreeF)), str(cdl.functor(cdl.RoseF))
        ('A + X²', 'A × Many(X)')
    """
    if isinstance(signature, tuple) and not any(isinstance(x, Base) for x in signature):
        if not signature:
            raise SignatureError("`()` is a family without a sort: give its signatures, as in `(ExprF, StmtF)`.")
        return tuple(map(functor, signature))
    return _functor(constructors(signature))


def constructors(signature: Any) -> tuple[type[Any], ...]:
    """The constructors of a signature, in the order they were written.

    **Raises:** `SignatureError` for anything other than a signature.

    Examples:
        >>> cdl.functors.constructors(cdl.TreeF)
        (<class 'cdl._functors._tree.Leaf'>, <class 'cdl._functors._tree.Fork'>)
    """
    found = tuple(dict.fromkeys(_classes(signature)))
    if not found:
        raise SignatureError(
            f"`{short(signature)}` has no constructors: write a union of classes that extend `Base[T, X]`."
        )
    return found


@cached
def layout(constructor: type[Any]) -> Record:
    """The fields of one constructor, as a product of polynomial functors in its recursive variables."""
    places = _places(constructor)
    hints = _hints(constructor)
    names = tuple(f.name for f in dataclasses.fields(constructor))
    for n in names:
        _expect_payload(hints[n], places, constructor, n)
    return Record(constructor, names, tuple(_term(hints[n], places, f"{constructor.__name__}.{n}") for n in names))


@cached
def tag(constructor: type[Any]) -> Any:
    """The tag class of a constructor; `None` for one that is a layer of every functor (`Base[Never, …]`)."""
    first = get_args(_base_of(constructor))[0]
    if isinstance(first, ForwardRef):
        first = _evaluate(first.__forward_arg__, constructor)
    return None if first is Never or first is typing_extensions.Never else get_origin(first) or first


@cached
def sorts(constructor: type[Any]) -> int:
    """How many sorts a constructor's family has; 0 for one that says nothing, having no recursive place."""
    second = get_args(_base_of(constructor))[1]
    if get_origin(second) is tuple:
        return len(get_args(second))
    return 0 if second is Never or second is typing_extensions.Never else 1


def signature_name(constructors: Iterable[type[Any]]) -> str:
    """The tag of a signature's constructors, as an error names it."""
    return tag_name(next((tag(c) for c in constructors if tag(c) is not None), None))


def tag_name(tag: Any) -> str:
    """A tag as an error names it."""
    return "every functor" if tag is None else str(getattr(tag, "__name__", tag))


@cached
def _functor(found: tuple[type[Any], ...]) -> Sum:
    tags = {tag(c): c for c in found if tag(c) is not None}
    if len(tags) > 1:
        (t, c), (u, d), *_ = tags.items()
        raise SignatureError(
            f"`{c.__name__}` is a constructor of `{tag_name(t)}` and `{d.__name__}` of `{tag_name(u)}`: a signature "
            f"has one tag. Give both the same first argument of `Base`, or write two signatures.{_tag_anew(t, u)}"
        )
    return Sum(tuple(map(layout, found)))


def _tag_anew(t: Any, u: Any) -> str:
    return anew((t,), (u,)) if isinstance(t, type) and isinstance(u, type) else ""


def _classes(signature: Any) -> typing.Iterator[type[Any]]:
    origin = get_origin(signature)
    if _is_alias(signature):
        yield from _classes(signature.__value__)
    elif _is_alias(origin):
        yield from _classes(origin.__value__)
    elif origin in (Union, types.UnionType):
        for member in get_args(signature):
            yield from _classes(member)
    elif isinstance(kind := origin or signature, type) and issubclass(kind, Base) and kind is not Base:
        yield kind
    elif isinstance(signature, list | tuple):
        raise SignatureError(_several(signature))
    elif isinstance(signature, Base):
        raise SignatureError(
            f"{an(type(signature).__name__)} was given where a signature belongs: a signature is a union of classes, "
            "such as `ExprF`, and not a tree."
        )
    else:
        raise SignatureError(
            _of_name(signature)
            or f"`{short(signature)}` is not a constructor: each summand of a signature is a class that extends "
            f"`Base[T, X]`.{_derivable(signature)}"
        )


def _of_name(given: Any) -> str:
    """The whole sentence for the name of a functor, where its signature stands beside it, as `TreeF` beside `Tree`."""
    named = f"{getattr(given, '__name__', '')}F"
    beside = getattr(sys.modules.get(getattr(given, "__module__", "")), named, None)
    if get_origin(beside) not in (Union, types.UnionType):
        return ""
    return f"`{given.__name__}` is the name of a functor, and not its signature: give `{named}`."


def _derivable(given: Any) -> str:
    """A sentence that is added for a user's own class, and for what was derived from one."""
    if isinstance(given, type):
        values = [given, *given.__subclasses__()]
        way = f"`made = cdl.trees.of_dataclasses({given.__name__})`, and give `made.signature`"
        return f" From dataclasses it is derived: {way}." * any(map(dataclasses.is_dataclass, values))
    return " It has the signature: give `made.signature`." * hasattr(type(given), "to_tree")


def _several(given: list[Any] | tuple[Any, ...]) -> str:
    """What an error says of several things where one signature belongs."""
    what = an(type(given).__name__)
    if any(isinstance(x, Base) for x in given):
        return f"{what} of trees was given where a signature belongs: the signature, such as `ExprF`, comes first."
    return (
        f"{what} was given where one signature belongs. A signature is a union, `Union[A, B]`. For a family of sorts, "
        "give the signatures in a tuple, `(A, B)`."
    )


def _is_alias(signature: Any) -> bool:
    kinds = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))
    return isinstance(signature, kinds)


def _base_of(constructor: type[Any]) -> Any:
    for base in getattr(constructor, "__orig_bases__", ()):
        if get_origin(base) is Base:
            return base
    raise SignatureError(f"`{constructor.__name__}` extends `Base` without arguments: write `Base[T, X]`.")


def _places(constructor: type[Any]) -> dict[Any, Id]:
    """Each recursive variable with the sort that it stands for."""
    second = get_args(_base_of(constructor))[1]
    variables = get_args(second) if get_origin(second) is tuple else (second,)
    places = {}
    for i, v in enumerate(variables):
        if isinstance(v, TypeVar):
            places[v] = Id(i, v.__name__)
        elif v is not Never and v is not typing_extensions.Never:
            raise SignatureError(
                f"`{constructor.__name__}` extends `Base[T, {short(v)}]`: the second argument is a type variable, "
                "`Never`, or a tuple of these, one for each sort."
            )
    return places


def _hints(constructor: type[Any]) -> dict[str, Any]:
    try:
        return typing_extensions.get_type_hints(constructor, None, _names(constructor), include_extras=True)
    except NameError as e:
        raise SignatureError(
            f"an annotation of `{constructor.__name__}` names the class itself: at a recursive place, write the type "
            "variable of `Base[T, X]`, `X`."
            if e.name == constructor.__name__
            else f"an annotation of `{constructor.__name__}` names `{e.name}`, which is not defined where the class is."
        ) from e


def _names(constructor: type[Any]) -> dict[str, Any]:
    variables = {p.__name__: p for p in getattr(constructor, "__parameters__", ())}
    return {**getattr(constructor, "__cdl_scope__", {}), **variables}


def _evaluate(text: str, constructor: type[Any]) -> Any:
    try:
        return eval(text, vars(sys.modules[constructor.__module__]), _names(constructor))
    except (NameError, KeyError):
        return text.partition("[")[0]


def _term(annotation: Any, places: dict[Any, Id], where: str) -> Poly:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if isinstance(annotation, TypeVar) and annotation in places:
        return places[annotation]
    if not _mentions(annotation, places):
        return Const(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    read: Callable[[Any], Poly] = lambda a: _term(a, places, where)
    if origin in (Union, types.UnionType) and len(args) == 2 and type(None) in args:
        return Maybe(read(args[0] if args[1] is type(None) else args[1]))
    if origin is tuple:
        return ListOf(read(args[0])) if args[-1] is Ellipsis else Product(tuple(map(read, args)))
    if origin is Many:
        of = read(args[0])
        if not isinstance(of, Id):
            raise SignatureError(f"`{where}` is a `Many` of `{of}`: `Many` holds recursive places alone, `Many[X]`.")
        return ManyOf(of)
    if origin is collections.abc.Callable:
        if _mentions(args[0], places):
            raise SignatureError(
                f"`{where}: {_text(annotation)}` has a recursive variable to the left of an arrow, a negative "
                "occurrence: that is not a functor. A function's arguments may not mention it."
            )
        return Exp(args[0], read(args[1]))
    raise SignatureError(
        f"`{where}: {_text(annotation)}` cannot be read as a functor. A recursive place is `X`, `X | None`, "
        "`tuple[X, X]`, `tuple[X, ...]`, `Many[X]` or `Callable[[I], X]`."
    )


def _expect_payload(annotation: Any, places: dict[Any, Id], constructor: type[Any], field: str) -> None:
    """**Raises:** `SignatureError` for an annotation that was meant to be a recursive place and is not one.

    That is a tree of the same type, a `Many` without a place in it, or a type variable that the class does not have.
    """
    if isinstance(annotation, list):
        for inner in annotation:
            _expect_payload(inner, places, constructor, field)
        return
    origin, args = get_origin(annotation) or annotation, get_args(annotation)
    other = places and isinstance(annotation, TypeVar) and annotation not in getattr(constructor, "__parameters__", ())
    bare_many = origin is Many and not _mentions(annotation, places)
    if other or bare_many or _is_tree_of(tag(constructor), origin, args):
        letters = " or ".join(f"`{id.letter}`, `Many[{id.letter}]`" for id in places.values()) or "`X`, `Many[X]`"
        extends = "" if places else f", and let `{constructor.__name__}` extend `Base[T, X]`"
        raise SignatureError(
            f"`{constructor.__name__}.{field}: {name(annotation)}` is not a recursive place, so that it would be read "
            f"as a payload. For a child write {letters} or `tuple[X, ...]`{extends}."
        )
    for inner in args:
        _expect_payload(inner, places, constructor, field)


def _is_tree_of(own: Any, origin: Any, args: tuple[Any, ...]) -> bool:
    """Whether an annotation is that of a tree with this tag, or of a tree of any."""
    if origin is own and own is not None:
        return True
    if not isinstance(origin, type) or not issubclass(origin, Base):
        return origin is Fix and (not args or get_origin(args[0]) is own or args[0] is own)
    return not args or (get_origin(args[0]) or args[0]) is own if origin is Base else tag(origin) is own


def _mentions(annotation: Any, places: dict[Any, Id]) -> bool:
    if isinstance(annotation, TypeVar):
        return annotation in places
    inner = annotation if isinstance(annotation, list) else get_args(annotation)
    return any(_mentions(a, places) for a in inner)


def _text(annotation: Any) -> str:
    return str(annotation).replace("typing.", "").replace("collections.abc.", "")
