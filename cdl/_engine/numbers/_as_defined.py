"""Traced numbers that know whose number the definition has there: Python's, NumPy's or JAX's.

A payload is a number of Python or NumPy in a definition, and its operators and methods are theirs. In a compiled form
it is a traced array, and they are JAX's. Where the two differ, as in `_differing`, `_python_numbers` and `_truth`, the
operator is refused.

What a function of `jnp` gives is JAX's in both, and inside `jax.jit`, `jax.vmap` and `jax.lax.cond` all numbers are. So
where a number comes from has to be known. A traced number knows it by its class: `as_defined` gives it one that has
these operators. A child's value may be NumPy's, and Python's where its type is weak: it is taken for that.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ..._functors.many import Many
from ..arrays._lost import kind_of
from ..arrays.shapes import is_weak
from ._class_asked import class_of, text_of
from ._differing import COMPARED, expect_inside, expect_one_type, expect_room, expect_within, is_payload, Payload
from ._python_numbers import expect_real, expect_rounded_alike, expect_whole, Positive, stays_positive
from ._texts import expect_no_word
from ._truth import expect_no_truth


COMPARISONS = dict(zip(("eq", "ne", "lt", "le", "gt", "ge"), COMPARED, strict=True))
ARITHMETIC = dict(
    zip(
        ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "and", "or", "xor", "lshift", "rshift"),
        ("+", "-", "*", "/", "//", "%", "divmod", "**", "&", "|", "^", "<<", ">>"),
        strict=True,
    )
)
UNARY = "neg", "pos", "abs", "invert", "getitem", "round"
METHODS = (  # those of numbers of NumPy that give such
    "max min clip round copy conj conjugate reshape ravel flatten squeeze repeat take transpose swapaxes diagonal sort "
    "ptp searchsorted astype view sum prod cumsum cumprod"
).split()
PROPERTIES = "T", "real", "imag"


def as_defined(value: Any, *kinds: Any) -> Any:
    """The same value. Its traced numbers refuse what the definition's numbers do otherwise.

    `kinds`: what else is known of them, `Positive` or `Payload`. Arrays of payloads are looked at for their indices.
    """
    for x in jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, Many)):
        if not isinstance(x, Tracer) or knows(x):
            continue
        if (asked := _may_differ(x)) or (x.shape and Payload in kinds):
            with contextlib.suppress(TypeError):  # a JAX whose tracers do not change their class refuses nothing here
                x.__class__ = _class_of(type(x), asked, *kinds)
    return value


def knows(x: object) -> bool:
    """Whether a traced number knows that the definition has a number of Python or NumPy there."""
    return hasattr(type(x), "of_definition")


def _may_differ(x: Any) -> bool:
    """Whether a number is of a type with which the definition may differ: of a `float16`, where it meets an `int32`."""
    return is_weak(x) or kind_of(x.dtype) in ("b", "u", "i") or bool(x.dtype == np.float16)


@functools.cache
def _class_of(base: Any, asked: bool, *kinds: Any) -> Any:
    """The class of traced numbers that know. `asked`: whether they refuse questions of which kind they are."""
    found: dict[str, Any] = {"__slots__": (), "of_definition": True, "__hash__": base.__hash__}
    if asked:
        found |= {"__class__": property(class_of)}
    if Payload in kinds:
        found |= {"__str__": text_of}
    for name, sign in (COMPARISONS | ARITHMETIC).items():
        found[f"__{name}__"] = _operator(sign, getattr(base, f"__{name}__"))
    for name, sign in ARITHMETIC.items():
        found[f"__r{name}__"] = _operator(sign, getattr(base, f"__r{name}__"), turned=True)
    found |= {name: _method(name, getattr(base, name)) for name in (*(f"__{name}__" for name in UNARY), *METHODS)}
    found |= {name: property(_method(name, getattr(base, name).fget)) for name in PROPERTIES}
    return type(base)(base.__name__, (*kinds, base), found)


def _operator(sign: str, of: Callable[..., Any], turned: bool = False) -> Callable[..., Any]:
    """An operator of two numbers. `turned`: whether the second is on its left."""

    def operator(x: Any, y: Any) -> Any:
        if sign in ("==", "!="):
            expect_no_word(y)
        if not (knows(y) or isinstance(y, np.generic | np.ndarray | bool | int | float | complex)):
            if sign == "**" and isinstance(y, jax.Array):
                expect_one_type(sign, x, y)
            return of(x, y)
        if isinstance(y, int) and not isinstance(y, bool):
            expect_within(sign, x, y)
        elif hasattr(y, "dtype"):
            expect_one_type(sign, x, y)
        a, b = (y, x) if turned else (x, y)
        expect_no_truth(sign, a, b)
        if sign == "**":
            expect_whole(a, b)
            expect_real(a, b)
        numpys = is_payload(x) and (is_payload(y) or not knows(y))
        return as_defined(of(x, y), *[Positive] * stays_positive(sign, a, b), *[Payload] * numpys)

    return operator


def _method(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    """A method, a property or an operator of one number."""

    def method(x: Any, *given: Any, **more: Any) -> Any:
        if name == "__invert__":
            expect_no_truth("~", x)
        if name in ("cumsum", "cumprod") and more.get("dtype") is None and len(given) < 2:
            expect_room(name, x)
        if name in ("round", "__round__"):
            expect_rounded_alike(x, *given[:1] or (more.get("decimals"),))
        if name in ("__getitem__", "take") and is_payload(x):
            expect_inside(name, x, *given, **more)
        for y in (*given, *more.values()) if name in ("clip", "searchsorted") else ():
            if isinstance(y, int) and not isinstance(y, bool):
                expect_within(name, x, y)
        return as_defined(of(x, *given, **more), *[Positive] * (name == "__abs__"), *[Payload] * is_payload(x))

    return method
