"""How a public function is called. A call that does not fit its signature, or a size that is not a whole number, is
refused by a sentence that says how to write it."""

import collections.abc
import difflib
import functools
import inspect
import itertools
import operator
from collections.abc import Callable
from typing import Any, cast, get_args, get_origin, get_overloads, TypeVar

import numpy as np

from ..errors import CdlError
from .expected import annotations, expect_type, is_switch
from .words import short


Function = TypeVar("Function", bound=Callable[..., Any])


OPERATORS = {f"__{name}__": f"f {sign} g" for name, sign in dict(rshift=">>", matmul="@", add="+", mul="*").items()}
OPERATORS["__and__"] = "f & g"


def with_usage(fn: Function) -> Function:
    """The function, whose wrong calls raise a `CdlError` that names the arguments it takes.

    Booleans, and words out of a few, are checked before the call. The other arguments are compared with their
    annotations only if the call failed, and not by an error of cdl. The message names the first that does not fit, and
    says what it should be.

    Examples:
        >>> @cdl.checks.with_usage
        ... def scaled(by, x):
        ...     return by * x
        >>> scaled(2.0)
        Traceback (most recent call last):
            ...
        cdl.errors.CdlError: `scaled` was called with other arguments than it takes, missing a required
        argument: 'x': write `scaled(by, x)`.
    """
    return _with_usage(fn, is_switch)


def with_types(fn: Function) -> Function:
    """The function, with every argument compared with its annotation before the call.

    Use it for a function whose mistakes would show later, or not at all, such as one that composes its arguments.

    Examples:
        >>> @cdl.checks.with_types
        ... def repeated(text: str, times: int) -> str:
        ...     return text * times
        >>> repeated("ab", 2)
        'abab'
        >>> repeated("ab", "2")
        Traceback (most recent call last):
            ...
        cdl.errors.CdlError: `times` of `repeated` is '2', and must be `int`.
    """
    return _with_usage(fn, lambda hint: True)


def _with_usage(fn: Function, before: Callable[[Any], bool]) -> Function:
    """The function, which checks, before the call, the arguments whose annotation satisfies `before`."""
    if not callable(fn):
        raise CdlError(f"what is to be checked at every call is {short(fn)}: give a function.")
    usage = functools.cache(lambda: _Usage(fn, before))

    @functools.wraps(fn)
    def called(*args: Any, **options: Any) -> Any:
        if usage().first:
            usage().expect(args, options)
        try:
            return fn(*args, **options)
        except CdlError:
            raise
        except TypeError:
            if (wrong := usage().wrong(args, options) or usage().misfit(args, options)) is None:
                raise  # the call fits, and something inside it did not
        except (AttributeError, ValueError, KeyError, IndexError) as error:
            if (wrong := usage().misfit(args, options)) is None:
                raise
            raise CdlError(wrong) from error
        raise CdlError(wrong)

    return cast("Function", called)


class _Usage:
    """How a function is called: read at its first call, since to read it of every function takes long at import."""

    def __init__(self, fn: Callable[..., Any], before: Callable[[Any], bool]) -> None:
        self.fn, self.signature, self.hints = fn, inspect.signature(fn), annotations(fn)
        self.name = OPERATORS.get(fn.__name__) or fn.__qualname__.removesuffix(".__init__")
        self.first = {n: hint for n, hint in self.hints.items() if before(hint)}  # looked at before the call

    def expect(self, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """**Raises:** `CdlError` for an argument that does not fit an annotation of `first`."""
        parameters = self.signature.parameters.values()
        by_place = [p.name for p in parameters if p.kind < p.VAR_POSITIONAL]
        rest = itertools.cycle(p.name for p in parameters if p.kind is p.VAR_POSITIONAL)
        for n, value in (*zip(itertools.chain(by_place, rest), args, strict=False), *options.items()):
            if n in self.first:
                hint = self.first[n]
                expect_type(f"`{n}`" if is_switch(hint) else self.named(n), value, hint)

    def named(self, parameter: str) -> str:
        """An argument in the words of an error; of an operator, the one on the right."""
        return f"`{'g' if self.name in OPERATORS.values() else parameter}` of `{self.name}`"

    def misfit(self, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
        """What is said of the first argument that does not fit its annotation; `None`, where all do."""
        for n, value in self.signature.bind(*args, **options).arguments.items():
            p = self.signature.parameters[n]
            if n in self.hints and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                try:
                    expect_type(self.named(n), value, self.hints[n])
                except CdlError as unfit:
                    return str(unfit)
        return None

    def wrong(self, args: tuple[Any, ...], given: dict[str, Any]) -> str | None:
        """What is wrong with a call, or `None` where it fits."""
        try:
            self.signature.bind(*args, **given)
        except TypeError as error:
            parameters = [p for p in self.signature.parameters.values() if p.name != "self"]
            named = [p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)]
            unknown = [option for option in given if option not in self.signature.parameters]
            if unknown:
                near = difflib.get_close_matches(unknown[0], named, 1)
                meant = f" Did you mean `{near[0]}`?" if near else ""
                options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY] or named
                takes = ", ".join(f"`{option}`" for option in options) or "none"
                return f"`{self.name}` has no option `{unknown[0]}`: it takes {takes}.{meant}"
            plain = [p.replace(annotation=p.empty, default=_Shown.of(p.default)) for p in parameters]
            write = f"{self.name}{inspect.Signature(plain)}"
            several = _then(self.fn, parameters) if args and not callable(args[-1]) else ""
            several = several or _several(self.name, parameters, args) if "too many" in str(error) else ""
            return f"`{self.name}` was called with other arguments than it takes, {error}: write `{write}`.{several}"
        return None


