"""Arguments and their annotations, as typeguard reads these: once for a call, never for a node."""

import collections.abc
import dataclasses
import functools
import inspect
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin, get_type_hints, Literal, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import PRNGKeyArray
from typeguard import check_type, ForwardRefPolicy, TypeCheckError

from .._typecheck import ALIASES, expand
from ..errors import CdlError
from .words import number_of, short


KINDS: dict[Callable[..., bool | int | float | complex], Any] = {
    bool: jnp.bool_,
    int: jnp.integer,
    float: jnp.floating,
    complex: jnp.complexfloating,
}


SEVERAL = (collections.abc.Iterable, collections.abc.Collection, collections.abc.Sequence)
MAPPINGS = (collections.abc.Mapping, dict)


def expect_type(what: str, value: Any, hint: Any) -> None:
    """**Raises:** `CdlError` where a value does not fit an annotation."""
    if unmade(value) and _is_function(hint):
        raise CdlError(f"{what} is the class `{value.__name__}`: make one, `{value.__name__}(…)`, and give that.")
    try:
        check_type(value, _expanded(hint), forward_ref_policy=ForwardRefPolicy.IGNORE)
    except TypeCheckError:
        if (number := _number(value)) is not None:
            return expect_type(what, number, hint)
        raise CdlError(f"{what} is {short(value)}, and must be {spelt(hint)}{_instead(value, hint)}.") from None
    except (NameError, TypeError):  # what typing and typeguard raise for an annotation that cannot be read
        return


def unmade(value: Any) -> bool:
    """Whether it is a class of modules that are called, given where one of them belongs."""
    of_modules = isinstance(value, type) and issubclass(value, eqx.Module)
    return of_modules and any("__call__" in vars(kind) for kind in value.__mro__)


def expect_fields(made: Any) -> None:
    """**Raises:** `CdlError` where a field of a dataclass does not fit its annotation. For `__check_init__`."""
    kind = type(made)
    hints = _fields(kind)  # type: ignore[arg-type]
    for field in dataclasses.fields(made):
        if field.name in hints:
            expect_type(f"`{field.name}` of `{kind.__name__}`", getattr(made, field.name), hints[field.name])


def _number(value: Any) -> bool | int | float | complex | None:
    """One of Python's numbers that an array without axes may stand for: itself, or where it is traced, its kind."""
    if isinstance(value, np.generic | np.ndarray | jax.Array) and value.ndim == 0:
        for kind, of in KINDS.items():
            if jnp.issubdtype(value.dtype, of):
                return kind() if isinstance(value, Tracer) else kind(value)
    return None


@functools.cache
def _fields(kind: type[Any]) -> dict[str, Any]:
    return annotations(kind)


def _expanded(hint: Any) -> Any:
    """The annotation; of an alias with arguments, such as `Fix[T]`, which typeguard passes over, what it stands for."""
    return expand(get_origin(hint), get_args(hint)) if type(get_origin(hint)) in ALIASES else hint


def _is_function(hint: Any) -> bool:
    """Whether an annotation is that of a function, or of that among others."""
    if get_origin(hint) in (Union, types.UnionType):
        return any(map(_is_function, get_args(hint)))
    return get_origin(hint) is collections.abc.Callable


def annotations(fn: Callable[..., Any]) -> dict[str, Any]:
    """What is annotated at each parameter, or field; nothing, where names are not known at run time."""
    try:
        return {n: hint for n, hint in get_type_hints(fn).items() if n != "return"}
    except (NameError, TypeError):
        return {}


def is_switch(hint: Any) -> bool:
    """Whether an annotation allows truth values, words out of a few, and `None`, and nothing else."""
    if get_origin(hint) in (Union, types.UnionType):
        return all(x is type(None) or is_switch(x) for x in get_args(hint))
    return hint is bool or get_origin(hint) is Literal


def _instead(value: Any, hint: Any) -> str:
    """What to write in the place of a value that does not fit, where that is known."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(filter(None, (_instead(value, x) for x in get_args(hint))), "")
    origin, args = get_origin(hint), get_args(hint)
    if origin is collections.abc.Callable and callable(value) and (parameters := _parameters(value)) is not None:
        return f": its arguments are ({', '.join(parameters)})"
    if origin in MAPPINGS and args[0] is str and isinstance(value, set | frozenset | list | tuple):
        first = next((x for x in value if isinstance(x, str)), "name")
        return f": write `{{{first!r}: …}}`"
    if origin in SEVERAL and not isinstance(value, str | Mapping) and _fits(value, args[0]):
        return f": write `[{value.__name__ if isinstance(value, type) else '…'}]`, also of one"
    return ""


def _parameters(fn: Any) -> list[str] | None:
    """The names of a function's parameters, where it tells them."""
    try:
        return [
            f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name for p in inspect.signature(fn).parameters.values()
        ]
    except (TypeError, ValueError):
        return None


def _fits(value: Any, hint: Any) -> bool:
    try:
        check_type(value, _expanded(hint), forward_ref_policy=ForwardRefPolicy.IGNORE)
    except (TypeCheckError, NameError, TypeError):
        return False
    return True


def _tells(hint: Any) -> bool:
    """Whether an annotation says something to a reader: a letter, `Any`, or an alias or class of these, does not."""
    return not (hint is Any or isinstance(hint, TypeVar) or (get_args(hint) and not any(map(_tells, get_args(hint)))))


def spelt(hint: Any) -> str:
    """An annotation in words."""
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(f'"{x}"' if isinstance(x, str) else repr(x) for x in get_args(hint))
    if hint == PRNGKeyArray:
        return "a key of JAX, such as `jax.random.key(0)`"
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(map(spelt, get_args(hint)))
    if hint is bool:
        return "`True` or `False`"
    if hint is type(None):
        return "`None`"
    args, origin = get_args(hint), get_origin(hint)
    if origin is collections.abc.Callable:
        return f"a function of {number_of('argument', len(args[0]))}" if isinstance(args[0], list) else "a function"
    if origin in MAPPINGS:
        return f"a `dict` from {spelt(args[0])}" + (f" to {spelt(args[1])}" if _tells(args[1]) else "")
    if origin in SEVERAL:
        return f"a list of {spelt(args[0])}" if _tells(args[0]) else "a list"
    if args and isinstance(get_origin(hint), type) and all(isinstance(x, TypeVar) or x is Any for x in args):
        hint = get_origin(hint)  # letters say nothing of an argument
    text = str(hint) if get_args(hint) or not hasattr(hint, "__name__") else hint.__name__
    return f"`{re.sub(r'[~+]|([A-Za-z_]+[.])+(?=[A-Za-z_])', '', text)}`"
