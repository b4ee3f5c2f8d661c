"""Annotations of payloads: what number each leaf of one is to be.

| the annotation                                      | what it asks for                                   |
| --------------------------------------------------- | -------------------------------------------------- |
| `bool`, `int`, `float`, `complex`, `Float[Array, …]`| a kind of number                                   |
| `Float32[Array, …]`, `np.float32`, `NDArray[…]`     | that very type                                     |
| `float | None`, `int | float`                       | any of these                                       |
| `tuple[int, float]`, `dict[str, int]`, a dataclass  | for each leaf inside what is annotated there       |
| a type variable, `Array`, anything else             | nothing                                            |
"""

import dataclasses
import types
from collections.abc import Iterable
from typing import Annotated, Any, get_args, get_origin, Literal, TypeVar, Union

import jax
import jax.numpy as jnp
import numpy as np
import typing_extensions
from jax.tree_util import DictKey, GetAttrKey, SequenceKey

from ..._typecheck import ALIASES
from ..arrays._lost import kind_of


KINDS = {"b": "booleans", "u": "unsigned integers", "i": "integers", "f": "floats", "c": "complex numbers"}
_PYTHON = {bool: "b", int: "i", float: "f", complex: "c"}
_OF_NUMPY = {"b": np.bool_, "u": np.uint8, "i": np.int8, "f": np.float32, "c": np.complex64}


@dataclasses.dataclass(frozen=True)
class Asked:
    """The kinds of number that an annotation allows, all where it names none, and the type where it names one."""

    kinds: str = ""
    exact: Any = None

    def __str__(self) -> str:
        return " or ".join(KINDS[kind] for kind in self.kinds)


def asked(annotation: Any) -> Asked:
    """What an annotation asks of one number, or of one array."""
    a = plain(annotation)
    origin, args = get_origin(a), get_args(a)
    if origin in (Union, types.UnionType):
        return _either(asked(x) for x in args if x is not type(None))
    if origin is Literal:
        return _either(asked(type(x)) for x in args if x is not None)
    if origin is np.ndarray:
        return asked(*get_args(args[1]) or [Any])
    if origin in (tuple, list) and args:  # an array stands for them all
        return _either(asked(x) for x in args if x is not Ellipsis)
    if not isinstance(a, type):
        return Asked()
    named = getattr(a, "dtypes", None)
    if isinstance(named, list | tuple):  # jaxtyping
        return _either(map(_of_type, named))
    if isinstance(getattr(a, "dtype", None), np.dtype):  # `jnp.float32`
        return _of_type(a)
    if issubclass(a, np.generic):  # `np.floating`, say, is above the examples
        kinds = "".join(kind for kind, below in _OF_NUMPY.items() if issubclass(below, a) and below is not a)
        return Asked(kinds) if kinds else _of_type(a)
    return Asked(next((kind for python, kind in _PYTHON.items() if issubclass(a, python)), ""))


def inside(annotation: Any, key: Any) -> Any:
    """What is annotated at a key of a pytree; `Any` where an annotation does not tell."""
    a = plain(annotation)
    origin, args = get_origin(a), get_args(a)
    if origin in (Union, types.UnionType):
        found = [inside(member, key) for member in args if plain(member) is not type(None)]
        return Union[tuple(found)] if found else Any
    kind = origin or a
    match key:
        case SequenceKey(idx=i) if kind is tuple and args and args[-1] is not Ellipsis:
            return args[i] if i < len(args) else Any
        case SequenceKey() if args and kind in (list, tuple):
            return args[0]
        case DictKey() if len(args) == 2:
            return args[1]
        case DictKey(key=name) | GetAttrKey(name=name) if isinstance(kind, type):
            return _hints(kind).get(name, Any)
    return Any


def is_an_array(annotation: Any) -> bool:
    """Whether an annotation is that of one array."""
    kind = get_origin(annotation) or annotation
    return isinstance(kind, type) and (issubclass(kind, jax.Array | np.ndarray) or hasattr(kind, "array_type"))


def admits_none(annotation: object) -> bool:
    """Whether `None` is a value of an annotation, as far as can be said."""
    a = plain(annotation)
    origin, args = get_origin(a), get_args(a)
    if origin in (Union, types.UnionType):
        return any(map(admits_none, args))
    if origin is Literal:
        return None in args
    kind = origin or a
    try:
        return not isinstance(kind, type) or isinstance(None, kind)
    except TypeError:  # `Any`, or a protocol that is not for run time
        return True


def plain(annotation: Any) -> Any:
    """An annotation without the names that it goes by; `Any` for a type variable."""
    while True:
        origin = get_origin(annotation)
        if isinstance(annotation, TypeVar):
            return Any
        if origin is Annotated:
            annotation = annotation.__origin__
        elif isinstance(alias := origin or annotation, ALIASES):  # `NDArray[np.int8]` since numpy 2.5
            named = dict(zip(alias.__type_params__, get_args(annotation), strict=False))
            annotation = alias.__value__
            if mentioned := getattr(annotation, "__parameters__", ()):
                annotation = annotation[tuple(named.get(p, Any) for p in mentioned)]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation


def _either(members: Iterable[Asked]) -> Asked:
    found = list(members)
    exact = {x.exact for x in found}
    kinds = "".join(k for k in KINDS if any(k in x.kinds for x in found)) if all(x.kinds for x in found) else ""
    return Asked(kinds, exact.pop() if len(exact) == 1 else None)


def _of_type(named: Any) -> Asked:
    try:
        dtype = jnp.dtype(named)
    except TypeError:
        return Asked()
    return Asked(kind_of(dtype), dtype)


def _hints(kind: type[Any]) -> dict[str, Any]:
    try:
        return typing_extensions.get_type_hints(kind)
    except Exception:  # whatever a string in an annotation may do, it then tells nothing
        return {}
