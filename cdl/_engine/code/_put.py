"""A value whose functions read other arrays from outside."""

import functools
import types
from typing import Any

import equinox as eqx
import numpy as np

from ..arrays.shapes import is_canonical
from ._outside import outside
from ._surroundings import is_plain, Surroundings


class Put:
    """`value` is that of some surroundings, with other arrays in the place of those that its functions read."""

    def __init__(self, of: Surroundings, arrays: list[Any]) -> None:
        self._array_of = {id(x): y for x, y in zip(of.arrays, arrays, strict=True)}
        self._open = {id(fn) for fn in of.functions}
        self._made: dict[int, Any] = {}
        self._inside: set[int] = set()
        self.value = self._put(of.value)

    def _put(self, x: Any) -> Any:
        """The value with arrays put in; the same object where there is none in it."""
        if id(x) in self._array_of:
            return self._array_of[id(x)]
        if type(x) is np.ndarray and not is_canonical(x.dtype):
            return self._made.setdefault(id(x), x.copy())  # JAX remembers by its address what it made of it
        if id(x) in self._made or id(x) in self._inside:
            return self._made.get(id(x), x)
        if isinstance(x, types.FunctionType):
            return self._function(x) if id(x) in self._open else x
        self._inside.add(id(x))
        self._made[id(x)] = found = self._built(x)
        self._inside.remove(id(x))
        return found

    def _built(self, x: Any) -> Any:
        if isinstance(x, eqx.Module):
            fields = {k: self._put(v) for k, v in vars(x).items()}
            return x if all(fields[k] is v for k, v in vars(x).items()) else _module(type(x), fields)
        if isinstance(x, functools.partial):
            return type(x)(
                self._put(x.func), *map(self._put, x.args), **{k: self._put(v) for k, v in x.keywords.items()}
            )
        if isinstance(x, types.MethodType):
            return types.MethodType(self._put(x.__func__), self._put(x.__self__))
        if not is_plain(x):
            return x
        if isinstance(x, dict):
            entries = {k: self._put(v) for k, v in x.items()}
            return x if all(entries[k] is v for k, v in x.items()) else entries
        parts = list(map(self._put, x))
        if all(a is b for a, b in zip(parts, x, strict=True)):
            return x
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)

    def _function(self, fn: types.FunctionType) -> types.FunctionType:
        """The function with new cells and globals where these have arrays, and otherwise those that it has."""
        self._inside.add(id(fn))
        found: dict[str, dict[Any, Any]] = {"closure": {}, "globals": {}, "defaults": {}, "kwdefaults": {}}
        changed = False
        for kind, where, value in outside(fn):
            put = self._put(value)
            changed = changed or put is not value
            if put is not value or kind.endswith("defaults"):
                found[kind][where] = put
        self._inside.remove(id(fn))
        self._made[id(fn)] = fn if not changed else self._copied(fn, found)
        return self._made[id(fn)]

    def _copied(self, fn: types.FunctionType, found: dict[str, dict[Any, Any]]) -> types.FunctionType:
        cells = tuple(
            types.CellType(found["closure"][i]) if i in found["closure"] else cell
            for i, cell in enumerate(fn.__closure__ or ())
        )
        scope = {**fn.__globals__, **found["globals"]} if found["globals"] else fn.__globals__
        new = types.FunctionType(
            fn.__code__, scope, fn.__name__, tuple(found["defaults"].values()) or None, cells or None
        )
        new.__annotations__, new.__module__, new.__qualname__ = fn.__annotations__, fn.__module__, fn.__qualname__
        new.__kwdefaults__ = found["kwdefaults"] or None
        new.__dict__.update(fn.__dict__)
        return new


def _module(kind: type[Any], fields: dict[str, Any]) -> Any:
    new = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(new, name, value)
    return new
