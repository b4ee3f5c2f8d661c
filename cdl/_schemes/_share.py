"""Recursion that computes each seed once: a table of values beside `cdl.functor`'s recursion.

| the mathematics                             | here                                                     |
| ------------------------------------------- | -------------------------------------------------------- |
| `go` is a function: one seed, one value     | `shared(down, up)`, with a table for each call           |
| when two seeds are one                      | `same(seed)`: of one type and equal, part by part        |

A seed that does not hash, such as an array or a list, is computed wherever it is met.
"""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from .._functors import Many, Pure
from .._functors.base import Value
from .._functors.recursion import Done, recursion


DEPTH = 8  # how deep tuples of a seed may lie within each other: Python hashes them by recursion


def shared(down: Callable[[Any], Any], up: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """The solution of `go(s) = up(s, F go (down s))`, where a seed that is met again has its value already.

    A lazy place begins a new table when it is called, so that what goes on for ever does not keep all that it has seen.
    """

    def go(root: Any) -> Any:
        values: dict[Hashable, tuple[Any, Any]] = {}  # with the seed, whose place in memory may be its name
        path: list[Hashable | None] = []

        def down_once(_: int, seed: Any) -> Any:
            name = same(seed)
            if name is not None and name in values:
                return Done(values[name][1])
            layer = down(seed)
            if not isinstance(layer, Done):
                path.append(name)
            elif name is not None:
                values[name] = seed, layer.value
            return layer

        def up_once(frame: Any, lazy: Any) -> Any:
            value, name = up(frame, (go,)), path.pop()
            if name is not None:
                values[name] = frame.seed, value
            return value

        return recursion(down_once, up_once)(0)(root)

    return go


def same(seed: Any, depth: int = DEPTH) -> Hashable | None:
    """What two seeds have in common just where they are one; `None` for a seed that is computed wherever it is met.

    `1`, `1.0` and `True` are equal and not one, nor are `0.0` and `-0.0`. Trees are one by identity, since to compare
    them at every node takes time in the square of their size; other values as their class says.
    """
    kind: Any = type(seed)
    if isinstance(seed, float | complex):
        return kind, repr(seed)
    if isinstance(seed, np.generic):
        return kind, seed.tobytes()
    if isinstance(seed, tuple):
        return _parts(kind, seed, depth)
    if isinstance(seed, frozenset):
        names = _parts(kind, tuple(seed), depth)
        return None if names is None else (kind, frozenset(names[1:]))
    if isinstance(seed, Pure) or (dataclasses.is_dataclass(seed) and not isinstance(seed, Value)):
        return _parts(kind, [getattr(seed, field.name) for field in dataclasses.fields(seed)], depth)
    if isinstance(seed, Value | Many) or kind.__hash__ is object.__hash__:
        return kind, id(seed)
    try:
        hash(seed)
    except (TypeError, RecursionError):
        return None
    return kind, seed


def _parts(kind: Any, parts: Any, depth: int) -> tuple[Hashable, ...] | None:
    names = [same(part, depth - 1) for part in parts] if depth else [None]
    return None if None in names else (kind, *names)
