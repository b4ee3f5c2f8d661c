"""What functions read from outside: their closures, globals and defaults.

| what is read                                    | is                                                              |
| ----------------------------------------------- | --------------------------------------------------------------- |
| a JAX array of real numbers                     | one of `arrays`, in a function, or a plain container in one     |
| numbers, text, NumPy arrays, other JAX arrays   | compared                                                        |
| lists, dictionaries, modules of arrays          | looked into, `ENTRIES` entries at most                          |
| other objects                                   | looked into: their attributes, and the methods that are named   |
| classes, modules of Python                      | looked into at the names that the code mentions                 |
| libraries, functions under `jit`                | taken to stay as they are                                       |
"""

import functools
import hashlib
import inspect
import os
import site
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..functor import Base
from ..functor._read import cached
from ._identity import Identity


ENTRIES = 1000  # of one container
MOST = 20_000  # of all that is looked at
DEPTH = 100
NUMBERS = int, str, bytes, type(None), np.dtype
FOLDERS = (
    *site.getsitepackages(),
    site.getusersitepackages(),
    sysconfig.get_paths()["stdlib"],
    Path(__file__).parents[1],
)
LIBRARIES = tuple(f"{folder}{os.sep}" for folder in FOLDERS)
OWN = "jax", "jaxlib", "numpy", "equinox", "cdl"  # looked at least often, told by name


