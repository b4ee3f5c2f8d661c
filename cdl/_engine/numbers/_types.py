"""Types of numbers: which type the values at one place have in a compiled form.

In plain Python every value has its own type. In a compiled form all values at one place have one type. It is found by
JAX's promotion, where a Python number (JAX's *weak type*) takes the type of what it meets. This is the one place that
says so: `fold`, `annotate`, `inherit`, `follow`, `refold`, `run` and the scans of a `Seq` ask it.

A value that would not be the same number in that type is refused:

| a value                                  | may be given                                                    |
| ---------------------------------------- | --------------------------------------------------------------- |
| an array, or a NumPy number              | no other type                                                   |
| a number written out, such as `0`        | any type that holds it                                          |
| a Python number computed from data       | a wider type of its kind; a real one any real or complex type   |
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...errors import CarrierMismatch
from ..arrays._lost import is_whole, kind_of, lost
from ..arrays.shapes import one_of, same_structure, Shape, shaped, shown
from ..jaxprs._rowwise import expect_rowwise
from ._as_defined import as_defined


@dataclass(frozen=True)
class Own:
    """What a case gives: the structure of its value, the type of each leaf, and its value where it is written out."""

    structure: Any
    leaves: tuple[Any, ...]
    written: tuple[Any, ...] = ()

    @classmethod
    def of(cls, value: Any) -> "Own":
        """That of a value, traced or not."""
        leaves, structure = jax.tree.flatten(value)
        written = [None if isinstance(x, Tracer) or jnp.ndim(x) else x for x in leaves]
        return cls(structure, tuple(map(_form, leaves)), tuple(written))

    @property
    def shapes(self) -> Any:
        """The value, with the shape and type of each leaf."""
        return jax.tree.unflatten(self.structure, list(self.leaves))

    def alike(self, other: "Own") -> bool:
        """Whether two values have one structure, and leaves of the same shapes."""
        return same_structure(self.structure, other.structure) and all(
            x.shape == y.shape for x, y in zip(self.leaves, other.leaves, strict=True)
        )

    def __str__(self) -> str:
        return shown(self.shapes)


def _form(x: Any) -> Shape:
    """The shape and type of a leaf. **Raises:** `CarrierMismatch` for a number that JAX's type does not hold."""
    if not isinstance(x, bool | int | float | complex):
        return one_of([x if isinstance(x, jax.Array) else jnp.asarray(x)])[0]
    expect_in_type(x)
    return shaped((), _type_of(x), not hasattr(x, "dtype"))


def _type_of(x: complex) -> Any:
    return jax.dtypes.canonicalize_dtype(np.result_type(x) if hasattr(x, "dtype") else np.dtype(type(x)))


def expect_in_type(x: complex, giver: str = "a case", where: str = "") -> None:
    """**Raises:** `CarrierMismatch` for a number of Python that JAX's type does not hold."""
    if lost(np.asarray(x), _type_of(x)).any():
        raise CarrierMismatch(
            f"{giver} gives the number {x}{where}, which `{_type_of(x)}` does not hold: scale the values, or switch on "
            "`jax_enable_x64`."
        )


def own_of(fn: Callable[..., Any], *inputs: Any) -> Own:
    """What a function gives for inputs of these shapes and types."""
    found: list[Own] = []

    def leaves(*xs: Any) -> list[Any]:
        value = fn(*map(as_defined, xs))
        found.append(Own.of(value))
        return jax.tree.leaves(value)

    case = jax.make_jaxpr(leaves)(*inputs).jaxpr
    expect_rowwise(case, "in a case")
    return found[-1]


def joined(x: Shape, y: Shape) -> Shape:
    """The shape and type of values of one shape, some like `x` and some like `y`.

    If one of two booleans is Python's, the joined type is weak. So arithmetic on it is checked as that on Python's is.
    """
    if x.dtype == y.dtype == jnp.bool_:
        return like(x, x.dtype, bool(x.weak_type) or bool(y.weak_type))
    if not differ(x, y) or not (_is_number(x.dtype) and _is_number(y.dtype)):
        return x
    return like(x, *_promoted(x.dtype, bool(x.weak_type), y.dtype, bool(y.weak_type)))


def like(x: Shape, dtype: Any, weak: bool) -> Shape:
    """The shape of `x`, with this type."""
    return shaped(x.shape, dtype, weak)


def differ(x: Shape, y: Shape) -> bool:
    """Whether two leaves have different types, or one is a Python number and the other is not."""
    return x.dtype != y.dtype or bool(x.weak_type) != bool(y.weak_type)


def holds(dtype: Any, own: Shape, written: Any = None) -> bool:
    """Whether a value like `own` is the same number in another type. `written`: the value itself, where it is known."""
    if own.dtype == dtype:
        return True
    if not own.weak_type or not (_is_number(own.dtype) and _is_number(dtype)):
        return False
    if written is not None:
        return not lost(np.asarray(written), dtype).any()
    if is_whole(own.dtype):
        return bool(np.can_cast(own.dtype, dtype, "safe"))
    return kind_of(dtype) == "c" or kind_of(own.dtype) == kind_of(dtype) == "f"


def misfit(leaves: Sequence[Any], own: Own) -> int | None:
    """The number of the first leaf that would be another number in the type of these leaves; `None` for none."""
    known = own.written or [None] * len(own.leaves)
    pairs = enumerate(zip(leaves, own.leaves, known, strict=True))
    return next((i for i, (x, y, written) in pairs if not holds(x.dtype, y, written)), None)


def advice(wanted: Any = None, own: Shape | None = None, same: str = "Give every constructor's case") -> str:
    """What to do where two values differ; where types do, for the type that is expected and the type that is given."""
    if own is None or not own.weak_type:
        return f"{same} the same structure, shapes and dtypes."
    return (
        "A Python number that the case computes is not converted to another kind: write "
        f"`jnp.asarray(…, jnp.{jnp.dtype(wanted.dtype).name})` there."
    )


def cast(x: Any, to: Shape) -> jax.Array:
    """A value that fits, with this type."""
    x = jnp.asarray(x)
    return x if x.dtype == to.dtype else x.astype(to.dtype)


@functools.cache
def _promoted(x: Any, x_weak: bool, y: Any, y_weak: bool) -> tuple[Any, bool]:
    with jax.numpy_dtype_promotion("standard"):
        both = [shaped((), x, x_weak), shaped((), y, y_weak)]
        found = jax.eval_shape(jnp.where, shaped((), jnp.bool_), *both)
    return found.dtype, bool(found.weak_type)


def _is_number(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.number) or dtype == jnp.bool_)
