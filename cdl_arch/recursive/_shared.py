"""Weights that several modules have in common, such as one embedding for two constructors: the network holds them once.

| in `payload=`                                | in the network                                      |
| -------------------------------------------- | --------------------------------------------------- |
| an array that one map has                    | the array, in this map                              |
| an array that the maps of several have       | `TreeNet.shared[i]`; in each of these maps `Place(i)` |

A pytree has no references: an array that stood in two maps would be two leaves, with a gradient each, which part as the
network learns.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import equinox as eqx
import jax


M = TypeVar("M")


class Place(eqx.Module):
    """Where an array belongs that the network holds once."""

    number: int = eqx.field(static=True)


def held_once(modules: Mapping[str, M]) -> tuple[dict[str, M], tuple[Any, ...]]:
    """The modules, with a `Place` for each array of weights that several of them have; and these arrays."""
    found: dict[int, tuple[Any, set[str]]] = {}
    for name, module in modules.items():
        for x in filter(eqx.is_inexact_array, jax.tree.leaves(module)):
            found.setdefault(id(x), (x, set()))[1].add(name)
    shared = tuple(x for x, names in found.values() if len(names) > 1)
    number = {id(x): i for i, x in enumerate(shared)}
    place: Any = lambda x: Place(number[id(x)]) if id(x) in number else x
    return {name: jax.tree.map(place, module) for name, module in modules.items()}, shared


def put_back(module: M, shared: tuple[Any, ...]) -> M:
    """A module with the shared arrays at their places."""
    if not shared:
        return module
    put: Any = lambda x: shared[x.number] if _is_place(x) else x
    found: M = jax.tree.map(put, module, is_leaf=_is_place)
    return found


def _is_place(x: object) -> bool:
    return isinstance(x, Place)