class Surroundings:
    """What the functions inside a value read.

    `arrays` are those that may be put in the place of others, each once; `seen` is the rest as a hashable value, equal
    where all of it is; `functions` are those that were looked into.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self.arrays: list[Any] = []
        self.functions: list[Any] = []
        self._number: dict[int, int] = {}
        self._met: dict[Any, int] = {}
        self._alive: list[Any] = []  # so that no other object takes the address of one that was met
        self._open: bool | None = None  # whether arrays are gathered, or compared; `None` for those of the value itself
        self._depth = 0
        self.seen = self._look(value, frozenset())

    def _look(self, x: Any, names: frozenset[str]) -> Any:
        """A value as a hashable one. `names`: what the code that reads it mentions."""
        if isinstance(x, jax.Array):
            return self._array(x)
        if isinstance(x, NUMBERS):
            return type(x), x
        if isinstance(x, float | complex | np.generic):
            return type(x), repr(x)
        if isinstance(x, np.ndarray):
            return self._numpy(x)
        name = id(x), frozenset() if isinstance(x, types.FunctionType) else names
        if name in self._met:
            return "again", self._met[name]
        if self._depth > DEPTH or len(self._alive) > MOST:
            return Identity(x)
        self._met[name] = len(self._alive)
        self._alive.append(x)
        self._depth += 1
        found = self._inside(x, names)
        self._depth -= 1
        return found

    def _inside(self, x: Any, names: frozenset[str]) -> Any:
        look: Callable[[Any], Any] = lambda part: self._look(part, names)
        if isinstance(x, types.FunctionType):
            return Identity(x), self._function(x)
        if isinstance(x, eqx.Module):
            methods = self._compared(lambda: self._class(type(x), frozenset(["__call__"])))
            return type(x), methods, tuple((k, look(v)) for k, v in vars(x).items())
        if isinstance(x, functools.partial):
            return type(x), look(x.func), tuple(map(look, x.args)), tuple((k, look(v)) for k, v in x.keywords.items())
        if isinstance(x, types.MethodType):
            return type(x), look(x.__self__), look(x.__func__)
        if isinstance(x, dict | list | tuple | set | frozenset | deque):
            return self._container(x, look) if is_plain(x) else self._compared(lambda: self._container(x, look))
        if isinstance(x, Base):
            return Identity(x)
        return Identity(x), self._compared(lambda: self._attributes(x, names))

    def _container(self, x: Any, look: Callable[[Any], Any]) -> Any:
        if len(x) > ENTRIES:
            return Identity(x), len(x)
        if isinstance(x, dict):
            return type(x), tuple((look(k), look(v)) for k, v in x.items())
        parts = map(look, x)
        return type(x), frozenset(parts) if isinstance(x, set | frozenset) else tuple(parts)

    def _array(self, x: Any) -> Any:
        if self._open is None:
            return None
        if isinstance(x, Tracer):
            return "traced", id(x)
        if not (self._open and jnp.issubdtype(x.dtype, jnp.inexact)):
            return Identity(x)
        if id(x) not in self._number:
            self._number[id(x)] = len(self.arrays)
            self.arrays.append(x)
        return self._number[id(x)], x.shape, x.dtype, x.weak_type

    def _numpy(self, x: Any) -> Any:
        if self._open is None:
            return None
        if x.dtype.hasobject:
            return Identity(x)
        return x.shape, x.dtype.str, hashlib.blake2b(np.ascontiguousarray(x).data.cast("B")).digest() if x.size else b""

    def _function(self, fn: types.FunctionType) -> Any:
        inner = [getattr(fn, "__wrapped__", None), getattr(fn, "registry", None)]  # of `functools`' decorators
        if is_of_library(fn):
            return tuple(
                self._look(dict(x) if isinstance(x, types.MappingProxyType) else x, names_of(fn.__code__))
                for x in inner
            )
        self.functions.append(fn)
        before, self._open = self._open, self._open is not False
        names = names_of(fn.__code__)
        found = tuple((kind, where, self._look(x, names)) for kind, where, x in outside(fn))
        self._open = before
        return Identity(fn.__code__), tuple((k, self._look(v, names)) for k, v in vars(fn).items()), found

    def _attributes(self, x: Any, names: frozenset[str]) -> Any:
        """What an object, a class or a module has."""
        look: Callable[[Any], Any] = lambda part: self._look(part, names)
        if isinstance(x, type | types.ModuleType):
            if is_of_library_kind(x):
                return None
            return tuple((n, look(inspect.getattr_static(x, n))) for n in sorted(names & set(dir(x))))
        if is_of_library_kind(type(x)) and not isinstance(x, types.SimpleNamespace):
            return None
        own = {**getattr(x, "__dict__", {}), **{n: getattr(x, n) for n in slots_of(type(x)) if hasattr(x, n)}}
        return tuple((n, look(v)) for n, v in own.items()), self._class(type(x), names | {"__call__"})

    def _class(self, kind: type[Any], names: frozenset[str]) -> Any:
        """What instances of a class have of it: the methods, properties and attributes that are named, with those that
        they name, and so on."""
        if (kind, names) in self._met:
            return "again", self._met[kind, names]
        self._met[kind, names] = len(self._alive)
        todo, done, found = list(names), set[str](), []
        while todo:
            name = todo.pop()
            if name in done:
                continue
            done.add(name)
            for owner in kind.__mro__:
                if name not in vars(owner) or is_of_library_kind(owner):
                    continue
                held = vars(owner)[name]
                inner = getattr(held, "fget", getattr(held, "__func__", held))
                for fn in (inner, getattr(inner, "__wrapped__", None), getattr(inner, "method", None)):
                    if isinstance(fn, types.FunctionType):
                        todo += () if is_of_library(fn) else names_of(fn.__code__)
                        found.append((name, self._look(fn, frozenset())))
                    elif fn is held:
                        found.append((name, self._look(fn, frozenset())))
        return tuple(found)

    def _compared(self, looked: Callable[[], Any]) -> Any:
        """What is found, with arrays compared: nothing can be put in their place."""
        before, self._open = self._open, False
        found = looked()
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


def is_plain(x: Any) -> bool:
    """Whether a container is one that can be built anew with other parts."""
    return type(x) in (dict, list, tuple) or (isinstance(x, tuple) and hasattr(x, "_fields"))


@cached
def slots_of(kind: type[Any]) -> tuple[str, ...]:
    """The attributes that a class keeps without a dictionary."""
    each = [vars(k).get("__slots__", ()) for k in kind.__mro__]
    names = [name for slots in each for name in ([slots] if isinstance(slots, str) else slots)]
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def is_of_library(fn: types.FunctionType) -> bool:
    """Whether a function is one of Python's, of a package that is installed, or one of these."""
    return fn.__code__.co_filename.startswith(LIBRARIES)


@cached
def is_of_library_kind(kind: Any) -> bool:
    """Whether a class or a module is."""
    module = kind if isinstance(kind, types.ModuleType) else sys.modules.get(kind.__module__)
    name = getattr(module, "__name__", "").split(".")[0]
    return name in OWN or name in sys.stdlib_module_names or str(getattr(module, "__file__", "")).startswith(LIBRARIES)


@functools.cache
def names_of(code: types.CodeType) -> frozenset[str]:
    """The names that a function's code mentions, of globals and of attributes, with those of functions inside it."""
    inner = (names_of(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return frozenset(code.co_names).union(*inner)
