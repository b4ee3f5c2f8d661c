"""The state of a machine in a loop: one structure, one shape and one type at every step."""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ..._functors.described import described
from ...errors import CarrierMismatch, CdlError
from ..arrays._carrier import advice, carried, Carrier, cast, own_of
from ..arrays.shapes import of_lists, same_structure


S = TypeVar("S")  # values of one structure
SHOWN = 4  # shapes in an error


def leading(tree: Any, whose: str, axis: str) -> int:
    """The length of the axis that all arrays begin with. **Raises:** `CdlError` where they differ, or there is none."""
    shapes = [jnp.shape(x) for x in jax.tree.leaves(tree)]
    lengths = {shape[0] if shape else None for shape in shapes}
    if len(lengths) == 1 and None not in lengths:
        return int(shapes[0][0])
    some = ", ".join(map(str, shapes[:SHOWN])) + (f", … ({len(shapes)} in all)" if len(shapes) > SHOWN else "")
    of = "" if isinstance(tree, jax.Array | np.ndarray | list | tuple | dict) else f"are {described(tree)}, and "
    found = f"{of}have the shapes {some}" if shapes else f"{of}have no array"
    raise CdlError(f"{whose} {found}: give arrays whose leading axis is {axis}, of one length for all{of_lists(tree)}.")


def settled(name: str, step: Callable[[Any, Any], Any], state: Any, element: Any, more: str = "") -> Any:
    """A state with the types that a step gives it back with: a Python number takes the type of what follows it.

    **Arguments:** `more`: what an error says besides, where a step gives the state the axes of an input.

    **Raises:** `CarrierMismatch` where the step changes the state's structure, shape or dtype.
    """
    first = Carrier.of(state)

    def changes(own: Carrier, wanted: Any = None, given: Any = None) -> CarrierMismatch:
        return _changes(name, first, own, wanted, given, more if _has_more_axes(first, own) else "")

    form = carried(first, lambda value: own_of(step, value, element), changes)
    return jax.tree.map(cast, state, form.shapes)


def as_given(state: S, like: Any) -> S:
    """A state with the types of another."""
    return jax.tree.map(lambda x, y: jnp.asarray(x, y.dtype), state, like)


def _has_more_axes(first: Carrier, after: Carrier) -> bool:
    """Whether a state comes out with the same structure, and more axes than it goes in with."""
    pairs = zip(first.leaves, after.leaves, strict=False)
    return same_structure(first.structure, after.structure) and any(len(x.shape) < len(y.shape) for x, y in pairs)


def _changes(
    name: str, first: Carrier, after: Carrier, wanted: Any = None, own: Any = None, more: str = ""
) -> CarrierMismatch:
    what = advice(wanted, own, same="Give back a state of").removesuffix(".")
    return CarrierMismatch(
        f"`{name}` is not a coalgebra: its state goes in as {first} and comes out as {after}. {what}{more}."
    )
