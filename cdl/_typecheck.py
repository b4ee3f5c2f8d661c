"""Types at run time, for test suites: typeguard, made to understand jaxtyping's shapes.

Turn it on for a package with jaxtyping's import hook: `pytest --jaxtyping-packages=mine,cdl._typecheck.typechecked`.
Typeguard's own decorator rewrites source and reads `"n d"` as Python, so under that hook it fails or checks nothing
at all; `typechecked` asks typeguard about one value at a time, in the hook's context of axis sizes.

Nothing is skipped silently. jaxtyping reads a hint that it cannot resolve as `Any`; here such a hint is resolved once
more at the first call, when classes that name themselves exist, and what the module still does not know is an
`AnnotationError`.
"""

import inspect
import sys
import typing
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ForwardRef, get_type_hints, no_type_check, TypeVar

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

_ALIASES = {typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType)}


# `no_type_check` keeps the hook off the checker itself: it cannot check calls before it exists.
@no_type_check
def typechecked(fn: Function) -> Function:
    """Check the arguments and the result of `fn` against its annotations, at every call.

    **Arguments:** `fn`: any function. What is no plain function is returned as it is.

    **Raises:** when called, `typeguard.TypeCheckError` for a value that does not fit (which jaxtyping's hook turns
    into `jaxtyping.TypeCheckError`, with the sizes of the axes), and `jaxtyping.AnnotationError` for an annotation
    that names something unknown.
    """
    if not inspect.isfunction(fn):
        return fn
    if _look_up not in checker_lookup_functions:
        checker_lookup_functions.insert(0, _look_up)
    signature, original = inspect.signature(fn), _stood_in_for(fn)
    hints = cache(lambda: _hints(fn) if original is None else _merge(fn, original))

    @wraps(fn)
    def checked(*args: Any, **kwargs: Any) -> Any:
        expected: dict[str, Any] = hints()
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            kind = signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                value = tuple(value.values())
            elif kind is not inspect.Parameter.VAR_POSITIONAL:
                value = (value,)
            for each in value:
                _check(each, expected.get(name, Any), fn)
        result = fn(*args, **kwargs)
        _check(result, expected.get("return", Any), fn)
        return result

    return checked


@no_type_check
def _check(value: Any, hint: Any, fn: Callable[..., Any]) -> None:
    """`typeguard.check_type`, but for names within hints: they are those of the module of `fn`."""
    try:
        check_type_internal(value, hint, _memo(fn.__module__))
    except TypeCheckError as error:
        error.append_path_element(type(value).__name__)
        raise
    except NameError as error:
        raise _unresolved(fn, error) from error


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

    Of the two stand-ins, only the one that is handed the result in a parameter of its own checks `return`.
    """
    again, own = _hints(original), stand_in.__annotations__
    if len(inspect.signature(stand_in).parameters) == len(inspect.signature(original).parameters):
        again.pop("return", None)
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
    if type(origin) in _ALIASES:
        meaning = _expand(origin, args)
    elif isinstance(origin, TypeVar) and isinstance(origin.__bound__, ForwardRef):
        meaning = origin.__bound__
    else:
        return None
    return lambda value, hint, args, memo: check_type_internal(value, meaning, _memo(origin.__module__))


@no_type_check
def _expand(alias: Any, args: tuple[Any, ...]) -> Any:
    """What an alias with these arguments stands for: its own value may be a string, so that it can be recursive."""
    meaning = alias.__value__
    if isinstance(meaning, str):
        meaning = eval(meaning, dict(vars(sys.modules[alias.__module__])))
    if parameters := getattr(meaning, "__parameters__", ()):
        given = dict(zip(alias.__type_params__, args, strict=True))
        meaning = meaning[tuple(given[p] for p in parameters)]
    return meaning
