"""`compiled`: `eqx.filter_jit` of a function whose first argument is, or holds, algebras.

| what a case reads                                     | is                                                         |
| ----------------------------------------------------- | ---------------------------------------------------------- |
| the arrays of the algebra                             | inputs of the program: a new value does not trace again    |
| a JAX array that the case closes over directly        | the same                                                   |
| anything else, such as a number, a global or a module | what it was when the case was traced, as under `jax.jit`   |

Functions are compared by identity: an algebra that is another object is traced again.
"""

import functools
import types
from collections.abc import Callable
from typing import Any, cast, TypeVar

import equinox as eqx
import jax

from ..._schemes.algebras import algebra
from ._as_arrays import expect_arrays


F = TypeVar("F", bound=Callable[..., Any])
Captured = list[list[jax.Array | None]]  # of each function, of each of its cells


def compiled(fn: F) -> F:
    """`eqx.filter_jit` of a function whose first argument is, or holds, functions that read from outside."""

    @eqx.filter_jit
    def traced(first: Any, arrays: Captured, rest: Any) -> Any:
        for alg in first if isinstance(first, tuple) else (first,):
            expect_arrays(alg)
        return fn(rebound(first, arrays), *rest)

    @functools.wraps(fn)
    def call(first: Any, *rest: Any) -> Any:
        return traced(first, captured(first), rest)

    return cast(F, call)


def captured(value: Any) -> Captured:
    """The JAX arrays that the functions in a value close over directly."""
    return [list(map(_array, fn.__closure__ or ())) for fn in map(_function, _functions(value))]


def rebound(value: Any, arrays: Captured) -> Any:
    """The value, whose functions close over these arrays."""
    each = iter(arrays)

    def one(x: Any) -> Any:
        if not _is_function(x):
            return x
        own = next(each)
        if all(array is None for array in own):
            return x
        fn = _closing_over(_function(x), own)
        return algebra(fn) if isinstance(x, algebra) else fn

    return jax.tree.map(one, value, is_leaf=_is_function)


def _is_function(x: Any) -> bool:
    return isinstance(x, types.FunctionType) or (isinstance(x, algebra) and isinstance(x.fn, types.FunctionType))


def _functions(value: Any) -> list[Any]:
    return list(filter(_is_function, jax.tree.leaves(value, is_leaf=_is_function)))


def _function(x: Any) -> types.FunctionType:
    return cast(types.FunctionType, x.fn if isinstance(x, algebra) else x)


def _array(cell: types.CellType) -> jax.Array | None:
    try:
        x = cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None
    return x if isinstance(x, jax.Array) else None


def _closing_over(fn: types.FunctionType, arrays: list[jax.Array | None]) -> types.FunctionType:
    """The function with these arrays in its cells."""
    pairs = zip(fn.__closure__ or (), arrays, strict=True)
    cells = tuple(cell if x is None else types.CellType(x) for cell, x in pairs)
    new = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, cells)
    new.__kwdefaults__ = fn.__kwdefaults__
    functools.update_wrapper(new, fn)
    return new
