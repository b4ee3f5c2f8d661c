"""States that a user gives: of the whole, or of a box, in the type of the one to begin in."""

from typing import Any

import jax
import jax.numpy as jnp

from .._engine.arrays._carrier import Carrier, cast, misfit
from .._engine.arrays._given import arrays
from .._engine.arrays.shapes import shown
from ..errors import CarrierMismatch
from ._exact import exact
from ._system import System


def in_type_of(own: Any, given: Any, what: str) -> Any:
    """A state of a box, in the type of the one that the box begins in.

    **Raises:** `CarrierMismatch` where it has another type; a number of Python's takes that type where it holds it.
    """
    is_complex = [jnp.iscomplexobj(x) for x in jax.tree.leaves(arrays(given, what))]
    wanted, value = Carrier.of(own), Carrier.of(given)
    if (
        not value.alike(wanted)
        or any(x and not jnp.iscomplexobj(y) for x, y in zip(is_complex, jax.tree.leaves(own), strict=True))
        or misfit(wanted.leaves, value) is not None
    ):
        raise CarrierMismatch(f"{what} is {shown(given)}, and the box begins in {shown(own)}: give that.")
    return exact(jax.tree.map(cast, given, wanted.shapes))


def held(system: System, state: Any) -> Any:
    """A state of a system, in the type of the one that it begins in; of one whose state is held around it, as it is.

    **Raises:** `CarrierMismatch` for another one. A Python number takes the type of the state where that holds it.
    """
    state = arrays(state, f"a state of `{system.name}`")
    if system.state is None:
        return exact(state)
    given, wanted = Carrier.of(state), Carrier.of(system.state)
    if not given.alike(wanted) or misfit(wanted.leaves, given) is not None:
        raise CarrierMismatch(
            f"`{system.name}` was given the state {shown(state)}, and its states are {shown(system.state)}: give "
            "`system.state`, what `run` gave, or for states of single boxes what `pack` makes of them."
        )
    return exact(jax.tree.map(cast, state, wanted.shapes))
