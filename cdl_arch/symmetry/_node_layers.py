"""A linear layer on tensors over nodes: the same parameters for any number of nodes.

| the mathematics                                            | here                                             |
| ---------------------------------------------------------- | ------------------------------------------------ |
| maps `X^{⊗k} → X^{⊗l}` of `S_n`, one for each `n`          | a `NodeLayer`: `order` is `k`, `out_order` is `l` |
| the one of `n` nodes, by a matrix                          | `layer.at(n)`                                    |
"""

import abc
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from cdl.errors import CdlError
from cdl.symmetry import Equivariant


class NodeLayer(eqx.Module):
    """From tensors of one order, `[in_channels, n, …, n]`, to tensors of another, for any `n` of 1 or more."""

    order: eqx.AbstractVar[int]
    out_order: eqx.AbstractVar[int]

    @property
    @abc.abstractmethod
    def in_channels(self) -> int:
        """Of the tensors that go in."""

    @property
    @abc.abstractmethod
    def out_channels(self) -> int:
        """Of the tensors that come out."""

    @abc.abstractmethod
    def __call__(self, x: Any, /, n: int | None = None) -> Float[Array, " outs *others"]:
        """**Arguments:** `x`: `[in_channels, n, …, n]`. `n`: how many nodes, where `order` is 0 and `x` has none.

        **Raises:** `CdlError` for an array of another shape, and for another number of nodes than it has.
        """

    @abc.abstractmethod
    def at(self, n: int) -> Equivariant:
        """The same layer on `n` nodes, by a matrix of all weights."""

    def nodes(self, x: jax.Array, n: int | None) -> int:
        """How many nodes there are; 1 where neither what goes in nor what comes out has any.

        **Raises:** `CdlError` as `__call__` does.
        """
        sides = x.shape[1:]
        if x.shape[:1] != (self.in_channels,) or len(sides) != self.order or len(set(sides)) > 1:
            raise CdlError(
                f"a layer of {self.in_channels} channels of tensors of order {self.order} gets an array of "
                f"{x.shape}: give the channels, and then {self.order} axes of one length."
            )
        if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1):
            raise CdlError(f"{n!r} nodes are asked for: give a whole number of 1 or more.")
        if sides and sides[0] == 0:
            raise CdlError(f"an array of {x.shape} has no nodes, and a layer takes means over them: give one or more.")
        if sides and n not in (None, sides[0]):
            raise CdlError(f"an array of {x.shape} has {sides[0]} nodes, and `n={n}` is asked for: leave `n` out.")
        if not sides and n is None and self.out_order:
            raise CdlError("numbers are spread over nodes: say how many, `layer(x, n=…)`.")
        return sides[0] if sides else int(n or 1)