def whole(name: str, value: Any, least: int = 1, error: type[CdlError] = CdlError) -> int:
    """A size as an `int`. **Raises:** `error` where it is not a whole number of at least `least`.

    **Arguments:** `name`: what the error calls it. `value`: the size, an `int` or a whole number of NumPy or JAX that
    is known now.

    Examples:
        >>> cdl.checks.whole("width", jnp.array(8))
        8
        >>> cdl.checks.whole("width", 2.5)
        Traceback (most recent call last):
            ...
        cdl.errors.CdlError: `width` is 2.5, and a size is a whole number that is known before the
        program runs: give an `int` of at least 1.
    """
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:  # JAX's own, too, where a number is known only when the program runs
        number = None
    if number is None:
        raise error(
            f"`{name}` is {short(value)}, and a size is a whole number that is known before the program runs: give an "
            f"`int` of at least {least}."
        )
    if number < least:
        raise error(f"`{name}` is {number}: give at least {least}.")
    return number


def _several(name: str, parameters: list[inspect.Parameter], args: tuple[Any, ...]) -> str:
    """What an error says besides, where several functions stand where one, or a tuple of them, belongs."""
    if len(args) < 2 or not (callable(args[0]) and callable(args[1])):
        return ""
    classes = [x.__name__ for x in itertools.takewhile(lambda x: isinstance(x, type), args)]
    if len(classes) > 1:
        last = ", …" * (len(classes) < len(args))
        return f" Of several classes, give the union: `{name}({' | '.join(classes)}{last})`."
    rest = "".join(f", {p.name}" for p in parameters[1:] if p.kind is not p.KEYWORD_ONLY and p.default is p.empty)
    return f" For a family of sorts, give a tuple: `{name}((a, b){rest})`."


def takes(fn: Callable[..., Any], *args: Any) -> bool:
    """Whether a function takes these arguments, as far as it tells.

    **Arguments:** `fn`: a function. `args`: the arguments, without names.

    Examples:
        >>> cdl.checks.takes(pow, 2, 3), cdl.checks.takes(pow, 2)
        (True, False)
    """
    try:
        inspect.signature(fn).bind(*args)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


class _Shown:
    """A default value in a usage: itself where it is short, or `…`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    @staticmethod
    def of(default: Any) -> Any:
        return _Shown("…") if "\n" in repr(default) else default


def _then(fn: Callable[..., Any], parameters: list[inspect.Parameter]) -> str:
    """What an error says besides, where a function that gives a function was called with the arguments of both."""
    own: Callable[..., Any] = inspect.unwrap(fn)
    gives = [inspect.signature(x).return_annotation for x in (own, *get_overloads(own))]
    each = [x for found in gives for x in (found, *(get_args(found) if get_origin(found) is tuple else ()))]
    if not any(get_origin(x) is collections.abc.Callable for x in each):
        return ""
    needed = ", ".join(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY and p.default is p.empty)
    return f" It gives a function, which takes the rest: `{fn.__name__}({needed})(…)`."
