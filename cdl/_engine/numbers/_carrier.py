"""Carriers: the structure of the values at the nodes of one sort."""

from dataclasses import dataclass
from typing import Any

import jax

from ._types import Own


@dataclass(frozen=True)
class Carrier:
    """The structure of an algebra's values: a pytree of shapes and types."""

    structure: Any
    leaves: tuple[Any, ...]

    @classmethod
    def of(cls, own: Own) -> "Carrier":
        """That of the values like one."""
        return cls(own.structure, own.leaves)

    @property
    def own(self) -> Own:
        """A value of it."""
        return Own(self.structure, self.leaves)

    def joined(self, own: Own) -> "Carrier":
        """That of values like these, and like one more of the same structure."""
        return Carrier.of(self.own.joined(own))

    def strong(self) -> "Carrier":
        """The same with strong types."""
        return Carrier.of(self.own.strong())

    def unflatten(self, leaves: Any) -> Any:
        return jax.tree.unflatten(self.structure, list(leaves))
