"""That no machine of a box is inside of the machine of another one, where its weights would be two copies."""

from collections.abc import Hashable, Iterable
from typing import Any

import jax

from .._schemes.algebras import name_of
from ..errors import CdlError
from ._box import Box
from ._system import System
from ._ties import parts, ties_of


def expect_apart(machines: Iterable[tuple[str, Any]]) -> None:
    """**Raises:** `CdlError` where the machine of one box is inside of that of another, or a system inside of both.

    **Arguments:** `machines`: those that are not tied, each with the box that it is of.
    """
    each = list(machines)
    of: dict[Hashable, str] = {}
    for at, machine in each:
        of |= {one: at for part in _whole(machine) for one in ties_of(part)}
    for at, machine in each:
        for part in parts(machine):
            if other := next((of[one] for one in ties_of(part) if of.get(one, at) != at), None):
                raise CdlError(
                    f"`{name_of(part)}` is in the machines of `{at}` and of `{other}`, where its weights would be two "
                    "copies: give both boxes one system, or make a machine for each and tie the two in what is wired, "
                    "by `eqx.nn.Shared`."
                )


def _whole(machine: Any) -> list[Any]:
    """The machine, and those of the systems inside of it."""
    found = [machine]

    def look(node: Any) -> bool:
        if isinstance(node, System):
            found.extend([node.machine] if isinstance(node, Box) else getattr(node, "machines", ()))
        return False

    jax.tree.leaves(machine, is_leaf=look)
    return found
