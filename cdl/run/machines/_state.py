"""The state of a machine in a loop: one structure, one shape and one type at every step."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..._errors import CarrierMismatch, CdlError, PayloadMismatch
from .._shapes import shaped, shown


def arrays(tree: Any, what: str) -> Any:
    """Every leaf as an array. **Raises:** `PayloadMismatch` where one is no number."""
    try:
        return jax.tree.map(jnp.asarray, tree)
    except TypeError:
        raise PayloadMismatch(f"{what} is {shown(tree)}: each leaf is to be a number or an array of numbers.") from None


def leading(tree: Any, whose: str, axis: str) -> int:
    """The length of the axis that all arrays begin with. **Raises:** `CdlError` where they differ, or there is none."""
    shapes = [jnp.shape(x) for x in jax.tree.leaves(tree)]
    lengths = {shape[0] if shape else None for shape in shapes}
    if len(lengths) == 1 and None not in lengths:
        return int(shapes[0][0])
    found = f"have the shapes {', '.join(map(str, shapes))}" if shapes else "have no array"
    raise CdlError(f"{whose} {found}: give arrays whose leading axis is {axis}, of one length for all.")


def settled(name: str, step: Callable[[Any, Any], Any], state: Any, element: Any) -> Any:
    """A state with the types that a step gives it back with: a Python number takes the type of what follows it.

    **Raises:** `CarrierMismatch` where the step changes the state's structure, shape or dtype.
    """
    while True:
        after: Any = jax.eval_shape(step, state, element)
        form: Any = jax.tree.structure(state)
        if jax.tree.structure(after) != form:
            raise _changes(name, state, after)
        leaves = list(zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True))
        types = [_joined(x, y) for x, y in leaves]
        if any(t is None for t in types):  # not `in`: float64 equals `None`
            raise _changes(name, state, after)
        if all(x.dtype == t and not x.weak_type for (x, _), t in zip(leaves, types, strict=True)):
            return state
        new = [jax.lax.convert_element_type(x, t) for (x, _), t in zip(leaves, types, strict=True)]
        state = jax.tree.unflatten(form, new)


def as_given(state: Any, like: Any) -> Any:
    """A state with the types of another."""
    return jax.tree.map(lambda x, y: jnp.asarray(x, y.dtype), state, like)


def _joined(x: Any, y: Any) -> Any:
    """The type of a state that goes in as `x` and comes out as `y`; none where they differ for good."""
    if x.shape != y.shape:
        return None
    if x.dtype == y.dtype or (y.weak_type and _kind(y) <= _kind(x)):
        return x.dtype
    return y.dtype if x.weak_type and _kind(x) <= _kind(y) else None


def _kind(x: Any) -> int:
    """Which Python number an array's are: `bool`, `int`, `float`, `complex`, each of which may stand for the next."""
    kinds = jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating
    return next((i for i, kind in enumerate(kinds) if jnp.issubdtype(x.dtype, kind)), -1)


def _changes(name: str, state: Any, after: Any) -> CarrierMismatch:
    given, found = (jax.tree.map(lambda x: shaped(x.shape, x.dtype), s) for s in (state, after))
    return CarrierMismatch(
        f"`{name}` is no coalgebra: its state goes in as {shown(given)} and comes out as {shown(found)}. Give back a "
        "state of the same structure, shapes and dtypes."
    )
