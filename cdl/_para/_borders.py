"""When two borders of squares meet: maps and parametric maps that are the same, and what is said where they are not."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from .two_cells import same


Map = Callable[[Any], Any]


class Path(eqx.Module):
    """Maps, one after the other. As a tuple, so that brackets make no difference."""

    maps: tuple[Map, ...]

    def __call__(self, x: Any) -> Any:
        for one in self.maps:
            x = one(x)
        return x


def then(first: Map, second: Map) -> Map:
    """The second after the first; `same` is a unit on the nose."""
    maps = (*_maps(first), *_maps(second))
    return maps[0] if len(maps) == 1 else Path(maps) if maps else same


def is_same(a: Any, b: Any) -> bool:
    """Whether two functions are one: the same object, or modules with the same parts."""
    if a is b:
        return True
    if not (isinstance(a, eqx.Module) and isinstance(b, eqx.Module)):
        return _equal(a, b)
    structure: Any = jax.tree.structure(a)
    leaves = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=False)
    return bool(structure == jax.tree.structure(b)) and all(x is y or _equal(x, y) for x, y in leaves)


def described_map(f: Any) -> str:
    """A function in the words of an error."""
    if isinstance(f, Path):
        return f"`{' then '.join(_name(one) for one in f.maps)}`"
    return f"`{_name(f)}`"


def _maps(f: Map) -> tuple[Map, ...]:
    return f.maps if isinstance(f, Path) else () if f is same else (f,)


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, Tracer) or isinstance(y, Tracer):
        return False  # nobody knows their values
    if isinstance(x, np.ndarray | jax.Array) and isinstance(y, np.ndarray | jax.Array):
        return x.dtype == y.dtype and bool(np.array_equal(x, y))
    return type(x) is type(y) and not isinstance(x, eqx.Module) and bool(x == y)


def _name(f: Any) -> str:
    return str(getattr(f, "name", None) or getattr(f, "__name__", None) or type(f).__name__)
