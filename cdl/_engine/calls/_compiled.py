"""`compiled`: `eqx.filter_jit` of a function whose first argument is, or holds, algebras.

| what a case reads                                       | is                                                         |
| ------------------------------------------------------- | ---------------------------------------------------------- |
| the arrays of the algebra                               | inputs of the program: a new value does not trace again    |
| a JAX array that a function closes over directly        | the same                                                   |
| anything else, such as a number, a global or a module   | what it is at a trace, as under `jax.jit`                  |

Functions are compared by identity: an algebra that is another object is traced again.
"""

import functools
import types
import weakref
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

    def traced(first: Any, arrays: Captured, rest: Any) -> Any:
        whole = rebound(first, arrays)
        expect_arrays(whole)
        return fn(whole, *rest)

    traced.__name__ = fn.__name__  # in profiles, and in what `jax.log_compiles` prints
    run = eqx.filter_jit(traced)

    @functools.wraps(fn)
    def call(first: Any, *rest: Any) -> Any:
        return run(*captured(first), rest)

    return cast(F, call)


class Function:
    """A function in the cache of a `jit`, which would otherwise keep all that it closes over, for as long as it is
    there; compared by identity."""

    def __init__(self, of: Any) -> None:
        self.is_algebra = isinstance(of, algebra)
        fn = cast(types.FunctionType, of.fn if isinstance(of, algebra) else of)
        self.fn, self._hash = weakref.ref(fn), id(fn)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        # one that is looked up is alive, and not identical to what is left of another
        return isinstance(other, Function) and self.is_algebra == other.is_algebra and self.fn() is other.fn()

    def over(self, arrays: list[jax.Array | None]) -> Any:
        """The function, or the algebra of it, that closes over these arrays."""
        fn = self.fn()
        assert fn is not None, "who calls it keeps it"
        if any(x is not None for x in arrays):
            pairs = zip(fn.__closure__ or (), arrays, strict=True)
            cells = tuple(cell if x is None else types.CellType(x) for cell, x in pairs)
            new = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, cells)
            new.__kwdefaults__, new.__annotations__ = fn.__kwdefaults__, fn.__annotations__
            new.__module__, new.__qualname__ = fn.__module__, fn.__qualname__
            vars(new).update(vars(fn))
            fn = new
        return algebra(fn) if self.is_algebra else fn


def captured(value: Any) -> tuple[Any, Captured]:
    """The value with a `Function` for each function in it, and the JAX arrays that these close over directly."""
    leaves, structure = jax.tree.flatten(value, is_leaf=_is_function)
    held = [Function(x) if _is_function(x) else x for x in leaves]
    functions = [x.fn() for x in held if isinstance(x, Function)]
    return jax.tree.unflatten(structure, held), [list(map(_array, fn.__closure__ or ())) for fn in functions if fn]


def rebound(value: Any, arrays: Captured) -> Any:
    """The value, whose functions close over these arrays."""
    each = iter(arrays)
    return jax.tree.map(lambda x: x.over(next(each)) if isinstance(x, Function) else x, value)


def _is_function(x: Any) -> bool:
    return isinstance(x.fn if isinstance(x, algebra) else x, types.FunctionType)


def _array(cell: types.CellType) -> jax.Array | None:
    try:
        x = cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None
    return x if isinstance(x, jax.Array) else None
