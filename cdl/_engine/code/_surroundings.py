"""What functions read from outside: their closures, globals and defaults.

| what is read                                    | is                                                              |
| ----------------------------------------------- | --------------------------------------------------------------- |
| a JAX array of real numbers                     | one of `arrays`, in a function, or a plain container in one     |
| numbers, text, NumPy arrays, other JAX arrays   | compared                                                        |
| lists, dictionaries, modules of arrays          | looked into; many numbers at once                               |
| what holds another value, as a `ContextVar`     | looked into                                                     |
| other objects                                   | looked into: their attributes, and their classes                |
| nodes of a user's pytrees                       | looked into: their children, and what is static                 |
| classes, modules of Python                      | looked into at the names that any code here mentions            |
| what data brings, such as a layer's class       | the same (`_brought`)                                           |
| operators of classes, such as `__getitem__`     | looked into; all of a class where code makes names, as `getattr`|
| libraries, functions under `jit`                | taken to stay as they are                                       |
"""

import dataclasses
import functools
import hashlib
import itertools
import marshal
import os
import sys
import types
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from ..._functors import Base
from ..._functors.described import described
from ..._functors.read import cached
from ...errors import CdlError
from ..arrays._digest import digest
from ..arrays._given import is_too_wide
from ..arrays._identity import Identity
from ..arrays.shapes import is_smooth
from ._brought import brought
from ._held import held_by, HOLDERS, OPEN
from ._members import members
from ._outside import is_of_library, is_of_library_kind, names_of, outside, slots_of


ENTRIES = 1000  # of one container, which are looked at one by one
MOST = 20_000  # of all that is looked at
DEPTH = 100
ENVIRONMENT = frozenset(["environ", "environb", "getenv", "getenvb", "expandvars"])
WRITTEN = {int, float, complex, bool, str, bytes, type(None)}
NUMBERS = int, str, bytes, type(None), np.dtype, jax.ShapeDtypeStruct
ATOMS = {"_array": (jax.Array, Tracer), "_number": NUMBERS, "_written": (float, complex, np.generic)}
WAYS: dict[str, tuple[type[Any], ...]] = ATOMS | {  # the first that fits says how a value is looked at
    "_numpy": (np.ndarray,),
    "_function": (types.FunctionType,),
    "_module": (eqx.Module,),
    "_partial": (functools.partial,),
    "_method": (types.MethodType,),
    "_container": (dict, list, tuple, set, frozenset, deque),
    "_tree": (Base,),
    "_holder": tuple(HOLDERS),
}


