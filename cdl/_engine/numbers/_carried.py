"""The type of a value that is carried along a list or through a machine: one before and after each step.

A Python number that the value begins with takes the type that a step gives it, which may change what the next step
gives. So steps are taken until no type changes.
"""

from collections.abc import Callable
from typing import Any

from ...errors import CarrierMismatch
from ._types import differ, joined, misfit, Own


def carried(
    first: Own, step: Callable[[Any], Own], mismatch: Callable[..., CarrierMismatch], held_later: bool = False
) -> Own:
    """The structure and the types of a value that begins as `first`.

    **Arguments:** `step`: from a value's shapes, what a step gives for it. `mismatch`: the error for what a step gives,
    and, where it is a number that does not fit, for the type that is expected and the type that is given. `held_later`:
    whether the caller looks at the Python numbers that the value begins with, once they are known.

    **Raises:** `CarrierMismatch` where a step changes the structure, a shape or a type.
    """
    form = first
    while True:
        found = step(form.shapes)
        if not found.alike(first):
            raise mismatch(found)
        leaves = tuple(map(joined, form.leaves, found.leaves))
        if not any(map(differ, form.leaves, leaves)):
            break
        form = Own(form.structure, leaves)
    begun = [
        x if held_later and own.weak_type and not own.shape else own
        for x, own in zip(leaves, first.leaves, strict=True)
    ]
    for own in (Own(first.structure, tuple(begun), first.written), found):
        if (i := misfit(leaves, own)) is not None:
            raise mismatch(found, leaves[i], own.leaves[i])
    return form
