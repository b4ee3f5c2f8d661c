"""Types at run time, for test suites: typeguard, made to understand jaxtyping's shapes.

Turn it on for a package with jaxtyping's import hook: `pytest --jaxtyping-packages=mine,cdl.testing.typechecked`.
Typeguard's own decorator rewrites source and reads `"n d"` as Python, so under that hook it fails or checks nothing
at all; `typechecked` asks typeguard about one value at a time, in the hook's context of axis sizes.

Nothing is skipped silently. jaxtyping reads a hint that it cannot resolve as `Any`; here such a hint is resolved once
more at the first call, when classes that name themselves exist, and what the module still does not know is an
`AnnotationError`.
"""

import collections.abc
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache, wraps
from typing import Any, ForwardRef, get_args, get_origin, get_type_hints, no_type_check, TypeVar, Union

import typing_extensions
from jaxtyping import AnnotationError, jaxtyped
from typeguard import (
    check_type_internal,
    checker_lookup_functions,
    CollectionCheckStrategy,
    ForwardRefPolicy,
    TypeCheckConfiguration,
    TypeCheckError,
    TypeCheckMemo,
)


Function = TypeVar("Function", bound=Callable[..., Any])

ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))

COLLECTIONS = (list, tuple, dict, set, frozenset, collections.abc.Sequence, collections.abc.Mapping)


# `no_type_check` keeps the hook off the checker itself: it cannot check calls before it exists.
@no_type_check
def typechecked(fn: Function) -> Function:
    """Check the arguments and the result of `fn` against its annotations, at every call.

    **Arguments:** `fn`: any function. What is not a plain function is returned as it is.

    **Raises:** when called, `typeguard.TypeCheckError` for a value that does not fit (which jaxtyping's hook turns
    into `jaxtyping.TypeCheckError`, with the sizes of the axes), and `jaxtyping.AnnotationError` for an annotation
    that names something unknown.

    Examples:
        >>> @cdl.testing.typechecked
        ... def doubled(x: int) -> int:
        ...     return 2 * x
        >>> doubled(2)
        4
    """
    if not inspect.isfunction(fn):
        return fn
    if _look_up not in checker_lookup_functions:
        checker_lookup_functions.insert(0, _look_up)
    signature, original = inspect.signature(fn), _stood_in_for(fn)
    several = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values())
    hints = cache(lambda: _hints(fn) if original is None else _merge(fn, original))
    checks = cache(lambda: {name: (_quick(hint, fn), hint) for name, hint in hints().items()})

    @wraps(fn)
    def checked(*args: Any, **kwargs: Any) -> Any:
        expected = checks()
        given = (
            _singly(signature, args, kwargs)
            if several
            else (*zip(signature.parameters, args, strict=False), *kwargs.items())
        )
        for name, value in given:
            if name in expected:
                _check(value, *expected[name], fn)
        result = fn(*args, **kwargs)
        if "return" in expected:
            _check(result, *expected["return"], fn)
        return result

    return checked


