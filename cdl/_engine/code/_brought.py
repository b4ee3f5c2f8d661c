"""What data brings to the functions that are given it: classes, and what is fixed in them.

A case is given a layer, a coalgebra a seed, a machine a state. What it finds there besides arrays, it may read by plain
Python: `type(layer).scale`, a property, an operator. It need not mention the class for that.

| data                          | what it brings                                             |
| ----------------------------- | ---------------------------------------------------------- |
| a forest                      | the constructors of its signature                          |
| a node of a user's pytree     | its class, and what is fixed in it, as a static field      |
| a leaf that is not an array   | itself                                                     |
"""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np

from ..._functors.poly import Sum
from ._outside import is_of_library_kind


ARRAYS = jax.Array, np.ndarray, np.generic, int, float, complex, str, type(None)


class Brought(NamedTuple):
    """Classes of a user, and values in which there may be more."""

    kinds: tuple[type[Any], ...]
    fixed: tuple[Any, ...]


def brought(data: Any) -> Brought:
    """What some data brings."""
    leaves, structure = jax.tree.flatten(data)
    try:
        kinds, fixed = _of_structure(structure)
    except TypeError:  # for what is fixed has no hash
        kinds, fixed = _of_structure.__wrapped__(structure)
    return Brought(kinds, (*fixed, *(x for x in leaves if not isinstance(x, ARRAYS))))


@functools.lru_cache(maxsize=256)
def _of_structure(structure: Any) -> Brought:
    kinds: dict[type[Any], None] = {}
    fixed: list[Any] = []
    waiting = [structure]
    while waiting:
        here = waiting.pop()
        waiting += here.children()
        if (node := here.node_data()) is None:
            continue
        kind, static = node
        if is_of_library_kind(kind):
            kinds |= dict.fromkeys(_constructors(static))
        else:
            kinds[kind] = None
            fixed.append(static)
    return Brought(tuple(kind for kind in kinds if not is_of_library_kind(kind)), tuple(fixed))


def _constructors(x: object) -> list[type[Any]]:
    """Those of all signatures in what is fixed of a node."""
    if isinstance(x, Sum):
        return list(x.constructors)
    return [kind for part in x for kind in _constructors(part)] if isinstance(x, tuple | list) else []
