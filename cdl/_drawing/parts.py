"""What a module is made of that can be drawn or explained, where the module cannot."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, get_origin

import equinox as eqx


def parts(x: Any, known: Callable[[Any], bool]) -> list[str]:
    """The fields of a module that are `known`, also inside a tuple, as `….into`; and `….at(n)`, where it has that.

    A module with `at(n)` is a network for every number of nodes, and that is the one of `n`.
    """
    if not isinstance(x, eqx.Module):
        return []
    found = [f"….{call}" for call in _at(x)]
    for where, field in _fields(x):
        if isinstance(field, eqx.Module) and known(field):
            found.append(f"….{where}")
        elif not found:
            found += [f"….{where}.{call}" for call in _at(field)]
    return found


def _fields(x: Any) -> Iterable[tuple[str, Any]]:
    for field, value in vars(x).items():
        if isinstance(value, tuple):
            yield from ((f"{field}[{i}]", one) for i, one in enumerate(value))
        else:
            yield field, value


def _at(x: Any) -> list[str]:
    """A method `at` of one argument `n`, as it is called; with the first place, where it gives several maps."""
    at = getattr(type(x), "at", None) if isinstance(x, eqx.Module) else None
    if not callable(at) or list(inspect.signature(at).parameters)[1:] != ["n"]:
        return []
    return ["at(n)[0]" if get_origin(inspect.signature(at).return_annotation) is tuple else "at(n)"]
