"""What code reads from outside: the names that it mentions, and what belongs to a library."""

import functools
import os
import site
import sys
import sysconfig
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._functors.read import cached


FOLDERS = (
    *site.getsitepackages(),
    site.getusersitepackages(),
    sysconfig.get_paths()["stdlib"],
    Path(__file__).parents[2],
)
LIBRARIES = tuple(f"{folder}{os.sep}" for folder in FOLDERS)
MAKES_NAMES = frozenset(  # what reads attributes whose names no code need mention
    "getattr vars dir __dict__ __getattribute__ eval exec attrgetter methodcaller getmembers getattr_static".split()
)
OWN = "jax", "jaxlib", "numpy", "equinox", "cdl"  # looked at least often, told by name


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
def slots_of(kind: type[Any]) -> tuple[str, ...]:
    """The attributes that a class keeps without a dictionary."""
    each = [vars(k).get("__slots__", ()) for k in kind.__mro__]
    names = [name for slots in each for name in ([slots] if isinstance(slots, str) else slots)]
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def is_of_library(fn: types.FunctionType) -> bool:
    """Whether a function is one of Python's, of a package that is installed, or one of these."""
    return fn.__code__.co_filename.startswith(LIBRARIES)


@cached
def is_of_library_kind(kind: type[Any] | types.ModuleType) -> bool:
    """Whether a class or a module is."""
    module = kind if isinstance(kind, types.ModuleType) else sys.modules.get(kind.__module__)
    name = getattr(module, "__name__", "").split(".")[0]
    return name in OWN or name in sys.stdlib_module_names or str(getattr(module, "__file__", "")).startswith(LIBRARIES)


def is_generated(x: object) -> bool:
    """Whether a method was written by `dataclasses`, and reads nothing that changes."""
    code = getattr(x, "__code__", None)
    return code is not None and code.co_qualname.startswith("__create_fn__") and code.co_name != "__init__"


@functools.cache
def names_of(code: types.CodeType) -> frozenset[str]:
    """The names that a function's code mentions, of globals and of attributes, also as strings, with those of
    functions inside it."""
    return frozenset(code.co_names).union(*map(_names_in, code.co_consts))


def _names_in(x: object) -> frozenset[str]:
    if isinstance(x, types.CodeType):
        return names_of(x)
    if isinstance(x, tuple | frozenset):
        return frozenset[str]().union(*map(_names_in, x))
    parts = x.split(".") if isinstance(x, str) else []
    return frozenset(parts if all(map(str.isidentifier, parts)) else [])
