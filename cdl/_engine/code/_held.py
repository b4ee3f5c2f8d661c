"""Values of libraries that hold others, which may change: how these are found."""

import argparse
import array
import collections
import contextvars
import functools
import operator
import os
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ._outside import MAKES_NAMES


OPEN = (  # classes of Python whose objects are looked at as those of a user's
    types.SimpleNamespace,
    threading.local,
    argparse.Namespace,
    collections.UserDict,
    collections.UserList,
    collections.UserString,
    collections.ChainMap,
)


def held_by(x: object) -> tuple[Any, frozenset[str]]:
    """What a value of a library holds, which may change, and the names that it makes use of."""
    if isinstance(x, types.FunctionType):
        cells = [c.cell_contents for c in x.__closure__ or () if _is_function(c)]
        return [*cells, getattr(x, "__wrapped__", None), getattr(x, "registry", None)], frozenset()
    if isinstance(x, BUFFERS):
        view = memoryview(x)
        return (view.format, view.shape, view.tobytes()), frozenset()
    kind = next(k for k in HOLDERS if isinstance(x, k))
    names = MAKES_NAMES & {kind.__name__, str(getattr(x, "__name__", ""))}
    try:
        return HOLDERS[kind](x), names
    except (LookupError, ReferenceError):  # it holds nothing at this time
        return None, names


def _is_function(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType | types.MethodType)
    except ValueError:
        return False


def _parts(*names: str) -> Callable[[Any], Any]:
    return lambda x: [getattr(x, name, None) for name in names]


BUFFERS = bytearray, memoryview, array.array
HOLDERS: dict[type[Any], Callable[[Any], Any]] = {
    **dict.fromkeys(BUFFERS, lambda x: x),
    contextvars.ContextVar: lambda x: x.get(),
    weakref.ReferenceType: lambda x: x(),
    weakref.ProxyType: lambda x: x.__repr__.__self__,
    weakref.CallableProxyType: lambda x: x.__repr__.__self__,
    weakref.WeakValueDictionary: dict,
    weakref.WeakKeyDictionary: dict,
    weakref.WeakSet: list,
    types.MappingProxyType: dict,
    type(os.environ): dict,
    **dict.fromkeys(map(type, ({}.keys(), {}.values(), {}.items())), lambda x: dict(x.mapping)),
    types.BuiltinMethodType: lambda x: x.__self__,
    types.MethodWrapperType: lambda x: x.__self__,
    operator.attrgetter: lambda x: None,
    operator.methodcaller: lambda x: None,
    property: _parts("fget"),
    staticmethod: _parts("__func__"),
    classmethod: _parts("__func__"),
    functools.cached_property: _parts("func"),
    functools.singledispatchmethod: _parts("func", "dispatcher"),
    functools.partialmethod: _parts("func", "args", "keywords"),
    type(functools.cache(len)): _parts("__wrapped__"),
    jax.custom_jvp: _parts("fun", "jvp"),
    jax.custom_vjp: _parts("fun", "fwd", "bwd"),
    np.vectorize: _parts("pyfunc"),
}
