"""Traced numbers that know whose number the definition has there: Python's, NumPy's or JAX's.

A payload is a number of Python or NumPy in a definition, and its operators and methods are theirs. In a compiled form
it is a traced array, and they are JAX's. Where the two differ, as `_differing` says, the operator is refused.

What a function of `jnp` gives is JAX's in both, and inside `jax.jit`, `jax.vmap` and `jax.lax.cond` all numbers are. So
where a number comes from has to be known. A traced number knows it by its class: `as_defined` gives it one that has
these operators. A child's value may be NumPy's, and Python's where its type is weak: it is taken for that.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from .._functors.many import Many
from ._differing import COMPARED, expect_one_type, expect_room, expect_within
from ._lost import kind_of
from .shapes import is_weak


SIGNS = dict(zip(("eq", "ne", "lt", "le", "gt", "ge"), COMPARED, strict=True)) | {
    f"{side}{name}": sign
    for side in ("", "r")
    for name, sign in zip(
        ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "and", "or", "xor", "lshift", "rshift"),
        ("+", "-", "*", "/", "//", "%", "divmod", "**", "&", "|", "^", "<<", ">>"),
        strict=True,
    )
}
UNARY = "neg", "pos", "abs", "invert", "getitem"
METHODS = (  # those of numbers of NumPy that give such
    "max min clip round copy conj conjugate reshape ravel flatten squeeze repeat take transpose swapaxes diagonal sort "
    "ptp searchsorted astype view sum prod cumsum cumprod"
).split()
PROPERTIES = "T", "real", "imag"
TYPES = (
    "b",
    "u",
    "i",
)  # the strong ones with which NumPy and JAX differ; others are `float16`, where whole numbers meet it


def as_defined(value: Any) -> Any:
    """The same value. Its traced numbers refuse what the definition's numbers do otherwise."""
    for x in jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, Many)):
        if (
            isinstance(x, Tracer)
            and not knows(x)
            and (is_weak(x) or kind_of(x.dtype) in TYPES or x.dtype == np.float16)
        ):
            x.__class__ = _class_of(type(x))
    return value


def knows(x: object) -> bool:
    """Whether a traced number knows that the definition has a number of Python or NumPy there."""
    return hasattr(type(x), "of_definition")


@functools.cache
def _class_of(base: Any) -> Any:
    """The class of traced numbers that know."""
    found: dict[str, Any] = {"__slots__": (), "of_definition": True, "__hash__": base.__hash__}
    found |= {f"__{name}__": _operator(sign, getattr(base, f"__{name}__")) for name, sign in SIGNS.items()}
    found |= {name: _method(name, getattr(base, name)) for name in (*(f"__{name}__" for name in UNARY), *METHODS)}
    found |= {name: property(_method(name, getattr(base, name).fget)) for name in PROPERTIES}
    return type(base)(base.__name__, (base,), found)


def _operator(sign: str, of: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of two numbers."""

    def operator(x: Any, y: Any) -> Any:
        _expect_alike(sign, x, y)
        out = of(x, y)
        return as_defined(out) if knows(y) or not isinstance(y, jax.Array) else out

    return operator


def _method(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    """A method, a property or an operator of one number."""

    def method(x: Any, *given: Any, **more: Any) -> Any:
        if name in ("cumsum", "cumprod") and more.get("dtype") is None and len(given) < 2:
            expect_room(name, x)
        for y in (*given, *more.values()) if name in ("clip", "searchsorted") else ():
            _expect_alike(name, x, y)
        return as_defined(of(x, *given, **more))

    return method


def _expect_alike(sign: str, x: Any, y: Any) -> None:
    if isinstance(y, int) and not isinstance(y, bool):
        expect_within(sign, x, y)
    elif isinstance(y, np.generic | np.ndarray) or knows(y) or (sign == "**" and isinstance(y, jax.Array)):
        expect_one_type(sign, x, y)
