"""Checks of types that cost little where a call is right: jaxtyping's wrapper is asked only about the others.

At each call, jaxtyping binds the arguments to their names, opens a context of axis sizes, and calls two functions that
it has made; and it makes these two anew each time that a function inside a function is defined. Here the quick tests of
`cdl._typecheck` come first, and a call that they let pass is right. Where a shape is among the annotations of a
function, each of its calls is jaxtyping's. The tests are made once for a piece of code with equal annotations.
"""

import functools
import importlib
import inspect
import types
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import jaxtyping


# What looks for its caller passes over these frames, as over jaxtyping's; and a dataclass whose `__init__` is checked
# here is not checked once more.
__name__ = "jaxtyping._decorator"

Test = Callable[[Any], bool]
Tests = tuple[dict[str, Test], Test] | None  # of the arguments, and of the result; none where there are shapes


def install() -> None:
    """Has jaxtyping's import hook use them, for what is imported from now on."""
    hook: Any = jaxtyping
    hook.jaxtyped = _light(hook.jaxtyped)


def _light(jaxtyped: Any) -> Any:
    @functools.cache
    def ours() -> Any:
        module: Any = importlib.import_module("cdl._typecheck")
        module.jaxtyped = jaxtyped  # which it looks for among the frames
        return module

    def decorator(*args: Any, **options: Any) -> Any:
        if args:
            return jaxtyped(*args, **options)
        whole = functools.partial(jaxtyped, **options)

        def decorate(fn: Any) -> Any:
            if not inspect.isfunction(fn):
                return whole(fn)
            return _lightly(fn, whole, functools.partial(_tests, fn, ours()))

        return decorate

    return decorator


def _lightly(fn: Any, whole: Callable[[Any], Any], tests: Callable[[], Tests]) -> Any:
    names, made = fn.__code__.co_varnames[: fn.__code__.co_argcount], functools.cache(lambda: whole(fn))

    @functools.wraps(fn)
    def checked(*args: Any, **kwargs: Any) -> Any:
        found = tests()
        if found is None:
            return made()(*args, **kwargs)
        arguments, result = found
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            if name in arguments and not arguments[name](value):
                return made()(*args, **kwargs)
        answer = fn(*args, **kwargs)
        return answer if result(answer) else whole(_giving(fn, answer))(*args, **kwargs)

    return checked


def _giving(fn: Any, answer: Any) -> Any:
    """A function that looks as `fn` does, and gives what `fn` has given."""
    return functools.wraps(fn)(lambda *args, **kwargs: answer)


@functools.cache
def _known() -> dict[Any, Tests]:
    return {}


def _tests(fn: Any, checks: Any) -> Tests:
    known, key = _known(), (fn.__module__, fn.__code__, tuple(fn.__annotations__.items()))
    if key not in known:
        hints = checks._hints(fn)
        found = {name: checks._quick(hint, fn) for name, hint in hints.items()}
        shapes = any(_has_shapes(hint, checks, frozenset()) for hint in hints.values())
        several = [hints.pop(name, Any) for name in _several(fn.__code__)]
        heavy = shapes or any(hint is not Any for hint in several)
        known[key] = None if heavy else (found, found.pop("return", lambda value: True))
    return known[key]


def _several(code: types.CodeType) -> tuple[str, ...]:
    """The names of `*args` and `**kwargs`."""
    first = code.co_argcount + code.co_kwonlyargcount
    many = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[first : first + many]


def _has_shapes(hint: Any, checks: Any, above: frozenset[Any]) -> bool:
    origin, args = get_origin(hint) or hint, get_args(hint)
    if isinstance(hint, list):  # the arguments of a `Callable`
        args = tuple(hint)
    elif hint in above:
        return False
    else:
        above |= {hint}
    if type(origin) in checks.ALIASES:
        args = (checks.expand(origin, args),)
    elif inspect.isclass(origin) and issubclass(origin, tuple) and hasattr(origin, "_fields"):
        args = tuple(get_type_hints(origin).values())
    elif inspect.isclass(origin) and type(origin).__module__.partition(".")[0] == "jaxtyping":
        return True
    return any(_has_shapes(x, checks, above) for x in args)