class Surroundings:
    """What the functions inside a value read.

    `arrays` are those that may be put in the place of others, each once; `seen` is the rest as a hashable value, equal
    where all of it is; `functions` are those that were looked into; `traced` says whether a tracer is among what they
    read.

    **Arguments:** `data`: what the functions are given besides.

    **Raises:** `CdlError` where there is more than can be looked at.
    """

    def __init__(self, value: object, data: object = None) -> None:
        self.value = value
        self.arrays: list[Any] = []
        self.functions: list[Any] = []
        self.traced = False  # whether a tracer is read
        self._place: dict[int, int] = {}
        self._met: dict[Any, int] = {}
        self._names: dict[bool, set[str]] = {True: {"__call__"}, False: set()}  # what code mentions; where it is called
        self._owners: dict[int, Any] = {}  # the classes and modules of a user, whose attributes may be mentioned
        self._constructed: set[int] = set()
        self._called = True  # whether what is looked at is called, as far as can be told; otherwise, it might be
        self._alive: list[Any] = []  # so that no other object takes the address of one that was met
        self._open: bool | None = None  # whether arrays are gathered, or compared; `None` for those of the value itself
        self._static = False  # whether it is in a static field, and so no input
        self._depth = 0
        more = brought(data)
        for kind in more.kinds:
            self._register(kind)
        fixed: Any = lambda: tuple(map(self._fixed, more.fixed))
        self.seen = self._look(value), self._compared(fixed), self._compared(self._mentioned)

    def _look(self, x: object) -> Hashable:
        """A value as a hashable one."""
        way = way_of(type(x))
        if way in ATOMS:
            return getattr(self, way)(x)
        name = id(x), self._open, self._called
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
        found = getattr(self, way)(x)
        self._depth -= 1
        return found

    def _number(self, x: object) -> Hashable:
        return type(x), x

    def _written(self, x: object) -> Hashable:
        if isinstance(x, np.generic):
            _expect_whole(x)
        return type(x), repr(x)  # which tells 0.0 from -0.0, and one `nan` is as another

    def _array(self, x: jax.Array) -> Hashable:
        if self._open is None:
            return None
        if isinstance(x, Tracer):
            self.traced = True
            return "traced", id(x)
        if not (self._open and is_smooth(x)):
            return Identity(x)
        if id(x) not in self._place:
            self._place[id(x)] = len(self.arrays)
            self.arrays.append(x)
        return self._place[id(x)], x.shape, x.dtype, x.weak_type

    def _numpy(self, x: np.ndarray[Any, Any]) -> Hashable:
        _expect_whole(x)
        if self._open is None and not self._static:
            return None
        self._register(type(x))
        if x.dtype.hasobject or x.dtype.kind == "T":  # objects, or text of any length
            return Identity(x), x.shape, self._compared(lambda: self._parts(x.ravel().tolist()))
        return x.shape, x.dtype, digest(x), self._named(getattr(x, "__dict__", {}))

    def _module(self, x: eqx.Module) -> Hashable:
        self._register(type(x))
        return type(x), tuple((k, self._field(v, k in static_in(type(x)))) for k, v in vars(x).items())

    def _field(self, x: object, static: bool) -> Hashable:
        before, self._static = self._static, static
        found = self._look(x)
        self._static = before
        return found

    def _partial(self, x: functools.partial[Any]) -> Hashable:
        bound: Any = lambda: (tuple(self._look(part) for part in (x.func, *x.args)), self._named(x.keywords))
        return type(x), self._compared(bound, unless=self._open is not False)  # it is not a pytree

    def _method(self, x: types.MethodType) -> Hashable:
        return type(x), self._look(x.__self__), self._look(x.__func__)

    def _container(self, x: Any) -> Hashable:
        if is_plain(x):
            self._register(type(x))
            return self._parts(x)
        return self._compared(lambda: (self._parts(x), self._attributes(x)))

    def _tree(self, x: object) -> Hashable:
        self._register(type(x))
        return Identity(x)

    def _holder(self, x: object) -> Hashable:
        held, names = held_by(x)
        self._names[self._called].update(names)
        return Identity(x), self._compared(lambda: (self._look(held), self._attributes(x)))

    def _fixed(self, x: object) -> Hashable:
        """What is fixed in data. Another object that is equal is the same, as it is to `jit`."""
        if isinstance(x, dict):
            return tuple((k, self._fixed(v)) for k, v in x.items())
        if isinstance(x, tuple | list):
            return tuple(map(self._fixed, x))
        return self._attributes(x) if way_of(type(x)) == "_object" else self._look(x)

    def _object(self, x: object) -> Hashable:
        if self._open is None and (node := flat(x)) is not None:
            self._register(type(x))
            return type(x), self._parts(tuple(node[0])), self._compared(lambda: self._look(node[1]))
        return Identity(x), self._compared(lambda: self._attributes(x))

    def _named(self, parts: dict[str, Any]) -> Hashable:
        return tuple((k, self._look(v)) for k, v in parts.items())

    def _parts(self, x: Any) -> Hashable:
        each = itertools.chain(x, x.values()) if isinstance(x, dict) else x
        if len(x) > ENTRIES and set(map(type, each)) <= WRITTEN:
            return type(x), len(x), hashlib.blake2b(marshal.dumps(x, 2)).digest()
        if isinstance(x, dict):
            return type(x), tuple((self._look(k), self._look(v)) for k, v in x.items())
        parts = (self._look(part) for part in x)
        return type(x), frozenset(parts) if isinstance(x, set | frozenset) else tuple(parts)

    def _function(self, fn: types.FunctionType) -> Hashable:
        if is_of_library(fn):  # such as a decorator of `functools`, which holds functions that are not
            return Identity(fn), self._compared(lambda: self._look(held_by(fn)[0]))
        self._names[self._called] |= names_of(fn.__code__)
        if self._called:
            self.functions.append(fn)
        read: Any = lambda: tuple((kind, where, self._look(x)) for kind, where, x in outside(fn))
        found = self._compared(read, unless=self._open is not False)
        return Identity(fn), Identity(fn.__code__), self._compared(lambda: self._named(vars(fn))), found

    def _attributes(self, x: object) -> Hashable:
        """What an object has itself. What its class has, or a class or a module, is looked at where it is mentioned."""
        kind = type(x)
        self._register(kind)
        if isinstance(x, type | types.ModuleType):
            self._constructed.update(map(id, getattr(x, "__mro__", ())))
            self._register(x)
            return None
        if is_of_library_kind(kind) and not issubclass(kind, OPEN):
            return None
        own = {**getattr(x, "__dict__", {}), **{n: getattr(x, n) for n in slots_of(kind) if hasattr(x, n)}}
        return kind, self._named(own)

    def _register(self, x: Any) -> None:
        if is_of_library_kind(x):
            return
        if id(x) not in self._owners:
            kind: Any = type(x)
            for owner in (*x.__mro__, *kind.__mro__) if isinstance(x, type) else (x,):  # and a class's own class
                if not is_of_library_kind(owner):
                    self._owners[id(owner)] = owner

    def _mentioned(self) -> Hashable:
        """What classes and modules have at the names that code mentions, and so on: first of the code that is called,
        then of that which might be."""
        found: list[Any] = []
        done: set[Any] = set()
        for self._called in (True, False):
            before = -1
            while before < len(done):
                before = len(done)
                names = self._names[True] if self._called else self._names[True] | self._names[False]
                for name in names & sys.modules.keys():  # a function may import them
                    self._register(sys.modules[name])
                for owner in list(self._owners.values()):
                    for name in sorted(self._members(owner, names)):
                        if (owner_name := (id(owner), name)) not in done:
                            done.add(owner_name)
                            found.append((Identity(owner), name, self._look(vars(owner)[name])))
        environment = (self._names[True] | self._names[False]) & ENVIRONMENT
        return tuple(found), self._look(os.environ) if environment else None

    def _members(self, owner: type[Any] | types.ModuleType, names: set[str]) -> set[str]:
        if self._called or isinstance(owner, types.ModuleType):
            return vars(owner).keys() & names
        return members(owner, names, constructed=id(owner) in self._constructed)

    def _compared(self, look: Callable[[], Any], unless: bool = False) -> Hashable:
        """What is found, with arrays compared, as nothing can be put in their place; gathered where `unless` holds."""
        before, self._open = self._open, unless
        found = look()
        self._open = before
        return found


