"""Which machines are one set of weights.

| a machine                                        | is tied to                                        |
| ------------------------------------------------ | ------------------------------------------------- |
| one that is given twice                          | itself: it is one object                          |
| a row of machines that are stacked               | the machine that was put there                    |
| a system without the state that it begins in     | that system                                       |

Arrays do not tie: two machines that begin with one array are two. A tie is known as long as the objects live. Whatever
makes others of them, such as `jax.tree.map` or the arguments of `jit`, makes other machines; so a system that is wired
holds each machine once.
"""

import weakref
from collections.abc import Hashable, Sequence
from typing import Any

import equinox as eqx
import jax

from .._engine.arrays._identity import Identity


class Tie:
    """What one set of weights goes by."""


_known: dict[int, tuple[Any, Any]] = {}  # by the place in memory: a weak reference, and the tie, or one for each row


def tie(machine: Any) -> Hashable:
    """What a machine has in common with those that it is tied to, and with no other."""
    found: Hashable = _of(machine) or _keep(machine, Tie())
    return found


def ties(stack: Any, many: int) -> tuple[Hashable, ...]:
    """That of each row of machines that are stacked."""
    found = _of(stack) or _keep(stack, tuple(Tie() for _ in range(many)))
    return found if isinstance(found, tuple) else tuple((found, row) for row in range(many))


def tie_to(machine: Any, other: Any) -> None:
    """Ties a machine to another one, of which it is made."""
    _keep(machine, tie(other))


def tie_rows(stack: Any, machines: Sequence[Any], *, begin: bool) -> None:
    """Ties rows to machines, part by part: those of a stack that begins, or machines that are taken from a stack."""
    for whole, *each in zip(parts(stack), *map(parts, machines), strict=True):
        if begin:
            _keep(whole, tuple(map(tie, each)))
        else:
            for one, own in zip(each, ties(whole, len(each)), strict=True):
                _keep(one, own)


def parts(machine: Any) -> list[Any]:
    """A machine, and all modules in it that have weights."""
    found: list[Any] = []

    def look(node: Any) -> bool:
        if node is machine or (isinstance(node, eqx.Module) and any(map(eqx.is_inexact_array, jax.tree.leaves(node)))):
            found.append(node)
        return False

    jax.tree.leaves(machine, is_leaf=look)
    return found


def ties_of(part: Any) -> tuple[Hashable, ...]:
    """The tie of a part of a machine, or that of each of its rows."""
    found = _of(part) or Identity(part)
    return found if isinstance(found, tuple) else (found,)


def _of(machine: Any) -> Any:
    found = _known.get(id(machine))
    return found[1] if found is not None and found[0]() is machine else None


def _keep(machine: Any, to: Any) -> Any:
    place = id(machine)
    try:
        _known[place] = weakref.ref(machine, lambda _: _known.pop(place, None)), to
    except TypeError:  # it takes no weak references
        return Identity(machine)
    return to