@no_type_check
def _singly(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a call, each with the parameter that it is given to, or is one of many given to."""
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        match signature.parameters[name].kind:
            case inspect.Parameter.VAR_KEYWORD:
                yield from ((name, x) for x in value.values())
            case inspect.Parameter.VAR_POSITIONAL:
                yield from ((name, x) for x in value)
            case _:
                yield name, value


@no_type_check
def _check(value: Any, surely: Callable[[Any], bool], hint: Any, fn: Callable[..., Any]) -> None:
    """`typeguard.check_type`, but for names within hints: they are those of the module of `fn`."""
    if surely(value):
        return
    try:
        check_type_internal(value, hint, _memo(fn.__module__))
    except TypeCheckError as error:
        error.append_path_element(type(value).__name__)
        raise
    except NameError as error:
        raise _unresolved(fn, error) from error


@no_type_check
def _quick(hint: Any, fn: Callable[..., Any]) -> Callable[[Any], bool]:
    """`_surely` of a hint of `fn`."""
    try:
        return _surely(hint)
    except NameError as error:
        raise _unresolved(fn, error) from error


@no_type_check
def _surely(hint: Any, above: frozenset[Any] = frozenset()) -> Callable[[Any], bool]:
    """A quick test for a hint: what passes it, typeguard would let pass; of what does not, typeguard is to judge.

    `above` are the aliases and records that this hint is a part of: one that contains itself is left to typeguard.
    """
    origin, args = get_origin(hint) or hint, get_args(hint)
    if origin is Any or (isinstance(origin, TypeVar) and not origin.__bound__ and not origin.__constraints__):
        return lambda value: True
    if hint is None:
        return lambda value: value is None
    if origin is type and args in ((), (Any,)):
        return lambda value: isinstance(value, type)
    if hint in above:
        return _never
    if origin in (Union, types.UnionType):
        members = [_surely(member, above) for member in args]
        members = members[: members.index(_never) if _never in members else None]  # a later one would come too early
        return lambda value: any(member(value) for member in members)
    if type(origin) in ALIASES:
        return _surely(expand(origin, args), above | {hint})
    if origin is collections.abc.Callable and args[:1] in ((), (...,)):
        return callable
    if origin in COLLECTIONS and args:
        return _surely_each(origin, args, [_surely(x, above) for x in args if x is not ...])
    record = inspect.isclass(origin) and issubclass(origin, tuple) and hasattr(origin, "_fields")
    if record and (fields := get_type_hints(origin)):
        return _surely_each(origin, (), [_surely(x, above | {hint}) for x in fields.values()])
    if record or (inspect.isclass(origin) and not any(look(origin, args, ()) for look in checker_lookup_functions)):
        return lambda value: isinstance(value, origin)
    return _never


@no_type_check
def _surely_each(origin: Any, args: tuple[Any, ...], items: list[Callable[[Any], bool]]) -> Callable[[Any], bool]:
    """That of a collection, from the tests of its items."""
    if _never in items:
        return _never
    if origin in (dict, collections.abc.Mapping):
        of_key, of_value = items
        return lambda value: isinstance(value, origin) and all(of_key(k) and of_value(x) for k, x in value.items())
    if issubclass(origin, tuple) and args[-1:] != (...,):
        each = lambda value: len(value) == len(items) and all(fits(x) for fits, x in zip(items, value, strict=True))
        return lambda value: isinstance(value, origin) and each(value)
    return lambda value: isinstance(value, origin) and all(map(items[0], value))


@no_type_check
def _never(value: Any) -> bool:
    """The test that nothing passes."""
    return False


@no_type_check
def _memo(module: str) -> TypeCheckMemo:
    config = TypeCheckConfiguration(ForwardRefPolicy.ERROR, None, CollectionCheckStrategy.ALL_ITEMS)
    return TypeCheckMemo(vars(sys.modules[module]), {}, config=config)


@no_type_check
def _unresolved(fn: Callable[..., Any], error: Exception) -> AnnotationError:
    return AnnotationError(
        f"The annotations of `{fn.__module__}.{fn.__qualname__}` cannot be resolved when it is called: {error}. "
        "Import the names they use at run time, or mark the function with `typing.no_type_check`."
    )


@no_type_check
def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(fn, include_extras=True)
    except Exception as error:
        raise _unresolved(fn, error) from error


@no_type_check
def _stood_in_for(stand_in: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function that `jaxtyped` is wrapping just now, where `stand_in` is what it made to have the hints checked."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code is jaxtyped.__code__:
            fn = frame.f_locals["fn"]
            names = (getattr(fn, "__module__", None), getattr(fn, "__qualname__", None))
            return fn if inspect.isfunction(fn) and names == (stand_in.__module__, stand_in.__qualname__) else None
        frame = frame.f_back
    return None


@no_type_check
def _merge(stand_in: Callable[..., Any], original: Callable[..., Any]) -> dict[str, Any]:
    """The hints of `stand_in`, those that jaxtyping gave up on (`Any`) read again from the function it stands for.

    Of the two stand-ins, the one that is handed the result in a parameter of its own checks `return`, and that alone:
    the other has checked the arguments, and jaxtyping remembers their axes.
    """
    again, own = _hints(original), stand_in.__annotations__
    if len(inspect.signature(stand_in).parameters) == len(inspect.signature(original).parameters):
        again.pop("return", None)
    else:
        own = {"return": own["return"]}
    return {name: again.get(name, Any) if hint is Any else hint for name, hint in own.items()}


@no_type_check
def _look_up(origin: Any, args: tuple[Any, ...], extras: tuple[Any, ...]) -> Callable[..., None] | None:
    """How typeguard is to check three kinds of hint that it does not know about outside its own decorator.

    It passes over an alias with arguments, such as `Fix[Expr]`: look through it, one layer at a time. It reads the
    bound of a variable where the variable is used: read it where it is defined. It refuses `Self`: let it pass, as
    every checker of single values does.
    """
    if origin is typing_extensions.Self:
        return lambda value, origin, args, memo: None
    if type(origin) in ALIASES:
        meaning = expand(origin, args)
    elif isinstance(origin, TypeVar) and isinstance(origin.__bound__, ForwardRef):
        meaning = origin.__bound__
    else:
        return None
    return lambda value, hint, args, memo: check_type_internal(value, meaning, _memo(origin.__module__))


@no_type_check
def expand(alias: Any, args: tuple[Any, ...]) -> Any:
    """What an alias with these arguments stands for: its own value may be a string, so that it can be recursive."""
    meaning = alias.__value__
    if isinstance(meaning, str):
        meaning = eval(meaning, dict(vars(sys.modules[alias.__module__])))
    if parameters := getattr(meaning, "__parameters__", ()):
        given = dict(zip(alias.__type_params__, args, strict=True))
        meaning = meaning[tuple(given[p] for p in parameters)]
    return meaning
