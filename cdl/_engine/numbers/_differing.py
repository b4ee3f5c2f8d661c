"""Operators and indices that differ between numbers of NumPy and arrays of JAX of the same type.

| in a case                | Python or NumPy               | JAX                    | write                           |
| ------------------------ | ----------------------------- | ---------------------- | ------------------------------- |
| `v > 300`, an `int8`     | compares 300                  | compares `int8(300)`   | `v.astype(jnp.int32) > 300`     |
| `v + 300`, an `int8`     | an error                      | adds `int8(300)`       | `v.astype(jnp.int32) + 300`     |
| `v < n`, `n` of Python   | compares `n`                  | compares `int8(n)`     | `v.astype(jnp.int32) < n`       |
| `v.cumsum()`, an `int8`  | adds in `int64`               | adds in `int8`         | `v.astype(jnp.int32).cumsum()`  |
| `v * h`, `float16`       | `float64`, for an `int32` `v` | `float16`              | `v.astype(jnp.float32) * h`     |
| `v[5]` of three numbers  | an error                      | the last of them       | an index within the shape       |
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...errors import CdlError
from ..arrays._lost import ends, kind_of
from ..arrays.shapes import is_weak


COMPARED = "==", "!=", "<", "<=", ">", ">="


class Payload:
    """A class of traced numbers that stand for a payload, and so may well be NumPy's in the definition."""

    __slots__ = ()


def is_payload(x: object) -> bool:
    """Whether a traced number stands for a payload."""
    return issubclass(type(x), Payload)


class Differs(CdlError):
    """An operator that would give another value in a compiled form than in its definition.

    `does`: what a user's function does, after its name. `why`: what differs, and what to write.
    """

    def __init__(self, does: str, why: str) -> None:
        super().__init__(f"a case {does}: {why}")
        self.does, self.why = does, why

    def told(self, name: str, where: str) -> str:
        """The message, with the function's name and where it is."""
        return f"`{name}` {self.does} {where}: {self.why}"


def one_answer(question: str, advice: str) -> Differs:
    """What a question is refused with that has one answer for every traced number."""
    return Differs(
        f"asks {question}",
        f"in a compiled form every number is an array, and the answer is always the same, so {advice}.",
    )


def expect_within(sign: str, x: Any, y: int) -> None:
    """**Raises:** `Differs` where `y`, a number of Python beside the traced `x`, is not within the type of `x`."""
    if sign == "/" or is_weak(x) or not is_integer(x):  # `/` is of real numbers in both
        return
    low, high = ends(x.dtype)
    if not low <= y <= high:
        numpys = "compares the numbers as they are" if sign in COMPARED else "does not take one for another"
        jaxs = np.asarray(y & 2**64 - 1, np.uint64).astype(x.dtype)
        raise Differs(
            f"has {y} and a number of type `{x.dtype}` in `{sign}`",
            f"the type ends at {low if y < 0 else high}. NumPy {numpys}, and JAX takes {jaxs} for {y}, so that `cata` "
            f"and a compiled form would differ. Give the number a wider type first, as `{widened(x.dtype)}`.",
        )


def expect_one_type(sign: str, x: Any, y: Any) -> None:
    """**Raises:** `Differs` where NumPy takes two numbers in another type than JAX does."""
    if sign == "/" and is_integer(x) and is_integer(y):
        return
    for n, of in ((x, y), (y, x)):
        mixed = is_weak(n) and not is_weak(of) and is_integer(n) and is_integer(of)
        if mixed and not np.can_cast(n.dtype, of.dtype, "safe"):
            raise Differs(
                f"has a whole number of Python's and one of type `{of.dtype}` in `{sign}`",
                f"where the first is not within that type, JAX takes another number for it, and NumPy does not, so "
                "that `cata` and a compiled form would differ. Give the second a wider type first, as "
                f"`{widened(of.dtype)}`.",
            )
    if is_weak(x) or is_weak(y) or not all(n.dtype.kind in "iuf" for n in (x, y)):
        return
    of_numpy = isinstance(y, np.generic | np.ndarray) or all(map(is_payload, (x, y)))
    numpys = np.result_type(x.dtype, y.dtype)
    held, jaxs = map(jax.dtypes.canonicalize_dtype, (numpys, jnp.promote_types(x.dtype, y.dtype)))
    cut = held != numpys and held.kind == "i" and np.dtype(np.uint32) in (x.dtype, y.dtype)
    if sign == "**" and is_integer(x) and is_integer(y) and x.dtype != y.dtype:
        raise Differs(
            f"has numbers of types `{x.dtype}` and `{y.dtype}` in `**`",
            "JAX gives the type of the base where the exponent is known, as in `cata`, and otherwise that of both. "
            "Give both one type first, as `v.astype(jnp.int32)`.",
        )
    if of_numpy and (held != jaxs or cut):
        raise Differs(
            f"has numbers of types `{x.dtype}` and `{y.dtype}` in `{sign}`",
            f"NumPy takes both as `{numpys}`, and JAX as `{jaxs}`, so that `cata` and a compiled form would differ. "
            "Give both one type first, as `v.astype(jnp.float32)`.",
        )


def expect_room(name: str, x: Any) -> None:
    """**Raises:** `Differs` where NumPy's `cumsum` and the like give wider numbers than JAX's."""
    wide = jax.dtypes.canonicalize_dtype(np.int64 if kind_of(x.dtype) == "i" else np.uint64)
    if not is_weak(x) and is_integer(x) and x.dtype.itemsize < wide.itemsize:
        raise Differs(
            f"takes `{name}` of numbers of type `{x.dtype}`",
            f"NumPy computes it in `{wide}`, and JAX in `{x.dtype}`, where numbers wrap around, so that `cata` and a "
            f"compiled form would differ. Write `v.astype(jnp.{wide}).{name}()`, or `jnp.{name}(v)`.",
        )


def expect_inside(name: str, x: Any, *given: Any, **more: Any) -> None:
    """**Raises:** `Differs` where an index, or one for `take`, is known and is not within the shape of a payload."""
    if any(isinstance(i, Tracer) for i in jax.tree.leaves((given, more), is_leaf=lambda i: isinstance(i, slice))):
        return
    try:
        getattr(np.broadcast_to(np.int8(0), x.shape), name)(*given, **more)
    except IndexError as error:
        if "too many indices" in str(error):  # an error of JAX too
            return
        raise Differs(
            f"reads a payload of shape {x.shape} where it has no number",
            f"NumPy raises an error there ({error}), and JAX takes the nearest number or NaN. Read within the shape.",
        ) from error
    except (TypeError, ValueError):  # what JAX takes and NumPy does not, or neither
        return


def is_integer(x: Any) -> bool:
    """Whether a number is whole, and not a truth value."""
    return kind_of(getattr(x, "dtype", None)) in ("i", "u")


def widened(dtype: Any) -> str:
    """How a number of a type is written in a wider one."""
    return f"v.astype(jnp.{'int32' if dtype.itemsize < 4 else 'float32'})"