def _expect_whole(x: np.ndarray[Any, Any] | np.generic) -> None:
    if is_too_wide(x):
        raise CdlError(
            f"a function here reads {described(x)} from outside. It has whole numbers that do not fit "
            f"`{jax.dtypes.canonicalize_dtype(x.dtype)}`, the type that JAX gives them. Use smaller numbers, or switch "
            "on `jax_enable_x64`. If they are labels that no computation reads, keep them as Python ints."
        )


@cached
def way_of(kind: type[Any]) -> str:
    """The method that looks at values of a class, which takes one look-up for each value instead of many questions."""
    plain = kind in NUMBERS or is_of_library_kind(kind)
    return next(
        (way for way, kinds in WAYS.items() if issubclass(kind, kinds) and (plain or way not in ATOMS)), "_object"
    )


@cached
def static_in(kind: type[Any]) -> frozenset[str]:
    """The fields of a module of Equinox that are static: arrays in them are no inputs of a program."""
    return frozenset(f.name for f in dataclasses.fields(kind) if f.metadata.get("static"))


def flat(x: object) -> tuple[Iterable[Any], Any] | None:
    """The children of a node of a pytree and what is static in it, all that a program is given; `None` of a leaf."""
    found: tuple[Iterable[Any], Any] | None = jax.tree_util.default_registry.flatten_one_level(x)
    return found


def is_plain(x: object) -> bool:
    """Whether a container is one that can be built anew with other parts."""
    return type(x) in (dict, list, tuple) or (isinstance(x, tuple) and hasattr(x, "_fields"))
