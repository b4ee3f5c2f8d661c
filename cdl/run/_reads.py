"""What functions read from outside: their closures, globals and defaults.

| what is read                                    | is                                                              |
| ----------------------------------------------- | --------------------------------------------------------------- |
| a JAX array of real numbers                     | one of `arrays`                                                 |
| numbers, text, NumPy arrays, other JAX arrays   | compared                                                        |
| lists, dictionaries, modules of arrays          | looked into, up to `ENTRIES` entries                            |
| other objects, classes, modules of Python       | looked into, at the attributes that the function's code names   |
| functions                                       | looked into, but those of libraries and those under `jit`       |
"""

import functools
import hashlib
import inspect
import site
import sysconfig
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..functor._read import cached
from ._identity import Identity


ENTRIES = 1000
PLAIN = int, str, bytes, type(None), np.dtype
LIBRARIES = tuple(map(str, (*site.getsitepackages(), sysconfig.get_paths()["stdlib"], Path(__file__).parents[1])))


class Reads:
    """What the functions inside a value read.

    `arrays` are those that may be put in the place of others, each once; `print` is the rest as a hashable value,
    equal where all of it is; `functions` are those that were looked into.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self.arrays: list[Any] = []
        self.functions: list[Any] = []
        self._number: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._open: bool | None = None  # whether arrays are gathered, or compared; `None` for those of the value itself
        self.print = self._look(value)

    def _look(self, x: Any, names: frozenset[str] = frozenset()) -> Any:
        """A value as a hashable one. `names`: the attributes that are looked at, of an object."""
        if isinstance(x, jax.Array) and self._open is None:
            return None
        if isinstance(x, PLAIN):
            return type(x), x
        if isinstance(x, float | complex | np.generic):
            return type(x), repr(x)
        if isinstance(x, Tracer):
            return "traced", id(x)
        if isinstance(x, jax.Array | np.ndarray):
            return self._array(x)
        if id(x) in self._seen:
            return "again", self._seen[id(x)]
        self._seen[id(x)] = len(self._seen)
        if isinstance(x, types.FunctionType):
            return Identity(x), self._function(x)
        if isinstance(x, eqx.Module):
            return type(x), self._methods(x), tuple((k, self._look(v)) for k, v in vars(x).items())
        if isinstance(x, list | tuple | dict | set | frozenset):
            if len(x) > ENTRIES:
                return Identity(x), len(x)
            parts = x.items() if isinstance(x, dict) else x
            return type(x), tuple(self._look(part) for part in parts)
        if isinstance(x, functools.partial):
            return "partial", self._look((x.func, x.args, x.keywords))
        if isinstance(x, types.MethodType):
            return "method", self._look((x.__self__, x.__func__))
        return Identity(x), self._attributes(x, names)

    def _array(self, x: Any) -> Any:
        if self._open is None:
            return None
        if isinstance(x, np.ndarray):
            return x.shape, x.dtype.str, Identity(x) if x.dtype.hasobject else hashlib.blake2b(x.tobytes()).digest()
        if not (self._open and jnp.issubdtype(x.dtype, jnp.inexact)):
            return Identity(x)
        if id(x) not in self._number:
            self._number[id(x)] = len(self.arrays)
            self.arrays.append(x)
        return self._number[id(x)], x.shape, x.dtype, x.weak_type

    def _function(self, fn: types.FunctionType) -> Any:
        if is_of_library(fn):
            return None
        self.functions.append(fn)
        before, self._open = self._open, self._open is not False
        names = names_of(fn.__code__)
        found = tuple((where, self._look(x, names)) for where, _, x in outside(fn))
        self._open = before
        return found

    def _methods(self, module: Any) -> Any:
        """What the methods of a module read; the arrays among it are compared."""
        methods = methods_of(type(module))
        if not methods:
            return ()
        before, self._open = self._open, False
        found = tuple(map(self._look, methods))
        self._open = before
        return found

    def _attributes(self, x: Any, names: frozenset[str]) -> Any:
        if getattr(x, "__name__", "").split(".")[0] in ("jax", "numpy", "equinox", "cdl") or not hasattr(x, "__dict__"):
            return None
        before, self._open = self._open, False
        found = tuple((n, self._look(vars(x)[n], names)) for n in sorted(names & vars(x).keys()))
        self._open = before
        return found


def outside(fn: types.FunctionType) -> Iterator[tuple[str, Any, Any]]:
    """What a function reads from outside: of what kind, by which name or number, and what it is now."""
    for i, cell in enumerate(fn.__closure__ or ()):
        try:
            yield "closure", i, cell.cell_contents
        except ValueError:  # a name that has no value yet
            continue
    for name in sorted(names_of(fn.__code__) & fn.__globals__.keys()):
        yield "globals", name, fn.__globals__[name]
    for i, value in enumerate(fn.__defaults__ or ()):
        yield "defaults", i, value
    for name, value in (fn.__kwdefaults__ or {}).items():
        yield "kwdefaults", name, value


@cached
def methods_of(kind: type[Any]) -> tuple[types.FunctionType, ...]:
    """The method by which a class is called, and those that it names; none of a library's."""
    todo, done = ["__call__"], dict[str, types.FunctionType]()
    while todo:
        name = todo.pop()
        fn = inspect.getattr_static(kind, name, None)
        fn = getattr(fn, "__wrapped__", fn)
        if name not in done and isinstance(fn, types.FunctionType) and not is_of_library(fn):
            done[name] = fn
            todo += names_of(fn.__code__)
    return tuple(done.values())


