"""States that a user gives: of the whole, or of a box, in the type of the one to begin in."""

from typing import Any

import jax
import jax.numpy as jnp

from .._engine._given import arrays
from .._engine._types import cast, misfit, Own
from .._engine.shapes import shown
from ..errors import CarrierMismatch
from ._system import System, types


def in_type_of(own: Any, given: Any, what: str) -> Any:
    """A state of a box, in the type of the one that the box begins in.

    **Raises:** `CarrierMismatch` where it has another type; a number of Python's takes that type where it holds it.
    """
    is_complex = [jnp.iscomplexobj(x) for x in jax.tree.leaves(arrays(given, what))]
    wanted, value = Own.of(own), Own.of(given)
    if (
        not value.alike(wanted)
        or any(x and not jnp.iscomplexobj(y) for x, y in zip(is_complex, jax.tree.leaves(own), strict=True))
        or misfit(wanted.leaves, value) is not None
    ):
        raise CarrierMismatch(f"{what} is {shown(given)}, and the box begins in {shown(own)}: give that.")
    return jax.tree.map(cast, given, wanted.shapes)


def expect_state(system: System, state: Any) -> None:
    """**Raises:** `CarrierMismatch` for what has another structure, or other shapes, than the states of a system."""
    if system.state is None:  # what is around it holds the state
        return
    (given, each), (wanted, own) = types(state), types(system.state)
    if given != wanted or any(a != b for (a, _), (b, _) in zip(each, own, strict=True)):
        raise CarrierMismatch(
            f"`{system.name}` was given the state {shown(state)}, and its states are {shown(system.state)}: give "
            "`system.state`, what `run` gave, or for states of single boxes what `pack` makes of them."
        )
