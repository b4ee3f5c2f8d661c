"""Equivariant maps, one after the other: `X → Y → Z`, where the middle is one action."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from .._functors.described import described
from .._para import Para
from ..errors import CdlError
from ._action import Action
from ._map import EquivariantMap
from ._pointwise import Pointwise


class Chain(EquivariantMap):
    """Equivariant maps, one after the other. `maps` are these, and `para` and `dense` composites of theirs.

    Examples:
        >>> C4 = cdl.symmetry.groups.cyclic(4)
        >>> net = cdl.symmetry.chain(
        ...     cdl.symmetry.Equivariant(C4, C4, key=jax.random.key(0)), jnp.tanh
        ... )
        >>> len(net.maps)
        2
    """

    maps: tuple[EquivariantMap, ...]
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)

    def para(self) -> Para[Any, Any, Any]:
        return functools.reduce(operator.rshift, [f.para() for f in self.maps])

    def dense(self) -> Para[Any, Any, Any]:
        return functools.reduce(operator.rshift, [f.dense() for f in self.maps])

    def _apply(self, x: jax.Array) -> jax.Array:
        for f in self.maps:
            x = f(x)
        return x


def chain(first: EquivariantMap, *rest: EquivariantMap | Callable[[jax.Array], jax.Array]) -> Chain:
    """`x ↦ … g(f(x))`. A plain function is taken at each place of what comes before it, as `Pointwise`.

    **Arguments:** `first`, `rest`: maps, each from where the one before it ends.

    **Raises:** `CdlError` where the target of one map is not the source of the next, and where a function does not
    commute with the action.

    Examples:
        >>> C4 = cdl.symmetry.groups.cyclic(4)
        >>> first, second = (
        ...     cdl.symmetry.Equivariant(C4, C4, key=jax.random.key(i)) for i in range(2)
        ... )
        >>> net = cdl.symmetry.chain(first, jnp.tanh, second)
        >>> cdl.symmetry.is_hom(net, C4, C4, jnp.array([[1.0, -2.0, 3.0, -4.0]]))
        True
    """
    maps = [_map(first)]
    for given in rest:
        before = maps[-1]
        if not isinstance(given, EquivariantMap) and callable(given):
            maps.append(Pointwise(given, before.target, before.out_channels))
            continue
        after = _map(given)
        if after.source != before.target:
            raise CdlError(
                f"`{type(before).__name__}` gives {before.target}, and `{type(after).__name__}` takes {after.source}. "
                "These are not one action: compare their `.generators`."
            )
        if after.in_channels != before.out_channels:
            raise CdlError(
                f"`{type(before).__name__}` gives {before.out_channels} channels, and `{type(after).__name__}` takes "
                f"{after.in_channels}."
            )
        maps.append(after)
    first, last = maps[0], maps[-1]
    return Chain(
        maps=tuple(maps),
        source=first.source,
        target=last.target,
        in_channels=first.in_channels,
        out_channels=last.out_channels,
    )


def _map(given: Any) -> EquivariantMap:
    if not isinstance(given, EquivariantMap):
        write = ": give them one by one, `chain(*maps)`" if isinstance(given, list | tuple) else ""
        raise CdlError(
            f"`chain` begins with an equivariant map, and goes on with maps or functions, and was given "
            f"{described(given)}{write}."
        )
    return given