def is_of_library(fn: types.FunctionType) -> bool:
    """Whether a function is one of Python's, of a package that is installed, or one of these."""
    return fn.__code__.co_filename.startswith(LIBRARIES)


@functools.cache
def names_of(code: types.CodeType) -> frozenset[str]:
    """The names that a function's code mentions, of globals and of attributes, with those of functions inside it."""
    inner = (names_of(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return frozenset(code.co_names).union(*inner)


class Given:
    """A value whose functions read other arrays in the place of those that `Reads` found."""

    def __init__(self, reads: Reads, arrays: list[Any]) -> None:
        self._array_of = {id(x): y for x, y in zip(reads.arrays, arrays, strict=True)}
        self._open = {id(fn) for fn in reads.functions}
        self._made: dict[int, Any] = {}
        self.value = self._put(reads.value)

    def _put(self, x: Any) -> Any:
        """The value with arrays put in; the same object where there is none in it."""
        if id(x) in self._array_of:
            return self._array_of[id(x)]
        if id(x) in self._made:
            return self._made[id(x)]
        if isinstance(x, types.FunctionType):
            return self._function(x) if id(x) in self._open else x
        if isinstance(x, eqx.Module):
            fields = {k: self._put(v) for k, v in vars(x).items()}
            return x if all(fields[k] is v for k, v in vars(x).items()) else _module(type(x), fields)
        if isinstance(x, dict) and len(x) <= ENTRIES:
            entries = {k: self._put(v) for k, v in x.items()}
            return x if all(entries[k] is v for k, v in x.items()) else entries
        if isinstance(x, list | tuple) and len(x) <= ENTRIES:
            parts = [self._put(v) for v in x]
            if all(a is b for a, b in zip(parts, x, strict=True)):
                return x
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        if isinstance(x, functools.partial):
            return functools.partial(self._put(x.func), *self._put(x.args), **self._put(x.keywords))
        if isinstance(x, types.MethodType):
            return types.MethodType(self._put(x.__func__), self._put(x.__self__))
        return x

    def _function(self, fn: types.FunctionType) -> Any:
        cells = tuple(types.CellType() for _ in fn.__closure__ or ())
        scope = dict(fn.__globals__)
        new = types.FunctionType(fn.__code__, scope, fn.__name__, fn.__defaults__, cells or None)
        new.__kwdefaults__, new.__annotations__, new.__module__ = fn.__kwdefaults__, fn.__annotations__, fn.__module__
        self._made[id(fn)] = new
        found: dict[str, dict[Any, Any]] = {"closure": {}, "globals": {}, "defaults": {}, "kwdefaults": {}}
        for kind, where, value in outside(fn):
            found[kind][where] = self._put(value)
        for i, value in found["closure"].items():
            cells[i].cell_contents = value
        scope.update(found["globals"])
        new.__defaults__ = tuple(found["defaults"].values()) or None
        new.__kwdefaults__ = found["kwdefaults"] or None
        return new


def _module(kind: type[Any], fields: dict[str, Any]) -> Any:
    new = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(new, name, value)
    return new
