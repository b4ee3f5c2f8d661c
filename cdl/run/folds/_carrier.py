"""Carriers: the structure of the values at the nodes of each sort, and where their leaves are kept."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from .._shapes import one_of, shaped, shown


@dataclass(frozen=True)
class Carrier:
    """The structure of an algebra's values: a pytree of shapes and types."""

    structure: Any
    leaves: tuple[Any, ...]

    @property
    def types(self) -> tuple[Any, ...]:
        """The type of each leaf."""
        return tuple(x.dtype for x in self.leaves)

    def unflatten(self, leaves: Any) -> Any:
        return jax.tree.unflatten(self.structure, list(leaves))


class Storage:
    """The carrier of each sort, and the columns in which their leaves are kept.

    A node is of one sort, so that sorts whose leaves are of one shape and type share the columns: they take the room of
    one sort, however many there are.
    """

    def __init__(self, carriers: dict[int, Carrier]) -> None:
        self.carriers = carriers
        every = [(i, x.shape, x.dtype) for c in carriers.values() for i, x in enumerate(c.leaves)]
        self._keys = list(dict.fromkeys(every))
        self.leaves = [shaped(shape, dtype) for _, shape, dtype in self._keys]
        self.smooth = [bool(jnp.issubdtype(x.dtype, jnp.inexact)) for x in self.leaves]

    def columns(self, sort: int) -> tuple[int, ...]:
        """Where the leaves of a sort's carrier are."""
        return tuple(self._keys.index((i, x.shape, x.dtype)) for i, x in enumerate(self.carriers[sort].leaves))


def show(carrier: Carrier) -> str:
    return shown(carrier.unflatten(one_of(carrier.leaves)))
