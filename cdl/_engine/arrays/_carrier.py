"""Carriers: the structure and the types of the values at one place of a compiled function.

All values of one place have one structure, and one shape and dtype for each leaf. A Python number, such as the `0`
that a leaf returns, is weakly typed, as everywhere in JAX: it takes the dtype of what it meets. So cases are traced
once with what the leaves return, and once more with the types that were found, as `jax.lax.scan` does with its initial
carry.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ...errors import CarrierMismatch
from .shapes import is_weak, one_of, same_structure, Shape, shaped, shown


@dataclass(frozen=True)
class Carrier:
    """The structure of a value, a pytree, and the shape and type of each leaf."""

    structure: Any
    leaves: tuple[Any, ...]

    @classmethod
    def of(cls, value: Any) -> "Carrier":
        """That of a value, traced or not, or of its shapes."""
        leaves, structure = jax.tree.flatten(value)
        return cls(structure, tuple(one_of(x if isinstance(x, Shape) else jnp.asarray(x) for x in leaves)))

    @property
    def shapes(self) -> Any:
        """The value, with the shape and type of each leaf."""
        return self.unflatten(self.leaves)

    def alike(self, other: "Carrier") -> bool:
        """Whether two values have one structure, and leaves of the same shapes."""
        return same_structure(self.structure, other.structure) and all(
            x.shape == y.shape for x, y in zip(self.leaves, other.leaves, strict=True)
        )

    def joined(self, other: "Carrier") -> "Carrier":
        """That of values like these, and like others of the same structure."""
        return Carrier(self.structure, tuple(map(_joined, self.leaves, other.leaves)))

    def strong(self) -> "Carrier":
        """The same with strong types: those of arrays that are in use."""
        return Carrier(self.structure, tuple(shaped(x.shape, x.dtype) for x in self.leaves))

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A value with these leaves."""
        return jax.tree.unflatten(self.structure, list(leaves))

    def __str__(self) -> str:
        return shown(self.shapes)


def own_of(fn: Callable[..., Any], *inputs: Any) -> Carrier:
    """What a function returns for inputs of these shapes and types."""
    found: list[Carrier] = []

    def leaves(*xs: Any) -> list[Any]:
        value = fn(*xs)
        found.append(Carrier.of(value))
        return list(map(jnp.asarray, jax.tree.leaves(value)))

    jax.eval_shape(leaves, *inputs)
    return found[-1]


def carried(first: Carrier, step: Callable[[Any], Carrier], mismatch: Callable[..., CarrierMismatch]) -> Carrier:
    """The structure and the types of a value that begins as `first`, and is the same before and after each step.

    **Arguments:** `step`: from a value's shapes, what a step returns for it. `mismatch`: the error for what a step
    returns, and, where it has another type, for the type that is expected and the type that is returned.

    **Raises:** `CarrierMismatch` where a step changes the structure, a shape or a type.
    """
    form = found = first
    for _ in range(2):
        found = step(form.shapes)
        if not found.alike(first):
            raise mismatch(found)
        form = form.joined(found).strong()
    for own in (first, found):
        if (i := misfit(form.leaves, own)) is not None:
            raise mismatch(found, form.leaves[i], own.leaves[i])
    return form


def misfit(leaves: Sequence[Any], own: Carrier) -> int | None:
    """The index of the first leaf that is not of the type of these leaves; `None` where all are."""
    return next((i for i, (x, y) in enumerate(zip(leaves, own.leaves, strict=True)) if not _fits(x, y)), None)


def _fits(to: Shape, own: Shape) -> bool:
    """Whether a value has a type, or is weakly typed and promotes to it."""
    return bool(own.dtype == to.dtype or (own.weak_type and _joined(shaped(to.shape, to.dtype), own).dtype == to.dtype))


def _joined(x: Shape, y: Shape) -> Shape:
    """The shape and type of values of one shape, some like `x` and some like `y`; of two strong types, that of `x`."""
    if x.dtype == y.dtype or not (x.weak_type or y.weak_type):
        return shaped(x.shape, x.dtype, bool(x.weak_type and y.weak_type))
    return shaped(x.shape, *_promoted(x.dtype, x.weak_type, y.dtype, y.weak_type))


@functools.cache
def _promoted(x: Any, x_weak: bool, y: Any, y_weak: bool) -> tuple[Any, bool]:
    with jax.numpy_dtype_promotion("standard"):
        found = jax.eval_shape(jnp.add, shaped((), x, x_weak), shaped((), y, y_weak))
    return found.dtype, bool(found.weak_type)


def cast(x: Any, to: Shape) -> jax.Array:
    """A value that fits, with this type."""
    x = jnp.asarray(x)
    return x if x.dtype == to.dtype and not is_weak(x) else x.astype(to.dtype)


def advice(wanted: Shape | None = None, own: Shape | None = None, same: str = "Return in every case") -> str:
    """What to do where two values differ; where types do, for the type that is expected and the type that is given."""
    if wanted is None or own is None:
        return f"{same} the same structure, shapes and dtypes."
    return f"{same} the same dtypes: write `.astype({jnp.dtype(wanted.dtype).name!r})` where it is `{own.dtype}`."
