"""What functions read from outside: their closures, globals and defaults.

| what is read                                    | is                                                              |
| ----------------------------------------------- | --------------------------------------------------------------- |
| a JAX array of real numbers                     | one of `arrays`, in a function, or a plain container in one     |
| numbers, text, NumPy arrays, other JAX arrays   | compared                                                        |
| lists, dictionaries, modules of arrays          | looked into; many numbers at once                               |
| other objects                                   | looked into: their attributes, and the methods that are named   |
| classes, modules of Python                      | looked into at the names that the code mentions                 |
| libraries, functions under `jit`                | taken to stay as they are                                       |
"""

import contextlib
import functools
import hashlib
import inspect
import marshal
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._errors import CdlError
from ..functor import Base
from ..functor._described import described
from ..functor._read import cached
from ._digest import digest
from ._identity import Identity
from ._outside import is_of_library, is_of_library_kind, names_of, outside, slots_of


ENTRIES = 1000  # of one container, which are looked at one by one
MOST = 20_000  # of all that is looked at
DEPTH = 100
CALL = frozenset(["__call__"])
NUMBERS = int, str, bytes, type(None), np.dtype
ATOMS = {"_array": (jax.Array, Tracer), "_number": NUMBERS, "_written": (float, complex, np.generic)}
WAYS: dict[str, tuple[type[Any], ...]] = ATOMS | {  # the first that fits says how a value is looked at
    "_numpy": (np.ndarray,),
    "_function": (types.FunctionType,),
    "_module": (eqx.Module,),
    "_partial": (functools.partial,),
    "_method": (types.MethodType,),
    "_container": (dict, list, tuple, set, frozenset, deque),
    "_tree": (Base,),
}


class Surroundings:
    """What the functions inside a value read.

    `arrays` are those that may be put in the place of others, each once; `seen` is the rest as a hashable value, equal
    where all of it is; `functions` are those that were looked into.

    **Raises:** `CdlError` where there is more than can be looked at.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self.arrays: list[Any] = []
        self.functions: list[Any] = []
        self._place: dict[int, int] = {}
        self._met: dict[Any, int] = {}
        self._alive: list[Any] = []  # so that no other object takes the address of one that was met
        self._open: bool | None = None  # whether arrays are gathered, or compared; `None` for those of the value itself
        self._depth = 0
        self.seen = self._look(value, frozenset())

    def _look(self, x: Any, names: frozenset[str]) -> Any:
        """A value as a hashable one. `names`: what the code that reads it mentions."""
        way = way_of(type(x))
        if way in ATOMS:
            return getattr(self, way)(x)
        name = id(x), frozenset() if way == "_function" else names, self._open is None
        if name in self._met:
            return "again", self._met[name]
        if self._depth > DEPTH or len(self._alive) > MOST:
            raise CdlError(
                f"functions here read more than {MOST:,} things from outside, or more than {DEPTH} deep, at last "
                f"{described(x)}: these cannot be compared at each call. Hold numbers in an array, and give what "
                "changes as an argument."
            )
        self._met[name] = len(self._alive)
        self._alive.append(x)
        self._depth += 1
        found = getattr(self, way)(x, names)
        self._depth -= 1
        return found

    def _number(self, x: Any) -> Any:
        return type(x), x

    def _written(self, x: Any) -> Any:
        return type(x), repr(x)  # which tells 0.0 from -0.0, and one `nan` is as another

    def _array(self, x: Any) -> Any:
        if self._open is None:
            return None
        if isinstance(x, Tracer):
            return "traced", id(x)
        if not (self._open and jnp.issubdtype(x.dtype, jnp.inexact)):
            return Identity(x)
        if id(x) not in self._place:
            self._place[id(x)] = len(self.arrays)
            self.arrays.append(x)
        return self._place[id(x)], x.shape, x.dtype, x.weak_type

    def _numpy(self, x: Any, names: frozenset[str]) -> Any:
        if self._open is None:
            return None
        if x.dtype.hasobject or x.dtype.kind == "T":  # objects, or text of any length
            return Identity(x), x.shape, self._compared(lambda: self._parts(x.ravel().tolist(), names))
        return x.shape, x.dtype, digest(x), self._named(getattr(x, "__dict__", {}), names)

    def _module(self, x: Any, names: frozenset[str]) -> Any:
        methods = self._compared(lambda: self._class(type(x), CALL))
        return type(x), methods, self._named(vars(x), names)

    def _partial(self, x: Any, names: frozenset[str]) -> Any:
        parts = tuple(self._look(part, names) for part in (x.func, *x.args))
        return type(x), parts, self._named(x.keywords, names)

    def _method(self, x: Any, names: frozenset[str]) -> Any:
        return type(x), self._look(x.__self__, names), self._look(x.__func__, names)

    def _container(self, x: Any, names: frozenset[str]) -> Any:
        return self._parts(x, names) if is_plain(x) else self._compared(lambda: self._parts(x, names))

    def _tree(self, x: Any, names: frozenset[str]) -> Any:
        return Identity(x)

    def _object(self, x: Any, names: frozenset[str]) -> Any:
        return Identity(x), self._compared(lambda: self._attributes(x, names))

    def _named(self, parts: dict[str, Any], names: frozenset[str]) -> Any:
        return tuple((k, self._look(v, names)) for k, v in parts.items())

    def _parts(self, x: Any, names: frozenset[str]) -> Any:
        if len(x) > ENTRIES:
            with contextlib.suppress(ValueError):  # of what is neither a number, text, nor a container of such
                return type(x), len(x), hashlib.blake2b(marshal.dumps(x, 2)).digest()
        if isinstance(x, dict):
            return type(x), tuple((self._look(k, names), self._look(v, names)) for k, v in x.items())
        parts = (self._look(part, names) for part in x)
        return type(x), frozenset(parts) if isinstance(x, set | frozenset) else tuple(parts)

    def _function(self, fn: types.FunctionType, _: frozenset[str]) -> Any:
        names = names_of(fn.__code__)
        if is_of_library(fn):  # such as a decorator of `functools`, which holds functions that are not
            inner = getattr(fn, "__wrapped__", None), getattr(fn, "registry", None)
            plain = (dict(x) if isinstance(x, types.MappingProxyType) else x for x in inner)
            return Identity(fn), tuple(self._look(x, names) for x in plain)
        self.functions.append(fn)
        before, self._open = self._open, self._open is not False
        found = tuple((kind, where, self._look(x, names)) for kind, where, x in outside(fn))
        self._open = before
        return Identity(fn), Identity(fn.__code__), self._named(vars(fn), names), found

    def _attributes(self, x: Any, names: frozenset[str]) -> Any:
        """What an object, a class or a module has."""
        if isinstance(x, type | types.ModuleType):
            named = () if is_of_library_kind(x) else sorted(names & set(dir(x)))
            return self._named({n: inspect.getattr_static(x, n) for n in named}, names)
        if is_of_library_kind(type(x)) and not isinstance(x, types.SimpleNamespace):
            return None
        own = {**getattr(x, "__dict__", {}), **{n: getattr(x, n) for n in slots_of(type(x)) if hasattr(x, n)}}
        return self._named(own, names), self._class(type(x), names | CALL)

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


@cached
def way_of(kind: type[Any]) -> str:
    """The method that looks at values of a class, which takes one look-up for each value instead of many questions."""
    return next((way for way, kinds in WAYS.items() if issubclass(kind, kinds)), "_object")


def is_plain(x: Any) -> bool:
    """Whether a container is one that can be built anew with other parts."""
    return type(x) in (dict, list, tuple) or (isinstance(x, tuple) and hasattr(x, "_fields"))
