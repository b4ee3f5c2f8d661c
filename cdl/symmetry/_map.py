"""A map of algebras of `M × −`, `X → Y`, as a layer: an `EquivariantMap`, where `source` is `X` and `target` is `Y`."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax

from .. import _terms as t
from .._para import Para
from ..errors import CdlError
from ._action import Action
from ._given import acted
from ._sizes import axis_of


class EquivariantMap(eqx.Module):
    """A map between the carriers of two actions that commutes with their monoid.

    Arrays have a first axis of channels where `in_channels` or `out_channels` is a number.

    Examples:
        >>> C4 = cdl.symmetry.groups.cyclic(4)
        >>> layer = cdl.symmetry.Equivariant(C4, C4, key=jax.random.key(0))
        >>> isinstance(layer, cdl.symmetry.EquivariantMap)
        True
    """

    source: eqx.AbstractVar[Action]
    target: eqx.AbstractVar[Action]
    in_channels: eqx.AbstractVar[int | None]
    out_channels: eqx.AbstractVar[int | None]

    def __call__(self, x: Any, /) -> jax.Array:
        """`[in_channels, *source.shape] → [out_channels, *target.shape]`. **Raises:** `CdlError` for another shape."""
        x = acted(x, f"an array given to `{type(self).__name__}`")
        wanted = (*axis_of(self.in_channels), *self.source.shape)
        if x.shape != wanted:
            more = " For a batch, use `jax.vmap`." if x.shape[1:] == wanted else ""
            raise CdlError(
                f"`{type(self).__name__}` takes an array of shape {wanted}, and gets one of {x.shape}.{more}"
            )
        return self._apply(x)

    @property
    def execution(self) -> str:
        """How the map is computed, in words, for `cdl.explain`."""
        return "as it is written"

    def para(self) -> Para[Any, Any, Any]:
        """The map as a parametric one: its parameters are its floating arrays."""
        return Para.of(self)

    def dense(self) -> Para[Any, Any, Any]:
        """The map with its linear parts untied: the parameters of these are all weights of dense layers."""
        return self.para()

    def __term__(self) -> t.Term:
        return self.para().__term__()

    @abstractmethod
    def _apply(self, x: jax.Array) -> jax.Array:
        """The map of an array whose shape is checked."""
