"""The children of a `Many`, held one by one: the definition of each reduction.

The types of the results are those of `jnp`, and are the same in `fold`: a sum counts booleans, a mean of whole numbers
is a real number, and a Python number stays one.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import CarrierMismatch, ForeignLayer
from ._list import Cons, Nil
from .attention import apart, around, as_score, centre, is_complex, narrowed, near, weight, widened
from .usage import takes


class Items:
    """Children that are held: the definition of each reduction."""

    def __init__(self, held: tuple[Any, ...]) -> None:
        self.held = held

    def count(self) -> int:
        return len(self.held)

    def reduce(self, how: str, each: Callable[[Any], Any], zero: Any) -> Any:
        if not self.held:
            return for_none(how, zero)
        children = list(map(each, self.held))
        expect_like(how, children[0], zero)
        if how == "max":
            return jax.tree.map(_greatest, *children)
        if how == "min":
            turned = [jax.tree.map(flipped, child) for child in children]
            return jax.tree.map(flipped, jax.tree.map(_greatest, *turned))
        children = [jax.tree.map(as_number, child) for child in children]
        if how == "prod":
            return functools.reduce(lambda x, y: jax.tree.map(operator.mul, y, x), reversed(children))
        total = _sum(children)
        return jax.tree.map(lambda x: x / len(self.held), total) if how == "mean" else total

    def expect(self, how: str, each: Callable[[Any], Any], zero: Any) -> None:
        expect_like(how, each(self.held[0]), zero) if self.held else for_none(how, zero)

    def attend(self, each: Callable[[Any], Any], score: Callable[[Any], Any], zero: Any) -> Any:
        if not self.held:
            return for_none("attend", zero)
        own = [each(x) for x in self.held]
        expect_like("attend", own[0], zero)
        scores, children = jnp.stack([as_score(score(x), heads=True) for x in own]), list(map(widened, own))
        highest = jnp.max(scores, 0)
        middle = centre(_sum([near(weight(s, highest), x) for s, x in zip(scores, children, strict=True)]))
        weights = jax.nn.softmax(scores, axis=0)
        mean = around(middle, _sum([apart(w, x, middle) for w, x in zip(weights, children, strict=True)]))
        return narrowed(mean, own[0])

    def fold(self, each: Callable[[Any], Any], algebra: Any) -> Any:
        value = algebra(Nil())
        for x in reversed(self.held):
            value = algebra(Cons(each(x), value))
        return value

    def run(self, how: str, each: Callable[[Any], Any], step: Callable[[Any, Any], Any], start: Any) -> Any:
        children = list(map(each, self.held))
        expect_like(how, children[0], UNSET)
        value = start(children[0])
        for x in reversed(children):
            value = step(x, value)
        return value


def _sum(children: list[Any]) -> Any:
    return functools.reduce(lambda x, y: jax.tree.map(operator.add, x, y), children)


def of_lists(algebra: Any) -> Callable[[Any], Any]:
    """What reads the layers of a list.

    **Raises:** `CarrierMismatch` for what has no value for `Nil()` or `Cons(x, y)`.
    """
    name = str(getattr(getattr(algebra, "fn", algebra), "__name__", type(algebra).__name__))

    def read(layer: Any) -> Any:
        try:
            value = algebra(layer)
        except TypeError:
            if callable(algebra) and takes(algebra, layer):
                raise  # the call fits, and something inside it did not
            value = None
        if value is None:
            raise CarrierMismatch(
                f"`{name}` gives nothing for `{type(layer).__name__}`: `Many.fold` takes an algebra of lists that are "
                "read from the end, a function of one layer with a case for `Nil()` and one for `Cons(x, rest)`."
            )
        return value

    read.__name__ = name
    return read


class _Unset:
    """A `zero` that is not given."""

    def __repr__(self) -> str:
        return "…"


UNSET: Any = _Unset()
ORDERED = ("max", "min", "argmax", "top")
USAGE = {"attend": ("score", "zero"), "top": ("k", "fill")}  # the arguments of those that take more than a `zero`


def for_none(how: str, zero: Any) -> Any:
    """The value for no child. **Raises:** `CarrierMismatch` where none is given."""
    if zero is UNSET:
        *before, value = USAGE.get(how, ("zero",))
        raise CarrierMismatch(
            f"a `Many` without children is reduced by `{how}`, which was not given a value for no child: write "
            f"`{how}({', '.join([*before, value])})`, with a `{value}` of the shape of one child, such as "
            "`jnp.zeros(8)`."
        )
    return zero


def expect_like(how: str, child: Any, zero: Any) -> None:
    """**Raises:** `CarrierMismatch` where `zero` has another structure, or other shapes, than a (mapped) child, and
    for the greatest of complex numbers."""
    if how in ORDERED and any(map(is_complex, jax.tree.leaves(child))):
        raise CarrierMismatch(
            f"a `Many` of complex numbers is reduced by `{how}`, and they have no order: map to real ones first, such "
            f"as `many.map(jnp.abs).{how}(zero)`."
        )
    if zero is UNSET:
        return
    structures: list[Any] = [jax.tree.structure(child), jax.tree.structure(zero)]
    same = structures[0] == structures[1]
    if not same or any(jnp.shape(x) != jnp.shape(z) for x, z in zip(*map(jax.tree.leaves, (child, zero)), strict=True)):
        _expect_value(how, child)
        filled = _filled(child, zero)
        child, zero = (eqx.tree_pformat(x, struct_as_array=True) for x in (child, zero))
        name = USAGE.get(how, ("zero",))[-1]
        raise CarrierMismatch(
            f"a `Many` of {child} is reduced by `{how}` with `{name}={zero}`: give `{name}` the structure and shapes "
            f"of one mapped child{filled and f', such as `{filled}`'}."
        )


def _expect_value(how: str, child: Any) -> None:
    """**Raises:** `ForeignLayer` for a tree, as an algebra was called on a whole one; `CarrierMismatch` for nothing."""
    if child is None:
        raise CarrierMismatch(
            f"a `Many` is reduced by `{how}`, and what it is mapped by gives nothing. In an algebra the children are "
            "values already: map by a function of a value, which returns one, and do not call the algebra on them."
        )
    if getattr(type(child), "__cdl_value__", False):
        raise ForeignLayer(
            f"a `Many` is reduced by `{how}`, and its children are trees: an algebra reads one layer, whose children "
            "are values. Write `cdl.cata(alg)(tree)` for one tree, or `cdl.fold(alg, cdl.pack(signature, trees))`."
        )


def _filled(child: Any, number: Any) -> str:
    """How an array with the number everywhere and the shape of the child is written; nothing, where that is not it."""
    if not (isinstance(number, int | float) and hasattr(child, "dtype")):
        return ""
    shape = child.shape[0] if child.ndim == 1 else child.shape
    return f"jnp.zeros({shape})" if number == 0 else f"jnp.full({shape}, {number})"


def as_number(x: Any) -> Any:
    """A number as `sum` and `mean` add it: a boolean counts as 0 or 1, which is a Python number."""
    if isinstance(x, bool | np.bool_):
        return int(x)
    if getattr(x, "dtype", None) == np.bool_:
        return weaken(jnp.asarray(x).astype(int))
    return x


def flipped(x: Any) -> Any:
    """A number in the opposite order, exactly."""
    if isinstance(x, bool | np.bool_):
        return not x
    if isinstance(x, int):
        return ~x
    dtype = getattr(x, "dtype", None)
    if dtype == np.bool_:
        return jnp.logical_not(x)
    return -x if dtype is None or jnp.issubdtype(dtype, jnp.floating) else ~x


def weaken(x: jax.Array) -> jax.Array:
    """An array as JAX has a Python number: whatever it meets decides about its type."""
    (found,) = jax.tree.leaves(lax.convert_element_type_p.bind(x, new_dtype=x.dtype, weak_type=True, sharding=None))
    return found


def _greatest(*xs: Any) -> Any:
    """The greatest of some numbers. Those that are equally great share its gradient equally."""
    if any(hasattr(x, "aval") for x in xs):
        return jnp.max(jnp.stack([jnp.asarray(x) for x in xs]), 0)
    return functools.reduce(_maximum, xs)


def _maximum(x: Any, y: Any) -> Any:
    if hasattr(x, "dtype") or hasattr(y, "dtype"):
        return np.maximum(x, y)
    return x if x != x or (y == y and x >= y) else y  # NaN stays, as in NumPy
